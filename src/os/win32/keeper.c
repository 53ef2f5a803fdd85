/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/win32/keeper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <shellapi.h>

#define ARGUMENT L"--keep-threads"

/* Between two looks.  What was suspended at one and has been since is resumed at the next. */
#define LOOK_MS 100

/* What both share. */
struct page {
	volatile LONG64 held; /* the keeper's handle of the thread suspended now; 0: none is */
	volatile LONG64 turn; /* how many were, with this one */
};

struct keeper {
	HANDLE mapping, process;
	struct page *page;
};

/* --- the keeper --- */

__attribute__((noreturn)) static void keeper__look(struct page *page, HANDLE parent)
{
	LONG64 last = 0;
	DWORD waited;

	do {
		LONG64 held, turn;

		waited = WaitForSingleObject(parent, LOOK_MS);
		held = page->held;
		turn = page->turn;
		if (held && (waited != WAIT_TIMEOUT || turn == last))
			ResumeThread((HANDLE)(intptr_t)held);
		last = held ? turn : 0;
	} while (waited == WAIT_TIMEOUT);
	ExitProcess(0);
}

void keeper__run(void)
{
	int n = 0;
	wchar_t **argv = CommandLineToArgvW(GetCommandLineW(), &n);
	struct page *page;
	HANDLE mapping, parent;

	if (!argv || n != 4 || wcscmp(argv[1], ARGUMENT)) {
		LocalFree(argv);
		return;
	}
	mapping = (HANDLE)(intptr_t)_wcstoui64(argv[2], NULL, 16);
	parent = (HANDLE)(intptr_t)_wcstoui64(argv[3], NULL, 16);
	page = MapViewOfFile(mapping, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, sizeof(*page));
	if (!page)
		ExitProcess(2);
	SetPriorityClass(GetCurrentProcess(), HIGH_PRIORITY_CLASS);
	keeper__look(page, parent);
}

/* --- who has one --- */

/* Start it with these two handles and no others. */
static BOOL keeper__start(struct keeper *k, HANDLE self)
{
	STARTUPINFOEXW startup = {.StartupInfo.cb = sizeof(startup)};
	HANDLE handles[2] = {k->mapping, self};
	PROCESS_INFORMATION made;
	wchar_t path[MAX_PATH * 4], line[64]; /* handles have 32 bits */
	SIZE_T size = 0;
	BOOL ok;

	if (!GetModuleFileNameW(NULL, path, sizeof(path) / sizeof(*path)))
		return FALSE;
	_snwprintf(line, sizeof(line) / sizeof(*line), L"xrprof " ARGUMENT L" %lx %lx",
		   (unsigned long)(uintptr_t)k->mapping, (unsigned long)(uintptr_t)self);
	InitializeProcThreadAttributeList(NULL, 1, 0, &size);
	startup.lpAttributeList = malloc(size);
	ok = startup.lpAttributeList &&
	     InitializeProcThreadAttributeList(startup.lpAttributeList, 1, 0, &size);
	if (!ok) {
		free(startup.lpAttributeList);
		return FALSE;
	}
	/* Ctrl-C goes to all that share a console */
	ok = UpdateProcThreadAttribute(startup.lpAttributeList, 0,
				       PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles, sizeof(handles),
				       NULL, NULL) &&
	     CreateProcessW(path, line, NULL, NULL, TRUE,
			    DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP |
				    EXTENDED_STARTUPINFO_PRESENT,
			    NULL, NULL, &startup.StartupInfo, &made);
	DeleteProcThreadAttributeList(startup.lpAttributeList);
	free(startup.lpAttributeList);
	if (!ok)
		return FALSE;
	k->process = made.hProcess;
	CloseHandle(made.hThread);
	return TRUE;
}

int keeper__open(struct keeper **out, struct errmsg *f)
{
	SECURITY_ATTRIBUTES inherited = {.nLength = sizeof(inherited), .bInheritHandle = TRUE};
	struct keeper *k = calloc(1, sizeof(*k));
	HANDLE self = NULL;
	char text[256];
	DWORD code;
	BOOL ok;

	if (!k)
		return errmsg__set(f, -ENOMEM, "out of memory");
	k->mapping = CreateFileMappingW(INVALID_HANDLE_VALUE, &inherited, PAGE_READWRITE, 0,
					sizeof(*k->page), NULL);
	if (k->mapping)
		k->page = MapViewOfFile(k->mapping, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0,
					sizeof(*k->page));
	ok = k->page &&
	     DuplicateHandle(GetCurrentProcess(), GetCurrentProcess(), GetCurrentProcess(), &self,
			     SYNCHRONIZE, TRUE, 0) &&
	     keeper__start(k, self);
	code = GetLastError();
	if (self)
		CloseHandle(self);
	if (ok) {
		*out = k;
		return 0;
	}
	keeper__close(k);
	return errmsg__set(f, wide__errno(code),
			   "cannot start the process that resumes suspended threads: %s",
			   wide__error(code, text, sizeof(text)));
}

void keeper__close(struct keeper *k)
{
	if (!k)
		return;
	if (k->process) {
		TerminateProcess(k->process, 0);
		CloseHandle(k->process);
	}
	if (k->page)
		UnmapViewOfFile(k->page);
	if (k->mapping)
		CloseHandle(k->mapping);
	free(k);
}

uint64_t keeper__lend(struct keeper *k, HANDLE thread)
{
	HANDLE lent = NULL;

	if (!k || !thread ||
	    !DuplicateHandle(GetCurrentProcess(), thread, k->process, &lent, THREAD_SUSPEND_RESUME,
			     FALSE, 0))
		return 0;
	return (uint64_t)(uintptr_t)lent;
}

void keeper__take_back(struct keeper *k, uint64_t lent)
{
	HANDLE back = NULL;

	if (k && lent &&
	    DuplicateHandle(k->process, (HANDLE)(uintptr_t)lent, GetCurrentProcess(), &back, 0,
			    FALSE, DUPLICATE_SAME_ACCESS | DUPLICATE_CLOSE_SOURCE))
		CloseHandle(back);
}

void keeper__hold(struct keeper *k, uint64_t lent)
{
	if (!k)
		return;
	InterlockedIncrement64(&k->page->turn);
	InterlockedExchange64(&k->page->held, (LONG64)lent);
}

void keeper__release(struct keeper *k)
{
	if (k)
		InterlockedExchange64(&k->page->held, 0);
}
