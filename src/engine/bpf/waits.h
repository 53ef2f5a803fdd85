/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time not on a CPU (bpf/wait.h), seen from outside: by which of the kernel's hooks a thread is
 * sampled when it is back, and the threads that left before the program saw them.
 */
#ifndef XR_ENGINE_BPF_WAITS_H
#define XR_ENGINE_BPF_WAITS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"

struct sampler; /* sampler.skel.h */
struct bpf_link;
struct bpf_program;

/* What runs in a thread that is back on a CPU. */
enum bpf_back {
	BPF_BACK_NONE,
	BPF_BACK_TRACEPOINT, /* sched_exit_tp, 6.15 */
	BPF_BACK_KPROBE,     /* on finish_task_switch(), where there are kprobes */
	BPF_BACK_SYSCALL,    /* sys_exit: of waits in system calls, and when these are over */
};

struct bpf_wait_hooks {
	enum bpf_back back;
	uint32_t state_arg; /* WAIT_STATE_* of bpf/wait.h */
	char function[64];  /* for the kprobe: its name may have a suffix */
};

/*
 * bpf_waits__hooks - which this kernel has, by the types in @btf (NULL: its own).  0, or a negative
 * errno, with @f filled: time not on a CPU is not available.
 */
int bpf_waits__hooks(struct bpf_wait_hooks *hooks, const char *btf, struct errmsg *f);

/* bpf_waits__program - what samples threads that are back, by that hook; NULL: nothing does. */
const struct bpf_program *bpf_waits__program(const struct sampler *s, enum bpf_back back,
					     bool loop);

/*
 * bpf_waits__attach - the program that samples threads that are back, to the hook.  *@link is the
 * caller's.
 */
int bpf_waits__attach(struct bpf_link **link, const struct sampler *s,
		      const struct bpf_wait_hooks *hooks, bool loop, struct errmsg *f);

/* Threads looked at in one call of those below: some 5 ms. */
#define BPF_WAITS_SLICE 512u

/* Processes whose threads are still to be looked at.  All 0 at first; bpf_waits__free() at last. */
struct bpf_waits_begun {
	pid_t *pids;
	size_t n, next, cap;
	DIR *dir; /* the threads of the one before `next`, read in part; NULL: none */
};

/*
 * bpf_waits__begin - threads of process @pid that are away already wait from the time on when they
 * are looked at: now, or, if there are many, in calls of bpf_waits__go_on().  @waits: the map.
 * -ENOMEM.
 */
int bpf_waits__begin(struct bpf_waits_begun *b, int waits, pid_t pid);

/* bpf_waits__go_on - look at the next threads.  Call it again while bpf_waits__pending(). */
void bpf_waits__go_on(struct bpf_waits_begun *b, int waits);

static inline bool bpf_waits__pending(const struct bpf_waits_begun *b)
{
	return b->n;
}

void bpf_waits__free(struct bpf_waits_begun *b);

#endif
