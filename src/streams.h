/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where samples go: one output for all processes, or a directory with one file for each.
 */
#ifndef XR_STREAMS_H
#define XR_STREAMS_H

#include <stdbool.h>

#include "fault.h"
#include "writer.h"

struct streams;
struct stream;

/*
 * streams__open - @path is "-", a file, or a directory: it is taken for one when it is one, ends in
 * '/', or @several is set and the format needs a file per process; then it is made if missing.
 * In a directory a format that needs it gets a file Rprof.PID.out for each process (once a pid came
 * round again, Rprof.PID.SERIAL.out), others get one file, profile.FORMAT.  Strings are borrowed.
 */
int streams__open(struct streams **out, const struct writer_ops *format,
		  const struct writer_config *config, const char *path, bool several,
		  struct fault *f);

/* streams__several - does each process have its own file? */
bool streams__per_process(const struct streams *ss);

/*
 * streams__sample - write one sample of process @p.  @slot, of that process, is NULL until its
 * stream is there.  After a failure nothing more is written and all calls return the same error.
 */
int streams__sample(struct streams *ss, struct stream **slot, const struct writer_process *p,
		    const struct sample *s);

/* streams__ready - make the stream of @p now, so that its file is there even without a sample. */
int streams__ready(struct streams *ss, struct stream **slot, const struct writer_process *p);

/* streams__end - process of @slot has ended: its own file, if it has one, is complete. */
int streams__end(struct streams *ss, struct stream **slot);

/* streams__flush - what was written is handed to the kernel; @writers: what writers keep, too. */
int streams__flush(struct streams *ss, bool writers);

/* streams__fault - what went wrong first. */
const struct fault *streams__fault(const struct streams *ss);

/* streams__close - complete all files and free.  The first error there was; @f may be NULL. */
int streams__close(struct streams *ss, struct fault *f);

#endif
