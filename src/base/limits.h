/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much memory, and how much room in files, the profiler takes at most for what its targets do:
 * all in one place.  What does not fit is counted (profile/stats.h).  In bytes unless said
 * otherwise.
 */
#ifndef XR_BASE_LIMITS_H
#define XR_BASE_LIMITS_H

/*
 * All that grows with names and stacks, unless --max-memory says otherwise.  What the program and
 * the kernel take in any case comes on top (docs/reference/limits.md): with this all of it stays
 * below 64 MiB.  The parts below are shares of it, @m.
 */
#define LIMIT_MEMORY (32u << 20)

/* The same for formats that keep all stacks until the end: it is taken only as there are more. */
#define LIMIT_MEMORY_WHOLE (128u << 20)

/* The same for `serve`: with it all that the process takes is below 32 MiB. */
#define LIMIT_MEMORY_SERVE (20u << 20)

/*
 * Names that the decoder keeps, for as long as their process lives, since the sampler sends each
 * only once.  They are shared so that no process has more than it leaves to the others, and the
 * first of them have a reserve each.  A function takes about 150 bytes; R with all of its
 * recommended packages has 20,000 symbols.
 */
#define LIMIT_NAMES(m)	  ((m) / 32 * 12)
#define LIMIT_RESERVES(m) ((m) / 32 * 2)
#define LIMIT_RESERVE(m)  ((m) / 2048)

/*
 * What it makes of the names, frames and stacks: of all processes, and of one.  When half of that
 * is taken it drops all of it and makes it again, so do not lower this: the deepest possible stack,
 * of different frames only, takes 5 MiB.
 */
#define LIMIT_MADE(m)	  ((m) / 32 * 8)
#define LIMIT_MADE_ONE(m) ((m) / 32 * 6)

/*
 * Unwind tables and names of native code: one half for each, at least 4 MiB for the tables, taken
 * as it is needed.  An R with its default packages has 3.7 MiB of tables, one that has loaded 57
 * packages 5.4, and OpenBLAS 2.5 more.  It comes on top of the shares of others.
 */
#define LIMIT_NATIVE(m) (m)

/* Samples that wait until it is known how long their call lasts (--slower), on top of the shares.
 */
#define LIMIT_SLOWER(m) ((m) / 32 * 8)

/*
 * Stacks that are added up.  Formats that are written in rows have two of half the size, one being
 * written.
 */
#define LIMIT_AGGREGATE(m) ((m) / 32 * 6)

/* The same for one of the profiles that `serve` is asked for while it runs. */
#define LIMIT_ASKED(m) (LIMIT_AGGREGATE(m) / 2)

/*
 * What waits to be written to files, all together; with little memory room for one of the longest
 * lines, twice (output.c), or nothing would ever be written.
 */
#define LIMIT_QUEUE(m)	  ((m) / 32 * 3 > LIMIT_QUEUE_LEAST ? (m) / 32 * 3 : LIMIT_QUEUE_LEAST)
#define LIMIT_QUEUE_LEAST ((size_t)2 * LIMIT_LINE + (512u << 10))

/* The names of source files that the writers of the rprof format have numbered; of one of them. */
#define LIMIT_FILES(m)	   ((m) / 32)
#define LIMIT_FILES_ONE(m) ((m) / 128)

/*
 * A name as it is shown, escaped: room for two of R's longest symbols, a::b.  One that is longer
 * ends in "...".
 */
#define LIMIT_NAME (32u << 10)

/* A line of a format made of lines: further frames are cut there, and `<truncated>` is written. */
#define LIMIT_LINE (1u << 20)

/*
 * What `report` may take in place of LIMIT_MEMORY: it need not spare the machine that is profiled,
 * and what does not fit is missing in its output.  The shares are the same.
 */
#define LIMIT_REPORT (1u << 30)

/* A line of a file that is read: four times as long as one that is written may be. */
#define LIMIT_READ_LINE (4 * LIMIT_LINE)

/* Processes in files that are read; samples of others count for one of them. */
#define LIMIT_READ_PROCESSES 65536u

/* A file, unless --max-file says otherwise. */
#define LIMIT_FILE (4ULL << 30)

/*
 * Sources that are put into a page: files that are looked for; bytes of one and of all.  They are
 * read when all else has been written, one by one.
 */
#define LIMIT_SOURCES	  4096u
#define LIMIT_SOURCE	  (1u << 20)
#define LIMIT_SOURCES_ALL (4u << 20)

/* Files that are open, or wait to be written, at a time. */
#define LIMIT_STREAMS 4096u

/* Processes sampled at a time, unless the session says otherwise. */
#define LIMIT_SAMPLED 4096u

/* Processes that are known at a time: @sampled, and those waited for. */
#define LIMIT_PROCESSES(sampled) ((sampled) + (sampled) / 2)

/*
 * Processes that did not fit and are remembered as counted: this many of those found last, and up
 * to twice as many in all, 1.5 MiB.  A process that is not remembered is counted again.
 */
#define LIMIT_WAITING 16384u

#endif
