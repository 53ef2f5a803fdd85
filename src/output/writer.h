/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A writer turns a profile into one output format.  One file per format, one row in formats.c.
 */
#ifndef XR_OUTPUT_WRITER_H
#define XR_OUTPUT_WRITER_H

#include <stdbool.h>

#include "output/output.h"
#include "profile/aggregate.h"
#include "profile/profile.h"
#include "profile/stats.h"

/* What a writer is opened with; borrowed for the life of the writer. */
struct writer_config {
	uint32_t freq;	  /* of sampling, Hz: rprof writes the interval in microseconds */
	uint32_t capture; /* XR_CAPTURE, as asked for: it changes rprof's header, folded's frames */
	bool roots;	  /* several processes in one output: "comm-pid" is the root frame */
};

struct writer;

/*
 * A format has either `sample`: it is given each sample as it comes; or `profile`: it is given what
 * they add up to.  All return 0 or a negative errno.  A writer commits (output.h) whatever may be
 * the end of its file.
 */
struct writer_ops {
	const char *name;
	const char *help;
	bool per_process; /* several processes need one output each (rprof) */
	/*
	 * With `profile`: the file may be made of any number of profiles one after another, as its
	 * readers add them up (folded).  They come about once a second then, and when there are
	 * many stacks; else there is one, at the end, which may miss stacks (aggregate.h).
	 */
	bool pieces;
	uint32_t labels; /* with `profile`: the XR_F_ flags by which samples are kept apart */
	/* Write the header, if any, to @out, which is borrowed until close. */
	int (*open)(struct writer **w, struct output *out, const struct writer_config *config);
	int (*sample)(struct writer *w, const struct profile_process *p, const struct sample *s);
	/* @stats: what was counted in the whole run, if it is over; else NULL. */
	int (*profile)(struct writer *w, const struct aggregate *a, const struct stats *stats);
	/* Whatever must be written at the end; frees @w.  NULL is allowed. */
	int (*close)(struct writer *w);
};

/*
 * formats__all - all formats, ended by NULL; the first is the default.  formats__find - the one of
 * that name, or NULL.
 */
const struct writer_ops *const *formats__all(void);
const struct writer_ops *formats__find(const char *name);

#endif
