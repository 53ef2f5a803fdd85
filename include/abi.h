/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a sampler (the BPF program, or an engine that reads from outside) and the decoder share:
 * the records, and their limits.  All fields are fixed-width and little endian on every machine
 * supported; padding is explicit; sizes are asserted at the end of the file.
 *
 * In BPF, vmlinux.h gives the __u64 kind of types; elsewhere stdint.h does.
 */
#ifndef XR_ABI_H
#define XR_ABI_H

#ifndef __bpf__
#include <stdint.h>
#ifdef _WIN32
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int32_t __s32;
typedef int64_t __s64;
#else
#include <linux/types.h>
#endif
#endif

enum xr_error {
#define ERR(name, counter, text) XR_##name,
#include "errors.def"
#undef ERR
	XR_ERRORS
};

/*
 * Counters of the sampler.  The first XR_ERRORS are the rows of errors.def; TICKS is their sum
 * counted on its own, so that a test can tell if a tick went missing.  TRUNCATED counts written
 * samples that miss outer frames, OTHER_THREAD written samples of a thread that is not R's and
 * whose R stack could not be proven still.
 */
enum xr_counter {
	XR_TICKS = XR_ERRORS,
	XR_TRUNCATED,
	XR_OTHER_THREAD,
	XR_SYMBOLS_SENT,
	XR_ROWS_FULL,	/* a forked child got no row: the map was full */
	XR_EVENTS_LOST, /* fork, exec and exit records that found the ring full */
	XR_MISSED,	/* ticks that came too late to be taken: no sample, not in TICKS */
	XR_NESTED,	/* of TICKS, those that came while another sample was being taken */
	XR_OVER_BUDGET, /* of TRUNCATED, those whose walk cost too much: struct walk_budget */
	XR_OVERRUN,	/* samples that took more than one and a half times what they may */
	XR_THROTTLED,	/* collections that came too soon after another: no sample, not in TICKS */
	/* of samples with native frames: why there are none further out */
	XR_UNWOUND,	    /* the outermost is there, or (leaf) all that were wanted */
	XR_UNWIND_NO_TABLE, /* nothing is known of the code */
	XR_UNWIND_NO_RULE,  /* what is known is not followed */
	XR_UNWIND_BAD,	    /* a frame does not lie above the one before, or cannot be read */
	XR_UNWIND_FULL,	    /* there were too many */
	XR_UNWIND_MOVED,    /* there are none at all: the thread did not stand still (ptrace) */
	XR_RESYNCED,	    /* of the samples, those taken up again by a jmp_buf */
	XR_NATIVE_FRAMES,   /* all native frames */
	XR_DEAD_CONTEXTS,   /* contexts that no frame owns any more */
	XR_KEYS_DESCENDED,  /* contexts whose key is below the one before: there must be none */
	XR_BUILTINS,	    /* native frames of functions in R_FunTab that own no context, */
	XR_BUILTINS_NAMED,  /* and those of which it is known as which builtin they were called */
	XR_TWICE,	    /* for tests: samples walked also without native frames, */
	XR_TWICE_DIFFER,    /* and those whose R part was another then: there must be none */
	XR_WAITS,	    /* times a thread that is asked of was back on a CPU, */
	XR_WAITED_NS,	    /* and for how long it had been away, in all */
	XR_WAITS_LOST,	    /* times it left one and there was no room to note that */
	XR_WAITS_UNREAD,    /* waits that were not over at the end, and could not be read in time */
	XR_WAITS_NONE_NS, /* the samples' time, with no R function, and not preempted: not shown */
	XR_SPENT_NS,	  /* what all samples took together, whatever became of them */
	XR_LONGEST_NS,	  /* what the longest sample took: a maximum, not a sum */
	XR_MOST_WORK,	  /* the most work of a sample: a maximum too */
	XR_COUNTERS
};

#define XR_SUMS XR_LONGEST_NS /* the counters before are sums, from here on they are maxima */

/* What one sample may take, unless the user says otherwise: time, and work for each of it. */
#define XR_SAMPLE_US	    1000u
#define XR_SAMPLE_US_LEAST  100u
#define XR_SAMPLE_US_MOST   1000000u
#define XR_SAMPLE_WORK_A_US 64u /* a read takes 15 ns at the least: time is up before, mostly */

