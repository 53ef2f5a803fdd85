/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a run counted.
 */
#ifndef XR_PROFILE_STATS_H
#define XR_PROFILE_STATS_H

#include <stdint.h>

#include "abi.h"

/* Counted by the decoder. */
struct decoder_stats {
	uint64_t samples;   /* handed on */
	uint64_t malformed; /* records refused: a length, type or field that cannot be */
	uint64_t partial;   /* samples whose later parts never came */
	uint64_t unnamed;   /* names whose text never came: told by their address, <0x...> */
	/* For lack of room (limits.h): */
	uint64_t names_dropped;	 /* names that could not be kept: told by <0x...> or <no-room> */
	uint64_t stacks_dropped; /* samples whose stack could not be: it is <no-room> */
};

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
	uint64_t nested;    /* of ticks, those in the middle of another sample on the same CPU */
	uint64_t sent;	    /* written, as the sampler counted it */
	uint64_t symbols;   /* records of names */
	uint64_t rows_full; /* forked children that got no row */
	uint64_t rows[XR_ERRORS]; /* each row of errors.def */
	uint64_t stacks_dropped;  /* counted by the sink, as decoder_stats' */
	struct decoder_stats decoder;
};

#endif
