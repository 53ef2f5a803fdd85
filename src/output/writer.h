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
#include "profile/profile.h"
#include "profile/stats.h"

struct profile_part; /* encode.h */

/* What a writer is opened with; borrowed for the life of the writer. */
struct writer_config {
	struct profile_about about; /* freq: rprof writes the interval in microseconds */
	uint32_t capture; /* XR_CAPTURE, as asked for: it changes rprof's header, folded's frames */
	uint64_t *cut;	  /* samples whose line was cut are counted here; NULL: nowhere */
	struct source_texts *sources; /* by the formats that show them (`sources`); NULL: none */
	struct budget *files; /* for the names of source files, of all writers; NULL: no limit */
	bool roots;	      /* several processes in one output: "comm-pid" is the root frame */
	/*
	 * By the formats that have labels (pprof): on each sample these, unless its process has one
	 * of the same key; and, if `described`, what else is known of its process.
	 */
	const struct profile_label *labels;
	size_t nlabels;
	bool described;
	/* what is written of the profile, by the formats that can (`parts`); NULL: all of it */
	const struct profile_part *part;
};

struct writer;

/*
 * A format has one of `sample`: it is given each sample as it comes; `row`: it is given each row of
 * what they add up to; `profile`: it is given all that they add up to, at the end.  All return 0,
 * or OUTPUT_DROPPED when there was no room for it in the output, or a negative errno.  A writer
 * commits (output.h) whatever may be the end of its file.
 */
struct writer_ops {
	const char *name;
	const char *help;
	const char *suffix; /* of a file's name: it chooses the format */
	bool binary;	    /* no text: it is not for a terminal */
	uint32_t capture;   /* XR_CAPTURE that it has unasked, where that can be had */
	bool types;	    /* it has sample types, each with a number of its own */
	bool memory;	    /* it has R's counts of its memory with each sample (XR_F_MEMORY) */
	bool per_process;   /* several processes need one output each (rprof) */
	/* with `row` or `profile`, what samples are kept apart by and what is remembered of them:
	 * see struct aggregate_config */
	uint32_t labels;
	bool threads, details, timeline;
	bool sources; /* it shows sources */
	bool parts;   /* it writes what struct writer_config says of the profile */
	/*
	 * Write the header, if any, to @out, which is borrowed until close.  NULL in a format with
	 * `profile`, and so is close.
	 */
	int (*open)(struct writer **w, struct output *out, const struct writer_config *config);
	int (*sample)(struct writer *w, const struct profile_process *p, const struct sample *s);
	/*
	 * The file may be made of any number of profiles one after another, as its readers add them
	 * up (folded).  For a pipe their rows come about once a second, for a file when there
	 * are many stacks, and at the end.
	 */
	int (*row)(struct writer *w, const struct aggregate *a, const struct aggregate_row *row);
	/*
	 * The profile, which may miss stacks (aggregate.h).  @stats: what was counted in the whole
	 * run; NULL if that is not known.
	 */
	int (*profile)(struct output *out, const struct writer_config *config,
		       const struct aggregate *a, const struct stats *stats);
	/* Whatever must be written at the end; frees @w.  NULL is allowed. */
	int (*close)(struct writer *w);
};

/*
 * A name as a format shows it: the `safe` form of base/intern.h, or the `field` one.  A function
 * whose name is reserved (profile.h), `<GC>`, has its first character escaped, \\x3cGC>.
 * writer__size - its bytes.  writer__name - append it.
 */
enum writer_form { WRITER_SAFE, WRITER_FIELD };

size_t writer__size(const struct frame *frame, enum writer_form form);
int writer__name(struct buf *line, const struct frame *frame, enum writer_form form);

/*
 * What the formats call a frame that tell packages: `package::function` for a function of a
 * namespace, unless R's own name begins like that; its name alone for one of the global
 * environment, of a `package:` environment, or of what is not known.  The names that many functions
 * have, `<Anonymous>` and `FUN`, are followed by ` {file:line}`, where the definition begins, if
 * that is known.  writer__label_size - its bytes, at most.  writer__label - append it.
 */
size_t writer__label_size(const struct frame *frame, enum writer_form form);
int writer__label(struct buf *line, const struct frame *frame, enum writer_form form);

/*
 * formats__all - all formats, ended by NULL; the first is the default.  formats__find - the one of
 * that name, or NULL.
 */
const struct writer_ops *const *formats__all(void);
const struct writer_ops *formats__find(const char *name);

/*
 * formats__of_path - the one whose suffix @path ends in, in any case, or one that others give such
 * files; else the default.  NULL: it is the suffix of something else, and @f says so.
 */
const struct writer_ops *formats__of_path(const char *path, struct errmsg *f);

#endif
