/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/proc_handle.h"
#include "os/win32/wide.h"

void proc_handle__open(struct proc_handle *h, pid_t pid)
{
	HANDLE handle = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)pid);

	h->at = handle ? (intptr_t)handle : -1;
	/* cppcheck-suppress resourceLeak; it is in @h */
}

void proc_handle__close(struct proc_handle *h)
{
	if (proc_handle__is_open(h))
		CloseHandle((HANDLE)h->at);
	*h = PROC_HANDLE_NONE;
}

bool proc_handle__is_open(const struct proc_handle *h)
{
	return h->at != -1;
}

bool proc_handle__ended(const struct proc_handle *h)
{
	return WaitForSingleObject((HANDLE)h->at, 0) == WAIT_OBJECT_0;
}

bool proc_handle__unused(pid_t pid)
{
	struct proc_handle h;
	bool ended;

	proc_handle__open(&h, pid);
	if (!proc_handle__is_open(&h))
		return GetLastError() == ERROR_INVALID_PARAMETER;
	ended = proc_handle__ended(&h);
	proc_handle__close(&h);
	return ended;
}
