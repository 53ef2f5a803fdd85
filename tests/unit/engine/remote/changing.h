/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program in an image of R's memory, which changes while it is read: between any two reads it may
 * call, return, go on in its byte code and write over what it left, as R does.
 */
#ifndef XR_TEST_CHANGING_H
#define XR_TEST_CHANGING_H

#include "profile/decode.h"
#include "engine/remote/remote_walk.h"
#include "lines_scene.h"
#include "some.h"

#define DEPTH_MAX 64
#define WAYS	  4 /* functions that may be called at each depth */
#define CELLS	  200

enum { FOREIGN = -1, LOOP = -2 };

/* It is at the first of two lines in the first half of its byte code, at the second in the other.
 */
struct function {
	uint64_t call, symbol, body, code;
	uint64_t name; /* hash of its text */
};

/* A program: what it may call, and its stack now. */
struct program {
	struct scene s;
	struct function functions[DEPTH_MAX][WAYS];
	uint64_t foreign, foreign_name; /* a call of .Call */
	bool made, lines;
	uint64_t cells[CELLS];	   /* of calls that are made when called, where others were */
	uint64_t cell[DEPTH_MAX];  /* the cell of the call at each depth, if it was made */
	uint64_t slots[DEPTH_MAX]; /* where the context at each depth goes */
	uint64_t pcs[DEPTH_MAX];   /* and the place in the byte code */
	uint64_t toplevel;	   /* context */
	int way[DEPTH_MAX];	   /* or FOREIGN or LOOP, outermost first */
	uint32_t unit[DEPTH_MAX];  /* of the byte code */
	int depth;
	/* what happens while it is being read */
	uint32_t changes; /* of 1000 spans read, before how many it does something */
	uint32_t busy; /* of 1000 things it does, how many go deeper than two frames from the top */
	uint64_t steps;
	struct map seen; /* hashes of the stacks it has had */
	int fail_span;	 /* this one cannot be read, counted from 1 */
	int spans;
	int gone; /* nothing can be read: the error */
	/* what came out */
	struct decoder *decoder;
	uint64_t got;	    /* hash of the last sample's stack, */
	uint32_t innermost; /* and its innermost line */
	uint32_t nframes, samples;
	struct sample last; /* without its stack */
	uint32_t old;	    /* of its calls, environments with the mark of a collection */
	uint64_t env;	    /* collections mark it */
	int collect;	    /* reads after the look ahead that have a collection before them */
	uint32_t collections;
};

static uint64_t name__hash(const char *name)
{
	return map__hash_bytes(name, strlen(name));
}

static const struct function *program__function(const struct program *p, int depth)
{
	return &p->functions[depth][p->way[depth]];
}

/* Where the call at @depth is; 0: outside of all, or lines are not wanted. */
static uint32_t program__line(const struct program *p, int depth)
{
	if (!p->lines || depth < 0)
		return 0;
	return 1 + 2 * (uint32_t)(depth * WAYS + p->way[depth]) + p->unit[depth] / 4;
}

/* A hash of the frames, innermost first, each with the line that it was called from; 0: none. */
static uint64_t program__hash(const struct program *p)
{
	uint64_t hash = 0;

	for (int i = p->depth; i-- > 0;) {
		uint64_t name = p->way[i] < 0 ? p->foreign_name : program__function(p, i)->name;

		if (p->way[i] != LOOP)
			hash = map__hash(hash, map__hash(name, program__line(p, i - 1)));
	}
	return hash;
}

static void program__note(struct program *p)
{
	tap__bail_if(map__put(&p->seen, program__hash(p), 1, p), "out of memory");
}

/* The function that runs now is at @unit of its byte code. */
static void program__at(struct program *p, uint32_t unit)
{
	const int top = p->depth - 1;
	struct image *m = &p->s.m;

	if (!p->lines || top < 0)
		return;
	p->unit[top] = unit;
	image__put64(m, p->pcs[top], program__function(p, top)->code + 8ull * unit);
	image__put64(m, p->s.row.bc_body_at, program__function(p, top)->body);
	image__put64(m, p->s.row.bc_pc_at, p->pcs[top]);
}

