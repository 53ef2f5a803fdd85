/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `xrprof-bpf dump` shows of one process, as text and as JSON: the stack, the program's data
 * (its calls as code, and the variables of each function), and the largest objects.
 */
#ifndef XR_CMD_LINUX_DUMP_SHOW_H
#define XR_CMD_LINUX_DUMP_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/json.h"
#include "layout.h"
#include "os/linux/activity.h"
#include "profile/profile.h"
#include "values/calls.h"
#include "values/globals.h"
#include "values/locals.h"

/* Of one frame.  All NULL: it is not a function's frame, or it returned while it was read. */
struct frame_values {
	char *call; /* as code */
	struct locals locals;
	bool has_locals;
};

/*
 * frame_values__read - of @call, whose memory @reader reads: its code if @calls, its variables if
 * @locals, which a builtin has not.  *@left: reads that may still be made for all frames,
 * FRAME_VALUES_READS at first. -ENOMEM: what was read so far is to be freed, too.
 */
#define FRAME_VALUES_READS 1000000u
int frame_values__read(const struct mem_reader *reader, const struct xr_row *row,
		       const struct call *call, bool calls, bool locals, uint32_t *left,
		       struct frame_values *v);
void frame_values__free(struct frame_values *v); /* all NULL again */

/* A thread that is not R's. */
struct dump_thread {
	pid_t tid;
	char name[16];
	struct activity activity;
	const struct stack *stack; /* its native frames; NULL: they were not read */
};

/* Strings are borrowed; they may hold anything but NUL. */
struct dump_process {
	pid_t pid, tid;	       /* the process, and its thread that R runs on */
	const char *command;   /* its arguments, or its name in brackets */
	const char *r_version; /* "4.2.2"; "": not known */
	struct activity activity;
	const struct stack *stack;	   /* NULL: R is at top level */
	uint32_t flags;			   /* XR_F_TRUNCATED and so on, of its sample */
	const struct sample_call *calls;   /* which call each frame is; NULL: not known */
	const struct frame_values *values; /* of each frame; NULL: they are not shown */
	const struct globals *globals;	   /* with --globals; NULL */
	bool native;			   /* frames of native code are among its */
	bool list_threads;		   /* with --threads: */
	const struct dump_thread *threads; /* of the others, by number */
	size_t nthreads;
	bool again;	/* with --every; */
	bool unchanged; /* its body is the one of the round before */
};

/*
 * dump_show__body - append what people read of the stack: a line a frame, the innermost first.
 * dump_show__head - what comes before it; of a process that is unchanged it is one line, and all.
 * What strangers wrote is escaped.  -ENOMEM.
 */
int dump_show__body(struct buf *b, const struct dump_process *p);
int dump_show__head(struct buf *b, const struct dump_process *p);

/* dump_show__json - an object, inside an array.  -ENOMEM; misuse of JSON is its own. */
int dump_show__json(struct json *j, const struct dump_process *p);

/* dump_show__escaped - append @text, so that it acts on no terminal.  -ENOMEM. */
int dump_show__escaped(struct buf *b, const char *text);

/*
 * dump_show__module - append ` [FILE]` behind the name of a native function, unless that begins
 * with it.  @module: its path, or NULL.  -ENOMEM.
 */
int dump_show__module(struct buf *b, const char *function, const char *module);

/* dump_show__locals - append a line for each variable.  -ENOMEM. */
int dump_show__locals(struct buf *b, const struct locals *v);

/* dump_show__json_values - the call and the variables, into the object of a frame. */
void dump_show__json_values(struct json *j, const struct frame_values *v);

/* --- dump_values.c: the program's data --- */

/*
 * dump_values__read - for each frame of @stack, which is the call of the same number in @sampled,
 * from the memory of process @pid, whose row is @row.  The array is the caller's.  0; -EFAULT: R's
 * contexts cannot be read; -ENOMEM.
 */
int dump_values__read(pid_t pid, const struct xr_row *row, const struct stack *stack,
		      const struct sample_call *sampled, bool calls, bool locals,
		      struct frame_values **out);
void dump_values__free(struct frame_values *values, const struct stack *stack);

/* --- dump_globals.c: the largest objects of a process --- */

/* dump_globals__read - within the limits that dump has.  As globals__find. */
int dump_globals__read(const struct mem_reader *reader, const struct xr_row *row,
		       uint64_t namespaces, struct globals *g);

/* dump_globals__text - append a table.  @how the memory was read.  -ENOMEM. */
int dump_globals__text(struct buf *b, const struct globals *g, const char *how);

/* dump_globals__json - into the object of a process. */
void dump_globals__json(struct json *j, const struct globals *g);

#endif
