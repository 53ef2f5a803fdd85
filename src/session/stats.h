/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a run counted: the line at its end, and the JSON object of --stats.
 */
#ifndef XR_SESSION_STATS_H
#define XR_SESSION_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"
#include "profile/decode.h"
#include "base/errmsg.h"

/* Counts are of ticks unless said otherwise; the names are those of errors.def. */
struct stats {
	const char *engine, *event; /* borrowed */
	uint32_t freq;		    /* asked for */
	double seconds;		    /* of sampling */
	double first_sample;	    /* seconds from the start of the session to it; 0: none */
	uint64_t processes;	    /* added, and forked children that had a sample */
	uint64_t ticks;
	uint64_t written; /* handed on by the decoder, not what the sampler claims */
	uint64_t no_r_frames, exiting, unreadable, lost;
	uint64_t truncated, other_thread; /* of the written ones */
	uint64_t missed;		  /* not in ticks: they came too late to be taken */
	uint64_t sent;			  /* written, as the sampler counted it */
	uint64_t symbols;		  /* records of names */
	uint64_t rows_full;		  /* forked children that got no row */
	uint64_t rows[XR_ERRORS];	  /* each row of errors.def */
	struct decoder_stats decoder;
};

/* stats__fill - from the sampler's counts and the decoder's; the other fields are the caller's. */
void stats__fill(struct stats *s, const uint64_t counts[XR_COUNTERS],
		 const struct decoder_stats *decoder);

/* stats__conserved - is each tick accounted for, exactly once? */
bool stats__conserved(const struct stats *s);

/* stats__summary - the line for stderr, without the program's name. */
void stats__summary(const struct stats *s, char *buf, size_t size);

/* stats__write - the JSON object, to a new file. */
int stats__write(const struct stats *s, const char *path, struct errmsg *f);

#endif
