/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/page_sources.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "os/texts.h"

#define SOURCES_MS 2000 /* for all: who waits for a file system does not wait for ever */
#define PATH_LEN   4096u

/* A file, as one process named it. */
struct source {
	const struct name *file;
	char *path;
	uint32_t number; /* by which the text is asked for: the same for the same path */
	uint32_t uid;
};

struct sources_reading {
	const struct sources *sources;
	void (*got)(void *arg, const struct name *file, const char *text);
	void *arg;
};

/*
 * Does it look like source?  A profile is handed on more easily than other files, and the target
 * says what is read: keys and passwords are in files of other names.
 */
static bool file__is_source(const struct name *file)
{
	static const char *const ends[] = {".r",   ".rmd", ".qmd", ".rnw", ".rprofile", ".s",
					   ".q",   ".c",   ".h",   ".cc",  ".cpp",	".cxx",
					   ".hpp", ".f",   ".f90", ".f95", ".for",	".rs"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t len = strlen(ends[i]), at = 0;

		if (file->len <= len)
			continue;
		while (at < len &&
		       (file->text[file->len - len + at] | 0x20) == (ends[i][at] | 0x20))
			at++;
		if (at == len)
			return true;
	}
	return false;
}

/* Where process @p would find @file; NULL: nowhere, or no memory. */
static char *file__path(const struct aggregate_process *p, const struct name *file)
{
	const char *directory = p->directory ? p->directory->text : "";
	size_t size = strlen(directory) + file->len + 2;
	char *path;

	if (size > PATH_LEN)
		return NULL;
	path = malloc(size);
	if (!path)
		return NULL;
	if (texts__absolute(file->text))
		memcpy(path, file->text, file->len + 1);
	else
		snprintf(path, size, "%s/%s", directory, file->text);
	return path;
}

static int sources__put(struct sources *s, const struct aggregate_process *p,
			const struct name *file)
{
	size_t cap = s->cap ? s->cap * 2 : 64;
	struct source *grown;
	char *path;

	if (s->n == s->cap) {
		grown = realloc(s->list, cap * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		s->list = grown;
		s->cap = cap;
	}
	path = file__path(p, file);
	if (path)
		s->list[s->n++] = (struct source){.file = file, .path = path, .uid = p->uid};
	return 0;
}

static int sources__see(struct sources *s, const struct aggregate_process *p,
			const struct name *file)
{
	uint64_t who = (uintptr_t)p->directory ^ (uint64_t)p->uid << 1;

	if (!file || s->n == LIMIT_SOURCES || map__get(&s->seen, (uintptr_t)file, who))
		return 0;
	if (map__put(&s->seen, (uintptr_t)file, who, s))
		return -ENOMEM;
	return file__is_source(file) ? sources__put(s, p, file) : 0;
}

int sources__add(struct sources *s, const struct aggregate_process *p, const struct stack *stack)
{
	const struct name *last = NULL;
	int err = 0;

	if (!p->directory)
		return 0;
	for (uint32_t i = 0; i < stack->nframes && !err; i++) {
		const struct frame *frame = stack->frames[i];

		if (frame->place.file != last)
			err = sources__see(s, p, frame->place.file);
		last = frame->place.file;
		if (!err && frame->defined.file != last)
			err = sources__see(s, p, frame->defined.file);
	}
	return err;
}

static int source__order(const void *x, const void *y)
{
	const struct source *a = x, *b = y;
	int order = strcmp(a->path, b->path);

	return order ? order : a->uid < b->uid ? -1 : a->uid > b->uid;
}

/* A text, for all names that led to it. */
static void sources__got(void *arg, uint32_t tag, const char *text, size_t len)
{
	struct sources_reading *r = arg;
	const struct name *last = NULL;

	(void)len;
	for (size_t i = 0; i < r->sources->n; i++) {
		const struct source *one = &r->sources->list[i];

		if (one->number == tag && one->file != last) {
			r->got(r->arg, one->file, text);
			last = one->file;
		}
	}
}

int sources__read(struct sources *s,
		  void (*got)(void *arg, const struct name *file, const char *text), void *arg)
{
	const struct texts_limits limits = {LIMIT_SOURCE, LIMIT_SOURCES_ALL, SOURCES_MS};
	struct sources_reading reading = {s, got, arg};
	struct texts_request *requests;
	uint32_t number = 0;
	int err;

	if (!s->n)
		return 0;
	requests = calloc(s->n, sizeof(*requests));
	if (!requests)
		return -ENOMEM;
	qsort(s->list, s->n, sizeof(*s->list), source__order);
	for (size_t i = 0; i < s->n; i++) {
		struct source *one = &s->list[i];

		number += i && strcmp(one->path, s->list[i - 1].path) != 0;
		one->number = number;
		requests[i] = (struct texts_request){one->path, number, one->uid};
	}
	err = texts__read(requests, s->n, &limits, sources__got, &reading);
	free(requests);
	return err;
}

void sources__free(struct sources *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->list[i].path);
	free(s->list);
	map__free(&s->seen);
	*s = (struct sources){0};
}
