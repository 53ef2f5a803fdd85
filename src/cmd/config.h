/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the command line of `record` asks for.
 */
#ifndef XR_CMD_CONFIG_H
#define XR_CMD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/engine.h"
#include "layout.h"
#include "output/writer.h"
#include "profile/calls.h"
#include "target/filters.h"

/* Native frames: DEFAULT is what the format has. */
enum config_native { NATIVE_DEFAULT, NATIVE_OFF, NATIVE_LEAF, NATIVE_ALL, NATIVE_RAW };

/* Strings are borrowed from the command line. */
struct config {
	bool verbose, quiet;
	const char *line; /* as it was given */
	pid_t *pids;	  /* no pid twice */
	size_t npids;
	bool all;
	char **command;		/* ended by NULL, as execvp() wants it; NULL: none */
	bool as_root;		/* also where sudo was called by another user */
	bool follow;		/* --subprocesses */
	struct filters filters; /* --user and so on: for --all and --subprocesses */
	uint32_t freq;		/* Hz */
	double duration;	/* seconds; 0: no limit */
	const char *output;	/* "-": stdout */
	uint64_t max_file;	/* bytes of a file */
	uint32_t min_samples;	/* for a separate file, of a process that was not named */
	uint64_t max_memory;	/* bytes (base/limits.h) */
	const struct writer_ops *format;
	const struct engine_ops *engine; /* NULL: auto */
	enum engine_clock clock;
	uint32_t capture; /* XR_CAPTURE, with what the format always has, */
	uint32_t asked;	  /* and without */
	bool no_packages;
	enum config_native native;
	struct event_list events;  /* --event; none: ticks */
	struct calls_wanted calls; /* --calls; none: no calls are looked for */
	double slower;		   /* seconds; 0: samples of all calls, and outside of calls */
	uint32_t period;	   /* one sample for this many events; 0: not given */
	uint32_t max_sample_us;	   /* what reading one stack may take */
	const char *stats, *btf;   /* NULL: not given */
	const char *ready;	   /* gets the pid once sampling has begun; NULL: not given */
	bool until_eof;		   /* standard input ends the profile */
};

/* config__several - may more than one process come to be profiled? */
static inline bool config__several(const struct config *c)
{
	return c->npids > 1 || c->all || c->follow;
}

#endif
