/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * R's counters of its memory, which doprof() (eval.c) writes for Rprof(memory.profiling = TRUE).
 * They are static variables, of memory.c and of duplicate.c.
 */
#include <errno.h>
#include <string.h>

#include "target/linux/hidden/hidden_parts.h"

#define HOW_MEMORY "code of get_current_mem"

/*
 * sizeof(SEXPREC) where a pointer has 8 bytes, in R 3.0 to 4.6 (Defn.h): a header, three pointers
 * that all objects have, and a union of three.
 */
#define NODE_SIZE 56u

/* What the size of a node may be: two pointers less, for an R without generations, or some more. */
#define NODE_SIZE_MIN 40u
#define NODE_SIZE_MAX 128u

#define CURRENT_MEM_MAX	   256u /* bytes of get_current_mem; it has 49 to 64 */
#define CURRENT_MEM_BEFORE 16u	/* functions before vmaxget of which it is one: GCC has it next */

/*
 * get_current_mem() of memory.c, all of it (R 2.x to 4.6):
 *	*smallvsize = R_SmallVallocSize;
 *	*largevsize = R_LargeVallocSize;
 *	*nodes = R_NodesInUse * sizeof(SEXPREC);
 * One store through each argument and nothing else, in one straight line.
 */
struct current_mem {
	struct flow_watch watch;
	struct derive_seen at[CODE_ARGS];
	unsigned int stores, calls, ends;
};

static void current_mem__store(struct flow_watch *watch, const struct flow_value *to,
			       unsigned int size, const struct flow_value *value)
{
	struct current_mem *c = (struct current_mem *)watch;

	c->stores++;
	if (to->kind == CODE_ARG && !to->at && to->by < CODE_ARGS && size == 8)
		seen__add(&c->at[to->by], value);
}

static void current_mem__call(struct flow_watch *watch, struct flow_run *run, uint64_t target)
{
	(void)run;
	(void)target;
	((struct current_mem *)watch)->calls++;
}

static void current_mem__end(struct flow_watch *watch, const struct flow_value *result)
{
	struct current_mem *c = (struct current_mem *)watch;

	(void)result;
	c->ends++;
}

static bool current_mem__is(const struct elf_image *file, const struct current_mem *c)
{
	const struct flow_value *small = &c->at[0].value, *large = &c->at[1].value;
	struct flow_value nodes = c->at[2].value;

	if (c->stores != 3 || c->calls || c->ends != 1 || c->watch.branched)
		return false;
	for (unsigned int i = 0; i < CODE_ARGS; i++)
		if (c->at[i].n != SEEN_ONE)
			return false;
	if (nodes.kind != CODE_TIMES || nodes.by % 8 || nodes.by < NODE_SIZE_MIN ||
	    nodes.by > NODE_SIZE_MAX)
		return false;
	nodes.kind = CODE_VAR;
	return hidden__is_variable(file, small, 8) && hidden__is_variable(file, large, 8) &&
	       hidden__is_variable(file, &nodes, 8) && small->at != large->at &&
	       small->at != nodes.at && large->at != nodes.at;
}

/* Look for it before vmaxget, which is exported. @found: if there was one, and only one. */
static int current_mem__find(struct elf_image *file, struct current_mem *found, bool *one)
{
	uint64_t end = hidden__exported(file, "vmaxget", STT_FUNC, NULL);

	*one = false;
	for (unsigned int i = 0; end && i < CURRENT_MEM_BEFORE; i++) {
		struct current_mem c = {
			.watch.store = current_mem__store,
			.watch.call = current_mem__call,
			.watch.end = current_mem__end,
		};
		uint64_t begin = elf_image__before(file, end), size = end - begin;
		int err;

		end = begin;
		if (!begin || size > CURRENT_MEM_MAX)
			continue;
		err = flow__run(file, begin, size, &c.watch);
		if (err && err != -ENOENT)
			return err;
		if (err || !current_mem__is(file, &c))
			continue;
		if (*one) {
			*one = false;
			return 0;
		}
		*found = c;
		*one = true;
	}
	return 0;
}

/* Rf_duplicate() of duplicate.c counts its calls before it does anything else. */
struct duplicate_watch {
	struct flow_watch watch;
	struct derive_seen counter;
	bool called;
};

static void duplicate__store(struct flow_watch *watch, const struct flow_value *to,
			     unsigned int size, const struct flow_value *value)
{
	struct duplicate_watch *d = (struct duplicate_watch *)watch;

	if (!d->called && !watch->branched && to->kind == CODE_CONST && size == 8 &&
	    value->kind == CODE_AFTER && value->by == 1 && value->at == to->at)
		seen__add(&d->counter, value);
}

static void duplicate__call(struct flow_watch *watch, struct flow_run *run, uint64_t target)
{
	(void)run;
	(void)target;
	((struct duplicate_watch *)watch)->called = true;
}

static int counters__duplicates(struct elf_image *file, struct hidden *out)
{
	struct duplicate_watch d = {
		.watch.store = duplicate__store,
		.watch.call = duplicate__call,
	};
	uint64_t size, begin = hidden__exported(file, "Rf_duplicate", STT_FUNC, &size);
	struct flow_value counter;
	int err;

	if (!begin)
		return 0;
	err = flow__run(file, begin, size && size < CODE_LIMIT ? size : CODE_LIMIT, &d.watch);
	if (err)
		return err == -ENOENT ? 0 : err;
	counter = d.counter.value;
	counter.kind = CODE_VAR;
	if (d.counter.n == SEEN_ONE && hidden__is_variable(file, &counter, 8) &&
	    counter.at != out->small && counter.at != out->large && counter.at != out->nodes)
		out->dups = counter.at;
	return 0;
}

int counters__by_code(struct elf_image *file, struct hidden *out)
{
	struct current_mem c = {0};
	bool one;
	int err = current_mem__find(file, &c, &one);

	if (err)
		return err;
	if (one && !out->how_memory) {
		out->small = c.at[0].value.at;
		out->large = c.at[1].value.at;
		out->nodes = c.at[2].value.at;
		out->how_memory = HOW_MEMORY;
	}
	if (one && out->nodes == c.at[2].value.at)
		out->node_size = c.at[2].value.by;
	if (!out->how_memory || out->dups)
		return 0;
	return counters__duplicates(file, out);
}

/* A variable of 8 bytes that .symtab names. */
static bool counters__symbol(struct elf_image *file, const char *name, uint64_t *at)
{
	struct elf_symbol s;

	if (!elf_image__symbol(file, SHT_SYMTAB, name, STT_OBJECT, &s) || s.size != 8 ||
	    !elf_image__writable(file, s.value, 8))
		return false;
	*at = s.value;
	return true;
}

void counters__by_symbols(struct elf_image *file, const char *how, struct hidden *out)
{
	uint64_t small, large, nodes, dups;

	if (!counters__symbol(file, "R_SmallVallocSize", &small) ||
	    !counters__symbol(file, "R_LargeVallocSize", &large) ||
	    !counters__symbol(file, "R_NodesInUse", &nodes))
		return;
	if (nodes != out->nodes || !out->node_size)
		out->node_size = NODE_SIZE;
	out->small = small;
	out->large = large;
	out->nodes = nodes;
	out->how_memory = how;
	if (counters__symbol(file, "duplicate_counter", &dups))
		out->dups = dups;
}
