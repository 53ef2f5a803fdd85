/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "oracle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HANDLER_MAX 20000 /* runs of the handler until its line is in the file */
#define FILE_MAX    (256l << 20)

static long file__size(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : (long)st.st_size;
}

/* The file from byte @from on, terminated, to be freed; NULL: it cannot be read. */
static char *file__text(const char *path, long from)
{
	long size = file__size(path) - from;
	FILE *file = size >= 0 && size <= FILE_MAX ? fopen(path, "rb") : NULL;
	char *text = file ? malloc((size_t)size + 1) : NULL;

	if (text && fseek(file, from, SEEK_SET)) {
		free(text);
		text = NULL;
	}
	if (text)
		text[fread(text, 1, (size_t)size, file)] = '\0';
	if (file)
		fclose(file);
	return text;
}

/* A line that announces a file: remember its path. */
static int oracle__file(struct oracle *o, const char *line)
{
	char *path;
	unsigned long number = strtoul(line, &path, 10);

	if (number >= RECORDED_FILES_MAX || strncmp(path, ": ", 2) || o->files[number])
		return 0;
	o->files[number] = o->paths[number] = strdup(path + 2);
	return o->files[number] ? 0 : -ENOMEM;
}

/*
 * Read what is new in R's file: the header, files, and the last whole line, which is the stack.
 * -ENODATA: there is no stack.
 */
static int oracle__new(struct oracle *o)
{
	char *at, *end;
	int err = 0;

	free(o->text);
	o->stack = NULL;
	o->text = file__text(o->path, o->seen);
	if (!o->text)
		return -ENODATA;
	for (at = o->text; !err && (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		if (!strncmp(at, "#File ", 6))
			err = oracle__file(o, at + 6);
		else if (o->profiler && !o->header)
			o->header = strdup(at);
		else
			o->stack = at;
	}
	o->seen += at - o->text;
	if (o->profiler && !o->header)
		return -ENODATA;
	return err ? err : o->stack ? 0 : -ENODATA;
}

/* Have R's profiler write its line of this moment. */
static int oracle__profiler(struct oracle *o, struct tracee *t)
{
	long size = file__size(o->path), now;
	int grew = 0, err;

	err = tracee__check(t);
	if (err)
		return err;
	for (int i = 0; i < HANDLER_MAX && grew < 2; i++) {
		err = tracee__handler(t);
		if (err)
			return err;
		now = file__size(o->path);
		grew += now != size;
		size = now;
	}
	if (grew < 2)
		return -ENODATA;
	return oracle__new(o);
}

int oracle__ask(struct oracle *o, struct tracee *t)
{
	return o->profiler ? oracle__profiler(o, t) : oracle__new(o);
}

void oracle__free(struct oracle *o)
{
	free(o->text);
	free(o->header);
	for (uint32_t i = 0; i < RECORDED_FILES_MAX; i++)
		free(o->paths[i]);
}
