/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_ENGINE_REMOTE_LINUX_VM_H
#define XR_ENGINE_REMOTE_LINUX_VM_H

/*
 * remote_vm__usable - may process_vm_readv(2) be called at all?  0, or -ENOSYS, -EPERM: a filter
 * forbids it.
 */
int remote_vm__usable(void);

#endif
