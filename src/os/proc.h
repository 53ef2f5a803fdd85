/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What /proc says of a process, and reading its memory.  Nothing here stops or changes it.
 */
#ifndef XR_OS_PROC_H
#define XR_OS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/mem_reader.h"

struct proc {
	char comm[16];	     /* may hold anything but '\0' */
	char state;	     /* 'R', 'S', 'Z', ... */
	pid_t ppid;	     /* 0: none that we may see */
	pid_t tgid;	     /* the process a thread belongs to; the pid itself otherwise */
	uint32_t uid;	     /* effective */
	uint64_t start_time; /* clock ticks since boot */
	uint64_t cpu_ns;     /* time on a CPU so far, of all its threads; of the system, too */
	uint64_t ended_ns;   /* the same of its children that have ended (Linux) */
	uint64_t stack; /* where the main thread's stack begins; exec changes it; 0: hidden, or an
			 * exec has not come to its end (fs/binfmt_elf.c, load_elf_binary()) */
	uint32_t threads;
	uint64_t switches; /* how often it went from or to a CPU; 0: hidden */
	bool kernel;	   /* a kernel thread */
	bool ending;	   /* it exits: its memory goes or is gone; the state may not show it yet */
};

/*
 * proc__parse_stat - /proc/PID/stat (proc(5)), @len bytes of @text, into comm, state, ppid,
 * threads, start_time, cpu_ns, ended_ns, stack, kernel and ending.  -EBADMSG: it is not such a
 * line.
 */
int proc__parse_stat(const char *text, size_t len, struct proc *p);

#define PROC_STATUS_MAX 16384 /* bytes of /proc/PID/status: with 1,015 groups, as domains have */

/*
 * proc__status - the number in @base behind @name, as in "\nTracerPid:", in @text of
 * /proc/PID/status; @none: there is no such line.  A newline in the name of a process is written as
 * \n: only real lines begin after one.
 */
uint64_t proc__status(const char *text, const char *name, int base, uint64_t none);

/* proc__read - all of struct proc.  -ESRCH: no such process. */
int proc__read(pid_t pid, struct proc *p);

/* proc__start_time - only that; 0: no such process. */
uint64_t proc__start_time(pid_t pid);

/* proc__began - a process' start_time as ns since 1970, by today's clock. */
uint64_t proc__began(uint64_t start_time);

/*
 * proc__use - ns that process @pid has been on a CPU, all threads of it, those that ended, too; and
 * its state, as struct proc has it ('?' on Windows), unless @state is NULL.  -ESRCH: no such
 * process.
 */
int proc__use(pid_t pid, uint64_t *cpu_ns, char *state);

/*
 * proc__memory - read exactly @len bytes at @addr of process @pid into @to, by
 * process_vm_readv(2) or, where that is forbidden, /proc/PID/mem.
 * -EFAULT: not mapped; -EPERM; -ESRCH.
 */
int proc__memory(pid_t pid, uint64_t addr, void *to, size_t len);

/*
 * proc__reader - reads the memory of process @pid.  On Linux read_spans knows process_vm_readv(2)
 * alone, and a process that has ended is -ESRCH.  Nothing to free.
 */
struct mem_reader proc__reader(pid_t pid);

/*
 * proc__open - open /proc/PID/@name for reading; the caller closes it.  A negative errno
 * otherwise.
 */
int proc__open(pid_t pid, const char *name);
FILE *proc__fopen(pid_t pid, const char *name);

/*
 * proc__text - up to @size - 1 bytes of the small file /proc/PID/@name ("task/TID/stat"),
 * terminated: their number, or a negative errno.
 */
ssize_t proc__text(pid_t pid, const char *name, char *text, size_t size);

/*
 * proc__line - the first line of a file of the kernel, without its end (Linux).  0, or a negative
 * errno, and @line is "".
 */
int proc__line(const char *path, char *line, size_t size);

/*
 * proc__open_regular - open the regular file @path for reading.  What else has that name is not
 * opened at all, which may have an effect: a watchdog or a tape, a pipe that waits for a reader.
 * The caller closes it.  A negative errno; -ENOENT: it is something else.  (Linux)
 */
int proc__open_regular(const char *path);

/*
 * proc__open_in_root - open the regular file @path as process @pid would (its mount
 * namespace, its root; symbolic links do not lead out).  The caller closes it.
 */
int proc__open_in_root(pid_t pid, const char *path);

/*
 * proc__link - where the symbolic link /proc/PID/@name leads to: its length, or a negative errno
 * (-ENAMETOOLONG).
 */
ssize_t proc__link(pid_t pid, const char *name, char *path, size_t size);

/*
 * proc__exe - the path of the executable as the kernel shows it, without " (deleted)".
 * -ENAMETOOLONG; -EACCES; -ENOENT: gone, or a kernel thread.
 */
int proc__exe(pid_t pid, char *path, size_t size, bool *deleted);

/*
 * proc__directory - the working directory of process @pid, where a path means the same file to it
 * as to this one.  -EXDEV: it has another root or other mounts.  "" on Windows, which does
 * not provide it.
 */
int proc__directory(pid_t pid, char *path, size_t size);

/*
 * proc__parse_cgroup - of the lines of /proc/PID/cgroup in @text, which is changed, the path that
 * says most, to @path: one with the id of a container, whichever hierarchy it is of; else one below
 * the root; of those that of version 2, then that of a manager of services, then the first.  "":
 * there is none.  (Linux)
 */
void proc__parse_cgroup(char *text, char *path, size_t size);

/* proc__cgroup - that of process @pid.  0, or a negative errno and "". */
int proc__cgroup(pid_t pid, char *path, size_t size);

/*
 * proc__container - the container id in a cgroup path: the last run of exactly 64
 * hexadecimal digits, as Docker, Podman, containerd and CRI-O name them.  Returns whether there
 * is one; @id gets it, terminated.
 */
#define PROC_CONTAINER_LEN 65

bool proc__container(const char *cgroup, char id[PROC_CONTAINER_LEN]);

/*
 * proc__isolated - does process @pid live apart from the first process (or from this one, where
 * that may not be looked at), in another pid namespace, or with another root in another mount
 * namespace?  Such are sandboxes and containers that have no cgroup; a service with a private
 * /tmp is not one.  @id gets the number of that namespace, as lsns(8) shows it: "ns:4026532281".
 */
bool proc__isolated(pid_t pid, char id[PROC_CONTAINER_LEN]);

#endif
