/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What users are advised of: missing variables of R, waiting, code without source references. */

#include "base/clock.h"
#include "session/advice.h"
#include "stack_maker.h"
#include "tap.h"

static unsigned int notes;
static char last[800], said[8192];

static void on_note(void *arg, enum notes_level level, const char *line)
{
	if (level != NOTES_USER)
		return;
	notes++;
	snprintf(last, sizeof(last), "%s", line);
	snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s\n", line);
}

static const struct notes listener = {.line = on_note, .lowest = NOTES_DEBUG};
static struct verify_hidden v = {.notes = &listener};
static struct advice advice = {.notes = &listener};
static struct process p[20];

/* Process @i, of the file @ino, whose variables were found at the addresses given; 0: were not. */
static void begin(unsigned int i, uint64_t ino, uint32_t flags, uint64_t lines_at, uint64_t gc_at)
{
	struct target *t = &p[i].target;

	*t = (struct target){.pid = getpid(), .comm = "R", .path = "/lib/libR.so"};
	t->file.ino = ino;
	t->row.flags = flags;
	t->row.in_bc = 8;
	t->row.layout.bcbody = 312;
	t->row.bc_body_at = lines_at;
	t->row.bc_pc_at = lines_at;
	t->row.gc_at = gc_at;
	t->row.gc_begin = 100;
	t->row.gc_end = 200;
	tap__bail_if(verify_hidden__begin(&v, &p[i].hidden, t, 0), "out of memory");
	advice__hidden(&advice, &p[i], true);
	advice__hidden(&advice, &p[i], true);
}

static void test_said(void)
{
	begin(0, 1, XR_ROW_LINES, 0, 0);
	tap__ok(notes == 1 && strstr(last, "R_BCbody and R_BCpc were not found in /lib/libR.so"),
		"lines are not available, printed once for a process: %s", last);
	begin(1, 1, XR_ROW_LINES, 0, 0);
	tap__ok(notes == 2 && !strstr(last, "only counted"), "and for another one");
	begin(2, 1, XR_ROW_LINES, 0, 0);
	tap__ok(notes == 3 && strstr(last, "more processes of this file are only counted"),
		"the third line says that it is the last: %s", last);
	begin(3, 1, XR_ROW_LINES, 0, 0);
	tap__ok(notes == 3, "no fourth line");
	begin(4, 2, XR_ROW_GC, 0, 0);
	tap__ok(notes == 4 && strstr(last, "GC marks are missing where the collector calls") &&
			strstr(last, "was not found in /lib/libR.so"),
		"another file has separate lines, of its marks: %s", last);
	verify_hidden__inherit(&p[5].hidden, &p[4].hidden, 0);
	p[5].target = p[4].target;
	advice__hidden(&advice, &p[5], true);
	tap__ok(notes == 4, "a child does not repeat the lines of its parent");
	begin(6, 3, XR_ROW_GC, 0, 16);
	tap__ok(notes == 4, "nothing is printed of a flag that may be right");
	p[6].hidden.check.gc = HIDDEN_REFUTED;
	advice__hidden(&advice, &p[6], false);
	tap__ok(notes == 5 && strstr(last, "no GC marks") &&
			strstr(last, "was found at a wrong address in"),
		"a wrong flag is reported: %s", last);
	begin(7, 4, XR_ROW_LINES | XR_ROW_GC, 16, 16);
	p[7].target.row.flags |= XR_ROW_BC;
	p[7].target.row.gc_at = 16;
	advice__hidden(&advice, &p[7], true);
	begin(8, 4, 0, 0, 0);
	tap__ok(notes == 5, "if all is found, or nothing is asked for, nothing is printed");
}

static void test_samples(void)
{
	begin(9, 5, XR_ROW_LINES, 16, 0);
	for (int i = 0; i < 99; i++)
		advice__unproven(&advice, &p[9]);
	tap__ok(notes == 5, "some samples without a line are not reported");
	advice__unproven(&advice, &p[9]);
	tap__ok(notes == 6 && strstr(last, "are not confirmed yet"), "many are: %s", last);
	for (int i = 0; i < 1000; i++)
		advice__unproven(&advice, &p[9]);
	tap__ok(notes == 6, "once");
}

