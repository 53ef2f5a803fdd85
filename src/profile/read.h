/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Profiles that were written to files, read back: by R's Rprof() and by the writers of output/, or
 * by others in the same formats.  The reader recognises a file by its beginning.  It may have been
 * written by a stranger: a line or a number that cannot be is left out and counted, and what is
 * kept has a limit.  One file after another feeds one sink.
 *
 *	err = reader__new(&r, &config);
 *	err = reader__file(r, &in, &process, &result, &f);	for each file
 *	reader__free(r);					then the sink's finish
 */
#ifndef XR_PROFILE_READ_H
#define XR_PROFILE_READ_H

#include <stdbool.h>

#include "base/errmsg.h"
#include "profile/sink.h"

struct reader;

#define READ_TYPE_LEN	64u   /* of the name of a sample type, with its end; longer ones are cut */
#define READ_SERIES_LEN 4096u /* of the labels of a run in the name of a series, with its end */

#define READ_GAPS 64u

/* A time between files in which there was none so far.  The longest ones are kept. */
struct read_gap {
	uint64_t from, to;
};

/*
 * What files say of how they were made, as far as all of them say it and say the same.  Others than
 * those of pprof say nothing.
 */
struct read_made {
	uint64_t files;
	char command[4096], host[256], engine[32], event[64], series[READ_SERIES_LEN];
	uint64_t began, end;  /* ns since 1970, of all of them together; 0: not known */
	uint64_t duration_ns; /* how much of that they cover; 0: not known */
	uint64_t lost, truncated, unreadable; /* samples, as far as files say it */
	struct read_gap gaps[READ_GAPS];
};

/*
 * Which sample types files have.  As files are read they may become more, so that a sink may look
 * at `about`, which it gets at begin, again at the end.  Starts as { 0 }.
 */
struct read_types {
	struct profile_about about;
	char names[PROFILE_TYPES_MAX][READ_TYPE_LEN]; /* printable ASCII without spaces */
	struct read_made made;			      /* `about` has its texts */
	bool used;
};

struct reader_config {
	/* Its begin is called once, before the first sample of all; not its tick and finish. */
	struct sink to;
	size_t memory; /* bytes, of which shares may be taken (base/limits.h) */
	/*
	 * Samples come one by one, in their order.  Else equal ones may come as one of their
	 * weight, at any time before the end of the file: faster, for a sink that adds them up.
	 */
	bool ordered;
	bool fold;	      /* leave wrappers out (fold.h), */
	bool merge;	      /* and merge recursive calls */
	uint64_t interval_ns; /* of a sample, where a file does not say; 0: not known */
	const char *command;  /* for struct profile_about; NULL: not known */
	/*
	 * Where sample types are kept, by several readers, too, so that one is the same number to
	 * all; borrowed until the sink needs its about no more.  NULL: in the reader.
	 */
	struct read_types *types;
	/*
	 * The number of the system call that is called so, and 1; 0: there is none.  NULL: what
	 * samples waited in is not kept.
	 */
	uint32_t (*syscall)(const char *name, size_t len);
};

/* The bytes of a file. */
struct read_input {
	/* Up to @size bytes into @to: how many, 0 at the end, or a negative errno. */
	int (*read)(void *arg, void *to, size_t size);
	/* What that one failed with, for people; NULL: strerror(). */
	const char *(*reason)(int err);
	void *arg;
	const char *name; /* for messages about it */
};

/* Whose profile a file is, where it does not say. */
struct read_process {
	const char *key;  /* files of the same are of one process; NULL: so are all those */
	uint32_t pid;	  /* 0: not known */
	const char *comm; /* NULL: not known */
};

enum read_format { READ_RPROF, READ_FOLDED, READ_PPROF };

/* What a file was, set by the time of the sink's begin, and what came of it, at the end. */
struct read_result {
	enum read_format format;
	bool lines, gc;	      /* Rprof.out: as in its header */
	uint64_t interval_ns; /* of a sample; 0: not known.  Of the last profile that is in it */
	uint64_t began, duration_ns;	    /* ns, since 1970, and how long; 0: it does not say */
	uint64_t parts;			    /* folded stacks: of one that are counted: 1, 10, 100 */
	uint64_t samples;		    /* as far as they were read; a tick is one */
	uint64_t values[PROFILE_TYPES_MAX]; /* by sample type, what they add up to */
	uint64_t types_left;		    /* sample types that there was no number for */
	bool memory;			    /* it has memory counts, which are not kept */
	uint64_t bad, first; /* lines that cannot be, left out, and the number of the first */
	uint64_t cut;	     /* number of the last line, which was not whole; 0: it was */
	uint64_t dropped;    /* of samples, those whose stack did not fit: <no-room> */
	uint64_t crowded;    /* and those whose process did: they are of that of the file */
};

int reader__new(struct reader **out, const struct reader_config *config);

/*
 * reader__file - read all of it.  Negative errno, and @f says why: what it is not, what could not
 * be read, or the sink's reason.  What came before that was given to the sink.
 */
int reader__file(struct reader *r, const struct read_input *in, const struct read_process *process,
		 struct read_result *result, struct errmsg *f);

void reader__free(struct reader *r); /* NULL is allowed */

/* sample__count - how many samples @s of a file stands for. */
static inline uint64_t sample__count(const struct sample *s)
{
	if (!s->type)
		return s->weight;
	return s->samples ? s->samples : 1;
}

#endif
