/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where samples go: one output for all processes, or a directory with one file for each.
 */
#ifndef XR_OUTPUT_OUTPUTS_H
#define XR_OUTPUT_OUTPUTS_H

#include <stdbool.h>

#include "base/errmsg.h"
#include "output/writer.h"

struct outputs;
struct stream;

/*
 * outputs__open - @path is "-", a file, or a directory: it is taken for one when it is one, ends in
 * '/', or @several is set and the format needs a file per process; then it is made if missing.
 * In a directory a format that needs it gets a file Rprof.PID.out for each process (once a pid came
 * round again, Rprof.PID.SERIAL.out), others get one file, profile.FORMAT.  Strings are borrowed.
 */
int outputs__open(struct outputs **out, const struct writer_ops *format,
		  const struct writer_config *config, const char *path, bool several,
		  struct errmsg *f);

/* outputs__several - does each process have its own file? */
bool outputs__per_process(const struct outputs *ss);

/*
 * outputs__sample - write one sample of process @p.  @slot, of that process, is NULL until its
 * stream is there.  After a failure nothing more is written and all calls return the same error.
 */
int outputs__sample(struct outputs *ss, struct stream **slot, const struct writer_process *p,
		    const struct sample *s);

/* outputs__ready - make the stream of @p now, so that its file is there even without a sample. */
int outputs__ready(struct outputs *ss, struct stream **slot, const struct writer_process *p);

/* outputs__end - process of @slot has ended: its own file, if it has one, is complete. */
int outputs__end(struct outputs *ss, struct stream **slot);

/* outputs__flush - what was written is handed to the kernel; @writers: what writers keep, too. */
int outputs__flush(struct outputs *ss, bool writers);

/* outputs__fault - what went wrong first. */
const struct errmsg *outputs__fault(const struct outputs *ss);

/* outputs__close - complete all files and free.  The first error there was; @f may be NULL. */
int outputs__close(struct outputs *ss, struct errmsg *f);

#endif
