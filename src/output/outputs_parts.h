/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What outputs.c and outputs_own.c have in common.
 */
#ifndef XR_OUTPUT_OUTPUTS_PARTS_H
#define XR_OUTPUT_OUTPUTS_PARTS_H

#include "base/map.h"
#include "output/outputs.h"
#include "output/stream.h"
#include "profile/stacks.h"

#define STREAM_PATH_MAX 4096 /* bytes */
#define OPEN_FIRST_MS	1000 /* for the first file to be open, before anything is sampled */
#define OPEN_MS		20   /* for others */

/* Samples of a process that wait, with their stacks, until it is known which file gets them. */
struct held {
	struct stacks stacks;
	uint64_t last_id;
	struct sample *samples; /* in their order */
	size_t n, cap;
};

/* What a process has in a directory. */
struct own {
	struct stream *st; /* NULL: none yet, or not any more */
	bool refused;	   /* it cannot have one: its samples are counted */
	bool told;	   /* all of it is in the index */
	char *path;	   /* of a file that is complete; NULL: none, or it is in the index */
	uint64_t samples;  /* of it, or of the stream */
	bool named;	   /* it has a file, however few its samples are */
	uint32_t pid;
	struct buf about; /* what the index says of it */
	struct held held; /* while they are too few for a file of its own */
};

struct outputs {
	struct outputs_config config;
	struct stream_config streams;
	struct budget queue, files;
	struct output_wait wait;
	struct stats dropped;  /* what the streams that are gone counted, and `refused` */
	const char *directory; /* NULL: all is in `shared` */
	struct stream *shared;
	struct stream *all;
	uint32_t count;		   /* of them */
	uint64_t made;		   /* files of processes so far, */
	uint64_t spoiled;	   /* and those of them that could not be opened, or written */
	struct map own;		   /* in a directory: (serial, 0) to struct own */
	struct stream *others;	   /* of those with few samples; NULL: there is none */
	uint64_t few, few_samples; /* those processes, and what is there of them */
	struct budget held;	   /* of what they keep back */
	struct source_texts sources;
	struct output *index; /* index.jsonl of it; NULL: there is none, or not any more */
	uint64_t flushed;     /* when profiles were last written; ns, CLOCK_MONOTONIC */
	bool said_refused, said_dropped, said_stacks, said_taken, said_sources;
	int err;
	struct errmsg fault;
};

/* --- outputs.c --- */

/* outputs__note - say @line, unless *@said, which it then is. */
void outputs__note(struct outputs *ss, bool *said, const char *line);

/* outputs__put - @st is one of all from now on.  outputs__remove - it is not, and is freed. */
void outputs__put(struct outputs *ss, struct stream *st);
void outputs__remove(struct outputs *ss, struct stream *st);

/* outputs__trouble - writing @st failed.  Returns 0 if that is its own trouble alone. */
int outputs__trouble(struct outputs *ss, struct stream *st, int err);

/* outputs__spoil - the file @path of a process cannot be written: that of the others can. */
void outputs__spoil(struct outputs *ss, const char *path, int err);

/* outputs__give - a sample to a stream.  A lack of room is said, and counted. */
int outputs__give(struct outputs *ss, struct stream *st, const struct profile_process *p,
		  const struct sample *s);

/* error__reason - as os__reason, of what is written. */
const char *error__reason(int err);

/* path__stem - bytes of the name of a directory without slashes at its end. */
int path__stem(const char *path);

/* --- outputs_own.c: what processes have in a directory --- */

/* own__complete - its stream is complete, or as much of it as will ever be. */
void own__complete(struct own *own);

/* own__begin - it is asked for: it has a file in any case. */
int own__begin(struct outputs *ss, const struct profile_process *p);

int own__sample(struct outputs *ss, const struct profile_process *p, const struct sample *s);

/* own__known - more is known of process @p. */
void own__known(struct outputs *ss, const struct profile_process *p);

/* own__ended, own__stopped - no more of process @p comes; it has ended, or goes on. */
int own__ended(struct outputs *ss, const struct profile_process *p);
int own__stopped(struct outputs *ss, const struct profile_process *p);

/* owns__open_index - if it is wanted.  owns__tick - have it written. */
int owns__open_index(struct outputs *ss);
void owns__tick(struct outputs *ss);

/* owns__reopen - files were completed; what comes now goes to others. */
int owns__reopen(struct outputs *ss);

/*
 * owns__settle - what is still kept back goes to its file.  owns__free - all is written: say what
 * went to the common file, and close the index.
 */
void owns__settle(struct outputs *ss);
void owns__free(struct outputs *ss);

#endif
