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

#define STREAM_PATH_MAX 4096 /* bytes of the name of a file */

/* Strings are borrowed for the life of the outputs. */
struct outputs_config {
	const struct writer_ops *format;
	/*
	 * The command and the host are taken from here if the sink's begin has none.
	 */
	struct writer_config writer;
	/*
	 * "-", a file, or a directory.  It is a directory if it is one, if it ends in '/', or if
	 * @several is set and the format needs a file for each process.  It is made if missing.
	 * In a directory, such a format writes Rprof.PID.out for each process; others write one
	 * file, profile.SUFFIX.  Existing files are never overwritten: a number is added to the
	 * name (Rprof.PID.1.out, profile.1.SUFFIX).
	 */
	const char *path;
	bool several;
	bool index; /* with a file for each process, write DIRECTORY/index.jsonl, too */
	/*
	 * Samples that a process needs for a separate file, unless it was announced
	 * (PROFILE_BEGAN).  Samples of other processes are in Rprof.others.out.
	 */
	uint32_t least;
	struct files *files; /* borrowed */
	size_t memory;	     /* bytes, which base/limits.h divides; 0: LIMIT_MEMORY */
	uint64_t max_file;   /* bytes of a regular file; 0: no limit */
	uint64_t timeline;   /* ns of a span of a page's time strip at first; 0: a millisecond */
	/*
	 * The caller has time: a sample waits until it fits, and finish waits until all is written.
	 */
	bool waits;
	/* Report one line to the user; NULL is allowed. */
	void (*note)(void *arg, const char *line);
	void *note_arg;
};

/*
 * outputs__file - where a profile in @format goes that was asked for at @path: 0, and @to is a file
 * with @number_at as of struct output_config; 1: it is a directory for the files of processes.  A
 * directory is made if it is missing.  Negative errno, with @f set.
 */
int outputs__file(struct files *files, const char *path, const struct writer_ops *format,
		  bool several, char to[STREAM_PATH_MAX], size_t *number_at, struct errmsg *f);

/* outputs__new - the sink's begin opens files.  -ENOMEM. */
int outputs__new(struct outputs **out, const struct outputs_config *config);

/*
 * outputs__sink - as a sink.  Each tick writes what was committed.  Rows of an aggregate are
 * written once a second to a pipe, and at the end to a file.  Unless @waits is set, nothing waits:
 * a sample that does not fit is counted as unwritten.  After an error nothing more is written, and
 * all calls return the same error.  An error on one of many files is reported, its samples are
 * counted as unwritten, and the others go on.  Finish completes and closes all files.  -ETIMEDOUT:
 * some were not written in time (output.h) and are abandoned; -EIO: some had failed before.
 */
struct sink outputs__sink(struct outputs *ss);

/*
 * outputs__reopen - complete regular files, as at the end, and open new ones.  They get the same
 * names if the old ones were moved away, else a number.  The file of a process is opened with its
 * next sample.  A pipe goes on.  After the sink's begin; the same errors.
 */
int outputs__reopen(struct outputs *ss);

/* outputs__per_process - does each process have a separate file?  Before begin: will it? */
bool outputs__per_process(const struct outputs *ss);

/* outputs__free - complete what is still open.  NULL is allowed. */
void outputs__free(struct outputs *ss);

#endif
