/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_ENGINE_REMOTE_LINUX_VM_H
#define XR_ENGINE_REMOTE_LINUX_VM_H

#include <stdint.h>
#include <sys/types.h>

#include "engine/engine.h"

/*
 * remote_vm__probe - may process_vm_readv(2) be called at all, and for whom?  For engine_ops.probe:
 * the answers go to @found, which may be NULL.  0, or a negative errno with @f filled.
 */
int remote_vm__probe(engine_found found, void *arg, struct errmsg *f);

/* remote_vm__readable - 0, or why the word at @at of process @pid cannot be read: negative. */
int remote_vm__readable(pid_t pid, uint64_t at);

#endif
