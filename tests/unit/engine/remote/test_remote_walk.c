/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk from outside, over images of R's memory that change while they are read.  Whatever comes
 * out must be a stack that the program had, with the lines that its calls were at.
 */
#include "engine/remote/changing.h"

enum how { STILL, MOVING, IDLE };
#define LATE 3600000000000ull /* ns; later than the clock of changing.h gets */

enum { OTHER_STACK = -1000, NO_STACK = -1001 };

/* One sample; what became of it. */
static int sample(struct program *p, struct remote_walk *rw, enum how how)
{
	static const struct xr_sample like = {.weight = 1, .pid = 4711, .tid = 4711, .time = LATE};
	uint32_t changes = p->changes, line = 0;
	const int collect = p->collect;
	uint64_t stopped = 0;
	int result;

	map__free(&p->seen);
	program__note(p);
	p->spans = 0;
	if (how == IDLE)
		p->changes = 0;
	p->collect = 0;
	result = remote_walk__ahead(rw);
	p->collect = collect;
	if (how == STILL) {
		p->changes = 0;
		stopped = program__hash(p);
		line = program__line(p, p->depth - 1);
		result = remote_walk__still(rw);
		p->changes = changes;
		while (changes && some(4)) /* it runs on, and what was read must be enough */
			program__step(p);
	} else if (how == MOVING) {
		result = remote_walk__moving(rw);
	}
	if (result >= 0)
		result = remote_walk__finish(rw);
	p->changes = changes;
	p->got = 0;
	if (result >= 0)
		remote_walk__send(rw, &like);
	if (how == STILL && result >= 0 && (p->got != stopped || p->innermost != line))
		return OTHER_STACK;
	if (how == STILL && result == -XR_NO_R_FRAMES && stopped)
		return NO_STACK;
	return result;
}

static const char *const how_names[] = {"stopped", "moving", "idle"};

struct pace {
	enum how how;
	uint32_t changes, busy, samples;
	bool made, lines; /* each call is a new one; lines are wanted */
};

/* Thousands of samples of a program that changes at some pace. */
static void test_changing(const struct pace *pace, bool heap)
{
	const uint32_t samples = tap__all() ? pace->samples : pace->samples / 24;
	uint32_t written = 0, torn = 0, none = 0, wrong = 0;
	const enum how how = pace->how;
	const struct xr_layout *old = layouts__find(LAYOUTS_X86_64_LINUX, LAYOUTS_VERSION(3, 4, 0));
	struct remote_walk *rw;
	struct program p;

	program__init(&p, heap || pace->made ? layout_now() : old, heap, pace->lines);
	p.made = pace->made;
	p.busy = 1000;
	for (int i = 0; i < 200; i++)
		program__step(&p);
	rw = program__walk(&p, 0, 20);
	p.changes = pace->changes;
	p.busy = pace->busy;
	for (uint32_t i = 0; i < samples; i++) {
		int result = sample(&p, rw, how);

		if (!pace->changes)
			program__step(&p);
		if (result >= 0 && map__get(&p.seen, p.got, 1))
			written++;
		else if (result == -XR_TORN)
			torn++;
		else if (result == -XR_NO_R_FRAMES && map__get(&p.seen, 0, 1))
			none++;
		else
			wrong++;
	}
	tap__ok(!wrong && (how == MOVING || !torn) && written,
		"%s, %s%s%s, %u changes and %u deep ones of 1000: %u wrong", how_names[how],
		heap ? "contexts on the heap" : "on the stack", pace->made ? ", new calls" : "",
		pace->lines ? ", with lines" : "", pace->changes, pace->busy, wrong);
	tap__diag("%u written, %u torn, %u without frames; %llu spans read, %llu changes", written,
		  torn, none, (unsigned long long)p.s.m.reads, (unsigned long long)p.steps);
	program__free(&p, rw);
}

