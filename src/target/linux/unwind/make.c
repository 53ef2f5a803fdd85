/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind table of an ELF file.
 *
 * Facts: DWARF 5, 6.4 (call frame information); the ELF ABI supplements of x86_64 and of the Arm
 * 64-bit architecture (numbers of registers); elfutils, libdw.h (dwarf_frame_cfa,
 * dwarf_frame_register: how a rule becomes an expression).
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "target/linux/hidden/elf_image.h"
#include "target/linux/unwind/leaf.h"
#include "target/linux/unwind/table.h"

#define LEAF_SYMBOLS 256u   /* that are looked at if there is no .eh_frame, */
#define LEAF_BYTES   16384u /* the code of each, */
#define EXTRAS_MAX   32u    /* and the functions of these that have no frame */
/* Bytes of .eh_frame that libdw runs, many of them several times. */
#define WORK_MAX (UINT64_C(1) << 33)

/* A function without an entry in .eh_frame.  From @push on it has pushed two registers. */
struct extra {
	uint64_t begin, push, end; /* push == end: it has no frame */
};

struct maker {
	struct unwind_table *table;
	struct elf_image file;
	struct extra extra[EXTRAS_MAX];
	uint32_t nextras;
	uint32_t extras_put; /* these are in the table */
	uint64_t until;	     /* the table is complete up to here */
	uint64_t work;
	size_t rows_cap, rules_cap;
	struct map numbers; /* of rules: their two halves to number + 1 */
};

/* --- the rule at one address, from what libdw reads in .eh_frame --- */

/* DWARF's numbers of the registers that are followed. */
struct registers {
	uint64_t sp, fp;
	int link; /* the return address column of a function that may have no frame; -1: none */
};

static const struct registers x86_64 = {.sp = 7, .fp = 6, .link = -1};
static const struct registers aarch64 = {.sp = 31, .fp = 29, .link = 30};

static bool fits(Dwarf_Word off)
{
	return (int64_t)off >= INT32_MIN && (int64_t)off <= INT32_MAX;
}

/* Is @op a register plus an offset? */
static bool op__sum(const Dwarf_Op *op, uint64_t *reg, int32_t *off)
{
	const bool any = op->atom == DW_OP_bregx;
	const Dwarf_Word by = any ? op->number2 : op->number;

	if (!any && (op->atom < DW_OP_breg0 || op->atom > DW_OP_breg31))
		return false;
	*reg = any ? op->number : (uint64_t)(op->atom - DW_OP_breg0);
	*off = (int32_t)by;
	return fits(by);
}

/* The address of x86_64's PLT: rsp + 8, and 8 more from byte @limit of an entry on. */
static bool ops__plt(const Dwarf_Op *ops, size_t n, int32_t *limit)
{
	static const uint8_t atoms[] = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
					DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,	DW_OP_plus};

	if (n != sizeof(atoms) || ops[0].number != 8 || ops[1].number || ops[4].atom < DW_OP_lit0 ||
	    ops[4].atom > DW_OP_lit15)
		return false;
	for (size_t i = 0; i < n; i++)
		if (atoms[i] && ops[i].atom != atoms[i])
			return false;
	*limit = ops[4].atom - DW_OP_lit0;
	return true;
}

enum { UNDEFINED = XR_SAVEDS };

/* Where register @reg of the caller is: an enum xr_saved, or UNDEFINED. */
static uint8_t frame__saved(Dwarf_Frame *frame, const struct registers *r, int reg, int32_t *off)
{
	Dwarf_Op room[3], *ops = NULL;
	uint64_t base = 0;
	size_t n = 0;

	*off = 0;
	if (dwarf_frame_register(frame, reg, room, &ops, &n))
		return XR_SAVED_LOST;
	if (!n)
		return ops ? UNDEFINED : XR_SAVED_SAME;
	if (ops[0].atom != DW_OP_call_frame_cfa || n > 2)
		return XR_SAVED_LOST;
	if (n == 1)
		return XR_SAVED_CFA;
	if (ops[1].atom == DW_OP_plus_uconst && fits(ops[1].number)) {
		*off = (int32_t)ops[1].number;
		return XR_SAVED_CFA;
	}
	if (!op__sum(&ops[1], &base, off) || (base != r->sp && base != r->fp)) {
		*off = 0;
		return XR_SAVED_LOST;
	}
	return base == r->sp ? XR_SAVED_SP : XR_SAVED_FP;
}

