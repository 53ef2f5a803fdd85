/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a session prints while it runs.  Its caller decides where that goes.
 */
#ifndef XR_SESSION_NOTES_H
#define XR_SESSION_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#define NOTES_LINE 768u /* bytes of a line, with its end */

enum notes_level {
	NOTES_DEBUG, /* what it does, for --verbose */
	NOTES_USER,  /* what the user should know */
};

/*
 * The lines that were printed lately, so that a machine full of processes does not print one for
 * each.  Lines are of one kind if they differ only in the process that they name and in numbers;
 * versions (4.7.0) and paths are not numbers.  Of a kind, `few` lines are printed within `window`
 * seconds, and then how many more there were.  Starts as { 0 }, which means NOTES_FEW and
 * NOTES_WINDOW.
 */
#define NOTES_FEW    3u
#define NOTES_WINDOW 10u
#define NOTES_KINDS  64u

struct notes_limit {
	uint32_t few, window;
	struct notes_kind {
		uint64_t kind;	     /* a hash; 0: free */
		uint64_t since;	     /* ns, when its window began */
		unsigned int said;   /* in it, */
		unsigned int unsaid; /* and not */
		char last[NOTES_LINE];
	} kinds[NOTES_KINDS];
};

/* Zeroed: nothing is printed. */
struct notes {
	/* Called with one line, without a newline.  NULL: lines are dropped. */
	void (*line)(void *arg, enum notes_level level, const char *line);
	void *arg;
	enum notes_level lowest; /* lines below this level are not even made */
	/* borrowed; NULL, and with NOTES_DEBUG: all lines are printed */
	struct notes_limit *limit;
};

/* notes__user, notes__debug - a line of that level, from a printf format; cut at 767 bytes. */
void notes__user(const struct notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void notes__debug(const struct notes *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * notes__settle - print how many lines were left out, of each kind whose time is over, or of all at
 * the @end.  @now: ns, on a clock that does not go back.
 */
void notes__settle(const struct notes *n, uint64_t now, bool end);

#endif
