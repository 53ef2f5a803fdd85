/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by outputs.c, directory.c and stream.c: which file gets a sample, and one such file.
 */
#ifndef XR_OUTPUT_OUTPUTS_PARTS_H
#define XR_OUTPUT_OUTPUTS_PARTS_H

#include "base/map.h"
#include "output/outputs.h"
#include "profile/stacks.h"

#define OPEN_FIRST_MS 1000 /* wait for the first file to open, before anything is sampled */
#define OPEN_MS	      20   /* for later files */

/* One file of a profile: its writer, what is added up for it, and its output. */
struct stream {
	struct stream *next, **link; /* for the caller */
	struct outputs *of;
	struct output *out;
	struct writer *writer;	   /* NULL: of a format with `profile`, or closed */
	struct aggregate *filling; /* NULL: the format takes samples */
	struct aggregate *leaving; /* a profile whose rows are being written, or empty */
	size_t row;		   /* the next row of it */
	char *path;		   /* as it was asked for */
	bool ended;
	/* for the caller: the process, and whether an error was reported */
	uint32_t serial;
	bool failed;
};

/* Samples of a process, with their stacks, until it is known which file gets them. */
struct kept {
	struct stacks stacks;
	uint64_t last_id;
	struct sample *samples; /* in their order */
	size_t n, cap;
};

/* A process of a directory. */
struct entry {
	struct stream *st; /* its file, if that is open */
	bool refused;	   /* no file can be opened: its samples are counted */
	bool indexed;	   /* all of it is in the index */
	char *path;	   /* of a complete file that is not in the index yet, or NULL */
	uint64_t samples;  /* in the file; a tick is one */
	bool named;	   /* it gets a file even if it has few samples */
	uint32_t pid;
	struct buf about; /* the second part of its line in the index */
	struct kept kept; /* while they are too few for a separate file */
};

struct outputs {
	struct outputs_config config;
	struct budget queue, files;
	struct output_wait wait;
	size_t aggregate;      /* bytes of the aggregates of a file */
	struct stats dropped;  /* counts of streams that are closed, and of refused files */
	const char *directory; /* NULL: `shared` gets all samples */
	struct stream *shared;
	struct stream *all;
	uint32_t count;		   /* of streams */
	uint64_t made;		   /* files of processes so far */
	uint64_t failed;	   /* those that could not be opened or written */
	struct map entries;	   /* in a directory: (serial, 0) to struct entry */
	struct stream *others;	   /* for processes with few samples, or NULL */
	uint64_t few, few_samples; /* those processes and their samples */
	struct budget kept;	   /* of their samples */
	struct source_texts sources;
	struct output *index; /* index.jsonl of the directory, or NULL */
	uint64_t flushed;     /* when profiles were last written; ns, CLOCK_MONOTONIC */
	bool said_refused, said_dropped, said_stacks, said_labels, said_calls, said_taken,
		said_sources;
	int err;
	struct errmsg fault;
};

/* --- outputs.c --- */

/* outputs__note - report a line; with @said, only if *@said is not set, which it sets then. */
void outputs__note(struct outputs *ss, bool *said, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* outputs__put - add @st to the list.  outputs__remove - remove and free it. */
void outputs__put(struct outputs *ss, struct stream *st);
void outputs__remove(struct outputs *ss, struct stream *st);

/* outputs__trouble - writing @st failed.  Returns 0 if the other files are still written. */
int outputs__trouble(struct outputs *ss, struct stream *st, int err);

/* outputs__file_failed - report that the file @path of a process cannot be written. */
void outputs__file_failed(struct outputs *ss, const char *path, int err);

/* outputs__give - pass a sample to a stream; report and count it if it does not fit. */
int outputs__give(struct outputs *ss, struct stream *st, const struct profile_process *p,
		  const struct sample *s);

/* error__reason - as os__reason, for writing. */
const char *error__reason(int err);

/* path__stem - the length of a directory's name without slashes at its end. */
int path__stem(const char *path);

/* --- stream.c --- */

/*
 * stream__open - @number_at and @wait_ms: as of struct output_config.  Negative errno: ss->fault
 * says why.
 */
int stream__open(struct stream **out, struct outputs *ss, const char *path, size_t number_at,
		 int wait_ms);

/* stream__add - add up a sample, for a format that does not take it.  0 or a negative errno. */
int stream__add(struct stream *st, const struct profile_process *p, const struct sample *s);

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

/* --- directory.c: the files of processes, and their index --- */

/* entry__complete - no more is written to its file. */
void entry__complete(struct entry *entry);

/* entry__begin - the user named process @p: it gets a file even if it has few samples. */
int entry__begin(struct outputs *ss, const struct profile_process *p);

int entry__sample(struct outputs *ss, const struct profile_process *p, const struct sample *s);

/* entry__known - more is known of process @p. */
void entry__known(struct outputs *ss, const struct profile_process *p);

/* entry__ended, entry__stopped - process @p has no more samples: it ended, or still runs. */
int entry__ended(struct outputs *ss, const struct profile_process *p);
int entry__stopped(struct outputs *ss, const struct profile_process *p);

/* directory__open_index - if the config asks for it.  directory__tick - flush it. */
int directory__open_index(struct outputs *ss);
void directory__tick(struct outputs *ss);

/* directory__reopen - all files were completed: later samples go to new ones. */
int directory__reopen(struct outputs *ss);

/*
 * directory__settle - write samples that are still kept.  directory__free - all is written: report
 * what is in the common file, and close the index.
 */
void directory__settle(struct outputs *ss);
void directory__free(struct outputs *ss);

#endif
