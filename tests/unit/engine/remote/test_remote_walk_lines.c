/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Source locations in the walk from outside, over an image of R's memory that changes while it is
 * read: the program calls, returns, and goes on in the byte code of the function that runs.  Where
 * each call was made from must be where it was.
 */
#include "profile/decode.h"
#include "lines_scene.h"
#include "engine/remote/remote_walk.h"

#define DEPTH 12
#define WAYS  3 /* functions that may be called at each depth */

static uint64_t rng(void)
{
	static uint64_t state = 0x2545f4914f6cdd1dull;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* A function: it is at line first in the first half of its byte code, at first + 1 in the other. */
struct function {
	uint64_t call, body, code;
	uint32_t first;
	char name[16];
	uint64_t hash; /* of the name */
};

/* A call: its context, its variable with the place in the byte code, and where that is. */
struct call {
	uint64_t context, pc;
	int way;
	uint32_t unit;
};

struct program {
	struct scene s;
	struct function functions[DEPTH][WAYS];
	struct call calls[DEPTH];
	int depth;
	uint32_t changes; /* of 1000 spans read, before how many it does something */
	struct map seen;  /* hashes of the stacks it has had */
	struct decoder *decoder;
	uint64_t got;	    /* hash of the sample's stack, */
	uint32_t innermost; /* and its innermost line */
};

static uint64_t hash_name(const char *name)
{
	return map__hash_bytes(name, strlen(name));
}

/* @name is its hash. */
static uint64_t hash_frame(uint64_t hash, uint64_t name, uint32_t line)
{
	return map__hash(hash, map__hash(name, line));
}

static const struct function *program__function(const struct program *p, int depth)
{
	return &p->functions[depth][p->calls[depth].way];
}

static uint32_t program__line(const struct program *p, int depth)
{
	return program__function(p, depth)->first + p->calls[depth].unit / 4;
}

/* Frames innermost first, each with the line that it was called from. */
static uint64_t program__hash(const struct program *p)
{
	uint64_t hash = 0;

	for (int i = p->depth; i-- > 0;)
		hash = hash_frame(hash, program__function(p, i)->hash,
				  i ? program__line(p, i - 1) : 0);
	return hash;
}

/* The function that runs now is at @unit of its byte code. */
static void program__at(struct program *p, uint32_t unit)
{
	struct call *c = &p->calls[p->depth - 1];
	const struct function *f = program__function(p, p->depth - 1);

	c->unit = unit;
	image__put64(&p->s.m, c->pc, f->code + 8ull * unit);
	image__put64(&p->s.m, p->s.row.bc_body_at, f->body);
	image__put64(&p->s.m, p->s.row.bc_pc_at, c->pc);
}

static void program__push(struct program *p)
{
	const struct xr_layout *l = &p->s.m.layout;
	struct call *c = &p->calls[p->depth];
	uint64_t next;

	c->way = (int)(rng() % WAYS);
	next = image__get64(&p->s.m, p->s.m.head_at);
	image__context(&p->s.m, c->context, next, R_CTXT_FUNCTION,
		       program__function(p, p->depth)->call);
	if (p->depth) {
		image__put64(&p->s.m, c->context + l->srcref, p->s.row.in_bc);
		image__put64(&p->s.m, c->context + l->bcbody,
			     program__function(p, p->depth - 1)->body);
		image__put64(&p->s.m, c->context + l->bcpc, p->calls[p->depth - 1].pc);
	}
	image__put64(&p->s.m, p->s.m.head_at, c->context);
	p->depth++;
	program__at(p, 0);
}

static void program__pop(struct program *p)
{
	p->depth--;
	image__put64(&p->s.m, p->s.m.head_at, p->calls[p->depth - 1].context);
	program__at(p, p->calls[p->depth - 1].unit);
}

static void program__step(struct program *p)
{
	uint64_t what = rng() % 4;

	if (what == 0 && p->depth > 2)
		program__pop(p);
	else if (what == 1 && p->depth < DEPTH)
		program__push(p);
	else
		program__at(p, (uint32_t)(rng() % 8));
	tap__bail_if(map__put(&p->seen, program__hash(p), 1, p), "out of memory");
}

static int program__read(void *arg, const struct mem_span *spans, uint32_t n)
{
	struct program *p = arg;

	for (uint32_t i = 0; i < n; i++) {
		while (rng() % 1000 < p->changes)
			program__step(p);
		if (image__read(&p->s.m, spans[i].to, spans[i].len, spans[i].addr))
			return (int)i;
	}
	return (int)n;
}

static uint64_t program__now(void)
{
	static uint64_t ns;

	return ns += 1000;
}

static void on_sample(void *arg, const struct sample *s)
{
	const struct stack *stack = s->stack;
	struct program *p = arg;

	p->got = 0;
	p->innermost = stack->nframes ? stack->frames[0]->place.line : stack->top.line;
	/* the line each was called from */
	for (uint32_t i = 0; i < stack->nframes; i++)
		p->got = hash_frame(p->got, hash_name(stack->frames[i]->function->text),
				    i + 1 < stack->nframes ? stack->frames[i + 1]->place.line
							   : stack->top.line);
}

static void program__init(struct program *p)
{
	static const struct decoder_ops ops = {.sample = on_sample};
	struct scene *s = &p->s;
	uint64_t file;

	memset(p, 0, sizeof(*p));
	scene__init(s, layout_now());
	file = srcfile__list(s, image__string(&s->m, "a.R"));
	for (int i = 0; i < DEPTH * WAYS; i++) {
		struct function *f = &p->functions[i / WAYS][i % WAYS];

		snprintf(f->name, sizeof(f->name), "f%d", i);
		f->hash = hash_name(f->name);
		f->call = image__call(&s->m, image__symbol(&s->m, f->name), 0, 0);
		f->first = 10 * (uint32_t)i + 1;
		f->body = bytecode(s, srcref(s, file, (int32_t)f->first),
				   srcref(s, file, (int32_t)f->first + 1), 0);
		f->code = image__get64(&s->m, f->body + 8 * R_CAR);
		f->code += s->m.layout.vector_data;
	}
	image__put64(&s->m, s->row.srcref_at, s->row.in_bc);
	for (int i = 0; i < DEPTH; i++) {
		p->calls[i].context = image__room(&s->m, 0);
		p->calls[i].pc = image__room(&s->m, 0);
	}
	tap__bail_if(decoder__new(&p->decoder, &ops, p, 0), "out of memory");
	while (p->depth < DEPTH / 2)
		program__push(p);
}

static void program__free(struct program *p)
{
	decoder__free(p->decoder);
	map__free(&p->seen);
	scene__free(&p->s);
}

/* One sample of @p: 1 right, 0 torn, negative: wrong, or an error. */
static int sample(struct program *p, struct remote_walk *rw, bool still)
{
	static const struct xr_sample like = {.weight = 1, .pid = 4711, .tid = 4711};
	uint32_t changes = p->changes, line = 0;
	uint64_t stopped = 0;
	int result;

	map__free(&p->seen);
	tap__bail_if(map__put(&p->seen, program__hash(p), 1, p), "out of memory");
	result = remote_walk__ahead(rw);
	if (still) {
		p->changes = 0;
		stopped = program__hash(p);
		line = program__line(p, p->depth - 1);
		result = remote_walk__still(rw);
		p->changes = changes;
		while (changes && rng() % 4) /* it runs on, and what was read must be enough */
			program__step(p);
	} else {
		result = remote_walk__moving(rw);
	}
	if (result >= 0)
		result = remote_walk__finish(rw);
	if (result == -XR_TORN)
		return 0;
	if (result < 0)
		return result;
	remote_walk__send(rw, &like);
	if (still)
		return p->got == stopped && p->innermost == line ? 1 : -1000;
	return map__get(&p->seen, p->got, 1) ? 1 : -1000;
}

static void test_changing(bool still, uint32_t flags, uint32_t changes, uint32_t samples)
{
	uint32_t right = 0, torn = 0, wrong = 0;
	struct program p;
	struct mem_reader reader = {.read_spans = program__read, .arg = &p};
	struct remote_walk *rw;

	if (!tap__all())
		samples /= 8;
	program__init(&p);
	p.s.row.flags |= flags;
	tap__bail_if(remote_walk__new(&rw, &p.s.row, &reader, program__now), "out of memory");
	remote_walk__sink(rw, decoder__record, p.decoder);
	p.changes = changes;
	for (uint32_t i = 0; i < samples; i++) {
		int result = sample(&p, rw, still);

		right += result == 1;
		torn += result == 0;
		wrong += result < 0;
		program__step(&p);
	}
	tap__ok(right && !wrong && !(still && torn), "%s, %u changes of 1000: %u wrong",
		still ? "stopped" : "moving", changes, wrong);
	tap__diag("%u right, %u torn", right, torn);
	remote_walk__free(rw);
	program__free(&p);
}

/*
 * No frame, but a place: code at top level, or, with filter.callframes, what was called from
 * nowhere.  R writes a line of the place alone.
 */
static void test_place_alone(void)
{
	struct program p;
	struct mem_reader reader = {.read_spans = program__read, .arg = &p};
	static const struct xr_sample like = {.weight = 1, .pid = 4711, .tid = 4711};
	struct scene *s = &p.s;
	struct remote_walk *rw;
	uint64_t file, toplevel;
	int result[2];

	program__init(&p);
	file = srcfile__list(s, image__string(&s->m, "top.R"));
	toplevel = image__get64(&s->m, p.calls[0].context + s->m.layout.nextcontext);
	image__put64(&s->m, s->m.head_at, toplevel);
	tap__bail_if(remote_walk__new(&rw, &s->row, &reader, program__now), "out of memory");
	remote_walk__sink(rw, decoder__record, p.decoder);
	for (int i = 0; i < 2; i++) {
		image__put64(&s->m, s->row.srcref_at, i ? srcref(s, file, 77) : s->m.nil);
		remote_walk__ahead(rw);
		remote_walk__still(rw);
		result[i] = remote_walk__finish(rw);
	}
	tap__ok(result[0] == -XR_NO_R_FRAMES, "no frame and no place: nothing to say");
	tap__ok(result[1] == 0, "a place alone is a sample");
	remote_walk__send(rw, &like);
	tap__ok(p.innermost == 77, "with that place");
	remote_walk__free(rw);
	program__free(&p);
}

TEST(remote_walk_lines)
{
	static const uint32_t changes[] = {0, 5, 50, 200, 500};

	for (size_t i = 0; i < COUNT(changes); i++) {
		test_changing(true, 0, changes[i], 4000);
		test_changing(false, 0, changes[i], 1500);
	}
	test_place_alone();
}