static void test_counts(void)
{
	struct hidden_stats s = {0};

	for (unsigned int i = 0; i < 10; i++)
		advice__count_hidden(&p[i], i != 6, false, &s);
	tap__ok(s.lines_proven == 1 && s.lines_unproven == 1 && s.lines_none == 4,
		"lines of %u processes are proven, of %u not, %u have none",
		(unsigned int)s.lines_proven, (unsigned int)s.lines_unproven,
		(unsigned int)s.lines_none);
	tap__ok(s.gc_proven == 1 && s.gc_code == 2 && s.gc_none == 1,
		"marks of %u processes are the flag's, of %u the code's, %u have none",
		(unsigned int)s.gc_proven, (unsigned int)s.gc_code, (unsigned int)s.gc_none);
	tap__ok(s.lines_incomplete == 1100, "samples without a line are counted");
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
		p[i].target = p[11].target;
		p[i].target.row.flags = XR_ROW_COLLECTIONS;
		p[i].target.row.small_at = p[i].target.row.large_at = p[i].target.row.nodes_at = 64;
		p[i].target.row.node_size = 56;
		verify_hidden__begin(&v, &p[i].hidden, &p[i].target, 0);
		advice__hidden(&advice, &p[i], true);
	}
	tap__ok(notes == 7 && !p[12].target.row.small_at && p[12].hidden.memory.large == 64,
		"nothing is printed of counts that may be right");
	p[12].hidden.check.memory = HIDDEN_REFUTED;
	advice__hidden(&advice, &p[12], true);
	tap__ok(notes == 8 && strstr(last, "wrong addresses in /lib/libR.so") &&
			strstr(last, "no memory counts, nothing for --event gc: "),
		"wrong ones are reported: %s", last);
	p[14].target = p[13].target;
	p[14].target.row.small_at = p[14].target.row.large_at = p[14].target.row.nodes_at = 64;
	p[14].target.how_memory = "symbol table";
	verify_hidden__begin(&v, &p[14].hidden, &p[14].target, 0);
	tap__ok(p[14].target.row.small_at == 64 && p[14].target.row.nodes_at == 64,
		"a symbol table is believed");
	for (unsigned int i = 10; i < 15; i++)
		advice__count_hidden(&p[i], true, false, &s);
	tap__ok(s.memory_proven == 1 && s.memory_unproven == 1 && s.memory_none == 2,
		"counts of %u processes are proven, of %u not, %u have none",
		(unsigned int)s.memory_proven, (unsigned int)s.memory_unproven,
		(unsigned int)s.memory_none);
}

/* A counter of a service that runs for months: what it has of a process never changes. */
static void test_settled(void)
{
	struct hidden_stats s = {0};

	begin(15, 8, XR_ROW_LINES | XR_ROW_GC, 16, 16);
	advice__count_hidden(&p[15], true, true, &s);
	tap__ok(!s.lines_unproven && !s.gc_code, "what may still be proven is in no class");
	p[15].target.row.flags |= XR_ROW_BC;
	p[15].hidden.check.gc = HIDDEN_REFUTED;
	begin(16, 9, XR_ROW_LINES, 0, 0);
	for (unsigned int i = 15; i < 17; i++)
		advice__count_hidden(&p[i], true, true, &s);
	tap__ok(s.lines_proven == 1 && !s.lines_unproven && s.lines_none == 1 && s.gc_code == 1,
		"what was proven, refuted, or not found, is");
}

TEST(hidden)
{
	test_said();
	test_samples();
	test_counts();
	test_memory();
	test_settled();
}

