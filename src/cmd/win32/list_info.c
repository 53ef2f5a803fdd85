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

struct list_info_options {
	bool help;
};

static const struct option_row rows[] = {
	OPT_HELP(.at = offsetof(struct list_info_options, help)),
	{0},
};

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

static int list__main(int argc, char **argv)
{
	struct list_info_options o = {0};
	int found = 0, err;

	if (!cmd__options(&cmd_list, &o, argc, argv, &err))
		return err;
	err = target__scan(on_process, &found);
	if (err < 0) {
		log__line("cannot scan the processes for R: %s", strerror(-err));
		return CMD_FAILED;
	}
	if (!found)
		log__line("no R process found that this user may inspect");
	return CMD_OK;
}

const struct subcommand cmd_list = {
	.name = "list",
	.help = "list the R processes",
	.usage = {"list"},
	.about = "Lists the processes that run R, and why one of them cannot be profiled.",
	.options = rows,
	.run = list__main,
};

static int info__main(int argc, char **argv)
{
	struct list_info_options o = {0};
	HMODULE dbghelp;
	int err;

	if (!cmd__options(&cmd_info, &o, argc, argv, &err))
		return err;
	dbghelp = LoadLibraryExW(L"dbghelp.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
	printf("%s %s\n", XR_PROGRAM, XR_VERSION);
	printf("engine win32: suspends the thread that runs R for a few microseconds each time\n");
	printf("symbols: %s\n", dbghelp ? "dbghelp.dll" : "none, dbghelp.dll is missing");
	if (dbghelp)
		FreeLibrary(dbghelp);
	return CMD_OK;
}

const struct subcommand cmd_info = {
	.name = "info",
	.help = "show what this machine supports",
	.usage = {"info"},
	.about = "Prints what this machine supports.",
	.options = rows,
	.run = info__main,
};
