/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/read_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "profile/fold.h"

/* What a line that is known costs beside itself: its place in a map that grows. */
#define KNOWN_COST (4 * sizeof(struct map_entry))

#define ODD UINT64_C(0x9e3779b97f4a7c15)

/* A sink failed. */
static int reading__refused(struct reading *r, int err)
{
	const struct sink *to = &r->reader->config.to;

	return errmsg__set(r->f, err, "%s", sink__why(to)->text);
}

static void about__rate(struct profile_about *about, uint64_t interval)
{
	about->interval_ns = interval;
	about->freq = interval ? (uint32_t)((NS_PER_S + interval / 2) / interval) : 0;
}

void reading__ticks(struct reading *r, const char *clock)
{
	struct profile_about *about = &r->reader->types->about;

	/* the rate is that of the first file that has any */
	if (about->no_ticks)
		about__rate(about, r->result->interval_ns);
	about->no_ticks = false;
	if (!about->clock)
		about->clock = clock;
}

/* Types are named on command lines and in tables: what would be in the way there is replaced. */
static void type__name(char to[READ_TYPE_LEN], const char *name, size_t len)
{
	size_t n = 0;

	for (; n < len && n + 1 < READ_TYPE_LEN; n++)
		to[n] = name[n] > ' ' && name[n] <= '~' ? name[n] : '_';
	to[n] = '\0';
	if (!n)
		memcpy(to, "value", sizeof("value"));
}

int reading__type(struct reading *r, const char *name, size_t len, enum profile_unit unit)
{
	struct read_types *t = r->reader->types;
	char own[READ_TYPE_LEN];
	uint32_t i = PROFILE_TYPE_EVENTS;

	type__name(own, name, len);
	if (!strcmp(own, "off_cpu") && unit == PROFILE_NANOSECONDS)
		i = PROFILE_TYPE_OFF_CPU;
	else if (!strcmp(own, "alloc_space") && unit == PROFILE_BYTES)
		i = PROFILE_TYPE_ALLOC;
	else
		while (i < PROFILE_TYPES_MAX && t->about.types[i].name &&
		       (strcmp(t->names[i], own) != 0 || t->about.types[i].unit != unit))
			i++;
	if (i == PROFILE_TYPES_MAX) {
		r->result->types_left++;
		return -ENOSPC;
	}
	memcpy(t->names[i], own, sizeof(own));
	t->about.types[i] = (struct profile_type){t->names[i], unit};
	return (int)i;
}

int reading__begin(struct reading *r)
{
	struct reader *reader = r->reader;
	struct profile_about *about = &reader->types->about;
	uint64_t interval;
	int err;

	if (!r->result->interval_ns)
		r->result->interval_ns = reader->config.interval_ns;
	if (r->result->format != READ_PPROF)
		reading__ticks(r, NULL);
	if (reader->begun)
		return 0;
	reader->begun = true;
	interval = r->result->interval_ns;
	about__rate(about, interval);
	err = sink__begin(&reader->config.to, about);
	return err ? reading__refused(r, err) : 0;
}

int reading__frame_add(struct reading *r, const struct frame *frame)
{
	struct reader *reader = r->reader;

	if (array__room(&reader->frames, reader->nframes, &reader->cap, sizeof(*reader->frames)))
		return errmsg__set(r->f, -ENOMEM, "cannot read %s: out of memory", r->in->name);
	reader->frames[reader->nframes++] = frame;
	return 0;
}

static bool frame__is(const struct frame *frame, const struct frame *mark)
{
	return frame->function == mark->function;
}

uint32_t reading__flags(const struct reading *r)
{
	const struct reader *reader = r->reader;
	uint32_t flags = 0;

	if (!reader->nframes)
		return 0;
	if (frame__is(reader->frames[0], &mark_gc))
		flags |= XR_F_GC;
	if (frame__is(reader->frames[reader->nframes - 1], &mark_truncated))
		flags |= XR_F_TRUNCATED;
	if (frame__is(reader->frames[reader->nframes - 1], &mark_other_thread))
		flags |= XR_F_OTHER_THREAD;
	return flags;
}

const struct name *reading__name(struct reading *r, const char *text, size_t len)
{
	struct reader *reader = r->reader;

	if (len == 2 && !memcmp(text, "``", 2)) /* an empty one (base/intern.h) */
		len = 0;
	if (!len || !memchr(text, '\\', len))
		return stacks__name(&reader->stacks, text, len);
	reader->name.len = 0;
	if (escape__undo(&reader->name, text, len))
		return NULL;
	return stacks__name(&reader->stacks, reader->name.data, reader->name.len);
}

bool reading__function(struct reading *r, const char *text, size_t len, struct frame *frame)
{
	const struct frame *mark = mark__find(text, len);
	static const char anon[] = "<Anonymous>";
	size_t package;

	if (mark && mark != &mark_toplevel) { /* which no stack holds */
		*frame = *mark;
		return true;
	}
	*frame = (struct frame){.kind = FRAME_R};
	package = name__package(text, len);
	if (package && package + 2 < len) {
		frame->package = stacks__name(&r->reader->stacks, text, package);
		if (!frame->package)
			return false;
		/* R calls none so: what formats put before a name is the package alone */
		if (len == package + 2 + strlen(anon) &&
		    !memcmp(text + package + 2, anon, strlen(anon))) {
			text += package + 2;
			len = strlen(anon);
		}
	}
	if (len == strlen(anon) && !memcmp(text, anon, len))
		frame->kind = FRAME_ANON;
	else if (name__is_reserved(text, len)) /* a function that is called so would be escaped */
		frame->kind = FRAME_UNNAMED;
	frame->function = reading__name(r, text, len);
	return frame->function;
}