#define XR_NAME_MAX	10240u /* bytes of a symbol's name: R allows 10,000 (names.c, MAXIDSIZE) */
#define XR_TEXT_MAX	4096u  /* bytes of a file name or of a string in `[[`; the rest is cut */
#define XR_CHUNK_SLOTS	256u   /* slots in one sample record, at most; a power of two */
#define XR_CHUNK_FULL	252u   /* no frame begins here: it has 1 to 4 slots */
#define XR_CONTEXTS_MAX 32768u /* contexts walked in one sample; the rest is cut */
#define XR_KERNEL_MAX	120u   /* frames of the kernel in one sample; those further out are cut */
#define XR_SYSCALLS_MAX 4096   /* numbers of system calls are below */
#define XR_COMM_LEN	16u    /* TASK_COMM_LEN, include/linux/sched.h */

/* The types of record.  Every record begins with struct xr_head. */
enum xr_type {
	XR_REC_SAMPLE = 1,
	XR_REC_TEXT = 2,
	XR_REC_PROCESS = 3,
	XR_REC_PLACE = 4,
};

/* size: of the whole record in bytes, this head included. */
struct xr_head {
	__u32 type;
	__u32 size;
};

/*
 * A slot is a part of what there is to say of a frame: its name; with lines, where it was called
 * from (file, line; file 0: not known); with packages, the function that is called, (package,
 * definition; 0: not known); with calls, which call it is (XR_CALL_OLD; 0: not of a closure).  They
 * come in this order, and all of a frame in one record.
 *
 * A name is (form << 56 | word, more).  `word` and `more` are addresses of SYMSXPs, which stand for
 * their names for the life of the process (R never frees a symbol), or, for a string, a hash of
 * its text.  Texts travel in XR_REC_TEXT records ahead of the first sample that uses them.
 */
struct xr_slot {
	__u64 word;
	__u64 more;
};

#define XR_FRAME_SLOTS_MAX 4u

/*
 * A call is (environment, context): the address of the environment that R made for it, and that of
 * its RCNTXT.  While the call lasts, both are its own.  A collection that ends marks all
 * environments that it left (memory.c, RunGenCollect), and a new one has no mark: so one without a
 * mark is younger than the last collection.
 */
#define XR_CALL_OLD	(1ULL << 63) /* it has the mark, or it is not known if it has */
#define XR_CALL_CONTEXT (XR_CALL_OLD - 1)

/*
 * With XR_F_CALLS part 0 has one slot for the sample before the frames: the number of collections
 * that R began, and XR_COUNTED, or 0 if that number is not known.
 */
#define XR_COUNTED 1u
/*
 * Above that bit: for how many ns before `time` the stack may be from, where it was read from
 * outside.  A record with XR_F_NONE has that in `file`.
 */
#define XR_LAG_SHIFT  1
#define XR_CALL_SLOTS 1u

/*
 * With XR_F_MEMORY the first slots of part 0 are not frames but R's counts of its memory, as they
 * were at the sample: what Rprof(memory.profiling = TRUE) writes (doprof(), eval.c;
 * get_current_mem(), memory.c).
 */
struct xr_memory {
	__u64 small; /* bytes of small vectors */
	__u64 large; /* bytes of large vectors */
	__u64 nodes; /* bytes of nodes */
	__u64 dups;  /* calls of duplicate() since R began, or since Rprof() last asked */
};

#define XR_MEMORY_SLOTS 2u /* that they take */

/*
 * With XR_F_LABELS the next slot of part 0 is not a frame either.  Its word is the id of the text
 * (XR_TEXT_LABELS) with the labels that the R program had set at the sample, or 0: they are not
 * those of this thread.
 */
#define XR_LABELS_MAX	   8u /* labels in a set; the rest is left out */
#define XR_LABEL_KEY_MAX   64u
#define XR_LABEL_VALUE_MAX 256u /* bytes; longer texts are cut */
#define XR_LABELS_TEXT	   (XR_LABELS_MAX * (XR_LABEL_KEY_MAX + XR_LABEL_VALUE_MAX + 2))

