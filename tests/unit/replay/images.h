/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recorded images, for the tests that play them back, and what reads one's memory.
 * XRPROF_RECORDED: another folder, instead of the tree's.
 */
#ifndef XR_TEST_IMAGES_H
#define XR_TEST_IMAGES_H

#include <glob.h>
#include <limits.h>

#include "base/mem_reader.h"
#include "replay/recorded_memory.h"
#include "replay/recorded_walk.h"
#include "tap.h"

/* What serves the reads of a walk. */
struct memory {
	const struct recorded_memory *recorded;
	uint64_t spans;	  /* read so far */
	uint64_t fail_at; /* number of the span that cannot be read, from 1; 0: none */
	uint64_t gone_at; /* from this one on nothing can be; 0: all can */
	bool misses;	  /* something was asked for that was not recorded */
};

static inline int memory__spans(void *arg, const struct mem_span *spans, uint32_t n)
{
	struct memory *m = arg;

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *from = recorded_memory__at(m->recorded, spans[i].addr, spans[i].len);

		m->spans++;
		if (m->gone_at && m->spans >= m->gone_at)
			return -ESRCH;
		m->misses = m->misses || !from;
		if (!from || m->spans == m->fail_at)
			return (int)i;
		memcpy(spans[i].to, from, spans[i].len);
	}
	return (int)n;
}

static inline int memory__read(void *arg, char kind, uint64_t addr, void *to, uint32_t len)
{
	struct mem_span span = {.addr = addr, .to = to, .len = len};

	return memory__spans(arg, &span, 1) == 1 ? 0 : -1;
}

/* Has @walk the sample of @truth?  With @partial it may lack the innermost location. */
static inline bool walk__same(const struct recorded_walk *walk, const struct recorded_walk *truth,
			      bool partial)
{
	if (walk->nslots != truth->nslots || !walk->walk.gc != !truth->walk.gc ||
	    (walk->nslots &&
	     memcmp(walk->slots, truth->slots, walk->nslots * sizeof(*walk->slots))))
		return false;
	return (walk->file == truth->file && walk->line == truth->line) || (partial && !walk->file);
}

/* images__each - call @test with each image, in the order of their names. */
static inline void images__each(void (*test)(const char *name, const struct recorded *image))
{
	const char *folder = getenv("XRPROF_RECORDED");
	char pattern[PATH_MAX];
	glob_t all;

	if (!folder)
		folder = "tests/images-recorded";
	snprintf(pattern, sizeof(pattern), "%s/*.gz", folder);
	tap__bail_if(glob(pattern, 0, NULL, &all),
		     "no image in %s: run this from the top of the tree", folder);
	for (size_t i = 0; i < all.gl_pathc; i++) {
		const char *path = all.gl_pathv[i];
		struct recorded image;

		if (recorded__read(&image, path))
			tap__ok(false, "%s is read: line %u", path, image.line_number + 1);
		else
			test(strrchr(path, '/') + 1, &image);
		recorded__free(&image);
	}
	globfree(&all);
}

#endif
