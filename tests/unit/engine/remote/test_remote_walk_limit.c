/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a sample from outside may take at most: of stacks with many contexts, of chains that go in
 * circles, of stacks that are another each time.  The clock goes on with what is read.
 */

#include "engine/remote/hooks.h"
#include "engine/remote/remote_walk.h"
#include "profile/decode.h"
#include "r_image.h"
#include "tap.h"
#include "target/layouts.h"

#define CONTEXTS     30000u
#define CONTEXT_ROOM (XR_CONTEXT_MAX + 64) /* image__room() */
#define CALL_NS	     500u /* a read, and each piece of it: slower than most machines are */
#define SPAN_NS	     100u
#define LIMIT_NS     1000000u
#define SHORT_NS     (LIMIT_NS / 100) /* a limit that most samples exceed */
#define AHEAD_NS     (REMOTE_LOOKS * SHORT_NS)
/* between two looks at the clock: 64 reads with what they read along */
#define SLACK_NS (64 * (CALL_NS + 256 * SPAN_NS))

static uint64_t clock_ns;

struct scene {
	struct image m;
	struct remote_walk *rw;
	struct decoder *decoder;
	uint64_t innermost[2]; /* contexts, of two stacks */
	uint32_t nframes;
	bool truncated, right;
};

static uint64_t scene__now(void)
{
	return clock_ns;
}

static int scene__read(void *arg, const struct mem_span *spans, uint32_t n)
{
	struct scene *s = arg;

	clock_ns += CALL_NS;
	for (uint32_t i = 0; i < n; i++) {
		clock_ns += SPAN_NS;
		if (image__read(&s->m, spans[i].to, spans[i].len, spans[i].addr))
			return (int)i;
	}
	return (int)n;
}

static void on_sample(void *arg, const struct sample *sample)
{
	struct scene *s = arg;
	char name[16];

	s->truncated = sample->flags & XR_F_TRUNCATED;
	s->nframes = sample->stack->nframes - s->truncated; /* the outermost frame is the mark */
	s->right = true;
	for (uint32_t i = 0; i < s->nframes; i++) {
		snprintf(name, sizeof(name), "f%u", i % 4);
		s->right = s->right && !strcmp(sample->stack->frames[i]->function->text, name);
	}
}

/* R_GlobalContext leads to stack @which. */
static void scene__stack(struct scene *s, int which)
{
	image__put64(&s->m, s->m.head_at, s->innermost[which]);
}

static struct scene *scene__new(uint64_t limit)
{
	static const struct decoder_ops ops = {.sample = on_sample};
	struct scene *s = calloc(1, sizeof(*s));
	struct mem_reader reader = {.read_spans = scene__read, .arg = s};
	struct xr_row row;
	uint64_t calls[4], outermost;
	char name[16];

	tap__bail_if(!s, "out of memory");
	image__init(&s->m, layouts__last(LAYOUTS_X86_64_LINUX), 1 << 16,
		    (2 * CONTEXTS + 1) * CONTEXT_ROOM);
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		calls[i] = image__call(&s->m, image__symbol(&s->m, name), 0, 0);
	}
	outermost = image__push(&s->m, 0, s->m.nil, 0);
	for (int which = 0; which < 2; which++) {
		image__put64(&s->m, s->m.head_at, outermost);
		for (uint32_t i = CONTEXTS; i-- > 0;)
			s->innermost[which] = image__push(&s->m, R_CTXT_FUNCTION, calls[i % 4], 0);
	}
	scene__stack(s, 0);
	row = image__row(&s->m);
	tap__bail_if(decoder__new(&s->decoder, &ops, s, 0) ||
			     remote_walk__new(&s->rw, &row, &reader, scene__now),
		     "out of memory");
	remote_walk__sink(s->rw, decoder__record, s->decoder);
	remote_walk__limit(s->rw, limit);
	return s;
}

static void scene__free(struct scene *s)
{
	remote_walk__free(s->rw);
	decoder__free(s->decoder);
	image__free(&s->m);
	free(s);
}

/* What began at @from and ended at @to took at most @most ns. */
static void scene__in_time(uint64_t from, uint64_t to, uint64_t most, const char *what)
{
	tap__ok(to - from <= most, "%s: %llu us", what, (unsigned long long)(to - from) / 1000);
}

/* Samples of one stack, or of another after the look ahead, or of a chain in a circle. */
static const struct row {
	const char *what;
	uint64_t limit;
	enum { AHEAD = 1, LOOK = 2, BOTH = AHEAD | LOOK } timed;
	uint64_t most; /* ns, of what is timed */
	int samples, result;
	bool over, moving, other, circle; /* over: the sample is cut, for it took too long */
} rows[] = {
	{"without a limit", 0, BOTH, UINT64_MAX, 1, 0, .over = false},
	{"read ahead", SHORT_NS, AHEAD, AHEAD_NS + SLACK_NS, 1, 1, .over = true},
	{"another stack", LIMIT_NS, LOOK, LIMIT_NS + SLACK_NS, 6, 1, .over = true, .other = true},
	{"a stack that has not changed", LIMIT_NS, LOOK, LIMIT_NS / 10, 1, 0, .over = false},
	{"a target that is not stopped", SHORT_NS, LOOK, AHEAD_NS + SLACK_NS, 1, 1, .over = true,
	 .moving = true},
	{"a circle", SHORT_NS, BOTH, AHEAD_NS + SHORT_NS + 2 * SLACK_NS, 3, 1, .circle = true},
};

