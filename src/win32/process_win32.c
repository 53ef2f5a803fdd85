/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process.h"
#include "wide.h"

/* "64-bit versions of Windows use 32-bit handles for interoperability" (Windows documentation). */
static HANDLE process__handle(const struct process *p)
{
	return (HANDLE)(LONG_PTR)p->pidfd;
}

void process__watch(struct process *p)
{
	HANDLE handle;

	if (p->pidfd >= 0)
		return;
	handle = OpenProcess(SYNCHRONIZE, FALSE, p->pid);
	if (!handle)
		return;
	p->pidfd = (int)(LONG_PTR)handle;
	/* between finding R and opening this, the pid may have gone to another process */
	if (p->mine && !target__same(&p->target))
		process__unwatch(p);
}

void process__unwatch(struct process *p)
{
	if (p->pidfd >= 0)
		CloseHandle(process__handle(p));
	p->pidfd = -1;
}

bool process__gone(const struct process *p)
{
	HANDLE handle;
	bool gone;

	if (p->pidfd >= 0)
		return WaitForSingleObject(process__handle(p), 0) == WAIT_OBJECT_0;
	if (p->mine)
		return !target__same(&p->target);
	handle = OpenProcess(SYNCHRONIZE, FALSE, p->pid);
	if (!handle)
		return GetLastError() == ERROR_INVALID_PARAMETER;
	gone = WaitForSingleObject(handle, 0) == WAIT_OBJECT_0;
	CloseHandle(handle);
	return gone;
}
