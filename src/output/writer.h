/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A writer turns samples into one output format.  One file per format, one row in formats.c.
 */
#ifndef XR_OUTPUT_WRITER_H
#define XR_OUTPUT_WRITER_H

#include <stdbool.h>

#include "output/output.h"
#include "profile/profile.h"

/* What a writer is opened with; borrowed for the life of the writer. */
struct writer_config {
	uint32_t freq;	  /* of sampling, Hz: rprof writes the interval in microseconds */
	uint32_t capture; /* XR_CAPTURE, as asked for: it changes rprof's header, folded's frames */
	bool roots;	  /* several processes in one output: "comm-pid" is the root frame */
};

struct writer;

struct writer_ops {
	const char *name;
	const char *help;
	bool per_process; /* several processes need one output each (rprof) */
	/* Write the header, if any, to @out, which is borrowed until close. */
	int (*open)(struct writer **w, struct output *out, const struct writer_config *config);
	int (*sample)(struct writer *w, const struct profile_process *p, const struct sample *s);
	/*
	 * Write to the output what the writer holds back (folded adds up equal stacks).  NULL: it
	 * holds nothing.  Called about once a second, before output__flush; close does it by
	 * itself.
	 */
	int (*flush)(struct writer *w);
	/* Whatever must be written at the end; frees @w.  NULL is allowed. */
	int (*close)(struct writer *w);
};

/*
 * formats__all - all formats, ended by NULL; the first is the default.  formats__find - the one of
 * that name, or NULL.
 */
const struct writer_ops *const *formats__all(void);
const struct writer_ops *formats__find(const char *name);

/* The rows of formats.c; each is defined in the file of its name. */
extern const struct writer_ops writer_rprof, writer_folded;

#endif
