/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/page_sources.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/limits.h"
#include "os/texts.h"

#define SOURCES_MS 2000 /* for all: who waits for a file system does not wait for ever */

/* A file, as one process named it. */
struct source {
	const struct name *file;
	const struct source_text *known; /* NULL: nothing */
	uint32_t uid;
	bool allowed; /* files may be read for the process */
};

/* What is to be shown of a file. */
struct shown {
	const struct name *file;
	int err; /* why there is no text; 0: it was shown */
};

struct sources_reading {
	struct shown *shown; /* by the tag of requests */
	sources_got got;
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

static int sources__see(struct sources *s, const struct profile_process *p, const struct name *file)
{

	if (!file || s->n == LIMIT_SOURCES || map__get(&s->seen, (uintptr_t)file, p->serial))
		return 0;
	if (map__put(&s->seen, (uintptr_t)file, p->serial, s) ||
	    array__room(&s->list, s->n, &s->cap, sizeof(*s->list)))
		return -ENOMEM;
	s->list[s->n++] = (struct source){
		.file = file,
		.known = source_texts__find(s->texts, p->serial, file->text),
		.uid = p->uid,
		.allowed = p->directory,
	};
	return 0;
}

int sources__add(struct sources *s, const struct profile_process *p, const struct stack *stack)
{
	const struct name *last = NULL;
	int err = 0;

	if (!s->texts)
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

/* By file, for a user once, and those first of which something is known. */
static int source__order(const void *x, const void *y)
{
	const struct source *a = x, *b = y;

	if (a->file != b->file)
		return (uintptr_t)a->file < (uintptr_t)b->file ? -1 : 1;
	if (!a->known != !b->known)
		return a->known ? -1 : 1;
	return a->uid < b->uid ? -1 : a->uid > b->uid;
}

/* Why there is no text, as a sentence. */
static const char *source__why(int err)
{
	switch (err) {
	case -EILSEQ:
		return "the file was changed after R had read it";
	case -ENOENT:
	case -ENOTDIR:
		return "the file does not exist any more";
	case -EACCES:
		return "you or the user who runs R may not read the file, or R sees other files";
	case -EPERM:
		return "the file is not read, because its name is not one of source code (.R, "
		       ".Rmd, .cpp and the like)";
	case -E2BIG:
		return "it is too large";
	case -ENOSPC:
		return "there are too many sources";
	case -EBADMSG:
		return "the file is not text";
	case -EEXIST:
		return "R parsed several texts with this name";
	case -ENODATA:
		return "R has neither its lines nor the time when it read the file";
	case -ESRCH:
		return "the process ended before its sources were read";
	default:
		return "R's data about it could not be read";
	}
}

/*
 * The text of the @n files at @all, which have one name: shown, or asked for by @requests, *@asked
 * of them.  What is to be shown, if it was not shown.
 */
static int sources__decide(const struct source *all, size_t n, struct texts_request *requests,
			   size_t *asked, uint32_t tag, const char **text)
{
	const struct profile_source *source = all->known ? &all->known->source : NULL;
	int err = source ? source->err : -ESRCH;

	*text = NULL;
	for (size_t i = 0; i < n && all[i].known; i++)
		if (all[i].known->several || !source__same(source, &all[i].known->source))
			return -EEXIST;
	if (!source || (!source->text && !source->path))
		return err ? err : -ENODATA;
	*text = source->text;
	if (source->text)
		return 0;
	if (!file__is_source(all->file))
		return -EPERM;
	err = -EACCES;
	for (size_t i = 0; i < n; i++) {
		if (!all[i].known || !all[i].allowed)
			continue;
		requests[(*asked)++] =
			(struct texts_request){source->path, tag, all[i].uid, source->time};
		err = -EIO; /* until there is an answer */
	}
	return err;
}

static void sources__got(void *arg, uint32_t tag, const char *text, size_t len, int err)
{
	struct sources_reading *r = arg;
	struct shown *shown = &r->shown[tag];

	(void)len;
	if (text)
		r->got(r->arg, shown->file, text, NULL);
	shown->err = text ? 0 : err;
}

/* Of @n files, those without a text. */
static void sources__note(struct sources *s, const struct sources_reading *r, size_t n)
{
	struct source_texts *t = s->texts;
	const char *why;
	int len = 0;

	t->without = 0;
	for (size_t i = 0; i < n; i++) {
		if (!r->shown[i].err)
			continue;
		why = source__why(r->shown[i].err);
		r->got(r->arg, r->shown[i].file, NULL, why);
		if (!t->without++)
			len = snprintf(t->why, sizeof(t->why), "no source of %.200s: %s",
				       r->shown[i].file->safe, why);
	}
	if (t->without > 1)
		snprintf(t->why + len, sizeof(t->why) - (size_t)len,
			 "; nor of %u more: the page has the reasons", t->without - 1);
}

int sources__read(struct sources *s, sources_got got, void *arg)
{
	const struct texts_limits limits = {LIMIT_SOURCE, LIMIT_SOURCES_ALL, SOURCES_MS};
	struct sources_reading r = {.got = got, .arg = arg};
	struct texts_request *requests;
	size_t asked = 0, files = 0, n;
	const char *text;
	int err = 0;

	if (!s->n)
		return 0;
	requests = calloc(s->n, sizeof(*requests));
	r.shown = calloc(s->n, sizeof(*r.shown));
	if (!requests || !r.shown)
		err = -ENOMEM;
	if (!err)
		qsort(s->list, s->n, sizeof(*s->list), source__order);
	for (size_t i = 0; i < s->n && !err; i += n) {
		for (n = 1; i + n < s->n && s->list[i + n].file == s->list[i].file;)
			n++;
		r.shown[files] = (struct shown){
			s->list[i].file,
			sources__decide(&s->list[i], n, requests, &asked, (uint32_t)files, &text)};
		if (text)
			got(arg, s->list[i].file, text, NULL);
		files++;
	}
	if (!err)
		err = texts__read(requests, asked, &limits, sources__got, &r);
	if (err != -ENOMEM)
		sources__note(s, &r, files);
	free(requests);
	free(r.shown);
	return err;
}

void sources__free(struct sources *s)
{
	free(s->list);
	map__free(&s->seen);
	*s = (struct sources){0};
}
