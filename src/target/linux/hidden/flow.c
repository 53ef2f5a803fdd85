/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/hidden/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CODE_PENDING 24u  /* branches on their way to a later address */
#define CODE_OUTSIDE 8u	  /* branches to parts that the compiler moved elsewhere */
#define CODE_COLD    512u /* bytes of such a part that are looked at */
#define CODE_LOADS   256u

#define CODE_LEAF	 256u /* bytes of a called function that are looked at */
#define CODE_LEAF_WRITES 64u

/* A place in the function that branches lead to. */
#define MARK_TARGET 1u /* some branch */
#define MARK_LOOP   2u /* a branch from a later address: nothing is known here */

struct code_pending {
	uint64_t target;
	struct flow_state state;
};

struct code_walk {
	struct flow_run run;
	csh capstone;
	cs_insn *leaf; /* room for an instruction of a called function */
	uint64_t begin;
	uint64_t size;
	bool lost_paths; /* there is an indirect jump: code may be reached in ways not seen */
	uint32_t n_pending;
	uint32_t n_outside;
	struct code_pending pending[CODE_PENDING];
	struct code_pending outside[CODE_OUTSIDE];
	uint8_t mark[CODE_SIZE_MAX];
};

struct flow_value flow__const(uint64_t at)
{
	return (struct flow_value){.kind = CODE_CONST, .at = at};
}

struct flow_value flow__plus(struct flow_value value, uint64_t by)
{
	if (value.kind != CODE_CONST && value.kind != CODE_ARG)
		return (struct flow_value){0};
	value.at += by;
	return value;
}

bool flow__same(const struct flow_value *a, const struct flow_value *b)
{
	return a->kind == b->kind && (a->kind == CODE_UNKNOWN ||
				      (a->at == b->at && a->size == b->size && a->by == b->by));
}

/* By which number @value multiplies a variable of 8 bytes; 0: @value is something else. */
static uint64_t value__times(struct flow_value value)
{
	if (value.kind == CODE_VAR && value.size == 8)
		return 1;
	return value.kind == CODE_TIMES ? value.by : 0;
}

/* @by times the variable of 8 bytes at @at. */
static struct flow_value flow__multiple(uint64_t at, uint64_t by)
{
	if (by == 1)
		return (struct flow_value){.kind = CODE_VAR, .at = at, .size = 8};
	if (!by || by > UINT16_MAX)
		return (struct flow_value){0};
	return (struct flow_value){
		.kind = CODE_TIMES,
		.at = at,
		.size = 8,
		.by = (uint16_t)by,
	};
}

struct flow_value flow__times(struct flow_value value, uint64_t by)
{
	if (by > UINT16_MAX)
		return (struct flow_value){0};
	return flow__multiple(value.at, value__times(value) * by);
}

struct flow_value flow__sum(struct flow_value a, struct flow_value b)
{
	if (a.kind == CODE_CONST) {
		struct flow_value constant = a;

		a = b;
		b = constant;
	}
	if (b.kind != CODE_CONST)
		return value__times(a) && value__times(b) && a.at == b.at
			       ? flow__multiple(a.at, value__times(a) + value__times(b))
			       : (struct flow_value){0};
	if (!b.at)
		return a;
	if (value__times(a) != 1)
		return flow__plus(a, b.at);
	if (b.at > UINT16_MAX)
		return (struct flow_value){0};
	return (struct flow_value){
		.kind = CODE_AFTER,
		.at = a.at,
		.size = 8,
		.by = (uint16_t)b.at,
	};
}

struct flow_value flow__difference(struct flow_value a, struct flow_value b)
{
	if (b.kind == CODE_CONST)
		return flow__sum(a, flow__const(-b.at));
	if (!value__times(b) || a.at != b.at || value__times(a) <= value__times(b))
		return (struct flow_value){0};
	return flow__multiple(a.at, value__times(a) - value__times(b));
}

struct flow_value flow__load(struct flow_run *run, struct flow_value at, unsigned int size)
{
	uint64_t value;

	if (at.kind != CODE_CONST || !size || size > 8)
		return (struct flow_value){0};
	if (size == 8 && run->loads) {
		run->loads--;
		if (elf_image__slot(run->file, at.at, &value))
			return flow__const(value);
	}
	return (struct flow_value){.kind = CODE_VAR, .at = at.at, .size = (uint8_t)size};
}

void flow__store(struct flow_run *run, struct flow_value to, unsigned int size,
		 struct flow_value value)
{
	if (run->watch->store)
		run->watch->store(run->watch, &to, size, &value);
}

static void value__join(struct flow_value *a, const struct flow_value *b)
{
	if (!flow__same(a, b))
		*a = (struct flow_value){0};
}

