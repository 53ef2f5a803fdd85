/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `dump` shows of values, calls, variables and the largest objects, in memory that the input
 * gives: limits hold, and what is written for a terminal is plain.
 */
#include "base/buf.h"
#include "values/calls.h"
#include "values/deparse.h"
#include "values/globals.h"
#include "values/locals.h"
#include "values/request.h"
#include "values/value.h"
#include "walk_input.h"

#define READS	    2000u
#define OBJECTS_MAX 2000u
#define PAGES	    100u /* that --globals may read */
#define MORE	    3u	 /* bytes beyond a limit: "..." */

static struct fuzz_memory memory;

static uint64_t reads_now(void)
{
	return memory.reads;
}

static void text__check(const char *what, const struct buf *b, size_t max)
{
	if (b->len > max + MORE)
		fuzz__fail("%s: %zu bytes, %zu were allowed", what, b->len, max);
}

static void ask__one(struct heap *h, uint64_t at, struct buf *b)
{
	struct locals l;

	b->len = 0;
	deparse__call(h, at, b, 200);
	text__check("a call", b, 200);
	b->len = 0;
	h->left = READS;
	value__describe(h, at, b, 100, NULL);
	text__check("a value", b, 100);
	b->len = 0;
	h->left = READS;
	request__read(h, at, b);
	text__check("a request", b, REQUEST_MAX);
	h->left = READS;
	locals__read(h, at, 20, 60, &l);
	if (l.n > 20)
		fuzz__fail("%zu variables", l.n);
	for (size_t i = 0; i < l.n; i++)
		if (strlen(l.list[i].value) > 60 + MORE)
			fuzz__fail("a value of %zu bytes", strlen(l.list[i].value));
	locals__free(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct globals_limits limits = {
		.objects = OBJECTS_MAX, .ns = FUZZ_READS_MAX, .now = reads_now};
	const struct mem_reader reader = {.read = fuzz_memory__read, .arg = &memory};
	struct input in = {data, size};
	struct buf b = {0};
	struct walk_input w;
	struct globals g;
	struct calls c;
	struct heap h;

	walk_input__take(&in, &w, &memory);
	heap__init(&h, &reader, &w.row, READS);
	ask__one(&h, w.row.global_env, &b);
	memory.reads = 0;
	calls__read(&reader, &w.row, 50, &c);
	if (c.n > 50)
		fuzz__fail("%zu calls", c.n);
	for (size_t i = 0; i < c.n && i < 3; i++) {
		heap__init(&h, &reader, &w.row, READS);
		ask__one(&h, i % 2 ? c.list[i].env : c.list[i].call, &b);
	}
	calls__free(&c);
	memory.reads = FUZZ_READS_MAX - PAGES;
	if (w.looks % 4 == 0) {
		if (!globals__find(&reader, &w.row, w.row.head_at, &limits, &g) &&
		    g.objects > OBJECTS_MAX)
			fuzz__fail("%llu objects", (unsigned long long)g.objects);
		globals__free(&g);
	}
	buf__free(&b);
	return 0;
}
