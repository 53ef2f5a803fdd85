/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk from outside, over images of R's memory that change while they are read: between any two
 * reads the program may call, return and write over what it left, as R does.  Whatever comes out
 * must be a stack that it had.
 */

#include "profile/decode.h"
#include "target/layouts.h"
#include "base/map.h"
#include "r_image.h"
#include "engine/remote/remote_walk.h"
#include "tap.h"

#define DEPTH_MAX 64
#define WAYS	  4 /* functions that may be called at each depth */
#define CELLS	  200

static uint64_t rng_state = 88172645463325252ull;

static uint64_t rng(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state;
}

/* A program: what it may call, and its stack now. */
struct program {
	struct image m;
	bool heap; /* contexts on the node stack, too: they grow upward */
	uint64_t calls[DEPTH_MAX][WAYS];
	uint64_t symbols[DEPTH_MAX][WAYS];
	uint64_t names[DEPTH_MAX][WAYS]; /* hashes of their texts */
	uint64_t foreign, foreign_name;	 /* a call of .Call */
	bool made;		   /* calls are made when called, where calls that returned were */
	uint64_t cells[CELLS];	   /* there */
	uint64_t cell[DEPTH_MAX];  /* the cell of the call at each depth, if it was made */
	uint64_t at[DEPTH_MAX];	   /* contexts, outermost first */
	int way[DEPTH_MAX];	   /* -1: foreign, -2: a loop */
	uint64_t slots[DEPTH_MAX]; /* where the context at each depth goes */
	int depth;
	/* what happens while it is being read */
	uint32_t changes; /* of 1000 spans read, before how many it does something */
	uint32_t busy; /* of 1000 things it does, how many go deeper than two frames from the top */
	uint64_t steps;
	struct map seen; /* hashes of the stacks it has had */
	int fail_span;	 /* this one cannot be read, counted from 1 */
	int spans;
	int gone; /* nothing can be read: the error */
	uint64_t now;
	/* what came out */
	struct decoder *decoder;
	uint64_t got; /* hash of the last sample's stack */
	uint32_t nframes;
	uint32_t samples;
	struct sample last; /* without its stack */
};

static uint64_t name__hash(const char *name)
{
	return map__hash_bytes(name, strlen(name));
}

/* A hash of the names of the frames, innermost first; 0: none. */
static uint64_t program__hash(const struct program *p)
{
	uint64_t hash = 0;

	for (int i = p->depth; i-- > 0;) {
		if (p->way[i] != -2)
			hash = map__hash(hash,
					 p->way[i] < 0 ? p->foreign_name : p->names[i][p->way[i]]);
	}
	return hash;
}

static void program__note(struct program *p)
{
	tap__bail_if(map__put(&p->seen, program__hash(p), 1, p), "out of memory");
}

static void program__pop(struct program *p)
{
	uint64_t at = p->at[--p->depth], head;
	uint8_t *dead = image__at(&p->m, at, XR_CONTEXT_MAX);

	head = p->depth ? p->at[p->depth - 1] : p->slots[DEPTH_MAX - 1];
	image__put64(&p->m, p->m.head_at, head);
	/* C functions use the same stack for other things, often the same ones each time */
	if (p->depth % 2) {
		image__put64(&p->m, at + p->m.layout.call, p->m.nil + 8);
		image__put64(&p->m, at + p->m.layout.cloenv, 0);
		return;
	}
	for (uint32_t i = 0; i < 3 && rng() % 2; i++) {
		uint64_t word = rng() % 2 ? p->calls[rng() % DEPTH_MAX][rng() % WAYS] : rng();

		memcpy(dead + rng() % (XR_CONTEXT_MAX / 8) * 8, &word, 8);
	}
}

