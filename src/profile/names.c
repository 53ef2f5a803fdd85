/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profile/names.h"

#define CONSOLE	 "<console>"
#define DISGUISE "\\x3c" /* for the < of a name that is reserved */

int name__render(struct buf *b, enum xr_form form, const char *word, const char *more,
		 uint64_t number)
{
	double real;

	switch (form) {
	case XR_FORM_SYMBOL:
		return buf__str(b, word);
	case XR_FORM_ANON:
		return buf__str(b, "<Anonymous>");
	case XR_FORM_COLON2:
		return buf__printf(b, "%s::%s", word, more);
	case XR_FORM_COLON3:
		return buf__printf(b, "%s:::%s", word, more);
	case XR_FORM_DOLLAR:
		return buf__printf(b, "%s$%s", word, more);
	case XR_FORM_ITEM_SYM:
		return buf__printf(b, "%s[[%s]]", word, more);
	case XR_FORM_ITEM_STR:
		return buf__printf(b, "%s[[\"%s\"]]", word, more);
	case XR_FORM_ITEM_INT:
		return buf__printf(b, "%s[[%" PRId64 "]]", word, (int64_t)number);
	case XR_FORM_ITEM_REAL:
		memcpy(&real, &number, sizeof(real));
		return buf__printf(b, "%s[[%.0f]]", word, real);
	case XR_FORM_ITEM_ODD:
		return buf__printf(b, "%s[[?]]", word);
	case XR_FORM_BUILTIN: /* known__native() */
	case XR_FORM_NATIVE:
	case XR_FORM_KERNEL:
	case XR_FORM_NONE:
	case XR_FORMS:
		break;
	}
	return -EINVAL;
}

int code_name__make(struct buf *b, const char *r_name, uint32_t n)
{
	int err = buf__str(b, *r_name ? r_name : CONSOLE);

	return err || n < 2 ? err : buf__printf(b, "#%u", n);
}

size_t code_name__r(const char *name, size_t len)
{
	size_t plain = len;

	if (!len || *name != '<')
		return len;
	while (plain && name[plain - 1] >= '0' && name[plain - 1] <= '9')
		plain--;
	if (plain == len || plain < 2 || name[plain - 1] != '#' || name[plain - 2] != '>')
		plain = len;
	else
		plain--;
	return plain == strlen(CONSOLE) && !memcmp(name, CONSOLE, plain) ? 0 : plain;
}

const char *text__find(const char *text, size_t len, const char *what)
{
	size_t size = strlen(what);
	const char *at;

	for (; len >= size; len -= (size_t)(at + 1 - text), text = at + 1) {
		at = memchr(text, *what, len - size + 1);
		if (!at || !memcmp(at, what, size))
			return at;
	}
	return NULL;
}

static bool frame__disguised(const struct frame *frame)
{
	return frame->kind != FRAME_MARK && frame->kind != FRAME_UNNAMED &&
	       name__is_reserved(frame->function->text, frame->function->len);
}

static size_t name__size(const struct name *name, enum name_form form)
{
	return form == NAME_FIELD ? name->field_len : name->safe_len;
}

/* Append @name without its first @skip bytes. */
static int name__add(struct buf *b, const struct name *name, enum name_form form, size_t skip)
{
	const char *text = form == NAME_FIELD ? name->field : name->safe;

	return buf__add(b, text + skip, name__size(name, form) - skip);
}

size_t frame__name_size(const struct frame *frame, enum name_form form)
{
	return name__size(frame->function, form) +
	       (frame__disguised(frame) ? strlen(DISGUISE) - 1 : 0);
}

int frame__name(struct buf *b, const struct frame *frame, enum name_form form)
{
	int err;

	if (!frame__disguised(frame))
		return name__add(b, frame->function, form, 0);
	err = buf__str(b, DISGUISE);
	return err ? err : name__add(b, frame->function, form, 1);
}

/* Is @package a namespace, so that its functions are called `package::function`? */
static bool package__is_namespace(const struct name *package)
{
	return package && *package->text && strcmp(package->text, ".GlobalEnv") != 0 &&
	       strncmp(package->text, "package:", strlen("package:")) != 0;
}

size_t name__package(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && (((text[n] | ' ') >= 'a' && (text[n] | ' ') <= 'z') ||
			   (text[n] >= '0' && text[n] <= '9') || text[n] == '.'))
		n++;
	return n && n + 2 <= len && text[n] == ':' && text[n + 1] == ':' ? n : 0;
}

const char *name__bare(const char *text)
{
	const char *colons = strstr(text, "::");

	return !colons ? text : colons + (colons[2] == ':' ? 3 : 2);
}

static bool label__has_package(const struct frame *frame)
{
	return (frame->kind == FRAME_R || frame->kind == FRAME_ANON) &&
	       package__is_namespace(frame->package) &&
	       !name__package(frame->function->text, frame->function->len);
}

/* Does its name not tell the function from others? */
static bool label__has_definition(const struct frame *frame)
{
	return frame->defined.file &&
	       (frame->kind == FRAME_ANON ||
		(frame->kind == FRAME_R && !strcmp(frame->function->text, "FUN")));
}

size_t frame__label_size(const struct frame *frame, enum name_form form)
{
	size_t size = frame__name_size(frame, form);

	if (label__has_package(frame))
		size += name__size(frame->package, form) + strlen("::");
	if (label__has_definition(frame))
		size += name__size(frame->defined.file, form) + strlen(" {:-1234567890}");
	return size;
}

static int place__between(struct buf *b, struct place place, enum name_form form, const char *open,
			  const char *close)
{
	int err = buf__str(b, open);

	err = err ? err : name__add(b, place.file, form, 0);
	return err ? err : buf__printf(b, ":%d%s", (int32_t)place.line, close);
}

int frame__label(struct buf *b, const struct frame *frame, enum name_form form)
{
	int err = 0;

	if (label__has_package(frame)) {
		err = name__add(b, frame->package, form, 0);
		err = err ? err : buf__str(b, "::");
	}
	err = err ? err : frame__name(b, frame, form);
	if (err || !label__has_definition(frame))
		return err;
	return place__between(b, frame->defined, form, " {", "}");
}

int place__text(struct buf *b, struct place place, enum name_form form)
{
	return place.file ? place__between(b, place, form, " (", ")") : 0;
}

bool frame_label__parse(struct frame_label *label, const char *text, size_t len, const char *r_name,
			size_t r_len)
{
	const char *colons = text__find(text, len, "::");

	*label = (struct frame_label){0};
	if (!r_len)
		return false;
	if (colons && (len < r_len || memcmp(text, r_name, r_len) != 0)) {
		label->package = (size_t)(colons - text);
		len -= label->package + 2;
		text = colons + 2;
	}
	if (len > 3 && *r_name == '<' && !memcmp(text, DISGUISE, 4)) {
		label->disguised = true;
		return len - 3 == r_len && !memcmp(text + 4, r_name + 1, r_len - 1);
	}
	return len >= r_len && !memcmp(text, r_name, r_len) &&
	       (len == r_len || (text[len - 1] == '}' && !memcmp(text + r_len, " {", 2)));
}

bool frame_label__has_many(const char *text, size_t len, size_t *package)
{
	const char *colons = text__find(text, len, "::");

	*package = colons ? (size_t)(colons - text) : 0;
	if (colons) {
		len -= *package + 2;
		text = colons + 2;
	}
	return (len == 3 && !memcmp(text, "FUN", 3)) ||
	       (len == 11 && !memcmp(text, "<Anonymous>", 11));
}
