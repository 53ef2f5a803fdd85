/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The keeper: a process that resumes a thread which this one has suspended, when this one ends or
 * does not come to it.  Windows keeps no account of who suspended a thread, so no other process
 * would.  It is this program, started again with an undocumented argument.
 */
#ifndef XR_OS_WIN32_KEEPER_H
#define XR_OS_WIN32_KEEPER_H

#include <stdint.h>

#include "base/errmsg.h"
#include "os/win32/wide.h"

struct keeper;

/* keeper__open - start it.  A negative errno with @f filled. */
int keeper__open(struct keeper **out, struct errmsg *f);

/* keeper__close - and end it.  NULL is allowed, here and below: then there is none. */
void keeper__close(struct keeper *k);

/*
 * keeper__lend - let it have @thread, a handle with THREAD_SUSPEND_RESUME: the argument for
 * keeper__hold; 0: it cannot.  keeper__take_back - it is needed no longer.
 */
uint64_t keeper__lend(struct keeper *k, HANDLE thread);
void keeper__take_back(struct keeper *k, uint64_t lent);

/* keeper__hold - the thread @lent is about to be suspended. */
void keeper__hold(struct keeper *k, uint64_t lent);

/*
 * keeper__release - it was resumed.  If ResumeThread() returned 0, the keeper had done so before.
 */
void keeper__release(struct keeper *k);

/* keeper__run - if this process was started as a keeper, be one: does not return then. */
void keeper__run(void);

#endif
