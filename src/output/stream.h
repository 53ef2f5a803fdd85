/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One file of a profile: its writer, what is added up for it, and its output.
 */
#ifndef XR_OUTPUT_STREAM_H
#define XR_OUTPUT_STREAM_H

#include "output/writer.h"

/* Common to the streams of a run; borrowed. */
struct stream_config {
	const struct writer_ops *format;
	struct writer_config writer;
	struct files *files;
	struct budget *queue; /* of bytes that are not written yet */
	struct output_wait *wait;
	uint64_t max_file; /* bytes; 0: no limit */
	size_t aggregate;  /* bytes of its aggregates */
	uint64_t timeline; /* as of struct outputs_config, and so is waits */
	bool waits;
};

struct stream {
	struct stream *next, **link; /* for the caller */
	const struct stream_config *config;
	struct output *out;
	struct writer *writer;	   /* NULL: of a format with `profile`, or closed */
	struct aggregate *filling; /* NULL: the format takes samples */
	struct aggregate *leaving; /* a profile whose rows are being written, or empty */
	size_t row;		   /* the next row of it */
	char *path;		   /* as it was asked for */
	bool ended;
	bool committed; /* a format with `profile` has committed it */
	/* for the caller: the process, and whether an error was reported */
	uint32_t serial;
	bool failed;
};

/*
 * stream__open - @number_at and @wait_ms: as of struct output_config.  Negative errno: @f says why.
 */
int stream__open(struct stream **out, const struct stream_config *config, const char *path,
		 size_t number_at, int wait_ms, struct errmsg *f);

/* stream__sample - write or add up a sample.  0, OUTPUT_DROPPED, or a negative errno. */
int stream__sample(struct stream *st, const struct profile_process *p, const struct sample *s);

/*
 * stream__know - update process @p, which is in the profile even without samples.  If it does not
 * fit, it is left out.
 */
void stream__know(struct stream *st, const struct profile_process *p);

/* stream__learn - what is known of a call by now. */
void stream__learn(struct stream *st, const struct profile_call *call);

/* stream__flush - write what can be written now; @profile: rows of the aggregate, too. */
int stream__flush(struct stream *st, bool profile);

/* stream__end - no more samples; complete the file.  @stats: of the run; NULL if it goes on. */
int stream__end(struct stream *st, const struct stats *stats);

/* stream__done - after stream__end: flush it; is it complete, or failed? */
bool stream__done(struct stream *st);

/*
 * stream__free - returns its first error.  Adds samples that were not written, and those whose
 * stacks were dropped, to @stats.
 */
int stream__free(struct stream *st, struct stats *stats);

#endif