/*
 * A package is one of these, or the hash of its name, a text: of a namespace, `stats`, or of the
 * environment of an attached package without a namespace, `package:datasets`.  (Hashes are odd.)  A
 * definition is a place, told in an XR_REC_PLACE record ahead of the first sample that uses it.
 */
#define XR_PACKAGE_GLOBAL 2u /* the global environment */
#define XR_PACKAGE_BASE	  4u

#define XR_FORM_SHIFT 56
#define XR_WORD_MASK  ((1ULL << XR_FORM_SHIFT) - 1)

/* How a frame is named: eval.c of R 3.4 to 4.6, the SIGPROF handler doprof(). */
enum xr_form {
	XR_FORM_NONE = 0,
	XR_FORM_SYMBOL,	   /* word: symbol */
	XR_FORM_ANON,	   /* <Anonymous> */
	XR_FORM_COLON2,	   /* word::more, both symbols */
	XR_FORM_COLON3,	   /* word:::more */
	XR_FORM_DOLLAR,	   /* word$more */
	XR_FORM_ITEM_SYM,  /* word[[more]], both symbols */
	XR_FORM_ITEM_STR,  /* word[["more"]], more: a text's hash */
	XR_FORM_ITEM_INT,  /* word[[more]], more: an int, sign-extended */
	XR_FORM_ITEM_REAL, /* word[[more]], more: the bits of a double, written as %.0f */
	XR_FORM_ITEM_ODD,  /* word[[?]]: the subscript is ALTREP, its data elsewhere */
	XR_FORM_BUILTIN,   /* XR_FORM_NATIVE that was called as a builtin of R */
	XR_FORM_NATIVE,
	XR_FORM_KERNEL, /* word: the address, except its highest byte, which is all ones */
	XR_FORMS
};

/* Such a frame has one slot, its name, whatever a sample says of lines and packages. */
#define XR_FORM_IS_NATIVE(form) ((form) >= XR_FORM_BUILTIN && (form) <= XR_FORM_KERNEL)

/*
 * A native frame.  `word`: the instruction, bytes from the module's first (struct xr_mapping), and
 * for a builtin its number in R_FunTab; where the module is not known the address, of 56 bits.
 * `more`: where the function begins, as `word`; the module; flags.
 */
#define XR_NATIVE_PC(word)     ((__u32)(word))
#define XR_NATIVE_OFFSET(word) ((__u32)((word) >> 32) & 0xffffffu) /* in R_FunTab */
#define XR_NATIVE_BEGIN(more)  ((__u32)(more))
#define XR_NATIVE_MODULE(more) ((__u32)((more) >> 32) & 0xffffffu) /* 0: not known */
#define XR_NATIVE_FLAGS(more)  ((__u32)((more) >> 56))
#define XR_NATIVE_MODULES_MAX  0xffffffu

#define XR_NATIVE_OWNS	  0x01u /* an R context is in this frame */
#define XR_NATIVE_BEGINS  0x02u /* where the function begins is known */
#define XR_NATIVE_EXACT	  0x04u /* the instruction being executed, not one returned to */
#define XR_NATIVE_R	  0x08u /* the module is R itself */
#define XR_NATIVE_BUILTIN 0x10u /* the function is in R_FunTab */
#define XR_NATIVE_SIGNAL  0x20u /* the frame of a signal handler's return */

/* Flags of a sample. */
#define XR_F_MORE	  0x01u /* the stack goes on in the next record of this cpu */
#define XR_F_TRUNCATED	  0x02u /* outer frames were cut */
#define XR_F_GC		  0x04u /* the collector was running */
#define XR_F_LINES	  0x08u /* frames have a slot for lines, and file and line are set */
#define XR_F_OTHER_THREAD 0x10u /* not R's thread: no frames, see sampler.bpf.c */
#define XR_F_KERNEL	  0x20u /* the interrupt came while the thread was in the kernel */
#define XR_F_DISCARD	  0x40u /* the walk failed after parts were sent: forget them */
#define XR_F_UNPROVEN	  0x80u /* file and line are missing: R_BCbody and R_BCpc are not proven */

