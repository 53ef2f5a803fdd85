/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One file of a profile: its writer, what is added up for it, and its output.
 */
#ifndef XR_OUTPUT_STREAM_H
#define XR_OUTPUT_STREAM_H

#include "output/writer.h"

/* What the streams of a run have in common; borrowed. */
struct stream_config {
	const struct writer_ops *format;
	struct writer_config writer;
	struct files *files;
	struct budget *queue; /* of what waits to be written */
	struct output_wait *wait;
	uint64_t max_file; /* bytes; 0: no limit */
	size_t aggregate;  /* bytes that may be added up */
	uint64_t timeline; /* and this, as of struct outputs_config */
	bool waits;
};

struct stream {
	struct stream *next, **link; /* for who has it */
	const struct stream_config *config;
	struct output *out;
	struct writer *writer;	   /* NULL: of a format with `profile`, or closed */
	struct aggregate *filling; /* for a format that wants it; NULL: none */
	struct aggregate *leaving; /* a profile whose rows are being written, or empty */
	size_t row;		   /* of it, the next */
	char *path;		   /* as it was asked for */
	bool ended;
	bool committed; /* a format that is given the profile as a whole has committed it */
	/* for who has it: of which process it is, and that nothing more becomes of it */
	uint32_t serial;
	bool spoiled;
};

/*
 * stream__open - @number_at: as of struct output_config; @wait_ms: for its file to be open.
 * Negative errno, and @f says why.
 */
int stream__open(struct stream **out, const struct stream_config *config, const char *path,
		 size_t number_at, int wait_ms, struct errmsg *f);

/* stream__sample - write or add up a sample.  0, OUTPUT_DROPPED, or a negative errno. */
int stream__sample(struct stream *st, const struct profile_process *p, const struct sample *s);

/*
 * stream__know - of process @p, which is in the profile even if it has no sample.  A lack of room
 * is no failure.
 */
void stream__know(struct stream *st, const struct profile_process *p);

/* stream__flush - have what can be written now written; @profile: what was added up, too. */
int stream__flush(struct stream *st, bool profile);

/* stream__end - no more samples; complete the file.  @stats: of the run; NULL if it goes on. */
int stream__end(struct stream *st, const struct stats *stats);

/* stream__done - after stream__end: go on with it; is it complete, or failed? */
bool stream__done(struct stream *st);

/*
 * stream__free - its first error.  @stats gets samples that were not written by now, and those
 * whose stacks were dropped.
 */
int stream__free(struct stream *st, struct stats *stats);

#endif
