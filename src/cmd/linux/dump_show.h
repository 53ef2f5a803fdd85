/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack of one process, as `xrprof-bpf dump` shows it: as text and as JSON.
 */
#ifndef XR_CMD_LINUX_DUMP_SHOW_H
#define XR_CMD_LINUX_DUMP_SHOW_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/json.h"
#include "cmd/linux/dump_values.h"
#include "values/globals.h"
#include "os/linux/activity.h"
#include "profile/profile.h"

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

#endif