#define XR_F_PACKAGES 0x100u /* frames have a slot for their function */
#define XR_F_NATIVE   0x200u /* the sampler looked for native frames; the last part alone has it */
#define XR_F_ELSEWHERE                                                                             \
	0x800u /* R's frames are of R's thread, which waits, the native ones of this */
/* Of XR_EVENT_SWITCH, why it left its CPU; none of these: it slept, and could be interrupted. */
#define XR_F_PREEMPTED	0x1000u /* it was ready to run all the time */
#define XR_F_DISK	0x2000u /* it slept and could not be interrupted: mostly for a disk */
#define XR_F_STOPPED	0x4000u /* by a signal, or a tracer */
#define XR_F_WAIT	(XR_F_PREEMPTED | XR_F_DISK | XR_F_STOPPED) /* all of these */
#define XR_F_MEMORY	0x8000u	 /* R's counts of its memory come first: struct xr_memory */
#define XR_F_NATIVE_CUT 0x400u	 /* it could not read those further out than the last one */
#define XR_F_CALLS	0x10000u /* frames have a slot for their call */
/*
 * R's thread executes no function of R.  Such a record has no slots and is not a sample.  Its one
 * purpose is that calls are known to be over.
 */
#define XR_F_NONE 0x20000u

#define XR_F_LABELS 0x40000u /* R has labels: the slot before the frames says which */

/* How many slots come before the frames in part 0 of a sample with these flags. */
#define XR_FIRST_SLOTS(flags)                                                                      \
	(((flags)&XR_F_MEMORY ? XR_MEMORY_SLOTS : 0) + ((flags)&XR_F_CALLS ? XR_CALL_SLOTS : 0) +  \
	 ((flags)&XR_F_LABELS ? 1 : 0))

/*
 * Samples on one CPU may nest: an interrupt samples while a tracepoint's sample is being taken.
 * Each level has separate working memory; samples of further levels are lost.
 */
#define XR_LEVELS 3u

/*
 * One sample, or one part of it: frames innermost first, XR_CHUNK_SLOTS slots at most.  Parts of
 * a sample come in order of `part` from 0, from the same cpu and level; the last has no XR_F_MORE.
 * Parts of samples of different levels may alternate.  A part 0 ends whatever was unfinished on
 * its cpu and level.  `file` and `line` (the innermost location) are valid in part 0 when
 * XR_F_LINES is set.  `weight` is in units of `unit` (1 tick).
 */
struct xr_sample {
	struct xr_head head;
	__u64 time;   /* ns, CLOCK_MONOTONIC */
	__u64 weight; /* how much this sample stands for */
	__u32 unit;   /* enum xr_unit */
	__u32 serial; /* of the process row: tells processes apart that had the same pid */
	__u32 pid;    /* as the profiler's pid namespace sees it */
	__u32 tid;
	__u32 cpu;
	__u32 flags;
	__u32 part;
	__u32 nslots;
	__u64 file; /* hash of the file name, 0: none */
	__u32 line;
	__u8 level;   /* samples under way on this cpu when this one began; below XR_LEVELS */
	__u8 event;   /* enum xr_event */
	__u16 detail; /* of XR_EVENT_SWITCH: the system call it waited in, and 1; 0: none */
	struct xr_slot slots[];
};

/*
 * What made the sampler run: a tick of time on a CPU, that a thread is back on one, or one of the
 * events that the user asks for, by their number.
 */
#define XR_OTHERS_MAX 5u
enum xr_event { XR_EVENT_TICK = 0, XR_EVENT_SWITCH = 1, XR_EVENT_OTHER = 2 };
#define XR_EVENTS (XR_EVENT_OTHER + XR_OTHERS_MAX)

enum xr_unit { XR_UNIT_TICKS = 0, XR_UNIT_NS = 1, XR_UNIT_BYTES = 2, XR_UNIT_COUNT = 3, XR_UNITS };