TEST(changing)
{
	static const uint32_t paces[] = {0, 1, 10, 50, 200, 400, 900};
	static const struct pace others[] = {
		/* what was read before the stop may have become another call's since */
		{STILL, 400, 1000, 5000, true, false},
		{STILL, 900, 1000, 5000, true, false},
		{STILL, 900, 50, 5000, true, false},
		/* or between the two looks at a stack that is not stopped */
		{MOVING, 10, 1000, 20000, true, false},
		{MOVING, 50, 200, 20000, true, false},
		{MOVING, 200, 20, 20000, true, false},
		{IDLE, 500, 500, 1500, false, false},
		{STILL, 0, 1000, 4000, false, true},
		{STILL, 5, 1000, 4000, false, true},
		{STILL, 50, 1000, 4000, false, true},
		{STILL, 500, 1000, 4000, false, true},
		{MOVING, 0, 1000, 1500, false, true},
		{MOVING, 5, 1000, 1500, false, true},
		{MOVING, 50, 200, 1500, false, true},
		{MOVING, 200, 20, 1500, false, true},
	};

	for (int heap = 0; heap < 2; heap++) {
		for (size_t i = 0; i < COUNT(others); i++)
			test_changing(&others[i], heap);
		for (size_t i = 0; i < COUNT(paces); i++) {
			const struct pace all[] = {{STILL, paces[i], 1000, 1500, false, false},
						   {STILL, paces[i], 50, 1500, false, false},
						   {MOVING, paces[i], 20, 1500, false, false},
						   {MOVING, paces[i], 1000, 1500, false, false}};
			const size_t n = paces[i] <= 50 ? 4 : paces[i] <= 400 ? 3 : 2;

			for (size_t k = 0; k < n; k++)
				test_changing(&all[k], heap);
		}
	}
}

/* If any read fails, the result is an error or the right stack. The next sample is right. */
TEST(faults)
{
	for (int how = STILL; how <= IDLE; how++) {
		uint32_t refused = 0, right = 0;
		bool ok = true;
		int spans = 1;

		for (int n = 1; n <= spans && ok; n++) {
			struct program p;
			struct remote_walk *rw = program__start(&p, 12);

			/* in the first sample, and in one with all there already */
			for (int again = 0; again < 2 && ok; again++) {
				int result;

				p.fail_span = n;
				result = sample(&p, rw, how);
				spans = p.spans > spans ? p.spans : spans;
				ok = result >= 0 ? p.got == program__hash(&p)
						 : result > -XR_ERRORS && result != -XR_NO_R_FRAMES;
				*(result >= 0 ? &right : &refused) += 1;
				if (!ok)
					tap__diag("span %d: %d", n, result);
				p.fail_span = 0;
				ok = ok && !sample(&p, rw, how) && p.got == program__hash(&p);
			}
			program__free(&p, rw);
		}
		tap__ok(ok && spans > 30, "%s: each of %d spans fails in turn", how_names[how],
			spans);
		tap__diag("%u refused, %u right all the same", refused, right);
	}
}

TEST(gone)
{
	struct program p;
	struct remote_walk *rw = program__start(&p, 1);
	bool ok = true;

	for (int how = STILL; how <= IDLE; how++) {
		p.gone = -ESRCH;
		ok = ok && sample(&p, rw, how) == -XR_EXITING && remote_walk__gone(rw) == -ESRCH;
		p.gone = 0;
		ok = ok && sample(&p, rw, how) >= -(int)XR_NO_R_FRAMES && !remote_walk__gone(rw);
	}
	tap__ok(ok, "a process that is gone is exiting");
	program__free(&p, rw);
}

