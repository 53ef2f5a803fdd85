/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profile model: what the decoder makes of records and the writers write.  What is known of a
 * frame is kept apart, so that formats that can carry it do.
 */
#ifndef XR_PROFILE_PROFILE_H
#define XR_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "abi.h"
#include "base/intern.h"

/*
 * UNNAMED: its name never came, or did not fit; the name has what stands for it.  MARK: not a
 * function but something about the stack, one of the marks below.
 */
enum frame_kind {
	FRAME_R,
	FRAME_ANON,
	FRAME_BUILTIN,
	FRAME_NATIVE,
	FRAME_KERNEL,
	FRAME_UNNAMED,
	FRAME_MARK,
};

/* A place in a source.  `file` is NULL and `line` 0 where it is not known. */
struct place {
	const struct name *file;
	uint32_t line; /* an int in R */
};

/*
 * One frame.  `function` is as Rprof() names it, without quotes and not escaped.  `place` is the
 * one being executed in it: of the innermost frame where the sample was taken, of any other where
 * it called the next one in.  (Rprof.out has the place of the call after the name of the one
 * called; only that writer shifts them.)  `defined` is where the definition of an R function
 * begins. `package`, `module`, `build_id`, `hash` are NULL and `address` 0 where they are not
 * known.
 */
struct frame {
	const struct name *function;
	const struct name *package;  /* of an R function: its namespace, or ".GlobalEnv" */
	const struct name *module;   /* of native code: the file it is mapped from, */
	const struct name *build_id; /* that file's, hexadecimal, */
	const struct name *hash;     /* its process.executable.build_id.htlhash, */
	uint64_t address; /* and where in it, as it counts: the function, or the instruction */
	struct place place;
	struct place defined;
	enum frame_kind kind;
};

/*
 * The marks.  <toplevel>: the only frame, or outside of <GC>, where a format shows that there is no
 * R function; no stack holds it (stack__is_toplevel).  <GC>: innermost, the collector was running.
 * <truncated>: outermost, frames further out were cut; its place is where the first of them was.
 * <no-native>: native frames between the one inside of it and the one outside are not available.
 * <other-thread>: outermost, except for native frames the only one: the sample is of a thread that
 * is not R's.  <no-room>: there was no memory for what stood here (limits.h).  A frame is one of
 * them if its function is theirs, at the same address.
 */
extern const struct frame mark_toplevel, mark_gc, mark_truncated, mark_other_thread, mark_no_native,
	mark_no_room;

/* mark__find - the mark that is called so, or NULL. */
const struct frame *mark__find(const char *text, size_t len);

/*
 * name__is_reserved - is that the name of a mark, or how a function is called whose name never
 * came, <0x12ab>?  A file has no other names of this program's.
 */
bool name__is_reserved(const char *text, size_t len);

/*
 * A stack.  Made by stacks.h, which sees to it that equal ones are one: while it is kept there, the
 * same frames have the same id, and no id is used twice in a run.
 */
struct stack {
	uint64_t hash;
	uint64_t id;
	uint32_t nframes;	      /* 0: top level */
	struct place top;	      /* the one being executed outside of all frames */
	const struct frame *frames[]; /* innermost first */
};

/* stack__is_toplevel - is there nothing in it, or nothing but <GC>? */
static inline bool stack__is_toplevel(const struct stack *stack)
{
	return !stack->nframes ||
	       (stack->nframes == 1 && stack->frames[0]->function == mark_gc.function);
}

/* Which call a frame is: XR_CALL_OLD.  `env` 0: it is not one of a closure. */
struct sample_call {
	const struct frame *frame;
	uint64_t env, context;
	bool old;
};

#define PROFILE_CALL_NAME 96u /* bytes of a call's name, with its end; the rest is cut */

