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

static struct image m;
static struct xr_row row;
static struct symbol_table table;
static uint64_t options, width, table_at, variables, variable;

static int read_image(void *arg, uint64_t addr, void *to, size_t len)
{
	return image__read(&m, to, len, addr) ? -EFAULT : 0;
}

static const struct mem_reader reader = {.read = read_image};

/* @hash: R_Newhashpjw() of the name. */
static void install(uint32_t hash, uint64_t symbol)
{
	uint64_t at = table_at + 8 * (uint64_t)(hash % SIZE);

	image__put64(&m, at, image__cell(&m, R_LISTSXP, symbol, image__get64(&m, at), m.nil));
}

BEFORE()
{
	image__init(&m, &(struct xr_layout){.vector_data = 48}, 1 << 20, 1 << 12);
	row = image__row(&m);
	table_at = image__alloc(&m, 8 * (size_t)SIZE);
	for (uint32_t i = 0; i < SIZE; i++)
		image__put64(&m, table_at + 8 * (uint64_t)i, m.nil);
	options = image__symbol(&m, ".Options");
	width = image__cell(&m, R_LISTSXP, m.nil, m.nil, image__symbol(&m, "width"));
	image__put64(&m, options + 8 * R_CDR, width);
	install(0x24, m.dollar);
	install(0x24, image__symbol(&m, "another"));
	install(0x60b, m.item);
	install(0x3da, m.colon2);
	install(0x67b0763, options);
	variables = image__alloc(&m, 8 * (size_t)VARIABLES);
	for (uint32_t i = 0; i < VARIABLES; i++)
		image__put64(&m, variables + 8 * (uint64_t)i,
			     i % 3 ? m.nil + 8 * (i % 7) : 0x7000000000ULL + i);
	image__put64(&m, variables + 8 * 555, table_at);
}

static int search(void)
{
	return symbol_table__search(&row, &reader, variables, variables + 8 * VARIABLES, &variable,
				    &table);
}

TEST(table)
{
	tap__ok(!search() && variable == variables + 8 * 555 && table.at == table_at &&
			table.size == SIZE,
		"the table is found among other variables");
	tap__ok(!symbol_table__try(&row, &reader, variable, &table), "and known again");
	tap__ok(symbol_table__try(&row, &reader, variable + 8, &table) == -ENOENT && !table.size,
		"another variable is not one");
	image__put64(&m, table_at + 8 * 0x60b, m.nil);
	tap__ok(search() == -ENOENT, "a table without `[[` is not R's");
}

/* Is the option behind @at? */
static bool is_behind(uint64_t at)
{
	return !symbol_table__labels(&row, &reader, &table) && row.labels_at == at;
}

static bool is_unreadable(void)
{
	return symbol_table__labels(&row, &reader, &table) == -EFAULT && !row.labels_at;
}

TEST(option)
{
	uint64_t tag, ours, reads;

	tap__bail_if(search(), "no table");
	reads = m.reads;
	tap__ok(is_behind(0) && m.reads == reads + 1, "no symbol, no labels: one read");
	tag = image__symbol(&m, "xrprof.labels");
	install(0xcb01e33, tag);
	tap__ok(is_behind(width) && row.labels_tag == tag, "it will be behind the last option");
	ours = image__cell(&m, R_LISTSXP, m.nil, m.nil, tag);
	image__put64(&m, width + 8 * R_CDR, ours);
	tap__ok(is_behind(width), "it is behind another one");
	image__put64(&m, options + 8 * R_CDR, ours);
	tap__ok(is_behind(options), "it is the first");
	image__put64(&m, options + 8 * R_CDR, width);
	image__put64(&m, width + 8 * R_CDR, width);
	tap__ok(is_unreadable(), "options in a circle");
	image__put64(&m, width + 8 * R_CDR, 0x1234560);
	tap__ok(is_unreadable(), "options at an address of nothing");
}
