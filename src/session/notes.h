/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a session says while it runs.  Its caller decides where that goes.
 */
#ifndef XR_SESSION_NOTES_H
#define XR_SESSION_NOTES_H

enum notes_level {
	NOTES_DEBUG, /* what it does, for --verbose */
	NOTES_USER,  /* what the user should know */
};

/* Zeroed: nothing is said to anybody. */
struct notes {
	/* Called with one line, without a newline.  NULL: no one listens. */
	void (*line)(void *arg, enum notes_level level, const char *line);
	void *arg;
	enum notes_level lowest; /* lines below this level are not even made */
};

/* notes__user, notes__debug - a line of that level, from a printf format; cut at 767 bytes. */
void notes__user(const struct notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void notes__debug(const struct notes *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
