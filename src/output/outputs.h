/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where samples go: one output for all processes, or a directory with one file for each.  A sink.
 */
#ifndef XR_OUTPUT_OUTPUTS_H
#define XR_OUTPUT_OUTPUTS_H

#include <stdbool.h>

#include "output/writer.h"
#include "profile/sink.h"

struct outputs;

/* Strings are borrowed for the life of the outputs. */
struct outputs_config {
	const struct writer_ops *format;
	/*
	 * What the sink's begin does not know of what it is about, the command and the host, is
	 * taken from here.
	 */
	struct writer_config writer;
	/*
	 * "-", a file, or a directory: it is taken for one when it is one, ends in '/', or
	 * @several is set and the format needs a file per process; then it is made if missing.
	 * In a directory a format that needs it gets a file Rprof.PID.out for each process, others
	 * get one file, profile.SUFFIX.  What is there stays: where a name is taken it is
	 * Rprof.PID.1.out, Rprof.PID.2.out and so on, profile.1.SUFFIX.
	 */
	const char *path;
	bool several;
	bool index; /* where each process has a file: DIRECTORY/index.jsonl says whose it is */
	/*
	 * A process that the sink was not told of before its samples (PROFILE_BEGAN) has a file of
	 * its own if it has so many; those of the others are in one, Rprof.others.out.  0, 1: all.
	 */
	uint32_t least;
	struct files *files; /* who writes them */
	size_t memory; /* bytes, of which shares may be taken (base/limits.h); 0: LIMIT_MEMORY */
	uint64_t max_file; /* bytes of a regular file; 0: no limit */
	uint64_t timeline; /* ns of a span of a page's time strip at first; 0: a millisecond */
	/*
	 * Who feeds it has time: a sample waits until there is room for it, and finish until all is
	 * written, however long that takes.
	 */
	bool waits;
	/* Called with one line for the user's stderr; NULL is allowed. */
	void (*note)(void *arg, const char *line);
	void *note_arg;
};

/* outputs__new - nothing is opened before the sink's begin.  -ENOMEM. */
int outputs__new(struct outputs **out, const struct outputs_config *config);

/*
 * outputs__sink - as a sink.  What was written is handed on at each tick; what a format has added
 * up, and may be written in rows, is written once a second to a pipe, and at the end to a file.
 * Unless @waits is set nothing waits for it: a sample for which there is no room is counted as
 * unwritten.  After a failure nothing more is written and all calls return the same error; but what
 * a single one of many files fails by is said, its samples are counted as unwritten, and the others
 * go on.  Finish completes and closes all files; -ETIMEDOUT: some were not written in time
 * (output.h), and are given up; -EIO: some had failed before.
 */
struct sink outputs__sink(struct outputs *ss);

/*
 * outputs__reopen - what regular files have is completed, as at the end, and others are begun by
 * the same names, or, where those were not moved away, by others, as in a directory.  The file of a
 * process in a directory is begun with its next sample.  A pipe goes on as it is.  After the sink's
 * begin; the same errors.
 */
int outputs__reopen(struct outputs *ss);

/* outputs__per_process - does each process have its own file?  Before begin: will it? */
bool outputs__per_process(const struct outputs *ss);

/* outputs__free - what is still open is completed.  NULL is allowed. */
void outputs__free(struct outputs *ss);

#endif
