/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Target discovery: find R in a process, and all that a sampler has to know of it.
 */
#ifndef XR_TARGET_TARGET_H
#define XR_TARGET_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "layout.h"
#include "target/labels.h"

/* For target__find(): */
#define TARGET_HIDDEN	(XR_ROW_LINES | XR_ROW_GC | XR_ROW_MEMORY | XR_ROW_COLLECTIONS)
#define TARGET_ANY_NAME 0x80000000u

enum target_load { TARGET_LIBR, TARGET_STATIC }; /* libR.so, or R in the executable */

/*
 * Which file it is, as the kernel tells files apart, and which state of it; all 0: not known.  Two
 * processes of one such file have the very same code: only a user who may write that file, and so
 * decides over what all of them run anyway, can make another one that is taken for it.  Any file
 * can have a given build id or path.
 */
struct target_file {
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns; /* no user can set ctime */
};

struct target {
	pid_t pid;	     /* thread group id, as the caller sees it */
	uint32_t uid;	     /* effective; 0 on Windows */
	uint64_t start_time; /* /proc/PID/stat field 22: guards against reuse of the pid */
	uint64_t stack;	     /* field 28: another program has another; 0: not known */
	enum target_load load;
	char comm[16];
	char path[256];		 /* of the mapped file as the target names it; may be cut */
	struct target_file file; /* zero: not known */
	char version[16];	 /* R's, "4.2.2"; "" when it could not be found */
	uint64_t load_bias;	 /* added to the file's addresses */
	bool version_known; /* false: the layout is the newest one, to be checked (layout_check.h)
			     */
	/* of R's hidden variables, hidden.h: constants, NULL when not found */
	const char *how_lines, *how_gc, *how_memory;
	uint16_t srcref;  /* offset of RCNTXT.srcref as the file's code has it, 0: not seen */
	__u64 namespaces; /* R_NamespaceRegistry; 0: this R does not tell */
	struct symbol_table symbols; /* filled by ASK_LABELS (ask.h) */
	struct xr_row row;	     /* serial, flags and r_tid are the caller's to fill */
};

/*
 * target__find - look for R in process @pid and fill @t.
 * @want: of TARGET_HIDDEN, what must be looked for besides the names' needs;
 * TARGET_ANY_NAME: look for R's library under any name, if no library has its usual name.
 *
 * Errors, each with its own line in @f: -ESRCH no such process; -EACCES/-EPERM not allowed to look;
 * -ENOEXEC no R in it; -EAGAIN R is mapped but not initialised yet (R_GlobalContext is NULL), or
 * the process changed while it was looked at, or an exec is under way; -EMFILE, -ENFILE, -ENOMEM
 * the caller has too little; -ENOTSUP 32-bit, or an R older than 3.0; -EINVAL @pid is a thread, not
 * a process (says whose); -EBADMSG the file that holds R is damaged.
 */
int target__find(pid_t pid, uint32_t want, struct target *t, struct errmsg *f);

/* target__same - is @t's process still the one that was found? */
bool target__same(const struct target *t);

/* target__replaced - is it known to run another program than the one that was found? */
bool target__replaced(const struct target *t);

/*
 * target__scan - on Windows: call @seen for each process that seems to have R in it.  Cheap;
 * target__find() has the last word.  (On Linux processes are asked, ask.h.)
 *
 * Stops when @seen returns other than 0, and returns that; 0 at the end; a negative errno.
 */
int target__scan(int (*seen)(void *arg, pid_t pid), void *arg);

#endif
