/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The core file of a process that ran R: its memory as it was when it crashed.  The file may be cut
 * (ulimit -c), damaged or made up: what is not in it cannot be read.
 *
 * Facts: fs/binfmt_elf.c (elf_core_dump(), fill_files_note()), core(5).
 */
#ifndef XR_TARGET_LINUX_CORE_H
#define XR_TARGET_LINUX_CORE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "base/mem_reader.h"
#include "layout.h"

struct core;

struct core_facts {
	pid_t pid, tid;	    /* and the thread that crashed */
	int signal;	    /* that ended it; 0: none, it was copied while it ran */
	char command[81];   /* its arguments as far as the core file has them */
	char version[16];   /* R's, "4.2.2"; "" if the file of R does not tell */
	bool version_known; /* false: the layout is the newest one */
	bool cut;	    /* memory is missing at the end of the file */
	bool checked;	    /* the file that holds R is the one that it ran */
	char path[256];	    /* of that file, where it was found */
	const char *mapped; /* and where it was when R ran */
};

/*
 * core__open - the core file @path, whose R lies in the file that it names or, if @libr is not
 * NULL, in @libr.  -ENOEXEC: no R ran in it; -EBADMSG: damaged, or R's file is another one;
 * -ENOENT, -EACCES, ...: a file cannot be opened; -ENOTSUP: not 64-bit; -ENOMEM.
 */
int core__open(const char *path, const char *libr, struct core **out, struct errmsg *f);
void core__close(struct core *c); /* NULL is allowed */

/* core__reader - reads its memory.  As long as @c is open. */
struct mem_reader core__reader(struct core *c);

/* core__row - of R in it: head_at, nil, fun_tab, global_env, layout alone. */
const struct xr_row *core__row(const struct core *c);
uint64_t core__namespaces(const struct core *c); /* R_NamespaceRegistry; 0: not known */
const struct core_facts *core__facts(const struct core *c);

/* core__elf, core__machine - the core file itself: for libdwfl. */
Elf *core__elf(const struct core *c);
uint16_t core__machine(const struct core *c);

/*
 * core__mapped - the path of the file that was mapped at @addr, and at *@start where it began.
 * NULL: there was none.  core__is_r - was that R's file, or the program's?
 */
const char *core__mapped(const struct core *c, uint64_t addr, uint64_t *start);
bool core__is_r(const struct core *c, const char *path);

/* A file that was mapped from its beginning on.  Starts zeroed. */
struct core_module {
	size_t next;
	const char *path;
	uint64_t start; /* where */
	int fd;		/* negative: it is not there now, or is another file */
};

/* core__module - the next one; false: there are no more.  core_module__close - its file. */
bool core__module(struct core *c, struct core_module *m);
void core_module__close(struct core_module *m);

#endif