/* Keep in @a what @b knows as well. */
static void state__join(struct flow_state *a, const struct flow_state *b)
{
	if (!b->live)
		return;
	if (!a->live) {
		*a = *b;
		return;
	}
	for (unsigned int i = 0; i < FLOW_REGS; i++) {
		value__join(&a->reg[i], &b->reg[i]);
		value__join(&a->vec[i][0], &b->vec[i][0]);
		value__join(&a->vec[i][1], &b->vec[i][1]);
	}
	value__join(&a->tested, &b->tested);
	value__join(&a->nonzero, &b->nonzero);
}

static void state__forget(struct flow_state *s, bool live)
{
	memset(s, 0, sizeof(*s));
	s->live = live;
}

/* Remember @state for the code at @target. */
static void walk__branch(struct code_walk *w, uint64_t target, const struct flow_state *state)
{
	bool inside = target - w->begin < w->size;
	struct code_pending *list = inside ? w->pending : w->outside;
	uint32_t *n = inside ? &w->n_pending : &w->n_outside;

	for (uint32_t i = 0; i < *n; i++) {
		if (list[i].target == target) {
			state__join(&list[i].state, state);
			return;
		}
	}
	if (*n < (inside ? CODE_PENDING : CODE_OUTSIDE)) {
		list[*n].target = target;
		list[(*n)++].state = *state;
	} else if (inside) {
		w->mark[target - w->begin] |= MARK_LOOP;
	}
}

/* The state at @address: what falls into it joined with what branches to it. */
static void walk__arrive(struct code_walk *w, uint64_t address)
{
	uint8_t mark = w->mark[address - w->begin];

	if (!w->run.state.live && w->lost_paths)
		state__forget(&w->run.state, true);
	if (!mark)
		return;
	if (mark & MARK_LOOP)
		state__forget(&w->run.state, true);
	for (uint32_t i = 0; i < w->n_pending; i++) {
		if (w->pending[i].target != address)
			continue;
		state__join(&w->run.state, &w->pending[i].state);
		w->pending[i] = w->pending[--w->n_pending];
		break;
	}
	if (mark & MARK_LOOP)
		state__forget(&w->run.state, true);
}

/*
 * A called function that is short and calls nothing: GCC (-fipa-ra) keeps values across the call in
 * registers that the function does not write, whatever the calling convention says. Collects
 * the registers it writes.
 *
 * Returns how many; -1: not such a function.
 */
static int walk__leaf(struct code_walk *w, uint64_t target, uint16_t wrote[CODE_LEAF_WRITES])
{
	uint64_t in_segment = elf_image__code(w->run.file, target);
	size_t left = in_segment < CODE_LEAF ? in_segment : CODE_LEAF;
	const uint8_t *at = elf_image__bytes(w->run.file, target, left);
	uint64_t address = target, furthest = target;
	cs_regs read, write;
	uint8_t n_read, n_write;
	int n = 0;

	while (at && cs_disasm_iter(w->capstone, &at, &left, &address, w->leaf)) {
		struct flow_next flow = w->run.arch->flow(w->leaf);

		if (flow.kind == FLOW_CALL || flow.kind == FLOW_UNKNOWN ||
		    cs_regs_access(w->capstone, w->leaf, read, &n_read, write, &n_write))
			return -1;
		for (unsigned int i = 0; i < n_write; i++) {
			if (n == CODE_LEAF_WRITES)
				return -1;
			wrote[n++] = write[i];
		}
		if (flow.kind == FLOW_BRANCH || flow.kind == FLOW_JUMP) {
			if (flow.target < target || flow.target - target >= CODE_LEAF)
				return -1;
			if (flow.target > furthest)
				furthest = flow.target;
		}
		/* the last instruction: it ends the path, and nothing jumps behind it */
		if (flow.kind == FLOW_RETURN && furthest < address)
			return n;
	}
	return -1;
}

static void walk__called(struct code_walk *w, uint64_t target)
{
	uint16_t wrote[CODE_LEAF_WRITES];
	struct flow_state *s = &w->run.state;
	int n;

	if (w->run.watch->call)
		w->run.watch->call(w->run.watch, &w->run, target);
	n = target ? walk__leaf(w, target, wrote) : -1;
	if (n >= 0) {
		for (int i = 0; i < n; i++)
			w->run.arch->forget(s, wrote[i]);
		s->reg[w->run.arch->result] = (struct flow_value){0};
		memset(&s->tested, 0, sizeof(s->tested));
		return;
	}
	for (unsigned int i = 0; i < FLOW_REGS; i++) {
		if (w->run.arch->lost >> i & 1)
			s->reg[i] = (struct flow_value){0};
	}
	memset(s->vec, 0, sizeof(s->vec));
	memset(&s->tested, 0, sizeof(s->tested));
}

