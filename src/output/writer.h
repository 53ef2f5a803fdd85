/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A writer turns a profile into one output format.  One file per format, one row in formats.c.
 */
#ifndef XR_OUTPUT_WRITER_H
#define XR_OUTPUT_WRITER_H

#include <stdbool.h>

#include "base/buf.h"
#include "output/output.h"
#include "profile/aggregate.h"
#include "profile/names.h"
#include "profile/profile.h"
#include "profile/stats.h"

struct profile_part; /* encode.h */

/* What a writer is opened with; borrowed for the life of the writer. */
struct writer_config {
	struct profile_about about; /* freq: rprof writes the interval in microseconds */
	uint32_t capture; /* XR_CAPTURE, as asked for: it changes rprof's header, folded's frames */
	uint64_t *cut;	  /* samples whose line was cut are counted here; NULL: nowhere */
	struct source_texts *sources; /* for the formats with `sources`; NULL: none */
	struct budget *files; /* of the names of source files, of all writers; NULL: no limit */
	bool roots;	      /* several processes in one output: "comm-pid" is the root frame */
	/*
	 * For the formats that have labels (pprof): labels of each sample, unless its process has
	 * one of the same key; with `described`, the `described` attributes (attributes.h), too.
	 */
	const struct profile_label *labels;
	size_t nlabels;
	bool described;
	const char *series; /* pprof: a comment, `series: ...`, read by `serve`; NULL: none */
	/* for the formats that can write a part (`parts`); NULL: the whole profile */
	const struct profile_part *part;
};

struct writer;

/*
 * A format has one of `sample` (it takes each sample), `row` (each row of an aggregate) and
 * `profile` (the whole aggregate, at the end).  All return 0, OUTPUT_DROPPED if the output is full,
 * or a negative errno.  A writer commits (output.h) wherever its file may end.
 */
struct writer_ops {
	const char *name;
	const char *help;
	const char *suffix; /* of file names, which chooses the format */
	bool binary;	    /* not text: not for a terminal */
	uint32_t capture;   /* XR_CAPTURE that it has by default, if available */
	bool types;	    /* it has several sample types */
	bool memory;	    /* it has R's counts of its memory with each sample (XR_F_MEMORY) */
	bool per_process;   /* several processes need one output each (rprof) */
	struct aggregate_config keeps; /* of its aggregate, what it tells apart */
	bool sources;		       /* it shows sources */
	bool parts;		       /* it can write a part (struct writer_config) */
	/*
	 * Write the header, if any, to @out, which is borrowed until close.  NULL in a format with
	 * `profile`, and so is close.
	 */
	int (*open)(struct writer **w, struct output *out, const struct writer_config *config);
	int (*sample)(struct writer *w, const struct profile_process *p, const struct sample *s);
	/*
	 * Readers of the format add up the rows, so a file may have several aggregates.  A pipe
	 * gets them about once a second, a file when there are many stacks, and at the end.
	 */
	int (*row)(struct writer *w, const struct aggregate *a, const struct aggregate_row *row);
	/*
	 * The aggregate may miss stacks (aggregate.h).  @stats: counts of the whole run, or NULL.
	 */
	int (*profile)(struct output *out, const struct writer_config *config,
		       const struct aggregate *a, const struct stats *stats);
	/* Write the end, if any, and free @w.  NULL is allowed. */
	int (*close)(struct writer *w);
};

/*
 * formats__all - all formats, ended by NULL; the first is the default.  formats__find - the one of
 * that name, or NULL.
 */
const struct writer_ops *const *formats__all(void);
const struct writer_ops *formats__find(const char *name);

/*
 * formats__of_path - the format of a suffix of @path, in upper or lower case, or of a suffix that
 * other programs use; else the default.  NULL: other files have that suffix (@f).
 */
const struct writer_ops *formats__of_path(const char *path, struct errmsg *f);

#endif
