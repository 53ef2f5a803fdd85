/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/unwind/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"

/* A function as it came: its rows are [first, first + n) of those that came. */
struct function {
	uint64_t begin, end;
	uint32_t first, n;
};

struct made_row {
	uint64_t pc;
	uint16_t rule;
};

struct maker {
	struct unwind_table *table;
	struct function *functions;
	size_t nfunctions, functions_cap;
	struct made_row *rows;
	size_t nrows, rows_cap;
	size_t rules_cap, final_cap;
	struct map numbers; /* of rules: their two halves to number + 1 */
};

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

static int maker__function(void *arg, uint64_t begin, uint64_t end)
{
	struct maker *m = arg;
	int err = array__room((void **)&m->functions, m->nfunctions, &m->functions_cap,
			      sizeof(*m->functions));

	if (err)
		return err;
	m->functions[m->nfunctions++] = (struct function){begin, end, (uint32_t)m->nrows, 0};
	return 0;
}

static int maker__row(void *arg, uint64_t pc, const struct xr_unwind_rule *rule)
{
	struct maker *m = arg;
	uint16_t number = 0;
	int err = m->nrows < UNWIND_ROWS_MAX ? maker__rule(m, rule, &number) : -E2BIG;

	if (!err)
		err = array__room((void **)&m->rows, m->nrows, &m->rows_cap, sizeof(*m->rows));
	if (err)
		return err;
	m->rows[m->nrows++] = (struct made_row){pc, number};
	m->functions[m->nfunctions - 1].n++;
	return 0;
}

static int function__compare(const void *a, const void *b)
{
	const struct function *f = a, *g = b;

	if (f->begin != g->begin)
		return f->begin < g->begin ? -1 : 1;
	return f->first < g->first ? -1 : f->first > g->first; /* as they came */
}

static int maker__put(struct maker *m, uint64_t pc, uint32_t rule, uint32_t back)
{
	struct unwind_table *t = m->table;
	int err = t->nrows < UNWIND_ROWS_MAX ? array__room((void **)&t->rows, t->nrows,
							   &m->final_cap, sizeof(*t->rows))
					     : -E2BIG;

	if (err)
		return err;
	t->rows[t->nrows++] = (struct xr_unwind_row){
		.pc = (uint32_t)(pc - t->base),
		.rule = (uint16_t)rule,
		.back = (uint16_t)(back < XR_ROW_FAR ? back : XR_ROW_FAR),
	};
	return 0;
}

/* All rows in their order, those of @f up to @end. */
static int maker__put_function(struct maker *m, const struct function *f, uint64_t end)
{
	int err = 0;

	for (uint32_t i = 0; i < f->n && !err; i++)
		if (m->rows[f->first + i].pc < end)
			err = maker__put(m, m->rows[f->first + i].pc, m->rows[f->first + i].rule,
					 i);
	return err;
}

static int maker__finish(struct maker *m)
{
	const uint64_t base = m->table->base;
	uint64_t until = base; /* told so far */
	int err = 0;

	if (!m->nfunctions)
		return -EBADMSG;
	qsort(m->functions, m->nfunctions, sizeof(*m->functions), function__compare);
	for (size_t i = 0; i < m->nfunctions && !err; i++) {
		const struct function *f = &m->functions[i];
		uint64_t end = f->end;
		size_t next = i + 1;

		if (f->begin < base || f->end - base > UINT32_MAX || !f->n)
			continue;
		while (next < m->nfunctions && m->functions[next].begin == f->begin)
			next++;
		if (next < m->nfunctions && m->functions[next].begin < end)
			end = m->functions[next].begin;
		if (f->begin > until)
			err = maker__put(m, until, 0, 0);
		if (!err)
			err = maker__put_function(m, f, end);
		until = end;
		i = next - 1;
	}
	if (!err && !m->table->nrows)
		return -EBADMSG;
	return err ? err : maker__put(m, until, 0, 0);
}

/* No more than is needed; what cannot be made smaller stays. */
static void array__trim(void **array, size_t n, size_t size)
{
	void *smaller = realloc(*array, n * size);

	if (smaller)
		*array = smaller;
}

/*
 * The linker makes no entry for .plt on arm64.  What is there is the same in all files (Procedure
 * Linkage Table, ELF for the Arm 64-bit Architecture; elfNN_aarch64 of binutils): a header of 32
 * bytes that pushes x16 and x30 and leaves them to the dynamic linker, then stubs that touch no
 * stack.  Either may begin with bti.
 */
