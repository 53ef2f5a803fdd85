/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What /proc says of a process, and reading its memory.  Nothing here stops or changes it.
 */
#ifndef XR_TARGET_PROC_H
#define XR_TARGET_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct target_proc {
	char comm[16];	     /* may hold anything but '\0' */
	char state;	     /* 'R', 'S', 'Z', ... */
	pid_t ppid;	     /* 0: none that we may see */
	pid_t tgid;	     /* the process a thread belongs to; the pid itself otherwise */
	uint32_t uid;	     /* effective */
	uint64_t start_time; /* clock ticks since boot */
	uint64_t stack; /* where the main thread's stack begins: another after an exec; 0: not told
			 */
	uint32_t threads;
	bool kernel; /* a kernel thread */
};

/*
 * target_proc__parse_stat - /proc/PID/stat (proc(5)), @len bytes of @text, into comm, state, ppid,
 * threads, start_time, stack and kernel.  -EBADMSG: it is not such a line.
 */
int target_proc__parse_stat(const char *text, size_t len, struct target_proc *p);

/* target_proc__read - all of struct target_proc.  -ESRCH: no such process. */
int target_proc__read(pid_t pid, struct target_proc *p);

/* target_proc__start_time - only that; 0: no such process. */
uint64_t target_proc__start_time(pid_t pid);

/*
 * target_proc__memory - read exactly @len bytes at @addr of process @pid into @to, by
 * process_vm_readv(2) or, where that is forbidden, /proc/PID/mem.
 * -EFAULT: not mapped; -EPERM; -ESRCH.
 */
int target_proc__memory(pid_t pid, uint64_t addr, void *to, size_t len);

/*
 * target_proc__open - open /proc/PID/@name for reading; the caller closes it.  A negative errno
 * otherwise.
 */
int target_proc__open(pid_t pid, const char *name);
FILE *target_proc__fopen(pid_t pid, const char *name);

/*
 * target_proc__open_in_root - open the regular file @path as process @pid would (its mount
 * namespace, its root; symbolic links do not lead out).  The caller closes it.
 */
int target_proc__open_in_root(pid_t pid, const char *path);

/*
 * target_proc__exe - the path of the executable as the kernel shows it, without " (deleted)".
 * -ENAMETOOLONG; -EACCES; -ENOENT: gone, or a kernel thread.
 */
int target_proc__exe(pid_t pid, char *path, size_t size, bool *deleted);

/*
 * target_proc__cgroup - the process' cgroup (v2, or v1's "name=systemd" or first hierarchy) in
 * @path, "" if there is none.
 */
int target_proc__cgroup(pid_t pid, char *path, size_t size);

/*
 * target_proc__container - the container id in a cgroup path: the last run of exactly 64
 * hexadecimal digits, as Docker, Podman, containerd and CRI-O name them.  Returns whether there
 * is one; @id gets it, terminated.
 */
bool target_proc__container(const char *cgroup, char id[65]);

#endif