/*
 * A text, not terminated: the name of the symbol at address `id`, or (kind XR_TEXT_HASHED) the
 * text whose hash is `id`, or (kind XR_TEXT_LABELS) the labels whose hash is `id`: key, NUL, value,
 * NUL, for each.  Labels are sent again when they are not those sent last.  Holds for process row
 * `serial`.  A later text for the same id replaces the earlier.  One as long as its kind may be
 * (XR_NAME_MAX, XR_TEXT_MAX) was cut there, and the decoder counts it.
 */
struct xr_text {
	struct xr_head head;
	__u64 id;
	__u32 serial;
	__u32 kind; /* enum xr_text_kind */
	__u32 len;  /* bytes in text[] */
	__u32 pad;
	char text[];
};

enum xr_text_kind { XR_TEXT_SYMBOL = 0, XR_TEXT_HASHED = 1, XR_TEXT_LABELS = 2 };

/*
 * What stands for a line of a file: `id`, for process row `serial`.  An even `id` is the address of
 * a srcfile of R (an environment), and `line` says when R made it, if it is one of code in no file:
 * another one may have the address later.  Hashes of names are odd.  Where a sample or a place has
 * an even file, it is such an `id`: of code in no file.
 */
#define XR_BORN_OLD   1u /* before the last collection; 0: not known */
#define XR_BORN_FIRST 2u /* after it: this, and the number of collections so far */

struct xr_place {
	struct xr_head head;
	__u64 id;
	__u64 file; /* hash of its name */
	__u32 serial;
	__u32 line;
};

/* Something became of a process that has, or had, a row. */
enum xr_process_event {
	XR_PROCESS_FORK = 1,
	XR_PROCESS_EXEC = 2,
	XR_PROCESS_EXIT = 3,
	XR_PROCESS_REDUCED =
		4, /* its samples get a smaller budget from now on; may come many times */
	XR_PROCESS_UNMAPPED = 5, /* it executes code that its address space is not known to have */
	XR_PROCESS_EVENTS
};

struct xr_process {
	struct xr_head head;
	__u64 time; /* ns, CLOCK_MONOTONIC */
	__u32 event;
	__u32 serial;	     /* of this process' row; FORK: of the child's new row */
	__u32 pid;	     /* FORK: the child's */
	__u32 parent_serial; /* FORK: of the parent's row */
	__u32 parent_pid;
	__u32 pad;
	char comm[XR_COMM_LEN]; /* terminated */
};

/*
 * A thread that is on no CPU, or was on none before; by its number as the profiler's pid namespace
 * has it.  In the map `waits`.
 */
struct xr_wait {
	__u64 since; /* ns, CLOCK_MONOTONIC; 0: it is on a CPU */
	__u64 away;  /* ns: how long it was away, in a system call that is not over */
	__u32 flags; /* XR_F_PREEMPTED, ...: why */
	__u32 pid;   /* its process */
};

/* Of a wait that is not over, how much is counted already, in the map `waits_told`. */
struct xr_wait_told {
	__u64 since; /* which one; 0: the kernel's program has used this */
	__u64 until; /* ns: it counts from here on */
};

_Static_assert(sizeof(struct xr_wait) == 24, "xr_wait");
_Static_assert(sizeof(struct xr_wait_told) == 16, "xr_wait_told");
_Static_assert(sizeof(struct xr_head) == 8, "xr_head");
_Static_assert(sizeof(struct xr_slot) == 16, "xr_slot");
_Static_assert(sizeof(struct xr_memory) == XR_MEMORY_SLOTS * sizeof(struct xr_slot), "xr_memory");
_Static_assert(sizeof(struct xr_sample) == 72, "xr_sample");
_Static_assert(sizeof(struct xr_text) == 32, "xr_text");
_Static_assert(sizeof(struct xr_place) == 32, "xr_place");
_Static_assert(sizeof(struct xr_process) == 56, "xr_process");
_Static_assert((XR_CHUNK_SLOTS & (XR_CHUNK_SLOTS - 1)) == 0, "XR_CHUNK_SLOTS");
_Static_assert(XR_CHUNK_FULL % 12 == 0 && XR_CHUNK_FULL <= XR_CHUNK_SLOTS, "XR_CHUNK_FULL");

#endif
