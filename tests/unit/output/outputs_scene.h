/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Outputs of a case: made-up samples go to them, and their files are in the case's folder. */
#ifndef OUTPUTS_SCENE_H
#define OUTPUTS_SCENE_H

#include "output/outputs.h"
#include "output/writer.h"
#include "clock.h"
#include "stack_maker.h"
#include "tap.h"

static inline const char *content(const char *name)
{
	return tap__read(tap__path(name), NULL);
}

static inline bool content_is(const char *name, const char *wanted)
{
	const char *text = content(name);

	return text && !strcmp(text, wanted);
}

static struct profile_about about = {.freq = 100}; /* of the profiles that are made up */

static struct sink sink; /* of the outputs opened last */
static struct files *files;

/* The lines for the user. */
static inline void take_note(void *arg, const char *line)
{
	tap__say("%s\n", line);
}

static struct outputs *ss; /* opened last */

static struct errmsg why; /* of begin() */

/* Make them, with `files`, and begin; on an error they are gone. */
static inline int begin(struct outputs_config config)
{
	int err;

	config.files = files;
	config.note = take_note;
	tap__bail_if(outputs__new(&ss, &config), "no memory");
	sink = outputs__sink(ss);
	err = sink__begin(&sink, &about);
	why = *sink__why(&sink);
	if (err)
		outputs__free(ss);
	return err;
}

static inline void open_by(struct outputs_config config)
{
	tap__bail_if(begin(config), "%s", why.text);
}

/* @path, or what has that name in the case's folder. */
static inline void open_at(const char *format, const char *path, bool several)
{
	open_by((struct outputs_config){.format = formats__find(format),
					.path = *path == '/' ? path : tap__path(path),
					.several = several});
}

/* A sample of process @serial whose pid is @pid, in @function. */
static inline int put(uint32_t serial, uint32_t pid, const char *function)
{
	struct sample sample = {.weight = 1,
				.serial = serial,
				.pid = pid,
				.tid = pid,
				.stack = stack__one(function)};
	struct profile_process p = {.serial = serial, .pid = pid, .comm = "R"};

	return sink__sample(&sink, &p, &sample);
}

static inline int end(uint32_t serial, uint32_t pid)
{
	struct profile_process p = {.serial = serial, .pid = pid, .comm = "R"};

	return sink__process(&sink, &p, PROFILE_ENDED);
}

/* A tick so late that writers give up what they keep. */
static inline int flush(void)
{
	static uint64_t late = UINT64_MAX / 2;

	late += 1ULL << 40;
	return sink__tick(&sink, late);
}

/* Wait for @name to hold @wanted, which was handed on. */
static inline bool becomes(const char *name, const char *wanted)
{
	for (int i = 0; i < 10000 && !content_is(name, wanted); i++) {
		files__poll(files, 1);
		sink__tick(&sink, 1);
	}
	return content_is(name, wanted);
}

static inline int finish_counted(struct stats *stats)
{
	int err;

	*stats = (struct stats){0};
	err = sink__finish(&sink, stats);
	outputs__free(ss);
	return err;
}

static inline int finish(void)
{
	return finish_counted(&(struct stats){0});
}

static inline void scene__start(void)
{
	tap__bail_if(files__start(&files, false, NULL), "cannot start what writes files");
	clock__run(CLOCK_SLOW);
}

static inline void scene__stop(void)
{
	files__stop(files);
	stack__free_all();
}

#endif
