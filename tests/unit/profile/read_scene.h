/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file that is read: its bytes, in pieces of any size, and what came of them as text.
 *
 *	scene__read("sample.interval=20000\n\"g\" \"f\" \n", &(struct scene_how){0});
 *	scene.text	"f;g 1\n": outermost first; `(file:line)`, `{file:line}`, `[package]` where
 *			known; a process that is known as "comm/pid " in front; marks in capitals;
 *			of another sample type than ticks, " type N" and what is known of a wait
 */
#ifndef READ_SCENE_H
#define READ_SCENE_H

#include <inttypes.h>

#include "gzip.h"
#include "profile/read.h"
#include "tap.h"

#define SCENE_FN __attribute__((unused)) static

struct scene_how {
	size_t piece; /* bytes at a time; 0: all that fits */
	size_t memory;
	bool ordered, fold, merge, gzip;
	bool named; /* say a process also where it has a name and no pid */
	size_t cut; /* bytes that are missing at the end, after compression */
	struct read_process process;
	int fails; /* the sink does, at the first sample; negative errno */
	struct read_types *types;
};

static struct {
	const char *bytes;
	size_t len, at, piece;
	int fails;
	bool named;
	struct buf text;
	uint64_t ticks, times, last_time;
	size_t begun, none;
	struct profile_about about;
	struct read_result result;
	struct errmsg fault;
	int err;
} scene;

SCENE_FN int scene__bytes(void *arg, void *to, size_t size)
{
	size_t n = scene.len - scene.at;

	if (n > size)
		n = size;
	if (scene.piece && n > scene.piece)
		n = scene.piece;
	memcpy(to, scene.bytes + scene.at, n);
	scene.at += n;
	return (int)n;
}

SCENE_FN int scene__begin(void *arg, const struct profile_about *about)
{
	scene.begun++;
	scene.about = *about;
	return 0;
}

SCENE_FN int scene__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	return event == PROFILE_BEGAN ? 0 : -EINVAL;
}

SCENE_FN void scene__frame(const struct frame *f)
{
	if (f->kind == FRAME_MARK)
		buf__printf(&scene.text, "!");
	buf__add(&scene.text, f->function->text, f->function->len);
	if (f->package)
		buf__printf(&scene.text, " [%s]", f->package->text);
	if (f->defined.file)
		buf__printf(&scene.text, " {%s:%d}", f->defined.file->text,
			    (int32_t)f->defined.line);
	if (f->place.file)
		buf__printf(&scene.text, " (%s:%d)", f->place.file->text, (int32_t)f->place.line);
}

SCENE_FN int scene__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	if (scene.fails)
		return scene.fails;
	if (p->pid || (scene.named && p->comm))
		buf__printf(&scene.text, "%s/%" PRIu32 " ", p->comm ? p->comm : "", p->pid);
	if (!s->stack->nframes)
		buf__printf(&scene.text, "TOP");
	for (uint32_t i = s->stack->nframes; i-- > 0;) {
		scene__frame(s->stack->frames[i]);
		if (i)
			buf__printf(&scene.text, ";");
	}
	if (s->stack->top.file)
		buf__printf(&scene.text, " <%s:%d", s->stack->top.file->text,
			    (int32_t)s->stack->top.line);
	buf__printf(&scene.text, " %" PRIu64, s->weight);
	if (s->type)
		buf__printf(&scene.text, " type %" PRIu32, s->type);
	if (s->type == PROFILE_TYPE_OFF_CPU)
		buf__printf(&scene.text, " %s", wait__state(s->flags));
	if (s->detail)
		buf__printf(&scene.text, " in %" PRIu32, s->detail - 1);
	buf__printf(&scene.text, "\n");
	scene.ticks += s->type ? 0 : s->weight;
	scene.times += s->time > scene.last_time;
	scene.last_time = s->time;
	return 0;
}

SCENE_FN const struct errmsg *scene__why(void *arg)
{
	static const struct errmsg why = {"the sink said no"};

	return &why;
}

/* There is one, number 6. */
SCENE_FN uint32_t scene__syscall(const char *name, size_t len)
{
	return len == 4 && !memcmp(name, "read", 4) ? 7 : 0;
}

/* Read @n such files one after another, as one reader does. */
SCENE_FN int scene__read_all(const char *const *files, const size_t *sizes,
			     const struct scene_how *hows, size_t n)
{
	static const struct sink_ops ops = {
		.begin = scene__begin,
		.process = scene__process,
		.sample = scene__sample,
		.why = scene__why,
	};
	const struct read_input in = {.read = scene__bytes, .name = "file"};
	const struct reader_config config = {
		.to = {.ops = &ops},
		.memory = hows->memory ? hows->memory : 64 << 20,
		.ordered = hows->ordered,
		.fold = hows->fold,
		.merge = hows->merge,
		.types = hows->types,
		.syscall = scene__syscall,
	};
	struct reader *r;

	buf__free(&scene.text);
	memset(&scene, 0, sizeof(scene));
	tap__bail_if(reader__new(&r, &config), "no memory");
	for (size_t i = 0; i < n && !scene.err; i++) {
		struct buf zipped = {0};

		scene.bytes = files[i];
		scene.len = sizes[i];
		scene.at = 0;
		if (hows[i].gzip) {
			gzip__pack(&zipped, files[i], sizes[i]);
			scene.bytes = zipped.data;
			scene.len = zipped.len;
		}
		scene.len -= hows[i].cut;
		scene.piece = hows[i].piece;
		scene.fails = hows[i].fails;
		scene.named = hows[i].named;
		scene.err = reader__file(r, &in, &hows[i].process, &scene.result, &scene.fault);
		buf__free(&zipped);
	}
	reader__free(r);
	buf__add(&scene.text, "", 1);
	return scene.err;
}

SCENE_FN int scene__read_bytes(const char *bytes, size_t len, const struct scene_how *how)
{
	return scene__read_all(&bytes, &len, how, 1);
}

SCENE_FN int scene__read(const char *text, const struct scene_how *how)
{
	return scene__read_bytes(text, strlen(text), how);
}

SCENE_FN void scene__becomes(const char *text, const struct scene_how *how, const char *wanted,
			     const char *name)
{
	int err = scene__read(text, how);

	tap__is(err ? scene.fault.text : scene.text.data, wanted, "%s", name);
}

SCENE_FN void scene__is(const char *text, const char *wanted, const char *name)
{
	scene__becomes(text, &(struct scene_how){0}, wanted, name);
}

/* The same one by one, in their order. */
SCENE_FN void scene__in_order(const char *text, const char *wanted, const char *name)
{
	scene__becomes(text, &(struct scene_how){.ordered = true}, wanted, name);
}

SCENE_FN void scene__refused(int err, const char *reason, const char *name)
{
	if (!tap__ok(err < 0 && strstr(scene.fault.text, reason), "%s", name))
		tap__diag("%d %s", err, scene.fault.text);
}

SCENE_FN void scene__none(const char *text, const char *reason, const char *name)
{
	scene__refused(scene__read(text, &(struct scene_how){0}), reason, name);
}

#endif