static void program__pop(struct program *p)
{
	const uint64_t at = p->slots[--p->depth];
	struct image *m = &p->s.m;
	uint8_t *dead = image__at(m, at, XR_CONTEXT_MAX);

	image__put64(m, m->head_at, p->depth ? p->slots[p->depth - 1] : p->toplevel);
	/* what named the call may be something else from now on */
	if (p->made && p->cell[p->depth] && some(2))
		image__put64(m, p->cell[p->depth], 2);
	/* C functions use the same stack for other things, often the same ones each time */
	if (p->depth % 2) {
		image__put64(m, at + m->layout.call, m->nil + 8);
		image__put64(m, at + m->layout.cloenv, 0);
	} else {
		for (uint32_t i = 0; i < 3 && some(2); i++) {
			uint64_t call = p->functions[some(DEPTH_MAX)][some(WAYS)].call;
			uint64_t word = some(2) ? call : some64();

			memcpy(dead + some(XR_CONTEXT_MAX / 8) * 8, &word, 8);
		}
	}
	if (p->depth)
		program__at(p, p->unit[p->depth - 1]);
}

/* A call of the function @way of depth @depth, in a cell that no live call has. */
static uint64_t program__make(struct program *p, int depth, int way)
{
	uint64_t call;
	int i;

	do {
		call = p->cells[some(CELLS)];
		for (i = 0; i < depth && p->cell[i] != call; i++)
			;
	} while (i < depth);
	image__put64(&p->s.m, call, R_LANGSXP);
	image__put64(&p->s.m, call + 8 * R_CAR, p->functions[depth][way].symbol);
	p->cell[depth] = call;
	return call;
}

static void program__push(struct program *p)
{
	const int depth = p->depth, way = (int)some(WAYS);
	const uint32_t kind = p->lines ? 2 : some(16);
	const uint64_t at = p->slots[depth];
	const uint64_t next = depth ? p->slots[depth - 1] : p->toplevel;
	struct image *m = &p->s.m;

	if (depth >= DEPTH_MAX - 2)
		return;
	p->cell[depth] = 0;
	if (kind == 0 && depth) {
		p->way[depth] = FOREIGN;
		image__context(m, at, next, R_CTXT_BUILTIN, p->foreign);
	} else if (kind == 1) {
		p->way[depth] = LOOP;
		image__context(m, at, next, 3, m->nil);
	} else {
		p->way[depth] = way;
		image__context(m, at, next, R_CTXT_FUNCTION,
			       p->made ? program__make(p, depth, way)
				       : p->functions[depth][way].call);
	}
	if (p->lines && depth) {
		image__put64(m, at + m->layout.srcref, p->s.row.in_bc);
		image__put64(m, at + m->layout.bcbody, program__function(p, depth - 1)->body);
		image__put64(m, at + m->layout.bcpc, p->pcs[depth - 1]);
	}
	p->depth++;
	/* the record is complete before R_GlobalContext points at it */
	image__put64(m, m->head_at, at);
	program__at(p, 0);
}