#define PLT_HEADER 32u
#define PLT_PUSH   0xa9bf7bf0u /* stp x16, x30, [sp, #-16]! */

static const struct xr_unwind_rule no_frame = {
	.cfa = XR_CFA_SP, .fp = XR_SAVED_SAME, .ra = XR_SAVED_SAME};

static int maker__plt(struct maker *m, const struct cfi_input *in)
{
	const struct xr_unwind_rule pushed = {.cfa = XR_CFA_SP,
					      .fp = XR_SAVED_SAME,
					      .ra = XR_SAVED_CFA,
					      .cfa_off = 16,
					      .ra_off = -8};
	const uint64_t at = in->plt_address;
	uint32_t code[2], push;
	int err;

	if (!in->plt || in->plt_size < PLT_HEADER || at > UINT64_MAX - in->plt_size)
		return 0;
	memcpy(code, in->plt, sizeof(code));
	if (code[0] != PLT_PUSH && code[1] != PLT_PUSH)
		return 0;
	push = code[0] == PLT_PUSH ? 4 : 8;
	err = maker__function(m, at, at + PLT_HEADER);
	if (!err)
		err = maker__row(m, at, &no_frame);
	if (!err)
		err = maker__row(m, at + push, &pushed);
	if (!err && in->plt_size > PLT_HEADER)
		err = maker__function(m, at + PLT_HEADER, at + in->plt_size);
	if (!err && in->plt_size > PLT_HEADER)
		err = maker__row(m, at + PLT_HEADER, &no_frame);
	return err;
}

static int maker__leaves(struct maker *m, const struct cfi_input *in)
{
	int err = 0;

	for (uint32_t i = 0; i < in->nleaves && !err; i++) {
		err = maker__function(m, in->leaf[i].begin, in->leaf[i].end);
		if (!err)
			err = maker__row(m, in->leaf[i].begin, &no_frame);
	}
	return err;
}

int unwind_table__make(struct unwind_table **out, const struct cfi_input *in, uint64_t base)
{
	const struct xr_unwind_rule none = {.cfa = XR_CFA_NONE};
	struct maker m = {.table = calloc(1, sizeof(*m.table))};
	const struct cfi_sink sink = {maker__function, maker__row, &m};
	uint16_t zero;
	int err;

	*out = NULL;
	if (!m.table)
		return -ENOMEM;
	m.table->base = base;
	err = maker__rule(&m, &none, &zero);
	if (!err)
		err = cfi__parse(in, &sink, &m.table->counts);
	if (!err || err == -EBADMSG) /* what came before the damage holds */
		err = maker__plt(&m, in);
	if (!err)
		err = maker__leaves(&m, in);
	if (!err)
		err = maker__finish(&m);
	free(m.functions);
	free(m.rows);
	map__free(&m.numbers);
	if (err) {
		unwind_table__free(m.table);
		return err;
	}
	array__trim((void **)&m.table->rows, m.table->nrows, sizeof(*m.table->rows));
	array__trim((void **)&m.table->rules, m.table->nrules, sizeof(*m.table->rules));
	*out = m.table;
	return 0;
}

/* The number of the last row at or before @pc; -1: there is none. */
static int64_t table__at(const struct unwind_table *t, uint64_t address)
{
	uint64_t pc = address - t->base;
	uint32_t low = 0, high = t->nrows;

	if (address < t->base || pc > UINT32_MAX)
		return -1;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->rows[middle].pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return (int64_t)low - 1;
}

const struct xr_unwind_row *unwind_table__find(const struct unwind_table *t, uint64_t address)
{
	int64_t at = table__at(t, address);

	return at < 0 || !t->rows[at].rule ? NULL : &t->rows[at];
}

bool unwind_table__function(const struct unwind_table *t, uint64_t address, uint64_t *begin,
			    uint64_t *end)
{
	int64_t at = table__at(t, address), next = at + 1;

	/* within a function rule 0 may be that of code which is not followed */
	while (at > 0 && t->rows[at].back & XR_ROW_BACK)
		at--;
	if (at < 0)
		return false;
	while (next < t->nrows && t->rows[next].back & XR_ROW_BACK)
		next++;
	if (next >= t->nrows || (next == at + 1 && !t->rows[at].rule))
		return false;
	*begin = t->base + t->rows[at].pc;
	*end = t->base + t->rows[next].pc;
	return true;
}

void unwind_table__free(struct unwind_table *t)
{
	if (!t)
		return;
	free(t->rows);
	free(t->rules);
	free(t);
}