static void frame__rule(Dwarf_Frame *frame, uint16_t machine, int ra, struct xr_unwind_rule *rule)
{
	const struct registers *r = machine == EM_AARCH64 ? &aarch64 : &x86_64;
	Dwarf_Op *ops;
	uint64_t reg;
	int32_t limit;
	size_t n;

	rule->ra = frame__saved(frame, r, ra, &rule->ra_off);
	if (rule->ra == UNDEFINED && r->link >= 0 && ra != r->link)
		rule->ra =
			XR_SAVED_SAME; /* no register of arm64 that is called: the link register */
	if (rule->ra == UNDEFINED) {
		*rule = (struct xr_unwind_rule){.cfa = XR_CFA_END};
		return;
	}
	rule->fp = frame__saved(frame, r, (int)r->fp, &rule->fp_off);
	if (rule->fp == UNDEFINED)
		rule->fp = XR_SAVED_LOST;
	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		goto none;
	if (machine == EM_X86_64 && ops__plt(ops, n, &limit)) {
		rule->cfa = XR_CFA_PLT;
		rule->cfa_off = 8;
		rule->ra = XR_SAVED_CFA;
		rule->ra_off = limit;
		return;
	}
	if (n > 2 || (n == 2 && ops[1].atom != DW_OP_deref) ||
	    !op__sum(ops, &reg, &rule->cfa_off) || (reg != r->sp && reg != r->fp))
		goto none;
	if (n == 1)
		rule->cfa = reg == r->sp ? XR_CFA_SP : XR_CFA_FP;
	else
		rule->cfa = reg == r->sp ? XR_CFA_SP_DEREF : XR_CFA_FP_DEREF;
	return;
none:
	*rule = (struct xr_unwind_rule){.cfa = XR_CFA_NONE};
}

/*
 * The rule at address @pc of a file of @machine (EM_X86_64, EM_AARCH64), and where the next one
 * begins.  XR_CFA_NONE if the unwinder cannot follow what the file says.
 *
 * Returns 0; -ENOENT if no function is at @pc, or its instructions are damaged; -ENOMEM.
 */
static int rule__read(Dwarf_CFI *cfi, uint16_t machine, uint64_t pc, struct xr_unwind_rule *rule,
		      uint64_t *end)
{
	Dwarf_Addr from, to;
	Dwarf_Frame *frame;
	bool is_signal;
	int ra;

	*rule = (struct xr_unwind_rule){.cfa = XR_CFA_NONE};
	if (dwarf_cfi_addrframe(cfi, pc, &frame))
		return -ENOENT;
	ra = dwarf_frame_info(frame, &from, &to, &is_signal);
	if (is_signal)
		rule->flags = XR_RULE_SIGNAL;
	if (ra >= 0)
		frame__rule(frame, machine, ra, rule);
	*end = to;
	free(frame);
	return ra >= 0 && to > pc ? 0 : -ENOENT;
}

/* --- the table --- */

static int maker__rule(struct maker *m, const struct xr_unwind_rule *rule, uint16_t *number)
{
	struct unwind_table *t = m->table;
	uint64_t halves[2];
	uintptr_t have;
	int err;

	memcpy(halves, rule, sizeof(halves));
	have = (uintptr_t)map__get(&m->numbers, halves[0], halves[1]);
	if (have) {
		*number = (uint16_t)(have - 1);
		return 0;
	}
	if (t->nrules == XR_UNWIND_RULES)
		return -E2BIG;
	err = array__room((void **)&t->rules, t->nrules, &m->rules_cap, sizeof(*t->rules));
	if (!err)
		err = map__put(&m->numbers, halves[0], halves[1],
			       (void *)((uintptr_t)t->nrules + 1));
	if (err)
		return err;
	*number = (uint16_t)t->nrules;
	t->rules[t->nrules++] = *rule;
	return 0;
}

static const struct xr_unwind_rule none = {.cfa = XR_CFA_NONE};