static void scene__finish(struct scene *s, const struct row *row)
{
	const int result = remote_walk__finish(s->rw);
	const struct xr_sample like = {
		.weight = 1, .pid = 4711, .tid = 4711, .flags = result > 0 ? XR_F_TRUNCATED : 0};

	if (result >= 0)
		remote_walk__send(s->rw, &like);
	tap__ok(result == row->result && s->right && s->nframes > 0 &&
			(s->nframes == CONTEXTS) == !result && s->truncated == (result > 0) &&
			remote_walk__over(s->rw) == row->over,
		"%s: %d, %u frames, which are the innermost ones", row->what, result, s->nframes);
}

TEST(limits)
{
	for (const struct row *row = rows; row < rows + COUNT(rows); row++) {
		struct scene *s = scene__new(row->limit);

		if (row->circle) /* the fourth context leads to the first */
			image__put64(&s->m,
				     s->innermost[0] + 3 * CONTEXT_ROOM + s->m.layout.nextcontext,
				     s->innermost[0]);
		for (int i = 0; i < row->samples; i++) {
			uint64_t from = clock_ns, to;

			scene__stack(s, row->other && i % 2);
			remote_walk__ahead(s->rw);
			to = clock_ns;
			scene__stack(s, row->other && !(i % 2));
			if (row->moving)
				remote_walk__moving(s->rw);
			else
				remote_walk__still(s->rw);
			scene__in_time(row->timed & AHEAD ? from : to,
				       row->timed & LOOK ? clock_ns : to, row->most, row->what);
			scene__finish(s, row);
		}
		scene__free(s);
	}
}

static uint64_t scene__no_cpu(void)
{
	return 0;
}

/* No thread waits for it, so a reader that gets no CPU may take a hundred times as long. */
TEST(no_cpu)
{
	struct scene *s = scene__new(SHORT_NS);
	uint64_t from = clock_ns;

	remote_walk__cpu(s->rw, scene__no_cpu);
	remote_walk__ahead(s->rw);
	tap__ok(clock_ns - from > 2 * AHEAD_NS, "without a CPU it takes longer");
	scene__in_time(from, clock_ns, 100 * AHEAD_NS + SLACK_NS, "without a CPU");
	remote_walk__cpu(s->rw, scene__now);
	from = clock_ns;
	remote_walk__ahead(s->rw);
	scene__in_time(from, clock_ns, AHEAD_NS + SLACK_NS, "with a CPU all the time");
	remote_walk__cpu(s->rw, scene__no_cpu);
	scene__stack(s, 1);
	from = clock_ns;
	remote_walk__still(s->rw);
	scene__in_time(from, clock_ns, SHORT_NS + SLACK_NS, "stopped, which the thread waits for");
	scene__free(s);
}

/* The target decides how long each of its strings says it is, and may say another length each time.
 */
TEST(lengths)
{
	enum { STRINGS = 256 };
	const struct mem_reader reader = {0};
	struct remote_memory m;
	uint32_t ids[STRINGS];
	bool same = true;

	remote_memory__init(&m, &reader);
	for (uint32_t len = 8; len <= REMOTE_PIECE_MAX; len += 8) {
		for (uint32_t i = 0; i < STRINGS; i++) {
			ids[i] = remote_memory__put(&m, 0x1000 * (i + 1), len);
			m.pieces[ids[i]].used = len;
		}
		remote_memory__trim(&m, len, ids, STRINGS);
		for (uint32_t i = 0; i < STRINGS; i++)
			same = same && m.pieces[ids[i]].addr == 0x1000 * (i + 1);
	}
	tap__ok(same && m.nbytes <= 4 * STRINGS * REMOTE_PIECE_MAX,
		"the bytes of earlier lengths are used again: %u", m.nbytes);
	remote_memory__free(&m);
}

TEST(names)
{
	const struct mem_reader reader = {0};
	const struct xr_row row = {0};
	struct remote_walk *rw;

	tap__bail_if(remote_walk__new(&rw, &row, &reader, scene__now), "out of memory");
	for (uint64_t i = 1; i <= 1u << 18; i++)
		walk__send_symbol(&rw->walk, 64 * i, 0, 0);
	tap__ok(remote_walk__texts(rw) == 1u << 18 &&
			rw->known.cap * sizeof(*rw->known.entries) <= 4u << 20,
		"the names that are remembered of one process take 4 MiB at most");
	remote_walk__free(rw);
}
