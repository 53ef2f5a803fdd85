/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program with R in it:
 *
 *   host R.DLL known|flip|idle SECONDS [--thread] [--watch]   load the DLL, say "ready PID", run it
 *   host none SECONDS               the same without any R
 *   host launch ARG...              start itself with the arguments, as Rscript.exe does Rterm.exe
 *   host echo FILE ARG...           write the arguments to FILE in UTF-8, one a line
 *
 * SECONDS is `-`: until its standard input has a character, or ends.  --thread: R runs in a second
 * thread.  --watch: a further thread looks at how often the others were seen suspended, prints
 * "seen" when R's thread is for the first time, and at the end "suspended r N others N of N looks".
 */
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>
#include <shellapi.h>

#include "fixture.h"

#define OTHERS 4

static volatile long stop;

static struct {
	fixture_run *run;
	enum fixture_mode mode;
	HANDLE r, others[OTHERS];
	unsigned long looks, seen_r, seen_others;
} host;

static DWORD WINAPI end_after(void *seconds)
{
	if (!wcscmp(seconds, L"-"))
		getchar();
	else
		Sleep((DWORD)(_wtof(seconds) * 1000));
	InterlockedExchange(&stop, 1);
	return 0;
}

static DWORD WINAPI run(void *arg)
{
	(void)arg;
	host.run(host.mode, &stop);
	return 0;
}

static volatile unsigned long spun;

/* Some run, some sleep. */
static DWORD WINAPI other(void *arg)
{
	while (!stop) {
		if (arg)
			Sleep(1);
		spun++;
	}
	return 0;
}

/* ThreadSuspendCount, Windows 8.1 */
static int suspended(HANDLE thread)
{
	static LONG(NTAPI * query)(HANDLE, int, void *, ULONG, ULONG *);
	ULONG count = 0;

	if (!query)
		query = (void *)GetProcAddress(GetModuleHandleW(L"ntdll.dll"),
					       "NtQueryInformationThread");
	if (query(thread, 35, &count, sizeof(count), NULL) < 0)
		exit(3);
	return count != 0;
}

static DWORD WINAPI watch(void *arg)
{
	(void)arg;
	while (!stop) {
		host.looks++;
		if (suspended(host.r) && !host.seen_r++) {
			printf("seen\n");
			fflush(stdout);
		}
		for (int i = 0; i < OTHERS; i++)
			host.seen_others += suspended(host.others[i]);
	}
	return 0;
}

static void watch_begin(void)
{
	for (int i = 0; i < OTHERS; i++)
		host.others[i] =
			CreateThread(NULL, 0, other, (void *)(uintptr_t)(i % 2 + i / 2), 0, NULL);
	CreateThread(NULL, 0, watch, NULL, 0, NULL);
}

static void say_ready(void)
{
	printf("ready %lu\n", GetCurrentProcessId());
	fflush(stdout);
}

static int host_r(int argc, wchar_t **argv)
{
	HMODULE dll = LoadLibraryW(argv[1]);
	int threaded = 0, watched = 0;

	if (!dll)
		return 4;
	host.run = (fixture_run *)(void *)GetProcAddress(dll, "fixture_loop");
	if (!host.run) { /* an R.dll that is not R's */
		say_ready();
		Sleep((DWORD)(_wtof(argv[3]) * 1000));
		return 0;
	}
	host.mode = !wcscmp(argv[2], L"known")	? FIXTURE_KNOWN
		    : !wcscmp(argv[2], L"flip") ? FIXTURE_FLIP
						: FIXTURE_IDLE;
	for (int i = 4; i < argc; i++) {
		threaded |= !wcscmp(argv[i], L"--thread");
		watched |= !wcscmp(argv[i], L"--watch");
	}
	CreateThread(NULL, 0, end_after, argv[3], 0, NULL);
	if (threaded)
		host.r = CreateThread(NULL, 0, run, NULL, 0, NULL);
	else
		DuplicateHandle(GetCurrentProcess(), GetCurrentThread(), GetCurrentProcess(),
				&host.r, 0, FALSE, DUPLICATE_SAME_ACCESS);
	if (watched)
		watch_begin();
	say_ready();
	if (threaded)
		WaitForSingleObject(host.r, INFINITE);
	else
		run(NULL);
	if (watched)
		printf("suspended r %lu others %lu of %lu looks\n", host.seen_r, host.seen_others,
		       host.looks);
	return 0;
}

static int host_launch(void)
{
	STARTUPINFOW startup = {.cb = sizeof(startup)};
	PROCESS_INFORMATION made;
	wchar_t *line = _wcsdup(GetCommandLineW()), *word = wcsstr(line, L"launch");
	DWORD status = 5;

	wmemcpy(word, L"      ", 6);
	if (!CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &made))
		return 5;
	WaitForSingleObject(made.hProcess, INFINITE);
	GetExitCodeProcess(made.hProcess, &status);
	return (int)status;
}

static int host_echo(int argc, wchar_t **argv)
{
	FILE *out = _wfopen(argv[2], L"wb");
	char utf8[1024];

	if (!out)
		return 6;
	for (int i = 3; i < argc; i++) {
		WideCharToMultiByte(CP_UTF8, 0, argv[i], -1, utf8, sizeof(utf8), NULL, NULL);
		fprintf(out, "%s\n", utf8);
	}
	return fclose(out) ? 6 : 7;
}

int main(void)
{
	wchar_t **argv;
	int argc;

	argv = CommandLineToArgvW(GetCommandLineW(), &argc);
	if (argc > 2 && !wcscmp(argv[1], L"launch"))
		return host_launch();
	if (argc > 2 && !wcscmp(argv[1], L"echo"))
		return host_echo(argc, argv);
	if (argc > 2 && !wcscmp(argv[1], L"none")) {
		say_ready();
		Sleep((DWORD)(_wtof(argv[2]) * 1000));
		return 0;
	}
	return argc > 3 ? host_r(argc, argv) : 2;
}
