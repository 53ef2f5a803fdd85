/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/unwind/cfi.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "target/linux/unwind/cfi_state.h"
#include "target/linux/unwind/cursor.h"
#include "target/linux/unwind/dwarf_numbers.h"

static struct cursor cursor__block(struct cursor *c)
{
	uint64_t n = cursor__uleb(c);
	const uint8_t *at = cursor__skip(c, n);
	struct cursor block = {at, at ? at + n : at, !at};

	return block;
}

/* An encoded pointer, LSB Core 10.5; @base 0: as it is, for a length. */
static uint64_t parser__pointer(const struct parser *p, struct cursor *c, uint8_t encoding,
				bool relative)
{
	uint64_t at = p->in->address + (uint64_t)(c->at - p->in->bytes), value;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = cursor__fixed(c, 8);
		break;
	case DW_EH_PE_udata2:
		value = cursor__fixed(c, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int16_t)cursor__fixed(c, 2);
		break;
	case DW_EH_PE_udata4:
		value = cursor__fixed(c, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int32_t)cursor__fixed(c, 4);
		break;
	case DW_EH_PE_uleb128:
		value = cursor__uleb(c);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)cursor__sleb(c);
		break;
	default:
		c->bad = true;
		return 0;
	}
	if (!relative)
		return value;
	if (encoding & DW_EH_PE_indirect)
		c->bad = true;
	else if ((encoding & 0x70) == DW_EH_PE_pcrel)
		value += at;
	else if (encoding & 0x70)
		c->bad = true;
	return value;
}

/* A function whose program is run; pc 0 to 0: that of a CIE, which has no rows. */
struct run {
	uint64_t pc, end;
	struct xr_unwind_rule last;
	bool told; /* there was a row, `last` */
};

static int run__row(const struct parser *p, struct run *r, const struct state *s, uint64_t to)
{
	struct xr_unwind_rule rule;
	int err;

	if (to > r->end)
		to = r->end;
	if (to <= r->pc)
		return 0;
	rule = state__rule(p, s);
	if (!r->told || memcmp(&rule, &r->last, sizeof(rule))) {
		err = p->sink->row(p->sink->arg, r->pc, &rule);
		if (err)
			return err;
		r->last = rule;
		r->told = true;
	}
	r->pc = to;
	return 0;
}

static int run__advance(const struct parser *p, struct run *r, const struct state *s, uint64_t n)
{
	uint64_t delta, to;

	if (__builtin_mul_overflow(n, p->cie.code_align, &delta) ||
	    __builtin_add_overflow(r->pc, delta, &to))
		to = r->end;
	return run__row(p, r, s, to);
}

static int64_t scaled(const struct parser *p, int64_t n)
{
	int64_t off;

	return __builtin_mul_overflow(n, p->cie.data_align, &off) ? INT64_MAX : off;
}

