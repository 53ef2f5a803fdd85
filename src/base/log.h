/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_BASE_LOG_H
#define XR_BASE_LOG_H

#include <stddef.h>

/*
 * log__line - one line for the user, on stderr, with the program's name in front and a newline
 * behind it, in one write so that it is not mixed with the lines of other programs.  Control
 * characters are replaced by '?': names in it may come from a target.
 */
void log__line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * log__put - a line as it is, newline included.  If the reader does not take it for some ten
 * milliseconds it is dropped: work has priority over messages.
 */
void log__put(const char *line, size_t len);

#endif