/* A call of the function @way of depth @depth, in a cell that no live call has. */
static uint64_t program__make(struct program *p, int depth, int way)
{
	uint64_t call;
	int i;

	do {
		call = p->cells[rng() % CELLS];
		for (i = 0; i < depth && p->cell[i] != call; i++)
			;
	} while (i < depth);
	image__put64(&p->m, call + 8 * R_CAR, p->symbols[depth][way]);
	p->cell[depth] = call;
	return call;
}

static void program__push(struct program *p)
{
	int depth = p->depth, way = (int)(rng() % WAYS);
	uint64_t at = p->slots[depth];
	uint64_t next = depth ? p->at[depth - 1] : p->slots[DEPTH_MAX - 1];
	uint64_t kind = rng() % 16;

	if (depth >= DEPTH_MAX - 2)
		return;
	p->cell[depth] = 0;
	if (kind == 0 && depth) {
		way = -1;
		image__context(&p->m, at, next, R_CTXT_BUILTIN, p->foreign);
	} else if (kind == 1) {
		way = -2;
		image__context(&p->m, at, next, 3, p->m.nil);
	} else {
		image__context(&p->m, at, next, R_CTXT_FUNCTION,
			       p->made ? program__make(p, depth, way) : p->calls[depth][way]);
	}
	p->at[depth] = at;
	p->way[depth] = way;
	p->depth++;
	/* the record is complete before R_GlobalContext points at it */
	image__put64(&p->m, p->m.head_at, at);
}

/* Call or return; a routine in C and a loop's own calls come back first. */
static void program__step(struct program *p)
{
	int floor = rng() % 1000 < p->busy ? 0 : p->depth > 2 ? p->depth - 1 : p->depth;

	p->steps++;
	if (p->depth > floor && (rng() % 2 || p->way[p->depth - 1] == -1))
		program__pop(p);
	else
		program__push(p);
	program__note(p);
}

static int program__read(void *arg, const struct mem_span *spans, uint32_t n)
{
	struct program *p = arg;

	if (p->gone)
		return p->gone;
	for (uint32_t i = 0; i < n; i++) {
		while (rng() % 1000 < p->changes)
			program__step(p);
		if (++p->spans == p->fail_span)
			return (int)i;
		if (image__read(&p->m, spans[i].to, spans[i].len, spans[i].addr))
			return (int)i;
	}
	return (int)n;
}

static uint64_t clock_ns;

static uint64_t program__now(void)
{
	return clock_ns += 1000;
}

static void on_sample(void *arg, const struct sample *s)
{
	struct program *p = arg;

	p->got = 0;
	p->samples++;
	p->nframes = s->stack->nframes;
	p->last = *s;
	p->last.stack = NULL;
	for (uint32_t i = 0; i < s->stack->nframes; i++)
		p->got = map__hash(p->got, name__hash(s->stack->frames[i]->function->text));
}

static void program__init(struct program *p, const struct xr_layout *layout, bool heap)
{
	static const struct decoder_ops ops = {.sample = on_sample};
	struct image *m = &p->m;
	char name[32];

	memset(p, 0, sizeof(*p));
	image__init(m, layout, 1 << 20, 1 << 20);
	p->heap = heap;
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		for (int way = 0; way < WAYS; way++) {
			snprintf(name, sizeof(name), "f_%d_%d", depth, way);
			p->names[depth][way] = name__hash(name);
			p->symbols[depth][way] = image__symbol(m, name);
			p->calls[depth][way] = image__call(m, p->symbols[depth][way], 0, 0);
		}
		p->slots[depth] = image__room(m, heap && depth % 3);
	}
	for (int i = 0; i < CELLS; i++)
		p->cells[i] = image__call(m, p->symbols[0][0], 0, 0);
	p->foreign = image__call(m, image__symbol(m, ".Call"), 0, 0);
	p->foreign_name = name__hash(".Call");
	/* R_Toplevel is a variable */
	p->slots[DEPTH_MAX - 1] = image__alloc(m, XR_CONTEXT_MAX);
	image__context(m, p->slots[DEPTH_MAX - 1], 0, 0, m->nil);
	image__put64(m, m->head_at, p->slots[DEPTH_MAX - 1]);
	tap__bail_if(decoder__new(&p->decoder, &ops, p, 0), "out of memory");
}

