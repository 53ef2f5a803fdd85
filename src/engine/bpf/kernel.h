/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of the kernel that loads the programs. */
#ifndef XR_ENGINE_BPF_KERNEL_H
#define XR_ENGINE_BPF_KERNEL_H

#include <stdbool.h>
#include <sys/types.h>

#include "engine/bpf/waits.h"
#include "engine/engine.h"

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* The answers that the programs are configured by. */
struct bpf_features {
	bool loop;		     /* bpf_loop, 5.17 */
	bool task_regs;		     /* bpf_task_pt_regs, 5.15 */
	bool task_btf;		     /* bpf_get_current_task_btf, 5.11 */
	struct bpf_wait_hooks waits; /* back BPF_BACK_NONE: not asked, or not available */
	ino_t pidns;		     /* the profiler's pid namespace, 0: the first one */
};

/*
 * kernel__freeze_prone - can reading user memory from BPF freeze a machine with this kernel?
 *
 * @release and @version are uname()'s, @signature is /proc/version_signature or "".  A
 * distribution's release need not name the upstream one it has caught up with: Debian's 6.1.0-50 is
 * 6.1.176, which the version has ("... Debian 6.1.176-1 ..."); Ubuntu has it as the last word of
 * the signature ("Ubuntu 6.2.0-26.26-generic 6.2.13").
 *
 * It can from 5.19 on, when the page fault handler was called with interrupts off from
 * copy_from_user_nofault(); fixed by kernel commit d319f344561d ("mm: Fix
 * copy_from_user_nofault()") in 6.4, 6.3.10 and 6.1.36.  This is the one place that compares
 * versions.
 */
bool kernel__freeze_prone(const char *release, const char *version, const char *signature);

/* kernel__pid_namespace - the inode of this process' pid namespace; 0: it is the first one. */
ino_t kernel__pid_namespace(void);

/* kernel__fault - set @f to why the kernel did not take a program or a map.  Returns @err. */
int kernel__fault(struct errmsg *f, int err, const struct engine_config *config);

#endif