/* One of those whose first byte is all of their opcode.  1: there is no such instruction. */
static int run__extended(struct parser *p, struct run *r, struct state *s, struct cursor *c,
			 uint8_t op)
{
	struct where w = {.how = LOST};
	uint64_t reg;

	switch (op) {
	case DW_CFA_nop:
		return 0;
	case DW_CFA_set_loc:
		reg = parser__pointer(p, c, p->cie.encoding, true);
		return c->bad ? 1 : run__row(p, r, s, reg);
	case DW_CFA_advance_loc1:
		return run__advance(p, r, s, cursor__fixed(c, 1));
	case DW_CFA_advance_loc2:
		return run__advance(p, r, s, cursor__fixed(c, 2));
	case DW_CFA_advance_loc4:
		return run__advance(p, r, s, cursor__fixed(c, 4));
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
		reg = cursor__uleb(c);
		w.how = AT_CFA;
		w.off = scaled(p, op == DW_CFA_offset_extended_sf ? cursor__sleb(c)
								  : (int64_t)cursor__uleb(c));
		if (op == DW_CFA_GNU_negative_offset_extended)
			w.off = w.off == INT64_MIN ? INT64_MAX : -w.off;
		state__set(p, s, reg, w);
		return 0;
	case DW_CFA_restore_extended:
		state__restore(p, s, cursor__uleb(c));
		return 0;
	case DW_CFA_undefined:
	case DW_CFA_same_value:
		w.how = op == DW_CFA_undefined ? UNDEFINED : SAME;
		state__set(p, s, cursor__uleb(c), w);
		return 0;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		reg = cursor__uleb(c);
		cursor__uleb(c); /* signed or not: it has the same bytes */
		state__set(p, s, reg, w);
		return 0;
	case DW_CFA_remember_state:
		if (p->nremembered == REMEMBERED_MAX)
			return 1;
		p->remembered[p->nremembered++] = *s;
		return 0;
	case DW_CFA_restore_state:
		if (!p->nremembered)
			return 1;
		*s = p->remembered[--p->nremembered];
		return 0;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
		s->cfa = CFA_REGISTER;
		s->reg = cursor__uleb(c);
		s->off = op == DW_CFA_def_cfa ? (int64_t)cursor__uleb(c)
					      : scaled(p, cursor__sleb(c));
		return 0;
	case DW_CFA_def_cfa_register:
		/* after an expression with the offset of before it (unwind-dw2.c of libgcc) */
		s->cfa = CFA_REGISTER;
		s->reg = cursor__uleb(c);
		return 0;
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		s->off = op == DW_CFA_def_cfa_offset ? (int64_t)cursor__uleb(c)
						     : scaled(p, cursor__sleb(c));
		return 0;
	case DW_CFA_def_cfa_expression:
		state__cfa_expression(p, s, cursor__block(c));
		return 0;
	case DW_CFA_expression:
		reg = cursor__uleb(c);
		state__saved_expression(p, s, reg, cursor__block(c));
		return 0;
	case DW_CFA_val_expression:
		reg = cursor__uleb(c);
		cursor__block(c);
		state__set(p, s, reg, w);
		return 0;
	case DW_CFA_GNU_args_size:
		cursor__uleb(c);
		return 0;
	case DW_CFA_GNU_window_save: /* arm64: the return address is signed from here on, or not */
		return p->in->machine == EM_AARCH64 ? 0 : 1;
	default:
		return 1;
	}
}

/* Run @program from state @s on.  1: it makes no sense from somewhere on. */
static int run__program(struct parser *p, struct run *r, struct state *s, struct cursor program)
{
	int err = 0;

	p->nremembered = 0;
	while (!err && !program.bad && cursor__left(&program)) {
		uint8_t op = (uint8_t)cursor__fixed(&program, 1);
		uint64_t low = op & 0x3f;
		struct where w = {.how = AT_CFA};

		switch (op & 0xc0) {
		case DW_CFA_advance_loc:
			err = run__advance(p, r, s, low);
			break;
		case DW_CFA_offset:
			w.off = scaled(p, (int64_t)cursor__uleb(&program));
			state__set(p, s, low, w);
			break;
		case DW_CFA_restore:
			state__restore(p, s, low);
			break;
		default:
			err = run__extended(p, r, s, &program, op);
		}
	}
	return err ? err : program.bad;
}

/* An entry: its bytes behind the number that says which it is of, and that number. */
struct entry {
	size_t at, next;
	uint64_t id;
	size_t id_at;
	struct cursor body;
};

/* The entry at @at.  False: it leads out of the section, or the section ends here. */
static bool entry__read(const struct cfi_input *in, size_t at, struct entry *e)
{
	struct cursor c = {in->bytes + at, in->bytes + in->size, false};
	uint64_t size = cursor__fixed(&c, 4);

	if (size == 0xffffffff)
		size = cursor__fixed(&c, 8);
	if (c.bad || !size || size > cursor__left(&c) || size < 4)
		return false;
	e->at = at;
	e->id_at = (size_t)(c.at - in->bytes);
	e->next = e->id_at + (size_t)size;
	c.end = c.at + size;
	e->id = cursor__fixed(&c, 4); /* 4 bytes in .eh_frame, whatever the length has */
	e->body = c;
	return true;
}

/* What its augmentation, @text, says.  False: something that is not known. */
static bool cie__augmentation(const struct parser *p, struct cie *cie, const char *text,
			      struct cursor *c)
{
	struct cursor data;

