/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a sample from outside may take at most: of stacks with many contexts, of chains that go in
 * circles, of stacks that are another each time.  The clock goes on with what is read.
 */

#include "engine/remote/remote_walk.h"
#include "profile/decode.h"
#include "r_image.h"
#include "tap.h"
#include "target/layouts.h"

#define CONTEXTS 30000u
#define CALL_NS	 500u /* a read, and each piece of it: slower than most machines are */
#define SPAN_NS	 100u
#define LIMIT_NS 1000000u
/* between two looks at the clock: 64 reads with what they read along */
#define SLACK_NS (64 * (CALL_NS + 256 * SPAN_NS))

static uint64_t clock_ns;

struct scene {
	struct image m;
	struct remote_walk *rw;
	struct decoder *decoder;
	uint64_t contexts[2][CONTEXTS]; /* two stacks, innermost first */
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
	image__put64(&s->m, s->m.head_at, s->contexts[which][0]);
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
		    (2 * CONTEXTS + 1) * (XR_CONTEXT_MAX + 64));
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		calls[i] = image__call(&s->m, image__symbol(&s->m, name), 0, 0);
	}
	outermost = image__room(&s->m, 0);
	image__context(&s->m, outermost, 0, 0, s->m.nil);
	for (int which = 0; which < 2; which++) {
		for (uint32_t i = 0; i < CONTEXTS; i++)
			s->contexts[which][i] = image__room(&s->m, 0);
		for (uint32_t i = 0; i < CONTEXTS; i++)
			image__context(&s->m, s->contexts[which][i],
				       i + 1 < CONTEXTS ? s->contexts[which][i + 1] : outermost,
				       R_CTXT_FUNCTION, calls[i % 4]);
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

/* What the last call took, ns, from then on. */
static uint64_t scene__took(void)
{
	static uint64_t last;
	uint64_t took = clock_ns - last;

	last = clock_ns;
	return took;
}

/* The last call took at most @most ns. */
static void scene__in_time(uint64_t most, const char *what)
{
	uint64_t took = scene__took();

	tap__ok(took <= most, "%s: %llu us", what, (unsigned long long)took / 1000);
}

/* @over: the sample is cut, for it took too long. */
static void scene__finish(struct scene *s, int expected, bool over, const char *what)
{
	static const struct xr_sample like = {.weight = 1, .pid = 4711, .tid = 4711};
	struct xr_sample sample = like;
	int result = remote_walk__finish(s->rw);

	sample.flags = result > 0 ? XR_F_TRUNCATED : 0;
	if (result >= 0)
		remote_walk__send(s->rw, &sample);
	tap__ok(result == expected && s->right && s->nframes > 0 && s->truncated == (result > 0) &&
			remote_walk__over(s->rw) == over,
		"%s: %d, %u frames, which are the innermost ones", what, result, s->nframes);
}

TEST(free)
{
	struct scene *s = scene__new(0);

	remote_walk__ahead(s->rw);
	remote_walk__still(s->rw);
	scene__finish(s, 0, false, "without a limit");
	tap__ok(s->nframes == CONTEXTS, "all is read");
	scene__free(s);
}

TEST(ahead)
{
	struct scene *s = scene__new(LIMIT_NS / 100);

	scene__took();
	remote_walk__ahead(s->rw);
	scene__in_time(REMOTE_LOOKS * LIMIT_NS / 100 + SLACK_NS, "ahead");
	remote_walk__still(s->rw);
	scene__finish(s, 1, true, "what was read ahead is cut");
	tap__ok(s->nframes < CONTEXTS, "not all is read");
	scene__free(s);
}

static uint64_t scene__no_cpu(void)
{
	return 0;
}

/* No thread waits for it, so a reader that gets no CPU may take a hundred times as long. */
TEST(no_cpu)
{
	const uint64_t limit = REMOTE_LOOKS * LIMIT_NS / 100;
	struct scene *s = scene__new(LIMIT_NS / 100);
	uint64_t took;

	remote_walk__cpu(s->rw, scene__no_cpu);
	scene__took();
	remote_walk__ahead(s->rw);
	took = scene__took();
	tap__ok(took > 2 * limit && took <= 100 * limit + SLACK_NS, "without a CPU: %llu us",
		(unsigned long long)took / 1000);
	remote_walk__cpu(s->rw, scene__now);
	remote_walk__ahead(s->rw);
	scene__in_time(limit + SLACK_NS, "with a CPU all the time");
	remote_walk__cpu(s->rw, scene__no_cpu);
	scene__stack(s, 1);
	scene__took();
	remote_walk__still(s->rw);
	scene__in_time(LIMIT_NS / 100 + SLACK_NS, "stopped, which the thread waits for");
	scene__free(s);
}

TEST(still)
{
	struct scene *s = scene__new(LIMIT_NS);

	for (int i = 0; i < 6; i++) {
		scene__stack(s, i % 2);
		remote_walk__ahead(s->rw);
		scene__stack(s, !(i % 2));
		scene__took();
		remote_walk__still(s->rw);
		scene__in_time(LIMIT_NS + SLACK_NS, "stopped");
		scene__finish(s, 1, true, "another stack");
	}
	scene__free(s);
}

/* Nothing is cut of a stack whose top alone has changed. */
TEST(top)
{
	struct scene *s = scene__new(LIMIT_NS);

	remote_walk__ahead(s->rw);
	scene__took();
	remote_walk__still(s->rw);
	tap__ok(scene__took() < LIMIT_NS / 10, "a stack that has not changed: no time at all");
	scene__finish(s, 0, false, "all of it");
	tap__ok(s->nframes == CONTEXTS, "as many frames as there are");
	scene__free(s);
}

TEST(moving)
{
	struct scene *s = scene__new(LIMIT_NS / 100);

	remote_walk__ahead(s->rw);
	scene__took();
	remote_walk__moving(s->rw);
	scene__in_time(REMOTE_LOOKS * LIMIT_NS / 100 + SLACK_NS, "never stopped");
	scene__finish(s, 1, true, "of a target that is not stopped");
	scene__free(s);
}

/* A chain that goes in a circle. */
TEST(circle)
{
	struct scene *s = scene__new(LIMIT_NS / 100);

	image__context(&s->m, s->contexts[0][3], s->contexts[0][0], R_CTXT_FUNCTION,
		       image__call(&s->m, image__symbol(&s->m, "f3"), 0, 0));
	for (int i = 0; i < 3; i++) {
		scene__took();
		remote_walk__ahead(s->rw);
		remote_walk__still(s->rw);
		scene__in_time((REMOTE_LOOKS + 1) * LIMIT_NS / 100 + 2 * SLACK_NS, "a circle");
		scene__finish(s, 1, false, "a circle");
	}
	scene__free(s);
}
