/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subcommands list and info, as far as there is something to tell on Windows. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "base/log.h"
#include "target/target.h"
#include "os/win32/proc_win32.h"
#include "base/version.h"

static bool word__is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

static int on_process(void *arg, pid_t pid)
{
	int *found = arg;
	struct errmsg why = {""};
	struct target t;
	int err = target__find(pid, 0, &t, &why);

	if (err == -ESRCH || err == -ENOEXEC)
		return 0;
	if (!(*found)++)
		printf("%8s  %-15s  %-8s  %s\n", "PID", "PROGRAM", "R", "LOADED");
	printf("%8d  %-15s  %-8s  %s%s%s\n", (int)pid, t.comm, t.version[0] ? t.version : "?",
	       t.path, err ? "; " : "", err ? why.text : "");
	return 0;
}

int cmd_list(int argc, char **argv)
{
	int found = 0, err;

	if (argc > 1 && word__is_help(argv[1])) {
		printf("Usage: %s list\n\nThe processes with R in them.\n", XR_PROGRAM);
		return fflush(stdout) ? 1 : 0;
	}
	if (argc > 1)
		return cmd__usage(argv[0], argv[1]);
	err = target__scan(on_process, &found);
	if (err < 0) {
		log__line("cannot look for R in all processes: %s", strerror(-err));
		return 1;
	}
	if (!found)
		log__line("no process has R in it that this user may look at");
	return fflush(stdout) ? 1 : 0;
}

int cmd_info(int argc, char **argv)
{
	HMODULE dbghelp;

	if (argc > 1 && word__is_help(argv[1])) {
		printf("Usage: %s info\n\nWhat this machine can do.\n", XR_PROGRAM);
		return fflush(stdout) ? 1 : 0;
	}
	if (argc > 1)
		return cmd__usage(argv[0], argv[1]);
	dbghelp = LoadLibraryExW(L"dbghelp.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
	printf("%s %s\n", XR_PROGRAM, XR_VERSION);
	printf("engine win32: suspends the thread that runs R for some microseconds each time\n");
	printf("symbols: the export table of R.dll%s\n", dbghelp ? ", dbghelp.dll" : "");
	if (dbghelp)
		FreeLibrary(dbghelp);
	return fflush(stdout) ? 1 : 0;
}