const struct stack *reading__stack(struct reading *r, struct place top, bool whole)
{
	struct reader *reader = r->reader;
	const struct stack *stack = NULL;

	if (whole)
		stack = stacks__stack(&reader->stacks, reader->frames, (uint32_t)reader->nframes,
				      top);
	if (stack && reader->config.fold)
		stack = fold__stack(&reader->stacks, stack);
	if (stack && reader->config.merge)
		stack = fold__merged(&reader->stacks, stack);
	return stack ? stack : stacks__none();
}

static uint64_t hash__mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * ODD;
	return h ^ h >> 32;
}

/* Lines are long, and a million of them is hashed: two words at a time. */
uint64_t reading__hash(const char *text, size_t len)
{
	uint64_t a = len * ODD, b = ~a, word[2] = {0};

	for (; len >= sizeof(word); len -= sizeof(word), text += sizeof(word)) {
		memcpy(word, text, sizeof(word));
		a = hash__mix(a, word[0]);
		b = hash__mix(b, word[1]);
	}
	word[0] = word[1] = 0;
	memcpy(word, text, len);
	return map__hash(hash__mix(a, word[0]), hash__mix(b, word[1]));
}

struct reader_line *reading__known(struct reading *r, uint64_t hash, const char *text, size_t len)
{
	struct reader_line *line = map__get(&r->reader->known, hash, len);

	/* of two that have the same hash one is not known */
	return line && !memcmp(line->text, text, len) ? line : NULL;
}

struct reader_line *reading__know(struct reading *r, uint64_t hash, const char *text, size_t len,
				  const struct reader_line *says)
{
	struct reader *reader = r->reader;
	struct reader_line *line;

	/* there may be room for it later; or one of the same hash is there */
	if (says->stack == stacks__none() || map__get(&reader->known, hash, len) ||
	    !budget__take(&reader->budget, KNOWN_COST))
		return NULL;
	reader->known_cost += KNOWN_COST;
	line = arena__alloc(&reader->lines, sizeof(*line) + len);
	if (!line)
		return NULL;
	*line = *says;
	line->len = len;
	memcpy(line->text, text, len);
	if (map__put(&reader->known, hash, len, line))
		return NULL;
	*(reader->first ? reader->last : &reader->first) = line;
	reader->last = &line->next;
	return line;
}

/* Hand @s on: all but its type, weight, flags, detail, stack and thread is set here. */
static int reading__give(struct reading *r, struct reader_process *p, struct sample s)
{
	const struct sink *to = &r->reader->config.to;
	int err = 0;

	if (!p) {
		p = r->process;
		s.tid = 0;
		r->result->crowded += sample__count(&s);
	}
	s.serial = p->process.serial;
	s.pid = p->process.pid;
	s.tid = s.tid ? s.tid : s.pid;
	if (s.type == PROFILE_TYPE_TICKS)
		r->reader->time += r->result->interval_ns * s.weight;
	else if (s.type == PROFILE_TYPE_OFF_CPU)
		r->reader->time += s.weight;
	s.time = r->reader->time;
	if (s.stack == stacks__none())
		r->result->dropped += sample__count(&s);
	if (!p->told)
		err = sink__process(to, &p->process, PROFILE_BEGAN);
	p->told = true;
	if (!err)
		err = sink__sample(to, &p->process, &s);
	return err ? reading__refused(r, err) : 0;
}

static int reading__give_line(struct reading *r, const struct reader_line *line, uint64_t ticks)
{
	const struct sample s = {.weight = ticks, .flags = line->flags, .stack = line->stack};

	return reading__give(r, line->process, s);
}

static int reading__add(struct reading *r, const struct sample *s)
{
	uint64_t *value = &r->result->values[s->type];

	r->result->samples += sample__count(s);
	*value += s->weight;
	if (*value <= READ_TOTAL_MAX && r->result->samples <= READ_TOTAL_MAX)
		return 0;
	return errmsg__set(r->f, -ERANGE, "%s: the sum of its counts is too large", r->in->name);
}

int reading__value(struct reading *r, struct reader_process *p, struct sample s)
{
	int err = reading__add(r, &s);

	return err ? err : reading__give(r, p, s);
}

int reading__once(struct reading *r, const struct reader_line *line)
{
	int err = reading__add(r, &(struct sample){.weight = line->each});

	return err ? err : reading__give_line(r, line, line->each);
}

int reading__count(struct reading *r, struct reader_line *line)
{
	int err;

	if (r->reader->config.ordered)
		return reading__once(r, line);
	err = reading__add(r, &(struct sample){.weight = line->each});
	line->count += err ? 0 : line->each;
	return err;
}

int reading__forget(struct reading *r)
{
	int err = 0;

	for (struct reader_line *line = r->reader->first; line && !err; line = line->next)
		if (line->count)
			err = reading__give_line(r, line, line->count);
	r->reader->first = NULL;
	map__free(&r->reader->known);
	budget__give(&r->reader->budget, r->reader->known_cost);
	r->reader->known_cost = 0;
	arena__free(&r->reader->lines);
	return err;
}

int reading__make_room(struct reading *r)
{
	struct reader *reader = r->reader;
	int err;

	if (reader->budget.used < reader->budget.max / 2)
		return 0;
	err = reading__forget(r);
	reader->generation++;
	stacks__free(&reader->stacks);
	stacks__init(&reader->stacks, &reader->budget, &reader->last_id);
	return err;
}
