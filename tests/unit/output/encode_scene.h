/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Aggregates to encode, and what zlib and protobuf's own library read of a pprof file, as text. */
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

SCENE_FN void scene__string(struct buf *to, const Pprof__Profile *p, int64_t i)
{
	tap__bail_if(i < 0 || (size_t)i >= p->n_string_table, "string %lld of %zu", (long long)i,
		     p->n_string_table);
	buf__add(to, p->string_table[i].data, p->string_table[i].len);
}

/* scene__text - string @i of @p; the last four stay valid. */
SCENE_FN const char *scene__text(const Pprof__Profile *p, int64_t i)
{
	static struct buf texts[4];
	static unsigned int n;
	struct buf *to = &texts[n++ % 4];

	to->len = 0;
	scene__string(to, p, i);
	buf__add(to, "", 1);
	return to->data;
}

/* scene__commented - is there a comment @text? */
SCENE_FN bool scene__commented(const Pprof__Profile *p, const char *text)
{
	for (size_t i = 0; i < p->n_comment; i++)
		if (!strcmp(scene__text(p, p->comment[i]), text))
			return true;
	return false;
}

/* scene__labels - those of sample @i as "key=value;"; until the next call. */
SCENE_FN const char *scene__labels(const Pprof__Profile *p, size_t i)
{
	static struct buf text;
	const Pprof__Sample *s = p->sample[i];

	text.len = 0;
	for (size_t k = 0; k < s->n_label; k++) {
		scene__string(&text, p, s->label[k]->key);
		buf__str(&text, "=");
		scene__string(&text, p, s->label[k]->str);
		if (s->label[k]->num)
			buf__printf(&text, "%lld", (long long)s->label[k]->num);
		scene__string(&text, p, s->label[k]->num_unit);
		buf__str(&text, ";");
	}
	buf__add(&text, "", 1);
	return text.data;
}

/* scene__sample - sample @i: its values, its frames as "name(system file:start)@line". */
SCENE_FN const char *scene__sample(const Pprof__Profile *p, size_t i)
{
	static struct buf text;
	const Pprof__Sample *s = p->sample[i];

	text.len = 0;
	for (size_t k = 0; k < s->n_value; k++)
		buf__printf(&text, "%lld ", (long long)s->value[k]);
	for (size_t k = 0; k < s->n_location_id; k++) {
		const Pprof__Line *l = p->location[s->location_id[k] - 1]->line[0];
		const Pprof__Function *f = p->function[l->function_id - 1];

		buf__printf(&text, "%s%s(%s", k ? " < " : "", scene__text(p, f->name),
			    scene__text(p, f->system_name));
		if (f->filename)
			buf__printf(&text, " %s:%lld", scene__text(p, f->filename),
				    (long long)f->start_line);
		buf__printf(&text, ")@%lld", (long long)l->line);
	}
	buf__add(&text, "", 1);
	return text.data;
}

/* scene__say - all of it but its functions: a part of the golden file. */
SCENE_FN void scene__say(const Pprof__Profile *p)
{
	for (size_t i = 0; i < p->n_sample_type; i++)
		tap__say("%s in %s, ", scene__text(p, p->sample_type[i]->type),
			 scene__text(p, p->sample_type[i]->unit));
	tap__say("period %lld of %s, at %lld for %lld\n", (long long)p->period,
		 p->period_type ? scene__text(p, p->period_type->type) : "none",
		 (long long)p->time_nanos, (long long)p->duration_nanos);
	for (size_t i = 0; i < p->n_sample; i++)
		tap__say("%s\n  %s\n", scene__sample(p, i), scene__labels(p, i));
}

/* scene__sound - ids begin at 1 and have no gaps, and everything that is referred to is there. */
SCENE_FN bool scene__sound(const Pprof__Profile *p)
{
	bool good = p->n_string_table && !p->string_table[0].len;

	for (size_t i = 0; i < p->n_location && good; i++)
		good = p->location[i]->id == i + 1 && p->location[i]->n_line == 1 &&
		       p->location[i]->line[0]->function_id - 1 < p->n_function &&
		       p->location[i]->mapping_id - 1 < p->n_mapping;
	for (size_t i = 0; i < p->n_function && good; i++)
		good = p->function[i]->id == i + 1 &&
		       (uint64_t)p->function[i]->name < p->n_string_table;
	for (size_t i = 0; i < p->n_sample && good; i++) {
		good = p->sample[i]->n_value == p->n_sample_type && p->sample[i]->n_location_id;
		for (size_t k = 0; k < p->sample[i]->n_location_id && good; k++)
			good = p->sample[i]->location_id[k] - 1 < p->n_location;
	}
	return good;
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