TEST(verdict)
{
	const struct cpu_use busy = {.since = 1, .at = 1 + 6 * NS_PER_S, .cpu = 5 * NS_PER_S};
	const struct cpu_use waits = {.since = 1, .at = 1 + 6 * NS_PER_S, .cpu = 60 * NS_PER_MS};
	const struct cpu_use stopped = {
		.since = 1, .at = 1 + 6 * NS_PER_S, .cpu = 60 * NS_PER_MS, .stopped = true};
	const struct cpu_use brief = {.since = 1, .at = NS_PER_S / 2};
	struct verdict v = {0};

	verdict__add(&v, &listener, &busy, 1, "busy", true);
	verdict__add(&v, &listener, &brief, 2, "brief", true);
	verdict__end(&v, &listener);
	tap__ok(!*said, "no advice for a process that works, or was seen for a moment");
	for (uint32_t pid = 1476; pid < 1481; pid++)
		verdict__add(&v, &listener, &waits, pid, "R", true);
	verdict__add(&v, &listener, &waits, 1490, "R", false);
	verdict__end(&v, &listener);
	tap__ok(strstr(said, "process 1476 (R) used 0.06 s of CPU in 6.00 s and waited the rest; "
			     "--clock wall shows where\n") &&
			strstr(said, "1478 (R)") && !strstr(said, "1479"),
		"three have a line each");
	tap__ok(strstr(said, "3 more of 8 processes used less than a tenth"), "the others one: %s",
		said);
	*said = '\0';
	verdict__add(&v, &listener, &stopped, 1500, "R", true);
	tap__ok(strstr(said, "process 1500 (R) is stopped, by a signal (SIGSTOP) or a debugger") &&
			strstr(said, "kill -CONT 1500") && !strstr(said, "waited"),
		"a stopped process did not wait: %s", said);
}

TEST(lineless)
{
	const struct frame *placed = stack__frame(FRAME_R, "g", "g.R", 3);
	const struct stack *none = stack__one("f");
	const struct stack *some = stack__of(1, &placed, NULL, 0);
	const struct stack *empty = stack__of(0, NULL, NULL, 0);

	for (uint32_t i = 0; i < 4; i++)
		p[i] = (struct process){.pid = 7 + i, .comm = "R"};
	for (uint32_t i = 0; i < 2 * LINELESS_SAMPLES; i++) {
		advice__lines(&advice, &p[0], none);
		advice__lines(&advice, &p[1], i % 50 ? none : some);
		advice__lines(&advice, &p[2], empty);
	}
	advice__lines(&advice, &p[3], none);
	tap__ok(notes == 1 && strstr(said, "process 7 (R): no source lines in 100 samples") &&
			strstr(said, "source(FILE, keep.source = TRUE)") &&
			strstr(said, "R_KEEP_PKG_SOURCE=yes"),
		"printed once, with the cure: %s", said);
	for (uint32_t i = 0; i < 4; i++)
		advice__lines_end(&advice, &p[i]);
	tap__ok(notes == 2 && strstr(said, "process 10 (R): no source lines in 1 sample:"),
		"at the end, too, of a brief process");
}

/* A release of R that is not in the table is reported once, and so is each way in which it fits. */
TEST(unlisted)
{
	static const struct {
		const char *version;
		struct layout_found found;
		bool lines;
		const char *says;
	} rows[] = {
		{"9.1.0",
		 {.lines = 1},
		 true,
		 "R 9.1.0 (process 7) is not in the table of layouts: "
		 "the newest layout in it fits"},
		{"9.1.0", {.shift = 8, .lines = 1}, true, "fits when shifted"},
		{"9.1.0", {.shift = -8}, true, "fits when shifted, except for source lines"},
		{"9.1.0", {.lines = 0}, true, "fits, except for source lines"},
		{"9.2.0",
		 {.lines = 0},
		 false,
		 "R 9.2.0 (process 7) is not in the table of layouts: "
		 "the newest layout in it fits"},
		{"", {.lines = 0}, false, "R of unknown version (process 7)"},
	};

	p[0] = (struct process){.pid = 7};
	for (unsigned int i = 0; i < 2 * COUNT(rows); i++) {
		const unsigned int row = i % COUNT(rows);

		snprintf(p[0].target.version, sizeof(p[0].target.version), "%s", rows[row].version);
		advice__unlisted(&advice, &p[0], &rows[row].found, rows[row].lines);
		tap__ok(i < COUNT(rows) ? notes == i + 1 && strstr(last, rows[row].says)
					: notes == COUNT(rows),
			"%s: %s", i < COUNT(rows) ? "reported" : "not again", rows[row].says);
	}
}