/* Call or return, or go on; a routine in C and a loop's own calls come back first. */
static void program__step(struct program *p)
{
	int floor = some(1000) < p->busy ? 0 : p->depth > 2 ? p->depth - 1 : p->depth;

	if (p->lines && floor < 2) /* some function is always at a line */
		floor = 2;

	p->steps++;
	if (p->lines && some(2))
		program__at(p, some(8));
	else if (p->depth > floor && (some(2) || p->way[p->depth - 1] == FOREIGN))
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
	if (p->collect && p->collect--) {
		image__put32(&p->s.m, p->s.row.gc_count_at, ++p->collections);
		image__put64(&p->s.m, p->env, R_ENVSXP | R_MARK_BIT);
	}
	for (uint32_t i = 0; i < n; i++) {
		while (some(1000) < p->changes)
			program__step(p);
		if (++p->spans == p->fail_span ||
		    image__read(&p->s.m, spans[i].to, spans[i].len, spans[i].addr))
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
	p->samples++;
	p->nframes = stack->nframes;
	p->innermost = stack->nframes ? stack->frames[0]->place.line : stack->top.line;
	p->last = *s;
	p->last.stack = NULL;
	p->old = 0;
	for (uint32_t i = 0; i < s->ncalls; i++)
		p->old += s->calls[i].old;
	/* the line each was called from is that of the next */
	for (uint32_t i = 0; i < stack->nframes; i++)
		p->got = map__hash(p->got, map__hash(name__hash(stack->frames[i]->function->text),
						     i + 1 < stack->nframes
							     ? stack->frames[i + 1]->place.line
							     : stack->top.line));
}

static void program__init(struct program *p, const struct xr_layout *layout, bool heap, bool lines)
{
	static const struct decoder_ops ops = {.sample = on_sample};
	struct image *m = &p->s.m;
	uint64_t file;
	char name[32];

	memset(p, 0, sizeof(*p));
	scene__init(&p->s, layout);
	p->lines = lines;
	file = srcfile__list(&p->s, image__string(m, "a.R"));
	for (int i = 0; i < DEPTH_MAX * WAYS; i++) {
		struct function *f = &p->functions[i / WAYS][i % WAYS];

		snprintf(name, sizeof(name), "f_%d", i);
		f->name = name__hash(name);
		f->symbol = image__symbol(m, name);
		f->call = image__call(m, f->symbol, 0, 0);
		if (!lines)
			continue;
		f->body = bytecode(&p->s, srcref(&p->s, file, 2 * i + 1),
				   srcref(&p->s, file, 2 * i + 2), 0);
		f->code = image__get64(m, f->body + 8 * R_CAR) + m->layout.vector_data;
	}
	for (int depth = 0; depth < DEPTH_MAX; depth++) {
		p->slots[depth] = image__room(m, heap && depth % 3);
		p->pcs[depth] = image__alloc(m, 8);
	}
	for (int i = 0; i < CELLS; i++)
		p->cells[i] = image__call(m, p->functions[0][0].symbol, 0, 0);
	p->foreign = image__call(m, image__symbol(m, ".Call"), 0, 0);
	p->foreign_name = name__hash(".Call");
	/* R_Toplevel is a variable */
	p->toplevel = image__alloc(m, XR_CONTEXT_MAX);
	image__context(m, p->toplevel, 0, 0, m->nil);
	image__put64(m, m->head_at, p->toplevel);
	image__put64(m, p->s.row.srcref_at, p->s.row.in_bc);
	tap__bail_if(decoder__new(&p->decoder, &ops, p, 0), "out of memory");
}

static void program__free(struct program *p, struct remote_walk *rw)
{
	remote_walk__free(rw);
	decoder__free(p->decoder);
	map__free(&p->seen);
	scene__free(&p->s);
}

/* A walk of @p, from a stack of @depth on. */
static struct remote_walk *program__walk(struct program *p, uint32_t flags, int depth)
{
	struct mem_reader reader = {.read_spans = program__read, .arg = p};
	struct remote_walk *rw;

	p->s.row.flags = flags | (p->lines ? XR_ROW_LINES | XR_ROW_BC : 0);
	while (p->depth < depth)
		program__push(p);
	tap__bail_if(remote_walk__new(&rw, &p->s.row, &reader, program__now), "out of memory");
	remote_walk__sink(rw, decoder__record, p->decoder);
	remote_walk__limit(rw, 1000000); /* far more than a sample takes here */
	return rw;
}

static struct remote_walk *program__start(struct program *p, int depth)
{
	program__init(p, layout_now(), false, false);
	return program__walk(p, 0, depth);
}

#endif
