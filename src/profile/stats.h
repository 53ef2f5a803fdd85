/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a run counted.
 */
#ifndef XR_PROFILE_STATS_H
#define XR_PROFILE_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi.h"

/* Counted by the decoder. */
struct decoder_stats {
	uint64_t samples;   /* handed on */
	uint64_t malformed; /* records refused: a length, type or field that cannot be */
	uint64_t partial;   /* samples whose later parts never came */
	uint64_t unnamed;   /* names whose text never came: told by their address, <0x...> */
	uint64_t names_cut; /* names that are longer than they may be (limits.h, abi.h) */
	/* For lack of room (limits.h): */
	uint64_t names_dropped;	 /* names that could not be kept: told by <0x...> or <no-room> */
	uint64_t stacks_dropped; /* samples whose stack could not be: it is <no-room> */
};

/*
 * Processes by what is known of variables that their R does not export; those of which it was not
 * asked are in none.
 */
struct hidden_stats {
	uint64_t lines_proven;	 /* the innermost line of byte code: from R_BCbody and R_BCpc, */
	uint64_t lines_unproven; /* which were not seen at work in any process of that file, */
	uint64_t lines_none;	 /* or were not found, or turned out to be something else */
	uint64_t gc_proven;	 /* marks of GC: from the collector's flag, */
	uint64_t gc_code; /* only where the collector's code is executed, not what it calls, */
	uint64_t gc_none; /* or there are none */
	uint64_t memory_proven;	  /* R's counts of its memory: found, and seen to be right, */
	uint64_t memory_unproven; /* not seen at work in any process of that file, */
	uint64_t memory_none;	  /* not found, or something else */
	/* written samples whose innermost line is missing because of this */
	uint64_t lines_incomplete;
};

/* What was delivered of an event of the user's. */
struct event_stats {
	const char *name; /* as it was given; borrowed */
	uint64_t samples, weight;
	uint32_t unit; /* of the weight: enum xr_unit */
};

/* Counts are of ticks unless said otherwise; the names are those of errors.def. */
struct stats {
	const char *engine, *event; /* borrowed */
	const char *clock;	    /* "cpu" or "wall"; static */
	uint32_t freq, rate;	    /* Hz: asked for, and what there was */
	double seconds;		    /* of sampling */
	double first_sample;	    /* seconds from the start of the session to it; 0: none */
	uint64_t processes;	    /* added, and forked children that had a sample */
	uint64_t programs;	    /* of these, the ones that are not forked children */
	uint64_t ticks;
	uint64_t written; /* counted by the decoder, not what the sampler claims */
	uint64_t no_r_frames, exiting, unreadable, lost;
	uint64_t truncated, other_thread; /* of the written ones */
	uint64_t over_budget;		  /* of the truncated ones: they took too long */
	uint64_t overrun;		  /* samples that took half as much again as they may */
	uint64_t throttled; /* not in ticks: collections that came too soon after another */
	double longest_us;  /* what the longest sample took */
	uint64_t most_work; /* that of a sample, struct walk_budget */
	uint64_t spent_ns;  /* what all samples took: with engine bpf in the kernel, else of ours */
	uint64_t missed;    /* not in ticks: they came too late to be taken */
	uint64_t nested;    /* of ticks, those in the middle of another sample on the same CPU */
	uint64_t sent;	    /* written, as the sampler counted it */
	uint64_t symbols;   /* records of names */
	uint64_t partial;   /* as decoder_stats', without those that the sampler lost: may fall */
	/* of the written ones that have native frames, by why there are none further out: */
	struct native_stats {
		uint64_t whole; /* there are none, or they were not wanted */
		uint64_t no_table, no_rule, bad, full, moved;
		uint64_t resynced;		   /* of all of these */
		uint64_t frames;		   /* native ones, in all */
		uint64_t builtins, builtins_named; /* of these, builtins, and those with R's name */
		uint64_t dead;			   /* contexts that no frame owns any more */
		uint64_t descended;		   /* contexts out of order: there must be none */
		uint64_t modules;		   /* files whose code is known */
		uint64_t no_room;		   /* of which not all of it is */
		uint64_t table_bytes, name_bytes;
	} native;
	/* times that threads were off a CPU, where that was asked for: */
	struct wait_stats {
		uint64_t waits, ns;    /* how many, and how long in all */
		uint64_t lost, unread; /* not noted, or not over at the end and not read */
		uint64_t idle_ns;      /* of the samples' time, that not shown: waiting for work */
	} waits;
	/* single calls, where they were asked for: */
	struct call_stats {
		uint64_t found, uncounted, too_deep; /* as of struct call_finder */
		/* with --slower: calls that lasted long enough, and their samples; samples of
		 * others; of none; of any for which there was no memory */
		uint64_t slow, kept, fast, outside, dropped;
	} calls;
	uint64_t rows_full; /* processes that got no row */
	uint64_t silent;    /* processes that did not answer in time when they were looked at */
	bool refused;	    /* an R that no option named could not be sampled */
	uint64_t rows[XR_ERRORS]; /* each row of errors.def */
	/* counted by the sink: */
	uint64_t stacks_dropped; /* as decoder_stats' */
	uint64_t lines_cut;	 /* samples whose line was cut: it ends in <truncated> */
	uint64_t unwritten;	 /* of `lost`, samples that did not reach their file */
	struct event_stats events[XR_OTHERS_MAX]; /* those that were asked for */
	uint32_t nevents;
	struct decoder_stats decoder;
	struct hidden_stats hidden;
	struct hidden_stats
		settled; /* of hidden, the processes that stay where they are: it grows */
};

#endif
