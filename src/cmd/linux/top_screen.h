/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The terminal that `top` draws on.  No other file knows of curses.
 */
#ifndef XR_CMD_LINUX_TOP_SCREEN_H
#define XR_CMD_LINUX_TOP_SCREEN_H

#include "base/errmsg.h"
#include "cmd/linux/top_view.h"

struct top_screen;

/*
 * top_screen__open - take over the terminal of standard input and output, for one at a time.  On
 * failure it is as it was: -ENOTTY, -ENOMEM, with @f filled.
 */
int top_screen__open(struct top_screen **out, struct errmsg *f);

/* top_screen__close - the terminal is as it was before.  NULL is allowed. */
void top_screen__close(struct top_screen *s);

/* top_screen__draw - @note: the newest line for the user, escaped; "": none.  -ENOMEM. */
int top_screen__draw(struct top_screen *s, struct top_view *v, const struct stats *st,
		     const char *clock, const char *note);

/*
 * top_screen__key - what was typed next, for top_view__key; -1: nothing; TOP_SCREEN_CHANGED: the
 * screen has another size, draw again.  Does not wait.
 */
#define TOP_SCREEN_CHANGED 0x2000
int top_screen__key(struct top_screen *s);

#endif