/* A row, the one number @back of its function; before the first of a function the gap has a row. */
static int maker__put(struct maker *m, uint64_t pc, const struct xr_unwind_rule *rule,
		      uint32_t back)
{
	struct unwind_table *t = m->table;
	uint16_t number = 0;
	int err;

	if (!back && rule != &none && pc > m->until) {
		err = maker__put(m, m->until, &none, 0);
		if (err)
			return err;
	}
	err = t->nrows < UNWIND_ROWS_MAX ? maker__rule(m, rule, &number) : -E2BIG;
	if (!err)
		err = array__room((void **)&t->rows, t->nrows, &m->rows_cap, sizeof(*t->rows));
	if (err)
		return err;
	t->rows[t->nrows++] = (struct xr_unwind_row){
		.pc = (uint32_t)(pc - t->base),
		.rule = number,
		.back = (uint16_t)(back < XR_ROW_FAR ? back : XR_ROW_FAR),
	};
	return 0;
}

/* Put those functions without an entry that begin before @end. */
static int maker__put_extras(struct maker *m, uint64_t end)
{
	static const struct xr_unwind_rule unchanged = {
		.cfa = XR_CFA_SP, .fp = XR_SAVED_SAME, .ra = XR_SAVED_SAME};
	static const struct xr_unwind_rule pushed = {.cfa = XR_CFA_SP,
						     .fp = XR_SAVED_SAME,
						     .ra = XR_SAVED_CFA,
						     .cfa_off = 16,
						     .ra_off = -8};
	int err = 0;

	for (; !err && m->extras_put < m->nextras; m->extras_put++) {
		const struct extra *e = &m->extra[m->extras_put];

		if (e->begin >= end)
			break;
		if (e->begin < m->until || e->end - m->table->base > UINT32_MAX)
			continue;
		err = maker__put(m, e->begin, &unchanged, 0);
		if (!err && e->push < e->end)
			err = maker__put(m, e->push, &pushed, 1);
		m->until = e->end;
	}
	return err;
}

/* The function at @begin, whose entry in .eh_frame is at @entry, up to @limit at most. */
static int maker__function(struct maker *m, Dwarf_CFI *cfi, uint64_t begin, uint64_t entry,
			   uint64_t limit)
{
	const uint8_t *bytes = elf_image__bytes(&m->file, entry, sizeof(uint32_t));
	struct xr_unwind_rule rule, last = none;
	uint32_t size, back = 0;
	uint64_t pc = begin, end;
	int err;

	if (!bytes)
		return 0;
	memcpy(&size, bytes, sizeof(size));
	for (; pc < limit && !rule__read(cfi, m->file.machine, pc, &rule, &end); pc = end) {
		m->work += size; /* libdw runs the instructions from the first on */
		if (m->work > WORK_MAX)
			return -E2BIG;
		if (back && !memcmp(&rule, &last, sizeof(rule)))
			continue;
		err = maker__put(m, pc, &rule, back++);
		if (err)
			return err;
		last = rule;
	}
	if (back)
		m->until = pc < limit ? pc : limit;
	return 0;
}

/* All functions of .eh_frame, in the order of the table for searching. */
static int maker__eh_frame(struct maker *m)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(m->file.elf);
	uint64_t begin, entry, next = 0, next_entry, limit;
	bool more = elf_image__function(&m->file, 0, &next, &next_entry);
	const uint64_t last = m->table->base + UINT32_MAX;
	int err = cfi ? 0 : -EBADMSG;

	for (uint32_t n = 1; more && !err; n++) {
		begin = next;
		entry = next_entry;
		more = elf_image__function(&m->file, n, &next, &next_entry);
		limit = more && next < last ? next : last;
		if (begin < m->until || begin >= limit)
			continue;
		err = maker__put_extras(m, begin);
		if (!err)
			err = maker__function(m, cfi, begin, entry, limit);
	}
	dwarf_cfi_end(cfi);
	return err;
}

/*
 * The linker makes no entry for .plt on arm64.  The code there is the same in all files (Procedure
 * Linkage Table, ELF for the Arm 64-bit Architecture; elfNN_aarch64 of binutils): a header of 32
 * bytes that pushes x16 and x30 and calls the dynamic linker, then stubs that do not change the
 * stack.  Either may begin with bti.
 */
#define PLT_HEADER 32u
#define PLT_PUSH   0xa9bf7bf0u /* stp x16, x30, [sp, #-16]! */