/* A collection ends between the two looks, or some do during each. */
TEST(collections_counted)
{
	static const struct {
		enum how how;
		int collections;
		bool counted;
		const char *what;
	} rows[] = {
		{STILL, 0, true, "stopped, no collection"},
		{STILL, 1, true, "stopped, a collection after the first look"},
		{MOVING, 0, true, "moving, no collection"},
		{MOVING, 1, true, "moving, a collection after the first look"},
		{MOVING, 1000, false, "moving, a collection before each read"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct program p;
		struct remote_walk *rw = program__start(&p, 12);
		struct xr_row *row = &p.s.row;

		p.env = image__cell(&p.s.m, R_ENVSXP, 0, 0, 0);
		row->flags = XR_ROW_CALLS | XR_ROW_GC;
		row->gc_at = p.s.m.gc_at;
		row->gc_count_at = image__alloc(&p.s.m, 8);
		for (int depth = 0; depth < p.depth; depth++)
			image__put64(&p.s.m, p.slots[depth] + p.s.m.layout.cloenv, p.env);
		remote_walk__row(rw, row);
		p.collect = rows[i].collections;
		tap__ok(!sample(&p, rw, rows[i].how) && p.last.counted == rows[i].counted,
			"%s: the number is %s", rows[i].what,
			rows[i].counted ? "known" : "unknown");
		if (rows[i].counted)
			tap__ok(p.last.collections == p.collections &&
					!p.old == !rows[i].collections,
				"and so are the marks");
		tap__ok(p.last.lag && p.last.lag < LATE,
			"the stack may be as old as the first look");
		program__free(&p, rw);
	}
}

/*
 * No frame: the mark of a collection alone, in the first sample of all (and the sanitizers watch);
 * or a place: code at top level, or, with filter.callframes, what was called from nowhere.  R
 * writes a line of the place alone.
 */
TEST(no_frames)
{
	struct remote_walk *rw;
	struct program p;
	uint64_t file;

	program__init(&p, layout_now(), false, true);
	rw = program__walk(&p, XR_ROW_GC, 0);
	image__put64(&p.s.m, p.s.row.srcref_at, p.s.m.nil);
	image__put32(&p.s.m, p.s.m.gc_at, 1);
	tap__ok(!sample(&p, rw, IDLE) && p.samples == 1 && p.nframes == 1 && !p.innermost,
		"a collection outside of all functions: the mark alone");
	image__put32(&p.s.m, p.s.m.gc_at, 0);
	tap__ok(sample(&p, rw, STILL) == -XR_NO_R_FRAMES, "no frame and no place: nothing to say");
	file = srcfile__list(&p.s, image__string(&p.s.m, "top.R"));
	image__put64(&p.s.m, p.s.row.srcref_at, srcref(&p.s, file, 77));
	tap__ok(!sample(&p, rw, MOVING) && !p.nframes && p.innermost == 77,
		"a place alone is a sample");
	program__free(&p, rw);
}

/* Counts of memory that grow all the time, before stacks of one part and of several. */
TEST(memory)
{
	struct program p;
	struct remote_walk *rw = program__start(&p, 0);
	struct xr_row *row = &p.s.row;
	bool ok = true;

	row->flags = XR_ROW_MEMORY;
	row->small_at = image__alloc(&p.s.m, 8);
	row->large_at = image__alloc(&p.s.m, 8);
	row->nodes_at = image__alloc(&p.s.m, 8);
	row->node_size = 56;
	remote_walk__row(rw, row);
	for (uint64_t i = 1; i < 500; i++) {
		const struct xr_memory *memory = &p.last.memory;

		while (p.depth < (int)(1 + i % (DEPTH_MAX - 2)))
			program__push(&p);
		while (p.depth > (int)(1 + i % (DEPTH_MAX - 2)))
			program__pop(&p);
		image__put64(&p.s.m, row->small_at, i);
		image__put64(&p.s.m, row->large_at, 1000 + i);
		image__put64(&p.s.m, row->nodes_at, 2000 + i);
		ok = ok && !sample(&p, rw, (enum how)(i % 3)) && p.nframes &&
		     p.last.flags & XR_F_MEMORY && memory->small == 8 * i &&
		     memory->large == 8 * (1000 + i) && memory->nodes == 56 * (2000 + i) &&
		     !memory->dups;
	}
	tap__ok(ok && !decoder__stats(p.decoder)->malformed,
		"counts of memory are those of the moment");
	row->large_at = 8;
	remote_walk__row(rw, row);
	for (int how = STILL; how <= IDLE; how++)
		ok = ok && !sample(&p, rw, how) && p.nframes && !(p.last.flags & XR_F_MEMORY);
	tap__ok(ok, "where they cannot be read the stack is there without them");
	program__free(&p, rw);
}

/* Wild and cyclic chains, as test_walk.c has them, in all three ways. */
TEST(damage)
{
	struct program p;
	struct remote_walk *rw = program__start(&p, 5);
	const uint64_t link = p.slots[2] + p.s.m.layout.nextcontext;
	const struct {
		uint64_t to;
		int want, or ;
		const char *what;
	} rows[] = {
		{0x10, -XR_BAD_CONTEXT, -XR_BAD_CONTEXT, "a wild link"},
		{p.slots[4], OTHER_STACK, 1, "a cycle is cut"},
		{0, -XR_BAD_CHAIN, -XR_BAD_CHAIN, "a chain without its end"},
		{p.slots[1], 0, 0, "and repaired"},
	};

	for (int how = STILL; how <= IDLE; how++)
		for (size_t i = 0; i < COUNT(rows); i++) {
			int result;

			image__put64(&p.s.m, link, rows[i].to);
			result = sample(&p, rw, how);
			tap__ok((result == rows[i].want || result == rows[i].or) &&
					(result || p.got == program__hash(&p)),
				"%s: %s (%d)", how_names[how], rows[i].what, result);
		}
	program__free(&p, rw);
}
