/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile cut into intervals, each added up and handed on when it ends: a sink.  Beside the
 * interval that is open, profiles of the next seconds can be asked for.
 *
 * Intervals begin at whole multiples of their length since 1970 UTC, except the first one.  A
 * sample belongs to the interval it was taken in.  An interval has one rate: it ends when that
 * changes.  How long intervals are is measured on the clock that never steps, when they begin is
 * read from the clock of the day, at the beginning of each.
 */
#ifndef XR_SERVE_LINUX_WINDOWS_H
#define XR_SERVE_LINUX_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/sink.h"
#include "serve/call_counts.h"
#include "serve/linux/channel.h"

#define WINDOWS_ASKED_MAX 4u /* profiles that are asked for, at a time */

/* As of channel__send. */
typedef int (*windows_send)(void *arg, const struct channel_head *head, const void *data,
			    const char *index);

struct windows_config {
	uint64_t interval; /* ns */
	size_t memory;	   /* bytes, of which shares are taken (base/limits.h) */
	size_t max_stacks; /* of an interval; 0: as many as there is memory for */
	bool intervals;	   /* they are handed on, */
	bool index;	   /* with their part of the index */
	/* of the whole run; borrowed */
	const struct profile_label *labels;
	size_t nlabels;
	const char *host;
	windows_send send;
	/* What was counted so far, for the counts of an interval; false: not known. */
	bool (*counts)(void *arg, struct stats *stats);
	void *arg; /* of both */
};

struct windows;

/* windows__new - @config is copied.  -ENOMEM. */
int windows__new(struct windows **out, const struct windows_config *config);

struct sink windows__sink(struct windows *w);

/*
 * windows__turn - end the interval now; what follows belongs to the next one.  -ENOMEM: the next
 * one begins with the next sample or tick.
 */
int windows__turn(struct windows *w);

/*
 * windows__freq - samples come at another rate from now on, @freq a second: what is open ends, and
 * profiles that were asked for are answered before their time.  -ENOMEM: as of windows__turn.
 */
int windows__freq(struct windows *w, uint32_t freq);

/*
 * windows__ask - a profile of the next @seconds for request @id; windows__forget - no client waits
 * for it any more.  It is sent as CHANNEL_PROFILE, empty if it is not available.
 */
void windows__ask(struct windows *w, uint32_t id, uint32_t seconds);
void windows__forget(struct windows *w, uint32_t id);

/* windows__forget_all - no client waits for any of them: the front process has ended. */
void windows__forget_all(struct windows *w);

/* windows__lost - of what was handed on, @lost got nowhere: it counts as dropped. */
void windows__lost(struct windows *w, const struct channel_lost *lost);

/* windows__due - ms until windows__sink's tick has something to do, at most @max. */
int windows__due(const struct windows *w, uint64_t now, int max);

/* What it counted. */
struct windows_counts {
	uint64_t ended;		  /* intervals */
	uint64_t dropped;	  /* of them, those that could not be handed on whole, */
	uint64_t dropped_samples; /* and what was in them */
	uint64_t stacks;	  /* of the interval that is open */
	uint64_t stackless;	  /* samples whose stack did not fit, of all and of that one */
};

/* windows__about - what the profile that is open is of; all is 0 or NULL before it begins. */
const struct profile_about *windows__about(const struct windows *w);

struct windows_counts windows__counts(const struct windows *w);

/* windows__calls - the single calls that ended, of the whole run. */
const struct call_counts *windows__calls(const struct windows *w);

void windows__free(struct windows *w); /* NULL is allowed */

#endif
