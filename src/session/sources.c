/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/limits.h"
#include "os/os.h"
#include "os/texts.h"
#include "profile/names.h"
#include "profile/sources.h"
#include "session/lifecycle.h"
#include "target/source.h"

#define AWAIT_MS 500 /* at the end, for answers */

static void sources__sink(struct lifecycle *l, uint32_t serial, const struct profile_source *source)
{
	if (!l->err)
		lifecycle__sunk(l, sink__source(&l->sink, serial, source));
}

/* The number under which @file is remembered; negative: an error. */
static long sources__remember(struct sources_asked *asked, const char *file)
{

	if (array__room(&asked->files, asked->n, &asked->cap, sizeof(*asked->files)))
		return -ENOMEM;
	asked->files[asked->n] = strdup(file);
	return asked->files[asked->n] ? (long)asked->n++ : -ENOMEM;
}

void sources__met(void *lifecycle, uint32_t serial, uint64_t at, const char *file)
{
	struct lifecycle *l = lifecycle;
	const struct process *p = processes__find(&l->processes, serial);
	struct ask q = {.kind = ASK_SOURCE, .at = at};
	struct profile_source none = {.file = file, .err = -ESRCH};
	long number;

	if (!l->config->sources || !sink__find(&l->sink, source) || l->err)
		return;
	if (l->sources.n >= LIMIT_SOURCES)
		none.err = -ENOSPC;
	if (!p || p->refused || !(p->mine || p->inherited) || none.err != -ESRCH) {
		sources__sink(l, serial, &none);
		return;
	}
	number = sources__remember(&l->sources, file);
	q.pid = (pid_t)p->pid;
	q.tag = (uint64_t)number << 32 | serial;
	q.target = p->target;
	if (number < 0 || asker__ask(l->asker, &q))
		lifecycle__no_memory(l);
}

/* The path of the file that R found by the name and in the directory of @s; NULL: it cannot be. */
static char *source__path(const struct source_found *s)
{
	const char *name = s->name.data;
	char *path;

	if (texts__absolute(name))
		return strdup(name);
	if (!s->directory.len || !texts__absolute(s->directory.data))
		return NULL;
	path = malloc(s->directory.len + s->name.len + 2);
	if (path) {
		memcpy(path, s->directory.data, s->directory.len);
		path[s->directory.len] = '/';
		strcpy(path + s->directory.len + 1, name);
	}
	return path;
}

void sources__answered(struct lifecycle *l, const struct ask *a)
{
	const size_t number = a->tag >> 32;
	const char *file = number < l->sources.n ? l->sources.files[number] : "";
	struct profile_source source = {.file = file, .err = a->err};
	struct source_found s = {0};
	char *path = NULL;
	size_t len = code_name__r(file, strlen(file));

	l->sources.answered++;
	if (!source.err)
		source.err = a->fd < 0 ? -EBADMSG : source__take(&s, a->fd);
	if (!source.err &&
	    (buf__add(&s.name, "", 1) || buf__add(&s.directory, "", 1) || buf__add(&s.text, "", 1)))
		source.err = -ENOMEM;
	if (!source.err) {
		s.name.len--;
		s.directory.len--;
		/* the memory may have been used again */
		if (s.name.len != len || memcmp(s.name.data, file, len) != 0)
			source.err = -EILSEQ;
	}
	if (!source.err && s.has_text)
		source.text = s.text.data;
	else if (!source.err && len && s.time != 0)
		source.path = path = source__path(&s);
	source.time = s.time;
	if (!source.err && !source.text && !source.path)
		source.err = -ENODATA;
	sources__sink(l, (uint32_t)a->tag, &source);
	free(path);
	source__free(&s);
}

void sources__await(struct lifecycle *l)
{
	const uint64_t end = os__now() + AWAIT_MS * NS_PER_MS;
	struct ask answer;

	while (l->sources.answered < l->sources.n && os__now() < end && !l->err) {
		if (!asker__take(l->asker, &answer, 10))
			continue;
		if (answer.kind == ASK_SOURCE)
			sources__answered(l, &answer);
		else if (answer.fd >= 0)
			close(answer.fd);
	}
}

void sources__forget(struct sources_asked *asked)
{
	for (size_t i = 0; i < asked->n; i++)
		free(asked->files[i]);
	free(asked->files);
	*asked = (struct sources_asked){0};
}
