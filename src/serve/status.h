/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a running `serve` says of itself: for /metrics, /healthz, and SIGUSR1.
 */
#ifndef XR_SERVE_STATUS_H
#define XR_SERVE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/stats.h"

#define STATUS_WORD 32

/* Of the process that samples.  Counts are since the last start or SIGHUP. */
struct sampler_status {
	struct stats stats; /* its strings are not valid elsewhere: */
	char engine[STATUS_WORD], event[STATUS_WORD], clock[STATUS_WORD];
	uint32_t freq_asked, freq_now; /* Hz: lower if --max-cpu requires it */
	double uptime;		       /* seconds */
	double max_cpu;		       /* share of one CPU, --max-cpu; 0: no limit */
	double cpu_samples;	       /* share of one CPU that samples took lately */
	uint64_t kernel_ns;	       /* ns that samples took in all */
	uint64_t lowered;	       /* times the rate was lowered */
	uint32_t processes, max_processes;
	uint64_t stacks, max_stacks; /* of the interval that is open */
	uint64_t names, max_memory;  /* bytes taken by names and stacks, and allowed */
	uint64_t intervals;	     /* intervals that ended */
	uint64_t intervals_dropped;  /* of them, those that the front did not take, */
	uint64_t samples_dropped;    /* and their samples */
	uint64_t reloads, reload_failures;
	uint64_t front_restarts;
	uint64_t cpu_ns, resident; /* own: ns, bytes */
	uint64_t workers_ns;	   /* CPU time of those that look at processes */
	char starved[160]; /* why none of the R processes that were found is sampled; "": some are
			    */
};

/* The ways out: the directory, and the servers. */
enum { WAY_STORE, WAY_PYROSCOPE, WAY_OTLP, WAYS };

/* way__name - for people, metrics, and the directory in which what it sends waits. */
static inline const char *way__name(size_t way)
{
	static const char *const names[WAYS] = {"directory", "pyroscope", "otlp"};

	return names[way];
}

/* Of one of these. */
struct way_status {
	uint64_t sent, failed;	     /* profiles; attempts that failed */
	uint64_t dropped;	     /* profiles given up, */
	uint64_t dropped_samples;    /* and what was in them */
	uint64_t waiting, wait_size; /* profiles that wait, and their bytes */
	uint64_t size;		     /* bytes sent or written, */
	uint64_t kept, kept_size;    /* of the directory: files that are there, and their bytes */
	uint64_t removed;	     /* and those removed for --keep */
	uint64_t last;		     /* when the last one arrived: ns since 1970; 0: never */
	char error[256];	     /* the last one; "": none since */
};

/* Of the process that writes and sends. */
struct front_status {
	struct way_status ways[WAYS];
	uint64_t requests,
		refused; /* HTTP: answered; of them those not allowed or not understood */
	uint64_t cpu_ns, resident;
};

#endif
