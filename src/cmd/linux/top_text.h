/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines that `top` shows, on a screen or as plain text.  Nothing in them acts on a terminal.
 */
#ifndef XR_CMD_LINUX_TOP_TEXT_H
#define XR_CMD_LINUX_TOP_TEXT_H

#include "base/buf.h"
#include "cmd/linux/top_view.h"

/* All append to @b, without a newline, what fits in @width columns.  -ENOMEM. */

/* The program, the time (@clock, "HH:MM:SS"), and how samples are taken. */
int top_text__title(struct buf *b, const struct top_view *v, const char *clock, unsigned int width);

/* What was counted so far. */
int top_text__counts(struct buf *b, const struct top_view *v, const struct stats *st,
		     unsigned int width);

/* What is to be known of those that wait; nothing where there is nothing. */
int top_text__verdict(struct buf *b, const struct top_view *v, unsigned int width);

int top_text__process_head(struct buf *b, unsigned int width);
int top_text__process(struct buf *b, const struct top_process *p, unsigned int width);

/*
 * Single calls that run, the oldest first, or, if @ended, the slowest of the last minute: a head,
 * and a line each.
 */
int top_text__calls_head(struct buf *b, const struct top_view *v, bool ended, unsigned int width);
int top_text__call(struct buf *b, const struct top_view *v, const struct top_call *call,
		   unsigned int width);

/* What the counts of functions are of: the window, sort, filter, process. */
int top_text__scope(struct buf *b, const struct top_view *v, unsigned int width);

int top_text__function_head(struct buf *b, const struct top_view *v, unsigned int width);
int top_text__function(struct buf *b, const struct top_view *v, const struct top_line *line,
		       unsigned int width);

int top_text__callers_head(struct buf *b, const struct top_view *v, unsigned int width);
int top_text__caller(struct buf *b, const struct top_view *v, const struct top_caller *caller,
		     unsigned int width);

/* The keys: line @i of the help, NULL: there are no more; top_text__keys - the most used. */
const char *top_text__help(size_t i);
const char *top_text__keys(const struct top_view *v);

/*
 * top_text__all - the whole as plain text, with newlines: at most @functions functions, processes
 * all.
 */
int top_text__all(struct buf *b, const struct top_view *v, const struct stats *st,
		  const char *clock, size_t functions);

#endif