	if (!*text)
		return true;
	if (*text != 'z')
		return false;
	cie->sized = true;
	data = cursor__block(c);
	while (*++text && !data.bad) {
		switch (*text) {
		case 'R':
			cie->encoding = (uint8_t)cursor__fixed(&data, 1);
			break;
		case 'L':
			cursor__fixed(&data, 1);
			break;
		case 'P': {
			uint8_t encoding = (uint8_t)cursor__fixed(&data, 1);

			if ((encoding & 0x70) == DW_EH_PE_aligned)
				return true; /* what is behind it has a place that is not clear */
			parser__pointer(p, &data, encoding, false);
			break;
		}
		case 'S':
			cie->signal = true;
			break;
		case 'B': /* arm64: return addresses are signed with another key */
		case 'G': /* likewise: memory tags of the stack */
			break;
		default:
			return true; /* the rest is data of a known size that is passed over */
		}
	}
	return !data.bad;
}

/* The CIE at @at, and the state that its program leaves. */
static bool parser__cie(struct parser *p, size_t at)
{
	struct cie cie = {.encoding = DW_EH_PE_absptr};
	struct run none = {0};
	struct entry e;
	const char *text;
	uint8_t version;

	if (p->have_cie && p->cie_at == at)
		return true;
	p->have_cie = false;
	if (at >= p->in->size || !entry__read(p->in, at, &e) || e.id)
		return false;
	version = (uint8_t)cursor__fixed(&e.body, 1);
	if (version != 1 && version != 3)
		return false;
	text = (const char *)e.body.at;
	if (!memchr(text, '\0', cursor__left(&e.body)))
		return false;
	cursor__skip(&e.body, strlen(text) + 1);
	cie.code_align = cursor__uleb(&e.body);
	cie.data_align = cursor__sleb(&e.body);
	cie.ra = version == 1 ? cursor__fixed(&e.body, 1) : cursor__uleb(&e.body);
	if (e.body.bad || !cie__augmentation(p, &cie, text, &e.body) || e.body.bad)
		return false;
	cie.program = e.body;
	p->cie = cie;
	p->initial = (struct state){.cfa = CFA_UNKNOWN};
	/* "restore" makes no sense in it, but finds nothing told */
	if (run__program(p, &none, &p->initial, cie.program))
		return false;
	p->have_cie = true;
	p->cie_at = at;
	return true;
}

/* A function.  1: it is damaged. */
static int parser__fde(struct parser *p, struct entry *e)
{
	struct run r = {0};
	struct state s;
	uint64_t size;
	int err, damaged;

	if (e->id > e->id_at || !parser__cie(p, e->id_at - (size_t)e->id))
		return 1;
	r.pc = parser__pointer(p, &e->body, p->cie.encoding, true);
	size = parser__pointer(p, &e->body, p->cie.encoding, false);
	if (p->cie.sized)
		cursor__block(&e->body);
	if (e->body.bad || __builtin_add_overflow(r.pc, size, &r.end))
		return 1;
	if (!size)
		return 0;
	err = p->sink->function(p->sink->arg, r.pc, r.end);
	if (err)
		return err;
	p->counts->functions++;
	s = p->initial;
	damaged = run__program(p, &r, &s, e->body);
	if (damaged < 0)
		return damaged;
	if (damaged)
		s = (struct state){.cfa = CFA_UNKNOWN}; /* nothing is known of the rest */
	err = run__row(p, &r, &s, r.end);
	return err ? err : damaged;
}

int cfi__parse(const struct cfi_input *in, const struct cfi_sink *sink, struct cfi_counts *counts)
{
	const bool arm = in->machine == EM_AARCH64;
	struct parser p = {
		.in = in,
		.sink = sink,
		.counts = counts,
		.sp = arm ? 31 : 7,
		.fp = arm ? 29 : 6,
		.default_ra = arm ? XR_SAVED_SAME : XR_SAVED_LOST,
	};
	struct entry e;
	size_t at = 0;
	int err;

	memset(counts, 0, sizeof(*counts));
	while (at + 4 <= in->size && entry__read(in, at, &e)) {
		at = e.next;
		if (!e.id)
			continue;
		err = parser__fde(&p, &e);
		if (err < 0)
			return err;
		counts->damaged += err != 0;
	}
	/* a length of 0 ends it */
	if (at + 4 <= in->size && memcmp(in->bytes + at, "\0\0\0", 4))
		return -EBADMSG;
	return 0;
}