static void program__free(struct program *p)
{
	decoder__free(p->decoder);
	map__free(&p->seen);
	image__free(&p->m);
}

static struct remote_walk *program__walk(struct program *p, uint32_t flags)
{
	struct mem_reader reader = {.read_spans = program__read, .arg = p};
	struct xr_row row = image__row(&p->m);
	struct remote_walk *rw;

	row.flags = flags;
	tap__bail_if(remote_walk__new(&rw, &row, &reader, program__now), "out of memory");
	remote_walk__sink(rw, decoder__record, p->decoder);
	remote_walk__limit(rw, 1000000); /* far more than a sample takes here */
	return rw;
}

static const struct xr_sample like = {.weight = 1, .pid = 4711, .tid = 4711};

enum how { STILL, MOVING, IDLE };

/* One sample; what became of it. */
static int sample(struct program *p, struct remote_walk *rw, enum how how)
{
	uint32_t changes = p->changes;
	uint64_t stopped;
	int result;

	map__free(&p->seen);
	program__note(p);
	p->spans = 0;
	if (how == IDLE)
		p->changes = 0;
	result = remote_walk__ahead(rw);
	stopped = 0;
	if (how == STILL) {
		p->changes = 0;
		stopped = program__hash(p);
		result = remote_walk__still(rw);
		p->changes = changes;
		while (changes && rng() % 4) /* it runs on, and what was read must be enough */
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
	if (how == STILL && result >= 0 && p->got != stopped)
		return -1000;
	if (how == STILL && result == -XR_NO_R_FRAMES && stopped)
		return -1001;
	return result;
}

static const char *const how_names[] = {"stopped", "moving", "idle"};

/* Thousands of samples of a program that changes at some pace. */
static void test_changing(const struct xr_layout *layout, bool heap, bool made, enum how how,
			  uint32_t changes, uint32_t busy, uint32_t samples)
{
	uint32_t written = 0, torn = 0, none = 0, wrong = 0, errors = 0;
	struct remote_walk *rw;
	struct program p;

	if (!tap__all())
		samples /= 8;
	program__init(&p, layout, heap);
	p.made = made;
	rw = program__walk(&p, 0);
	p.busy = 1000;
	for (int i = 0; i < 200; i++)
		program__step(&p);
	while (p.depth < 20)
		program__push(&p);
	p.changes = changes;
	p.busy = busy;
	for (uint32_t i = 0; i < samples; i++) {
		int result = sample(&p, rw, how);

		if (!changes)
			program__step(&p);
		if (result >= 0 && map__get(&p.seen, p.got, 1))
			written++;
		else if (result == -XR_TORN)
			torn++;
		else if (result == -XR_NO_R_FRAMES && map__get(&p.seen, 0, 1))
			none++;
		else if (result >= 0 || result <= -1000 || result == -XR_NO_R_FRAMES)
			wrong++;
		else
			errors++;
	}
	tap__ok(!wrong && !errors && (how == MOVING || !torn) && written,
		"%s, %s%s, %u changes and %u deep ones of 1000: %u wrong, %u errors",
		how_names[how], heap ? "contexts on the heap" : "on the stack",
		made ? ", calls made anew" : "", changes, busy, wrong, errors);
	tap__diag("%u written, %u torn, %u without frames; %llu spans read, %llu changes", written,
		  torn, none, (unsigned long long)p.m.reads, (unsigned long long)p.steps);
	remote_walk__free(rw);
	program__free(&p);
}

/* A read fails, whichever: an error or the right stack; afterwards all is well again. */
static void test_faults(enum how how)
{
	const struct xr_layout *layout = layouts__last(LAYOUTS_X86_64_LINUX);
	uint32_t refused = 0, right = 0;
	bool ok = true;
	int spans = 1;

	for (int n = 1; n <= spans && ok; n++) {
		struct remote_walk *rw;
		struct program p;
		int result;

		program__init(&p, layout, false);
		rw = program__walk(&p, 0);
		while (p.depth < 12)
			program__push(&p);
		for (int again = 0; again < 2 && ok; again++) {
			p.fail_span = n; /* in the first sample, and in one with all at hand */
			result = sample(&p, rw, how);
			if (p.spans > spans)
				spans = p.spans;
			ok = result >= 0 ? p.got == program__hash(&p)
					 : result > -XR_ERRORS && result != -XR_NO_R_FRAMES;
			*(result >= 0 ? &right : &refused) += 1;
			if (!ok)
				tap__diag("span %d: %d", n, result);
			p.fail_span = 0;
			result = sample(&p, rw, how);
			ok = ok && result == 0 && p.got == program__hash(&p);
		}
		remote_walk__free(rw);
		program__free(&p);
	}
	tap__ok(ok && spans > 30, "%s: each of %d spans fails in turn", how_names[how], spans);
	tap__diag("%u refused, %u right all the same", refused, right);
}

static void test_gone(void)
{
	const struct xr_layout *layout = layouts__last(LAYOUTS_X86_64_LINUX);
	struct remote_walk *rw;
	struct program p;
	bool ok = true;

	program__init(&p, layout, false);
	rw = program__walk(&p, 0);
	program__push(&p);
	for (int how = STILL; how <= IDLE; how++) {
		p.gone = -ESRCH;
		ok = ok && sample(&p, rw, how) == -XR_EXITING && remote_walk__gone(rw) == -ESRCH;
		p.gone = 0;
		ok = ok && sample(&p, rw, how) >= -(int)XR_NO_R_FRAMES && !remote_walk__gone(rw);
	}
	tap__ok(ok, "a process that is gone is exiting");
	remote_walk__free(rw);
	program__free(&p);
}

/* The first sample of all has no frames, only its mark (and the sanitizers watch). */
static void test_collection_outside(void)
{
	const struct xr_layout *layout = layouts__last(LAYOUTS_X86_64_LINUX);
	struct remote_walk *rw;
	struct program p;

	program__init(&p, layout, false);
	image__put32(&p.m, p.m.gc_at, 1);
	rw = program__walk(&p, XR_ROW_GC);
	tap__ok(!sample(&p, rw, IDLE) && p.samples == 1 && p.nframes == 1,
		"a collection outside of all functions: the mark alone");
	remote_walk__free(rw);
	program__free(&p);
}

/* Counts of memory that grow all the time, before stacks of one part and of several. */
static void test_memory(void)
{
	const struct xr_layout *layout = layouts__last(LAYOUTS_X86_64_LINUX);
	struct remote_walk *rw;
	struct xr_row row;
	struct program p;
	bool ok = true;

	program__init(&p, layout, false);
	rw = program__walk(&p, 0);
	row = image__row(&p.m);
	row.flags = XR_ROW_MEMORY;
	row.small_at = image__alloc(&p.m, 8);
	row.large_at = image__alloc(&p.m, 8);
	row.nodes_at = image__alloc(&p.m, 8);
	row.node_size = 56;
	remote_walk__row(rw, &row);
	for (uint64_t i = 1; i < 500; i++) {
		int how = (int)(i % 3);

		while (p.depth < (int)(1 + i % (DEPTH_MAX - 2)))
			program__push(&p);
		while (p.depth > (int)(1 + i % (DEPTH_MAX - 2)))
			program__pop(&p);
		image__put64(&p.m, row.small_at, i);
		image__put64(&p.m, row.large_at, 1000 + i);
		image__put64(&p.m, row.nodes_at, 2000 + i);
		ok = ok && !sample(&p, rw, how) && p.nframes && p.last.flags & XR_F_MEMORY &&
		     p.last.memory.small == 8 * i && p.last.memory.large == 8 * (1000 + i) &&
		     p.last.memory.nodes == 56 * (2000 + i) && !p.last.memory.dups;
	}
	tap__ok(ok && !decoder__stats(p.decoder)->malformed,
		"counts of memory are those of the moment");
	row.large_at = 8;
	remote_walk__row(rw, &row);
	for (int how = STILL; how <= IDLE; how++)
		ok = ok && !sample(&p, rw, how) && p.nframes && !(p.last.flags & XR_F_MEMORY);
	tap__ok(ok, "where they cannot be read the stack is there without them");
	remote_walk__free(rw);
	program__free(&p);
}

/* Wild and cyclic chains, as test_walk.c has them, in all three ways. */
static void test_damage(void)
{
	const struct xr_layout *layout = layouts__last(LAYOUTS_X86_64_LINUX);
	struct remote_walk *rw;
	struct program p;

	program__init(&p, layout, false);
	rw = program__walk(&p, 0);
	while (p.depth < 5)
		program__push(&p);
	for (int how = STILL; how <= IDLE; how++) {
		uint64_t link = p.at[2] + layout->nextcontext;
		int result;

		image__put64(&p.m, link, 0x10);
		result = sample(&p, rw, how);
		tap__ok(result == -XR_BAD_CONTEXT, "%s: a wild link (%d)", how_names[how], result);
		image__put64(&p.m, link, p.at[4]);
		result = sample(&p, rw, how);
		tap__ok(result == -1000 || result == 1, "%s: a cycle is cut (%d)", how_names[how],
			result);
		image__put64(&p.m, link, 0);
		result = sample(&p, rw, how);
		tap__ok(result == -XR_BAD_CHAIN, "%s: a chain without its end (%d)", how_names[how],
			result);
		image__put64(&p.m, link, p.at[1]);
		result = sample(&p, rw, how);
		tap__ok(result == 0 && p.got == program__hash(&p), "%s: and mended",
			how_names[how]);
	}
	remote_walk__free(rw);
	program__free(&p);
}

TEST(remote_walk)
{
	const struct xr_layout *now = layouts__last(LAYOUTS_X86_64_LINUX);
	const struct xr_layout *old = layouts__find(LAYOUTS_X86_64_LINUX, LAYOUTS_VERSION(3, 4, 0));
	static const uint32_t paces[] = {0, 1, 10, 50, 200, 400, 900};

	for (size_t i = 0; i < COUNT(paces); i++) {
		for (int heap = 0; heap < 2; heap++) {
			test_changing(heap ? now : old, heap, false, STILL, paces[i], 1000, 1500);
			test_changing(heap ? now : old, heap, false, STILL, paces[i], 50, 1500);
			if (paces[i] <= 400)
				test_changing(heap ? now : old, heap, false, MOVING, paces[i], 20,
					      1500);
			if (paces[i] <= 50)
				test_changing(heap ? now : old, heap, false, MOVING, paces[i], 1000,
					      1500);
		}
	}
	/* what was read before the stop may have become another call's since */
	for (int heap = 0; heap < 2; heap++) {
		test_changing(heap ? now : old, heap, true, STILL, 400, 1000, 5000);
		test_changing(heap ? now : old, heap, true, STILL, 900, 1000, 5000);
		test_changing(heap ? now : old, heap, true, STILL, 900, 50, 5000);
		/* or between the two looks at a stack that is not stopped */
		test_changing(heap ? now : old, heap, true, MOVING, 10, 1000, 20000);
		test_changing(heap ? now : old, heap, true, MOVING, 50, 200, 20000);
		test_changing(heap ? now : old, heap, true, MOVING, 200, 20, 20000);
	}
	test_changing(now, true, false, IDLE, 500, 500, 1500);
	test_faults(STILL);
	test_faults(MOVING);
	test_faults(IDLE);
	test_gone();
	test_collection_outside();
	test_memory();
	test_damage();
}