static void walk__insn(struct code_walk *w, const cs_insn *insn)
{
	struct flow_state *s = &w->run.state;
	struct flow_next flow;
	struct flow_state taken;

	w->run.arch->step(&w->run, insn);
	flow = w->run.arch->flow(insn);
	if (flow.kind == FLOW_BRANCH || flow.kind == FLOW_JUMP || flow.kind == FLOW_UNKNOWN)
		w->run.watch->branched = true;
	switch (flow.kind) {
	case FLOW_NEXT:
		break;
	case FLOW_CALL:
		walk__called(w, flow.target);
		break;
	case FLOW_BRANCH:
		taken = *s;
		if (flow.nonzero > 0)
			taken.nonzero = s->tested;
		else if (flow.nonzero < 0)
			s->nonzero = s->tested;
		walk__branch(w, flow.target, &taken);
		break;
	case FLOW_JUMP:
		/* a jump out of the function may be its last call */
		if (flow.target - w->begin >= w->size && w->run.watch->call)
			w->run.watch->call(w->run.watch, &w->run, flow.target);
		walk__branch(w, flow.target, s);
		state__forget(s, false);
		break;
	case FLOW_RETURN:
	case FLOW_UNKNOWN:
		if (w->run.watch->end)
			w->run.watch->end(w->run.watch, &s->reg[w->run.arch->result]);
		state__forget(s, false);
		break;
	}
}

/* Find the places that branches lead to. */
static void walk__mark(struct code_walk *w, const uint8_t *bytes, cs_insn *insn)
{
	uint64_t address = w->begin;
	const uint8_t *at = bytes;
	size_t left = w->size;

	while (cs_disasm_iter(w->capstone, &at, &left, &address, insn)) {
		struct flow_next flow = w->run.arch->flow(insn);

		if (flow.kind == FLOW_UNKNOWN)
			w->lost_paths = true;
		if ((flow.kind != FLOW_BRANCH && flow.kind != FLOW_JUMP) ||
		    flow.target - w->begin >= w->size)
			continue;
		w->mark[flow.target - w->begin] |=
			flow.target > insn->address ? MARK_TARGET : MARK_TARGET | MARK_LOOP;
	}
}

static void walk__follow(struct code_walk *w, const uint8_t *bytes, cs_insn *insn)
{
	uint64_t address = w->begin;
	const uint8_t *at = bytes;
	size_t left = w->size;

	w->run.state.live = true;
	for (uint16_t i = 0; i < CODE_ARGS; i++)
		w->run.state.reg[w->run.arch->arg[i]] =
			(struct flow_value){.kind = CODE_ARG, .by = i};
	while (cs_disasm_iter(w->capstone, &at, &left, &address, insn)) {
		walk__arrive(w, insn->address);
		if (w->run.state.live)
			walk__insn(w, insn);
	}
	/* a path that leaves the function at its end, or cannot be decoded, ends here */
}

/* The parts elsewhere, in a straight line: they end in a call that does not return. */
static void walk__outside(struct code_walk *w, cs_insn *insn)
{
	for (uint32_t i = 0; i < w->n_outside; i++) {
		uint64_t address = w->outside[i].target;
		uint64_t in_segment = elf_image__code(w->run.file, address);
		size_t left = in_segment < CODE_COLD ? in_segment : CODE_COLD;
		const uint8_t *at = elf_image__bytes(w->run.file, address, left);

		w->run.state = w->outside[i].state;
		while (at && w->run.state.live &&
		       cs_disasm_iter(w->capstone, &at, &left, &address, insn)) {
			struct flow_next flow = w->run.arch->flow(insn);

			if (flow.kind != FLOW_NEXT && flow.kind != FLOW_CALL)
				break;
			walk__insn(w, insn);
			if (flow.kind == FLOW_CALL)
				break;
		}
	}
}

int flow__run(struct elf_image *file, uint64_t begin, uint64_t size, struct flow_watch *watch)
{
	const struct flow_arch *arch = file->machine == EM_X86_64 ? &flow_x86 : &flow_arm64;
	uint64_t in_segment = elf_image__code(file, begin);
	struct code_walk *w = NULL;
	const uint8_t *bytes;
	cs_insn *insn = NULL;
	csh capstone = 0;
	int err = 0;

	if (size > in_segment)
		size = in_segment;
	if (size > CODE_SIZE_MAX)
		size = CODE_SIZE_MAX;
	bytes = elf_image__bytes(file, begin, size);
	if (!size || !bytes)
		return -ENOENT;
	if (cs_open(arch->arch, arch->mode, &capstone) != CS_ERR_OK)
		return -ENOMEM;
	cs_option(capstone, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(capstone);
	w = calloc(1, sizeof(*w));
	if (w)
		w->leaf = cs_malloc(capstone);
	if (!w || !insn || !w->leaf) {
		err = -ENOMEM;
		goto cleanup;
	}
	w->run = (struct flow_run){.file = file, .arch = arch, .watch = watch, .loads = CODE_LOADS};
	w->capstone = capstone;
	w->begin = begin;
	w->size = size;
	walk__mark(w, bytes, insn);
	walk__follow(w, bytes, insn);
	walk__outside(w, insn);

cleanup:
	if (w && w->leaf)
		cs_free(w->leaf, 1);
	if (insn)
		cs_free(insn, 1);
	free(w);
	cs_close(&capstone);
	return err;
}
