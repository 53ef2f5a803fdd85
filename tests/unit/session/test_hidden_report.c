/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What people are told of hidden variables that could not be had: line by line, and in numbers. */

#include "session/hidden_report.h"
#include "tap.h"

static unsigned int notes;
static char last[800];

static void on_note(void *arg, enum notes_level level, const char *line)
{
	(void)arg;
	if (level != NOTES_USER)
		return;
	notes++;
	snprintf(last, sizeof(last), "%s", line);
}

static const struct notes listener = {.line = on_note, .lowest = NOTES_DEBUG};
static struct verify_hidden v = {.notes = &listener};
static struct hidden_proof h[20];
static struct target t[20];

/* Process @i, of the file @ino, whose variables were found at the addresses given; 0: were not. */
static void begin(unsigned int i, uint64_t ino, uint32_t flags, uint64_t lines_at, uint64_t gc_at)
{
	t[i] = (struct target){.pid = getpid(), .comm = "R", .path = "/lib/libR.so"};
	t[i].file.ino = ino;
	t[i].row.flags = flags;
	t[i].row.in_bc = 8;
	t[i].row.layout.bcbody = 312;
	t[i].row.bc_body_at = lines_at;
	t[i].row.bc_pc_at = lines_at;
	t[i].row.gc_at = gc_at;
	t[i].row.gc_begin = 100;
	t[i].row.gc_end = 200;
	tap__bail_if(verify_hidden__begin(&v, &h[i], &t[i], 0), "out of memory");
	hidden_report__say(&listener, &h[i], &t[i], true);
	hidden_report__say(&listener, &h[i], &t[i], true);
}

static void test_said(void)
{
	begin(0, 1, XR_ROW_LINES, 0, 0);
	tap__ok(notes == 1 && strstr(last, "R_BCbody and R_BCpc were not found in /lib/libR.so"),
		"lines that cannot be had, once for a process: %s", last);
	begin(1, 1, XR_ROW_LINES, 0, 0);
	tap__ok(notes == 2 && !strstr(last, "only counted"), "and for another one");
	begin(2, 1, XR_ROW_LINES, 0, 0);
	tap__ok(notes == 3 && strstr(last, "more processes of this file are only counted"),
		"the third says that it is the last: %s", last);
	begin(3, 1, XR_ROW_LINES, 0, 0);
	tap__ok(notes == 3, "it is");
	begin(4, 2, XR_ROW_GC, 0, 0);
	tap__ok(notes == 4 && strstr(last, "GC marks are missing where the collector calls") &&
			strstr(last, "was not found in /lib/libR.so"),
		"another file speaks for itself, of its marks: %s", last);
	verify_hidden__inherit(&h[5], &h[4], 0);
	t[5] = t[4];
	hidden_report__say(&listener, &h[5], &t[5], true);
	tap__ok(notes == 4, "what was said of a process is not said of its children");
	begin(6, 3, XR_ROW_GC, 0, 16);
	tap__ok(notes == 4, "nothing is said of a flag that may be one");
	h[6].check.gc = HIDDEN_REFUTED;
	hidden_report__say(&listener, &h[6], &t[6], false);
	tap__ok(notes == 5 && strstr(last, "no GC marks") &&
			strstr(last, "was found at a wrong address in"),
		"but of one that is none, as it is: %s", last);
	begin(7, 4, XR_ROW_LINES | XR_ROW_GC, 16, 16);
	t[7].row.flags |= XR_ROW_BC;
	t[7].row.gc_at = 16;
	hidden_report__say(&listener, &h[7], &t[7], true);
	begin(8, 4, 0, 0, 0);
	tap__ok(notes == 5, "where all is well, or not asked for, nothing is said");
}

static void test_samples(void)
{
	begin(9, 5, XR_ROW_LINES, 16, 0);
	for (int i = 0; i < 99; i++)
		hidden_report__sample(&listener, &h[9], &t[9]);
	tap__ok(notes == 5, "some samples are without a line until it is known where it is");
	hidden_report__sample(&listener, &h[9], &t[9]);
	tap__ok(notes == 6 && strstr(last, "are not confirmed yet"),
		"when there are many it is said: %s", last);
	for (int i = 0; i < 1000; i++)
		hidden_report__sample(&listener, &h[9], &t[9]);
	tap__ok(notes == 6, "once");
}

static void test_counts(void)
{
	struct hidden_stats s = {0};

	for (unsigned int i = 0; i < 10; i++)
		hidden_report__count(&h[i], &t[i], i != 6, &s);
	tap__ok(s.lines_proven == 1 && s.lines_unproven == 1 && s.lines_none == 4,
		"lines of %u processes are proven, of %u not, of %u not to be had",
		(unsigned int)s.lines_proven, (unsigned int)s.lines_unproven,
		(unsigned int)s.lines_none);
	tap__ok(s.gc_proven == 1 && s.gc_code == 2 && s.gc_none == 1,
		"marks of %u processes are the flag's, of %u the code's, %u have none",
		(unsigned int)s.gc_proven, (unsigned int)s.gc_code, (unsigned int)s.gc_none);
	tap__ok(s.lines_incomplete == 1100 && s.incomplete_processes == 1,
		"samples without a line are counted, and their processes");
}

static void test_memory(void)
{
	struct hidden_stats s = {0};

	begin(10, 6, XR_ROW_MEMORY, 0, 0);
	tap__ok(notes == 7 && strstr(last, "no memory counts: R_SmallVallocSize") &&
			strstr(last, "were not found in /lib/libR.so"),
		"counts of memory that were not found: %s", last);
	begin(11, 7, 0, 0, 0);
	for (unsigned int i = 12; i < 14; i++) {
		t[i] = t[11];
		t[i].row.flags = XR_ROW_COLLECTIONS;
		t[i].row.small_at = t[i].row.large_at = t[i].row.nodes_at = 64;
		t[i].row.node_size = 56;
		verify_hidden__begin(&v, &h[i], &t[i], 0);
		hidden_report__say(&listener, &h[i], &t[i], true);
	}
	tap__ok(notes == 7 && !t[12].row.small_at && h[12].memory.large == 64,
		"nothing is said of those that may be some");
	h[12].check.memory = HIDDEN_REFUTED;
	hidden_report__say(&listener, &h[12], &t[12], true);
	tap__ok(notes == 8 && strstr(last, "wrong addresses in /lib/libR.so") &&
			strstr(last, "no memory counts, nothing for --event gc: "),
		"but of those that are none: %s", last);
	t[14] = t[13];
	t[14].row.small_at = t[14].row.large_at = t[14].row.nodes_at = 64;
	t[14].how_memory = "symbol table";
	verify_hidden__begin(&v, &h[14], &t[14], 0);
	tap__ok(t[14].row.small_at == 64 && t[14].row.nodes_at == 64, "a symbol table is believed");
	for (unsigned int i = 10; i < 15; i++)
		hidden_report__count(&h[i], &t[i], true, &s);
	tap__ok(s.memory_proven == 1 && s.memory_unproven == 1 && s.memory_none == 2,
		"counts of %u processes are proven, of %u not, of %u not to be had",
		(unsigned int)s.memory_proven, (unsigned int)s.memory_unproven,
		(unsigned int)s.memory_none);
}

TEST(hidden_report)
{
	test_said();
	test_samples();
	test_counts();
	test_memory();
	for (unsigned int i = 0; i < 15; i++)
		verify_hidden__end(&h[i]);
	verify_hidden__free(&v);
}