/* One call of a function that the user asks for (calls.h).  Times are ns, CLOCK_MONOTONIC. */
struct profile_call {
	uint64_t id;			  /* from 1 on, unique in a profile */
	const struct profile_call *outer; /* the next one outside of it; NULL: none */
	const char *name;		  /* of the function, as Rprof() names it */
	const char *request;		  /* "GET /path"; NULL: none */
	uint64_t began, ended;		  /* `ended` 0: it still runs */
	uint64_t seen;			  /* when it was met last */
	uint64_t error; /* by how much the duration may be wrong, in either direction */
	bool cut;	/* it had begun before the profile did */
	bool ambiguous; /* two calls may be taken for it: R's collections were not counted */
};

/* call__ns - how long it lasted, or has run until it was met last. */
static inline uint64_t call__ns(const struct profile_call *call)
{
	const uint64_t end = call->ended ? call->ended : call->seen;

	return end > call->began ? end - call->began : 0;
}

/* Something said of a process, such as the service it belongs to, or of a sample. */
struct profile_label {
	const char *key, *value;
};

/* The labels that an R program gave samples, ordered by key; equal ones are one in an aggregate. */
struct profile_given {
	uint32_t number; /* from 1 on */
	size_t n;
	struct profile_label labels[XR_LABELS_MAX];
};

/* One sample, whole.  Borrowed: valid during the call it is passed to. */
struct sample {
	uint64_t time;	  /* ns, CLOCK_MONOTONIC */
	uint64_t weight;  /* in the unit of `type` */
	uint64_t samples; /* of a file: how many it stands for; 0: one, or as many as ticks */
	uint32_t type;	  /* which of the profile's sample types, struct profile_about */
	uint32_t event;	  /* enum xr_event, and */
	uint32_t detail;  /* what struct xr_sample says of it */
	uint32_t serial, pid, tid, cpu;
	/* XR_F_GC, XR_F_TRUNCATED, XR_F_OTHER_THREAD, XR_F_LINES, XR_F_KERNEL, XR_F_UNPROVEN,
	 * XR_F_MEMORY, XR_F_CALLS, XR_F_NONE */
	uint32_t flags;
	/*
	 * With XR_F_MEMORY: R's counts of its memory.  A session tells duplications since the last
	 * sample of the process, a decoder those that were read.  All 0, in a session's: there are
	 * none, nor will be in later ones of this process.
	 */
	struct xr_memory memory;
	const struct stack *stack;
	/* With XR_F_CALLS: R's frames, innermost first, and how often R began to collect. */
	const struct sample_call *calls;
	uint32_t ncalls;
	uint32_t collections;
	bool counted; /* `collections` is known */
	uint64_t lag; /* ns: for how long before its time the stack may be from */
	const struct profile_call *call; /* the innermost that it is in; NULL: none */
	/* what the R program had set as its labels, ordered by key; of different keys */
	const struct profile_label *labels;
	size_t nlabels;
};

/* wait__state - why a thread was on no CPU, by a sample's flags. */
static inline const char *wait__state(uint32_t flags)
{
	if (flags & XR_F_PREEMPTED)
		return "preempted";
	if (flags & XR_F_STOPPED)
		return "stopped";
	return flags & XR_F_DISK ? "disk" : "sleeping";
}

/* labels__value - the value of the first of these @n labels that is @key; NULL: there is none. */
static inline const char *labels__value(const struct profile_label *labels, size_t n,
					const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(labels[i].key, key))
			return labels[i].value;
	return NULL;
}

#define PROFILE_LABELS_MAX  64u /* of one process: no more are kept */
#define PROFILE_VERSION_LEN 16u /* bytes of R's version, with its end */

/*
 * The process a sample is from, as far as known.  Borrowed, as a sample is.  Strings may hold
 * anything but NUL; NULL or "": not known.  attributes.h has a table of the fields.
 */
