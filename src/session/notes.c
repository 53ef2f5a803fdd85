/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "base/clock.h"
#include "base/map.h"
#include "os/os.h"

#define DIGITS "0123456789"

/* Is @word of @len bytes a version, 4.7.0, or a path?  Files of a process have its pid in them. */
static bool word__is_name(const char *word, size_t len)
{
	unsigned int dots = 0;

	if (memchr(word, '/', len))
		return strncmp(word, "/proc/", 6) != 0;
	for (size_t i = 1; i + 1 < len; i++)
		dots += word[i] == '.' && strchr(DIGITS, word[i - 1]) &&
			strchr(DIGITS, word[i + 1]);
	return dots > 1;
}

/* Behind "process N" its name, in parentheses, which may have some itself: where it ends. */
static const char *line__skip_name(const char *line, const char *at)
{
	const char *number = at, *end = NULL;

	if (*at != '(' || number - line < 2)
		return at;
	number--; /* the blank */
	while (number > line && strchr(DIGITS, number[-1]))
		number--;
	if (number - line < 8 || strncmp(number - 8, "process ", 8) != 0)
		return at;
	for (size_t i = 1; i <= XR_COMM_LEN && at[i]; i++)
		end = at[i] == ')' ? at + i : end;
	return end ? end + 1 : at;
}

/* A word in which numbers do not count. */
static uint64_t word__kind(uint64_t kind, const char *word, size_t len)
{
	for (const char *end = word + len; word < end; word += len) {
		len = strspn(word, DIGITS);
		if (len) {
			kind = map__hash(kind, 0);
			continue;
		}
		len = strcspn(word, DIGITS " ");
		kind = map__hash(kind, map__hash_bytes(word, len));
	}
	return kind;
}

/* Lines that are of one kind are equal here (struct notes_limit); never 0. */
static uint64_t line__kind(const char *line)
{
	const char *at = line;
	uint64_t kind = 1;

	while (*at) {
		size_t len = strcspn(at, " ");

		if (word__is_name(at, len))
			kind = map__hash(kind, map__hash_bytes(at, len));
		else
			kind = word__kind(kind, at, len);
		at += len;
		at += strspn(at, " ");
		at = line__skip_name(line, at);
	}
	return kind ? kind : 1;
}

static uint32_t limit__window(const struct notes_limit *limit)
{
	return limit->window ? limit->window : NOTES_WINDOW;
}

static void kind__settle(const struct notes *n, struct notes_kind *k)
{
	char line[NOTES_LINE + 64];

	if (k->unsaid == 1)
		n->line(n->arg, NOTES_USER, k->last);
	else if (k->unsaid) {
		snprintf(line, sizeof(line), "and %u more of this kind; the last: %s", k->unsaid,
			 k->last);
		n->line(n->arg, NOTES_USER, line);
	}
	*k = (struct notes_kind){0};
}

/* A caller's @now may be a little older than the last line. */
static bool kind__over(const struct notes_kind *k, uint64_t now, uint32_t window)
{
	return k->kind && now >= k->since && now - k->since >= window * NS_PER_S;
}

/* The entry of @kind; the one that began first makes room for it. */
static struct notes_kind *notes__kind(const struct notes *n, uint64_t kind, uint64_t now)
{
	struct notes_kind *kinds = n->limit->kinds, *first = kinds;

	for (unsigned int i = 0; i < NOTES_KINDS; i++) {
		if (kinds[i].kind == kind)
			return &kinds[i];
		if (first->kind && (!kinds[i].kind || kinds[i].since < first->since))
			first = &kinds[i];
	}
	kind__settle(n, first);
	first->kind = kind;
	first->since = now;
	return first;
}

/* May it be printed now?  Otherwise it is counted. */
static bool notes__allowed(const struct notes *n, const char *line)
{
	uint64_t now;
	struct notes_kind *k;

	if (!n->limit || n->lowest == NOTES_DEBUG)
		return true;
	now = os__now();
	notes__settle(n, now, false);
	k = notes__kind(n, line__kind(line), now);
	if (k->said++ < (n->limit->few ? n->limit->few : NOTES_FEW))
		return true;
	k->unsaid++;
	snprintf(k->last, sizeof(k->last), "%s", line);
	return false;
}

__attribute__((format(printf, 3, 0))) static void
notes__line(const struct notes *n, enum notes_level level, const char *fmt, va_list ap)
{
	char line[NOTES_LINE];

	if (!n->line || level < n->lowest)
		return;
	vsnprintf(line, sizeof(line), fmt, ap);
	if (level == NOTES_DEBUG || notes__allowed(n, line))
		n->line(n->arg, level, line);
}

void notes__user(const struct notes *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	notes__line(n, NOTES_USER, fmt, ap);
	va_end(ap);
}

void notes__debug(const struct notes *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	notes__line(n, NOTES_DEBUG, fmt, ap);
	va_end(ap);
}

void notes__settle(const struct notes *n, uint64_t now, bool end)
{
	if (!n->limit || !n->line)
		return;
	for (unsigned int i = 0; i < NOTES_KINDS; i++)
		if (end || kind__over(&n->limit->kinds[i], now, limit__window(n->limit)))
			kind__settle(n, &n->limit->kinds[i]);
}
