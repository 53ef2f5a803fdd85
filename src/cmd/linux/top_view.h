/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `top` shows of its model, and what keys do to that.  Nothing here draws.
 */
#ifndef XR_CMD_LINUX_TOP_VIEW_H
#define XR_CMD_LINUX_TOP_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/linux/top_model.h"

#define TOP_FILTER_MAX 64u

/* Keys beside the characters themselves. */
enum top_key {
	TOP_KEY_UP = 0x1000,
	TOP_KEY_DOWN,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
	TOP_KEY_BACKSPACE,
	TOP_KEY_TAB,
};

enum top_pane { TOP_FUNCTIONS, TOP_CALLERS, TOP_DUMP, TOP_HELP };

/* A function that is shown: a copy, so that it stays as it is while the view is paused. */
struct top_line {
	struct function_line order; /* its row is one of the functions of the model */
	uint64_t self, total;
};

/* Starts by top_view__init, freed by top_view__free. */
struct top_view {
	struct top_model *model; /* borrowed */
	struct top_scope scope;
	bool calls;    /* single calls are shown (--calls) */
	bool by_total; /* else by self */
	bool paused;
	bool typing; /* the filter */
	enum top_pane pane;
	char filter[TOP_FILTER_MAX]; /* "": all */
	struct top_line *lines;	     /* sorted, filtered */
	size_t nlines, cap;
	uint64_t samples;	       /* that the counts are parts of */
	double seconds;		       /* in which they came */
	struct top_process *processes; /* copies of the model's, the busiest first */
	size_t nprocesses, processes_cap;
	size_t selected; /* of the lines */
	size_t page;	 /* lines that there is room for, set by who draws */
	/* TOP_CALLERS */
	uint32_t of; /* the function */
	uint64_t of_total;
	struct top_caller callers[TOP_CALLERS_MAX];
	size_t ncallers, first_caller; /* the first that is shown */
	/* TOP_DUMP */
	uint32_t dump_pid; /* of which process */
	uint32_t dumps;	   /* that were asked for so far */
	size_t dump_lines, first_dump_line;
	const struct buf *dump; /* its text, from who reads it; NULL: nothing came */
	uint32_t restarts;	/* of the model, when it was last looked at */
};

void top_view__init(struct top_view *v, struct top_model *m);
void top_view__free(struct top_view *v);

/*
 * top_view__update - look at the model again, except functions while the view is paused: each
 * time it advanced.  The selection stays on its function.  -ENOMEM.
 */
int top_view__update(struct top_view *v);

/* top_view__dump - what came so far of the dump that was asked for last; borrowed. */
void top_view__dump(struct top_view *v, const struct buf *text);

/*
 * top_view__key - act on a character or an enum top_key.  1: it ends the program; 0; -ENOMEM.
 */
int top_view__key(struct top_view *v, int key);

#endif
