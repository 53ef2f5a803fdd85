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
#ifndef XR_SERVE_LINUX_INTERVALS_H
#define XR_SERVE_LINUX_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/sink.h"
#include "serve/call_counts.h"
#include "serve/linux/channel.h"

#define INTERVALS_ASKED_MAX 4u /* profiles that are asked for, at a time */

/* As of channel__send. */
typedef int (*intervals_send)(void *arg, const struct channel_head *head, const void *data,
			      const char *index);

struct intervals_config {
	uint64_t interval; /* ns */
	size_t memory;	   /* bytes, of which shares are taken (base/limits.h) */
	size_t max_stacks; /* of an interval; 0: as many as there is memory for */
	bool intervals;	   /* they are handed on, */
	bool index;	   /* with their part of the index */
	/* of the whole run; borrowed */
	const struct profile_label *labels;
	size_t nlabels;
	const char *host;
	intervals_send send;
	/* What was counted so far, for the counts of an interval; false: not known. */
	bool (*counts)(void *arg, struct stats *stats);
	void *arg; /* of both */
};

struct intervals;

/* intervals__new - @config is copied.  -ENOMEM. */
int intervals__new(struct intervals **out, const struct intervals_config *config);

struct sink intervals__sink(struct intervals *w);

/*
 * intervals__turn - end the interval now; what follows belongs to the next one.  -ENOMEM: the next
 * one begins with the next sample or tick.
 */
int intervals__turn(struct intervals *w);

/*
 * intervals__freq - samples come at another rate from now on, @freq a second: what is open ends,
 * and profiles that were asked for are answered before their time.  -ENOMEM: as of intervals__turn.
 */
int intervals__freq(struct intervals *w, uint32_t freq);

/*
 * intervals__ask - a profile of the next @seconds for request @id; intervals__forget - no client
 * waits for it any more.  It is sent as CHANNEL_PROFILE, empty if it is not available.
 */
void intervals__ask(struct intervals *w, uint32_t id, uint32_t seconds);
void intervals__forget(struct intervals *w, uint32_t id);

/* intervals__forget_all - no client waits for any of them: the front process has ended. */
void intervals__forget_all(struct intervals *w);

/* intervals__lost - of what was handed on, @lost got nowhere: it counts as dropped. */
void intervals__lost(struct intervals *w, const struct channel_lost *lost);

/* intervals__due - ms until intervals__sink's tick has something to do, at most @max. */
int intervals__due(const struct intervals *w, uint64_t now, int max);

/* What it counted. */
struct intervals_counts {
	uint64_t ended;		  /* intervals */
	uint64_t dropped;	  /* of them, those that could not be handed on whole, */
	uint64_t dropped_samples; /* and what was in them */
	uint64_t stacks;	  /* of the interval that is open */
	uint64_t stackless;	  /* samples whose stack did not fit, of all and of that one, */
	uint64_t uncalled;	  /* those whose call did not, */
	uint64_t unlabelled;	  /* and those whose labels did not */
};

/* intervals__about - what the profile that is open is of; all is 0 or NULL before it begins. */
const struct profile_about *intervals__about(const struct intervals *w);

struct intervals_counts intervals__counts(const struct intervals *w);

/* intervals__calls - the single calls that ended, of the whole run. */
const struct call_counts *intervals__calls(const struct intervals *w);

void intervals__free(struct intervals *w); /* NULL is allowed */

#endif