static void maker__plt(struct maker *m)
{
	GElf_Shdr plt;
	const Elf_Data *data = elf_taken__named(&m->file.taken, m->file.elf, ".plt", &plt);
	uint64_t at = plt.sh_addr, end = at + PLT_HEADER;
	uint32_t code[2];

	if (!data || data->d_size < PLT_HEADER)
		return;
	memcpy(code, data->d_buf, sizeof(code));
	if (code[0] != PLT_PUSH && code[1] != PLT_PUSH)
		return;
	m->extra[m->nextras++] = (struct extra){at, at + (code[0] == PLT_PUSH ? 4 : 8), end};
	at += data->d_size;
	if (at > end)
		m->extra[m->nextras++] = (struct extra){end, at, at};
}

static int extra__compare(const void *a, const void *b)
{
	const struct extra *e = a, *f = b;

	return e->begin < f->begin ? -1 : e->begin > f->begin;
}

/* The exported functions that have no frame. */
static void maker__leaves(struct maker *m)
{
	GElf_Shdr header;
	Elf_Data *symbols = elf_taken__named(&m->file.taken, m->file.elf, ".dynsym", &header);

	for (uint32_t i = 0; symbols && i < LEAF_SYMBOLS && m->nextras < EXTRAS_MAX; i++) {
		const uint8_t *code;
		GElf_Sym s;

		if (!gelf_getsym(symbols, (int)i, &s))
			break;
		if (GELF_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF ||
		    s.st_size > LEAF_BYTES || s.st_size > elf_image__code(&m->file, s.st_value))
			continue;
		code = elf_image__bytes(&m->file, s.st_value, s.st_size);
		if (code && leaf__is(code, s.st_size))
			m->extra[m->nextras++] = (struct extra){s.st_value, s.st_value + s.st_size,
								s.st_value + s.st_size};
	}
	qsort(m->extra, m->nextras, sizeof(m->extra[0]), extra__compare);
}

/* Free what the array has beyond @n; if that fails it stays as large. */
static void array__trim(void **array, size_t n, size_t size)
{
	void *smaller = realloc(*array, n * size);

	if (smaller)
		*array = smaller;
}

static int maker__run(struct maker *m)
{
	const bool arm = m->file.machine == EM_AARCH64;
	struct unwind_table *t = m->table;
	uint16_t zero;
	int err;

	t->base = m->until = elf_image__base(&m->file);
	if (arm)
		maker__plt(m);
	if (arm && !m->file.eh_frame_hdr)
		maker__leaves(m);
	if (!m->file.eh_frame_hdr && !m->nextras)
		return -ENOENT;
	err = maker__rule(m, &none, &zero);
	if (!err && m->file.eh_frame_hdr)
		err = maker__eh_frame(m);
	if (!err)
		err = maker__put_extras(m, UINT64_MAX);
	if (!err && !t->nrows)
		err = -EBADMSG;
	return err ? err : maker__put(m, m->until, &none, 0);
}

static int maker__make(struct unwind_table **out, Elf *elf, struct errmsg *f)
{
	struct maker m = {.table = NULL};
	int err = elf ? elf_image__open(&m.file, elf) : -EBADMSG;

	*out = NULL;
	if (err)
		return errmsg__set(f, err, "not a readable ELF file");
	m.table = calloc(1, sizeof(*m.table));
	err = m.table ? maker__run(&m) : -ENOMEM;
	map__free(&m.numbers);
	if (err) {
		unwind_table__free(m.table);
		return errmsg__set(f, err, "cannot make unwind rules of its .eh_frame: %s",
				   err == -ENOENT ? "it has none" : strerror(-err));
	}
	array__trim((void **)&m.table->rows, m.table->nrows, sizeof(*m.table->rows));
	array__trim((void **)&m.table->rules, m.table->nrules, sizeof(*m.table->rules));
	*out = m.table;
	return 0;
}

int unwind_table__of_elf(struct unwind_table **out, int fd, struct errmsg *f)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	int err = maker__make(out, elf, f);

	elf_end(elf);
	return err;
}

int unwind_table__of_image(struct unwind_table **out, const void *image, size_t size,
			   struct errmsg *f)
{
	Elf *elf = elf_memory((char *)image, size);
	int err = maker__make(out, elf, f);

	elf_end(elf);
	return err;
}
