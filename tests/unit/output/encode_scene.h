/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Aggregates to encode, and what zlib and protobuf's own library read of a pprof file. */
#ifndef ENCODE_SCENE_H
#define ENCODE_SCENE_H

#include "aggregate_maker.h"
#include "gzip.h"
#include "output/encode.h"
#include "pprof.pb-c.h"

#define SCENE_FN static __attribute__((unused))

/* scene__pprof - read the whole gzip file in @bytes; valid until the next call. */
SCENE_FN const Pprof__Profile *scene__pprof(const struct buf *bytes)
{
	static struct buf unpacked;
	static Pprof__Profile *p;

	unpacked.len = 0;
	tap__bail_if(!gzip__unpack(&unpacked, bytes->data, bytes->len), "no whole gzip file");
	if (p)
		pprof__profile__free_unpacked(p, NULL);
	p = pprof__profile__unpack(NULL, unpacked.len, (uint8_t *)unpacked.data);
	tap__bail_if(!p, "no profile");
	return p;
}

SCENE_FN const Pprof__Profile *scene__encode(const struct aggregate *a,
					     const struct writer_config *config,
					     const struct stats *stats)
{
	static struct buf bytes;

	bytes.len = 0;
	tap__bail_if(encode__profile(&bytes, formats__find("pprof"), config, a, stats),
		     "not encoded");
	return scene__pprof(&bytes);
}

/* scene__text - string @i of @p; until the next call. */
SCENE_FN const char *scene__text(const Pprof__Profile *p, int64_t i)
{
	static struct buf text;

	tap__bail_if(i < 0 || (size_t)i >= p->n_string_table, "string %lld of %zu", (long long)i,
		     p->n_string_table);
	text.len = 0;
	buf__add(&text, p->string_table[i].data, p->string_table[i].len);
	buf__add(&text, "", 1);
	return text.data;
}

/* scene__commented - is there a comment @text? */
SCENE_FN bool scene__commented(const Pprof__Profile *p, const char *text)
{
	for (size_t i = 0; i < p->n_comment; i++)
		if (!strcmp(scene__text(p, p->comment[i]), text))
			return true;
	return false;
}

/* scene__is_pid - has @p the pid @arg?  For struct profile_part. */
SCENE_FN bool scene__is_pid(const void *arg, const struct profile_process *p)
{
	return p->pid == *(const uint32_t *)arg;
}

/* scene__add - a sample of thread @p->pid + 1. */
SCENE_FN void scene__add(struct aggregate *a, const struct profile_process *p,
			 const struct stack *stack, uint64_t weight)
{
	aggregate__put(
		a, p,
		(struct sample){.time = 5, .weight = weight, .tid = p->pid + 1, .stack = stack});
}

#endif
