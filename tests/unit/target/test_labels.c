/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where R has its option for labels, over an image of R's memory: its table of symbols among its
 * variables, with what looks like one, and lists that do not end.
 */
#include <errno.h>

#include "base/mem_reader.h"
#include "target/labels.h"
#include "r_image.h"
#include "tap.h"

#define SIZE	  49157u
#define VARIABLES 600u

struct world {
	struct image m;
	struct xr_row row;
	struct mem_reader reader;
	uint64_t options, width, table, variables;
};

static int read_image(void *arg, uint64_t addr, void *to, size_t len)
{
	return image__read(arg, to, len, addr) ? -EFAULT : 0;
}

static void install(struct world *w, uint32_t hash, uint64_t symbol)
{
	uint64_t at = w->table + 8 * (uint64_t)(hash % SIZE);

	image__put64(&w->m, at,
		     image__cell(&w->m, R_LISTSXP, symbol, image__get64(&w->m, at), w->m.nil));
}

/* The hashes are R_Newhashpjw() of the names. */
static void world__init(struct world *w)
{
	image__init(&w->m, &(struct xr_layout){.vector_data = 48}, 1 << 20, 1 << 12);
	w->reader = (struct mem_reader){.read = read_image, .arg = &w->m};
	w->row = image__row(&w->m);
	w->table = image__alloc(&w->m, 8 * (size_t)SIZE);
	for (uint32_t i = 0; i < SIZE; i++)
		image__put64(&w->m, w->table + 8 * (uint64_t)i, w->m.nil);
	w->options = image__symbol(&w->m, ".Options");
	w->width = image__cell(&w->m, R_LISTSXP, w->m.nil, w->m.nil, image__symbol(&w->m, "width"));
	image__put64(&w->m, w->options + 8 * R_CDR, w->width);
	install(w, 0x24, w->m.dollar);
	install(w, 0x24, image__symbol(&w->m, "another"));
	install(w, 0x60b, w->m.item);
	install(w, 0x3da, w->m.colon2);
	install(w, 0x67b0763, w->options);
	w->variables = image__alloc(&w->m, 8 * (size_t)VARIABLES);
	for (uint32_t i = 0; i < VARIABLES; i++)
		image__put64(&w->m, w->variables + 8 * (uint64_t)i,
			     i % 3 ? w->m.nil + 8 * (i % 7) : 0x7000000000ULL + i);
	image__put64(&w->m, w->variables + 8 * 555, w->table);
}

static int search(struct world *w, struct symbol_table *table, uint64_t *variable)
{
	return symbol_table__search(&w->row, &w->reader, w->variables, w->variables + 8 * VARIABLES,
				    variable, table);
}

TEST(table)
{
	struct symbol_table table = {0};
	uint64_t variable = 0;
	struct world w;

	world__init(&w);
	tap__ok(!search(&w, &table, &variable) && variable == w.variables + 8 * 555 &&
			table.at == w.table && table.size == SIZE,
		"the table is found among other variables");
	tap__ok(!symbol_table__try(&w.row, &w.reader, variable, &table), "and known again");
	tap__ok(symbol_table__try(&w.row, &w.reader, variable + 8, &table) == -ENOENT &&
			!table.size,
		"another variable is not one");
	image__put64(&w.m, w.table + 8 * 0x60b, w.m.nil);
	tap__ok(search(&w, &table, &variable) == -ENOENT, "a table without `[[` is not R's");
	image__free(&w.m);
}

TEST(option)
{
	struct symbol_table table = {0};
	uint64_t tag, ours, reads, variable;
	struct world w;

	world__init(&w);
	tap__bail_if(search(&w, &table, &variable), "no table");
	reads = w.m.reads;
	tap__ok(!symbol_table__labels(&w.row, &w.reader, &table) && !w.row.labels_at &&
			w.m.reads == reads + 1,
		"no symbol, no labels: one read");
	tag = image__symbol(&w.m, "xrprof.labels");
	install(&w, 0xcb01e33, tag);
	tap__ok(!symbol_table__labels(&w.row, &w.reader, &table) && w.row.labels_at == w.width &&
			w.row.labels_tag == tag,
		"it will be behind the last option");
	ours = image__cell(&w.m, R_LISTSXP, w.m.nil, w.m.nil, tag);
	image__put64(&w.m, w.width + 8 * R_CDR, ours);
	tap__ok(!symbol_table__labels(&w.row, &w.reader, &table) && w.row.labels_at == w.width,
		"it is behind another one");
	image__put64(&w.m, w.options + 8 * R_CDR, ours);
	tap__ok(!symbol_table__labels(&w.row, &w.reader, &table) && w.row.labels_at == w.options,
		"it is the first");
	image__put64(&w.m, w.options + 8 * R_CDR, w.width);
	image__put64(&w.m, w.width + 8 * R_CDR, w.width);
	tap__ok(symbol_table__labels(&w.row, &w.reader, &table) == -EFAULT && !w.row.labels_at,
		"options in a circle");
	image__put64(&w.m, w.width + 8 * R_CDR, 0x1234560);
	tap__ok(symbol_table__labels(&w.row, &w.reader, &table) == -EFAULT && !w.row.labels_at,
		"options at an address of nothing");
	image__free(&w.m);
}
