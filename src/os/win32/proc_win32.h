/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes and threads of Windows, for discovery and the engine.
 */
#ifndef XR_OS_WIN32_PROC_WIN32_H
#define XR_OS_WIN32_PROC_WIN32_H

#include <stdint.h>

#include "base/mem_reader.h"
#include "os/win32/wide.h"

/* A process in a snapshot of all. */
struct win32_process {
	uint32_t pid, parent; /* the parent may have ended, and its pid be another process' */
	char name[64];	      /* of its program, "Rterm.exe"; may be cut */
};

/* proc_win32__processes - call @seen for each until it returns other than 0, and return that. */
int proc_win32__processes(int (*seen)(void *arg, const struct win32_process *p), void *arg);

/*
 * proc_win32__open - open process @pid with @access.  NULL: *code is the reason, as
 * ERROR_INVALID_PARAMETER for no such process.  The privilege to debug is made use of if we have
 * it.
 */
HANDLE proc_win32__open(uint32_t pid, DWORD access, DWORD *code);

/* proc_win32__start_time - when it was created, in units of 100 ns since 1601; 0: not known. */
uint64_t proc_win32__start_time(HANDLE process);

/* proc_win32__comm - the name of the program of @pid, without its folder.  -ESRCH, -EACCES. */
int proc_win32__comm(uint32_t pid, char *comm, size_t size);

/* proc_win32__reader - reads the memory of @process, which its caller closes later. */
struct mem_reader proc_win32__reader(HANDLE process);

/*
 * proc_win32__thread - the thread of process @pid on whose stack most of the @n @addresses lie;
 * 0: on none.
 */
uint32_t proc_win32__thread(uint32_t pid, HANDLE process, const uint64_t *addresses, uint32_t n);

#endif
