/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/labels.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "sexp.h"

#define SEARCH_MAX    (16u << 20) /* bytes */
#define SEARCH_PIECE  4096u	  /* the same, read at a time */
#define POINTER_LEAST 0x10000u
#define POINTER_MOST  (1ULL << 56)
#define CHAIN_MAX     64u   /* symbols of one hash that are looked at */
#define OPTIONS_MAX   4096u /* options that are looked at */
#define NAME_LEN      14u   /* bytes of the longest name below, with its end */

/* HSIZE of Defn.h: that of R 3.0 and later, and that of some older ones. */
static const uint32_t sizes[] = {49157, 4119};

/* R_Newhashpjw(), envir.c */
static uint32_t name__hash(const char *name)
{
	uint32_t h = 0, g;

	for (; *name; name++) {
		h = (h << 4) + (unsigned char)*name;
		g = h & 0xf0000000;
		h ^= g >> 24;
		h ^= g;
	}
	return h;
}

static int word__read(const struct mem_reader *m, uint64_t at, uint64_t *word)
{
	return mem_reader__read(m, at, word, sizeof(*word));
}

static int cell__read(const struct mem_reader *m, uint64_t at, uint64_t cell[R_CELL_WORDS])
{
	return mem_reader__read(m, at, cell, R_CELL_BYTES);
}

static bool cell__is(const uint64_t *cell, uint32_t type)
{
	return (cell[0] & R_TYPE_MASK) == type;
}

static bool word__is_pointer(uint64_t word)
{
	return word >= POINTER_LEAST && word < POINTER_MOST && !(word & 7);
}

/* Is the symbol at @at called @name? */
static bool symbol__is(const struct xr_row *row, const struct mem_reader *m, uint64_t at,
		       const char *name)
{
	const size_t len = strlen(name);
	uint64_t cell[R_CELL_WORDS];
	char text[NAME_LEN];
	uint64_t chars;

	if (cell__read(m, at, cell) || !cell__is(cell, R_SYMSXP))
		return false;
	chars = cell[R_CAR];
	return !cell__read(m, chars, cell) && cell__is(cell, R_CHARSXP) &&
	       (uint32_t)cell[R_CAR] == len &&
	       !mem_reader__read(m, chars + row->layout.vector_data, text, len) &&
	       !memcmp(text, name, len);
}

/* The symbol called @name; 0: there is none.  @known: it must be this one; 0: it may be any. */
static uint64_t table__find(const struct xr_row *row, const struct mem_reader *m,
			    const struct symbol_table *table, const char *name, uint64_t known)
{
	uint64_t cell[R_CELL_WORDS], at;

	if (word__read(m, table->at + 8 * (uint64_t)(name__hash(name) % table->size), &at))
		return 0;
	for (uint32_t i = 0; i < CHAIN_MAX && at != row->nil; i++) {
		if (!word__is_pointer(at) || cell__read(m, at, cell) || !cell__is(cell, R_LISTSXP))
			return 0;
		if (known ? cell[R_CAR] == known : symbol__is(row, m, cell[R_CAR], name))
			return cell[R_CAR];
		at = cell[R_CDR];
	}
	return 0;
}

int symbol_table__try(const struct xr_row *row, const struct mem_reader *m, uint64_t variable,
		      struct symbol_table *table)
{
	if (!row->sym_dollar || word__read(m, variable, &table->at) || !word__is_pointer(table->at))
		return -ENOENT;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		table->size = sizes[i];
		if (table__find(row, m, table, "$", row->sym_dollar) &&
		    table__find(row, m, table, "[[", row->sym_item) &&
		    table__find(row, m, table, "::", row->sym_colon2) &&
		    table__find(row, m, table, ".Options", 0))
			return 0;
	}
	table->size = 0;
	return -ENOENT;
}

/* Which of the @n @words point to what may be the table: where it has `$` is a pointer. */
static void words__sift(const struct mem_reader *m, uint64_t *words, uint32_t n)
{
	uint64_t heads[SEARCH_PIECE / sizeof(uint64_t)];
	struct mem_span spans[SEARCH_PIECE / sizeof(uint64_t)];
	uint32_t which[SEARCH_PIECE / sizeof(uint64_t)], some = 0, done = 0;

	_Static_assert(SEARCH_PIECE / sizeof(uint64_t) <= MEM_SPANS_MAX, "they are read at once");
	memset(heads, 0, sizeof(heads));
	for (uint32_t i = 0; i < n; i++) {
		if (!word__is_pointer(words[i]))
			continue;
		which[some] = i;
		spans[some] = (struct mem_span){
			.addr = words[i] + 8 * (uint64_t)'$', .to = &heads[i], .len = 8};
		some++;
	}
	while (done < some) {
		int got = mem_reader__read_spans(m, spans + done, some - done);

		done += got < 0 ? some : (uint32_t)got + 1; /* one that cannot be read is passed */
	}
	for (uint32_t i = 0; i < some; i++)
		if (!word__is_pointer(heads[which[i]]))
			words[which[i]] = 0;
}

int symbol_table__search(const struct xr_row *row, const struct mem_reader *m, uint64_t from,
			 uint64_t to, uint64_t *variable, struct symbol_table *table)
{
	uint64_t words[SEARCH_PIECE / sizeof(uint64_t)];

	from = (from + 7) & ~7ULL;
	if (to > from && to - from > SEARCH_MAX)
		to = from + SEARCH_MAX;
	for (; from < to; from += SEARCH_PIECE) {
		const uint64_t left = (to - from) & ~7ULL;
		const uint32_t size = left < SEARCH_PIECE ? (uint32_t)left : SEARCH_PIECE;

		if (mem_reader__read(m, from, words, size))
			continue;
		words__sift(m, words, size / 8);
		for (uint32_t i = 0; i < size / 8; i++) {
			if (!word__is_pointer(words[i]))
				continue;
			*variable = from + 8 * (uint64_t)i;
			if (!symbol_table__try(row, m, *variable, table))
				return 0;
		}
	}
	return -ENOENT;
}

int symbol_table__labels(struct xr_row *row, const struct mem_reader *m,
			 const struct symbol_table *table)
{
	uint64_t cell[R_CELL_WORDS];
	uint64_t before, at;

	row->labels_at = 0;
	row->labels_tag = table__find(row, m, table, "xrprof.labels", row->labels_tag);
	if (!row->labels_tag)
		return 0;
	/* the value of a symbol is where a cell has its CDR */
	before = table__find(row, m, table, ".Options", 0);
	if (!before || cell__read(m, before, cell))
		return -EFAULT;
	for (uint32_t i = 0; i < OPTIONS_MAX; i++) {
		at = cell[R_CDR];
		if (at == row->nil)
			break;
		if (cell__read(m, at, cell) || !cell__is(cell, R_LISTSXP))
			return -EFAULT;
		if (cell[R_TAG] == row->labels_tag) {
			row->labels_at = before;
			return 0;
		}
		before = at;
	}
	if (at != row->nil)
		return -EFAULT;
	row->labels_at = before; /* it will be appended there */
	return 0;
}