struct profile_process {
	uint32_t serial; /* of its row: tells processes apart that had the same pid */
	uint32_t pid, parent_pid;
	const char *comm;
	const char *r_version;		    /* "4.2.2" */
	const char *container;		    /* an id */
	const char *command;		    /* its command line, words with blanks between them */
	uint64_t started;		    /* ns since 1970; 0: not known */
	const struct profile_label *labels; /* of different keys */
	size_t nlabels;
	/*
	 * Whose it is, and where it is: for reading the source files that it names (os/texts.h).
	 * NULL: they are not read, as they are not known to be the files that this program sees
	 * under these names.
	 */
	const char *directory;
	uint32_t uid;
	/* with PROFILE_ENDED and PROFILE_STOPPED: ns of CPU time while it was profiled, and how
	 * long that was; elapsed_ns 0: not known */
	uint64_t cpu_ns, elapsed_ns;
};

/* process__label - the value of the label @key of @p; NULL: it has none. */
static inline const char *process__label(const struct profile_process *p, const char *key)
{
	return labels__value(p->labels, p->nlabels, key);
}

/* What a sample type counts.  TICKS: each stands for about__interval() of time. */
enum profile_unit { PROFILE_TICKS, PROFILE_NANOSECONDS, PROFILE_BYTES, PROFILE_COUNT };

/* A sample type: "cpu", "off_cpu", "alloc_space", "page-faults", ... */
struct profile_type {
	const char *name; /* NULL: there are no samples of it */
	enum profile_unit unit;
};

/* The first is time in ticks, if there is any; `types` of about has those behind it. */
enum { PROFILE_TYPE_TICKS, PROFILE_TYPE_OFF_CPU, PROFILE_TYPE_ALLOC, PROFILE_TYPE_EVENTS };

/* type__counts - is what comes of @type a sample more?  Bytes allocated are another number of one
 * that came before. */
static inline bool type__counts(uint32_t type)
{
	return type != PROFILE_TYPE_ALLOC;
}

/* sample__stands - how many samples @s stands for: one that comes once for n ticks is n. */
static inline uint64_t sample__stands(const struct sample *s)
{
	if (s->type == PROFILE_TYPE_TICKS && !s->samples)
		return s->weight;
	return !type__counts(s->type) ? 0 : s->samples ? s->samples : 1;
}

#define PROFILE_TYPES_MAX 8u

/*
 * What a profile is of, and how it was made.  Strings are NULL and numbers 0 where that is not
 * known, as of a file that was read.  Borrowed for the life of who is given it.
 */
struct profile_about {
	uint32_t freq;		   /* samples a second that will come */
	uint64_t interval_ns;	   /* what a sample stands for, where that is not 1 / freq */
	const char *engine;	   /* "bpf", ... */
	const char *clock, *event; /* "cpu" or "wall"; "cycles", "cpu-clock", ... */
	const char *command;	   /* the profiler's command line, or the files that were read */
	const char *host;
	struct profile_type types[PROFILE_TYPES_MAX]; /* but the first */
	bool no_ticks;				      /* the first is not in it */
	uint64_t began;	     /* ns, CLOCK_MONOTONIC: as the time of samples */
	uint64_t began_real; /* the same moment in ns since 1970 */
};

/* about__interval - ns that a sample stands for; 0: not known. */
static inline uint64_t about__interval(const struct profile_about *about)
{
	if (about->interval_ns)
		return about->interval_ns;
	return about->freq ? (UINT64_C(1000000000) + about->freq / 2) / about->freq : 0;
}

/* about__type - what it has of that number; the first is ticks of its clock. */
static inline struct profile_type about__type(const struct profile_about *about, uint32_t type)
{
	/* a file that was read does not have the kind of time, and most of R's are CPU time */
	const struct profile_type ticks = {about->clock ? about->clock : "cpu", PROFILE_TICKS};
	const struct profile_type none = {NULL, PROFILE_COUNT};

	if (!type)
		return about->no_ticks ? none : ticks;
	return type < PROFILE_TYPES_MAX ? about->types[type] : none;
}

/*
 * about__each - by what a value of @type is multiplied to be in its unit, ticks in ns; 0: it is not
 * known what they stand for.
 */
static inline uint64_t about__each(const struct profile_about *about, uint32_t type)
{
	return type ? 1 : about__interval(about);
}

#endif
