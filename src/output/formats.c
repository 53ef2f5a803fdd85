/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "output/writer.h"

/* One row a format: writer_NAME is defined in the file of its name. */
#define FORMATS(row) row(rprof) row(folded) row(pprof) row(speedscope) row(flamegraph)

#define DECLARED(name) extern const struct writer_ops writer_##name;
FORMATS(DECLARED)

#define LISTED(name) &writer_##name,
static const struct writer_ops *const formats[] = {FORMATS(LISTED) NULL};

const struct writer_ops *const *formats__all(void)
{
	return formats;
}

const struct writer_ops *formats__find(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

static bool path__ends(const char *path, const char *suffix)
{
	size_t len = strlen(path), size = strlen(suffix);

	return len > size && !strcasecmp(path + len - size, suffix);
}

const struct writer_ops *formats__of_path(const char *path, struct errmsg *f)
{
	/* as other tools call them; NULL: no format of ours is meant */
	static const struct {
		const char *suffix;
		const struct writer_ops *format;
	} others[] = {
		{".htm", &writer_flamegraph},
		{".collapsed", &writer_folded},
		{".pb", &writer_pprof},
		{".pprof", &writer_pprof},
		{".json", &writer_speedscope},
		{".svg", NULL},
		{".gz", NULL},
		{".png", NULL},
		{".pdf", NULL},
	};

	for (size_t i = 0; formats[i]; i++)
		if (path__ends(path, formats[i]->suffix))
			return formats[i];
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!path__ends(path, others[i].suffix))
			continue;
		if (!others[i].format)
			errmsg__set(f, -EINVAL,
				    "-o %s: no format has the ending %s: use .html (a page), .out, "
				    ".folded, .pb.gz or .speedscope.json, or give -f",
				    path, others[i].suffix);
		return others[i].format;
	}
	return formats[0];
}

static bool frame__disguised(const struct frame *frame)
{
	return frame->kind != FRAME_MARK && frame->kind != FRAME_UNNAMED &&
	       name__is_reserved(frame->function->text, frame->function->len);
}

static size_t name__size(const struct name *name, enum writer_form form)
{
	return form == WRITER_FIELD ? name->field_len : name->safe_len;
}

/* Append @name without its first @skip bytes. */
static int name__add(struct buf *line, const struct name *name, enum writer_form form, size_t skip)
{
	const char *text = form == WRITER_FIELD ? name->field : name->safe;

	return buf__add(line, text + skip, name__size(name, form) - skip);
}

size_t writer__size(const struct frame *frame, enum writer_form form)
{
	return name__size(frame->function, form) +
	       (frame__disguised(frame) ? strlen("\\x3c") - 1 : 0);
}

int writer__name(struct buf *line, const struct frame *frame, enum writer_form form)
{
	int err;

	if (!frame__disguised(frame))
		return name__add(line, frame->function, form, 0);
	err = buf__str(line, "\\x3c");
	return err ? err : name__add(line, frame->function, form, 1);
}

/* Is @package a namespace, so that its functions are called `package::function`? */
static bool package__is_namespace(const struct name *package)
{
	return package && *package->text && strcmp(package->text, ".GlobalEnv") != 0 &&
	       strncmp(package->text, "package:", strlen("package:")) != 0;
}

/* Does @name say already which package it is from: does it begin as `package::` does? */
static bool name__has_package(const char *name)
{
	size_t len =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.");

	return len && !strncmp(name + len, "::", 2);
}

static bool label__has_package(const struct frame *frame)
{
	return (frame->kind == FRAME_R || frame->kind == FRAME_ANON) &&
	       package__is_namespace(frame->package) && !name__has_package(frame->function->text);
}

/* Is the function's name none that tells it from others? */
static bool label__has_definition(const struct frame *frame)
{
	return frame->defined.file &&
	       (frame->kind == FRAME_ANON ||
		(frame->kind == FRAME_R && !strcmp(frame->function->text, "FUN")));
}

size_t writer__label_size(const struct frame *frame, enum writer_form form)
{
	size_t size = writer__size(frame, form);

	if (label__has_package(frame))
		size += name__size(frame->package, form) + strlen("::");
	if (label__has_definition(frame))
		size += name__size(frame->defined.file, form) + strlen(" {:-1234567890}");
	return size;
}

int writer__label(struct buf *line, const struct frame *frame, enum writer_form form)
{
	int err = 0;

	if (label__has_package(frame)) {
		err = name__add(line, frame->package, form, 0);
		err = err ? err : buf__str(line, "::");
	}
	err = err ? err : writer__name(line, frame, form);
	if (err || !label__has_definition(frame))
		return err;
	err = buf__str(line, " {");
	err = err ? err : name__add(line, frame->defined.file, form, 0);
	return err ? err : buf__printf(line, ":%d}", (int32_t)frame->defined.line);
}
