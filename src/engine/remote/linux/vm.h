/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading another process' memory on Linux: process_vm_readv(2). */
#ifndef XR_ENGINE_REMOTE_LINUX_VM_H
#define XR_ENGINE_REMOTE_LINUX_VM_H

#include <sys/types.h>

#include "engine/remote/memory.h"

/* remote_vm__reader - a reader of process *@pid, which must stay where it is. */
struct remote_reader remote_vm__reader(pid_t *pid);

/* remote_vm__usable - may the call be made at all?  0, or -ENOSYS, -EPERM: a filter forbids it. */
int remote_vm__usable(void);

#endif
