/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "os/win32/wide.h"

#define COMMAND_LINE_MAX 32767 /* UTF-16 units, of CreateProcessW() */

/*
 * Add @arg so that CommandLineToArgvW() and the C library get it back whole: between quotes,
 * backslashes count only before a quote, where each needs another.
 */
static int line__add(struct buf *line, const char *arg)
{
	size_t slashes = 0;
	int err = buf__str(line, line->len ? " " : "");

	if (err || (*arg && !strpbrk(arg, " \t\n\v\"")))
		return err ? err : buf__str(line, arg);
	err = buf__add(line, "\"", 1);
	for (; !err && *arg; arg++) {
		if (*arg == '\\') {
			slashes++;
		} else {
			for (; !err && *arg == '"' && slashes; slashes--)
				err = buf__add(line, "\\", 1);
			if (!err && *arg == '"')
				err = buf__add(line, "\\", 1);
			slashes = 0;
		}
		if (!err)
			err = buf__add(line, arg, 1);
	}
	for (; !err && slashes; slashes--)
		err = buf__add(line, "\\", 1);
	return err ? err : buf__add(line, "\"", 1);
}

/* The command line in UTF-16, to be freed. */
static int line__make(char **argv, wchar_t **out)
{
	struct buf line = {0};
	int err = 0;

	for (; !err && *argv; argv++)
		err = line__add(&line, *argv);
	if (!err)
		err = buf__add(&line, "", 1);
	if (!err) {
		*out = wide__from(line.data);
		err = *out ? 0 : -EINVAL;
	}
	if (!err && wcslen(*out) >= COMMAND_LINE_MAX) {
		free(*out);
		err = -E2BIG;
	}
	buf__free(&line);
	return err;
}

bool workload__caller(struct workload_user *user)
{
	(void)user;
	return false;
}

int workload__start(struct workload *c, char **argv, bool own_stdout,
		    const struct workload_user *user, const struct signals *signals,
		    struct errmsg *f)
{
	(void)user;
	(void)signals;
	(void)f;
	*c = (struct workload){
		.name = argv[0],
		.argv = argv,
		.own_stdout = own_stdout,
		.gate = -1,
		.report = -1,
	};
	return 0;
}

/* A handle that the child inherits; NULL: there is none. */
static HANDLE handle__inherited(DWORD which)
{
	HANDLE from = GetStdHandle(which), to = NULL;

	if (!from || from == INVALID_HANDLE_VALUE ||
	    !DuplicateHandle(GetCurrentProcess(), from, GetCurrentProcess(), &to, 0, TRUE,
			     DUPLICATE_SAME_ACCESS))
		return NULL;
	return to;
}

int workload__go(struct workload *c, struct errmsg *f)
{
	STARTUPINFOW startup = {.cb = sizeof(startup), .dwFlags = STARTF_USESTDHANDLES};
	PROCESS_INFORMATION made;
	wchar_t *line = NULL;
	char text[256];
	DWORD code;
	int err;

	err = line__make(c->argv, &line);
	if (err)
		return errmsg__set(f, err, "cannot run %s: its command line is %s", c->name,
				   err == -E2BIG ? "too long" : "not UTF-8");
	startup.hStdInput = handle__inherited(STD_INPUT_HANDLE);
	startup.hStdOutput =
		handle__inherited(c->own_stdout ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
	startup.hStdError = handle__inherited(STD_ERROR_HANDLE);
	if (CreateProcessW(NULL, line, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &made)) {
		c->pid = (pid_t)made.dwProcessId;
		c->process = made.hProcess;
		CloseHandle(made.hThread);
	} else {
		code = GetLastError();
		err = errmsg__set(f, wide__errno(code), "cannot run %s: %s", c->name,
				  wide__error(code, text, sizeof(text)));
	}
	if (startup.hStdInput)
		CloseHandle(startup.hStdInput);
	if (startup.hStdOutput)
		CloseHandle(startup.hStdOutput);
	if (startup.hStdError)
		CloseHandle(startup.hStdError);
	free(line);
	return err;
}

bool workload__ended(struct workload *c)
{
	return workload__wait(c, 0);
}

bool workload__wait(struct workload *c, int ms)
{
	DWORD status;

	if (c->ended || !c->process)
		return c->ended;
	if (WaitForSingleObject(c->process, (DWORD)ms) != WAIT_OBJECT_0 ||
	    !GetExitCodeProcess(c->process, &status))
		return false;
	c->ended = true;
	c->status = (int)status;
	return true;
}

/* Whatever ends the session on Windows has reached the command as well (signals_win32.c). */
void workload__signal(const struct workload *c, int signal)
{
	(void)c;
	(void)signal;
}

bool workload__result(const struct workload *c, char *text, size_t size)
{
	if (!c->ended || !c->status)
		return false;
	/* an unhandled exception: 0xc0000005 */
	if ((unsigned int)c->status >= 0x80000000u)
		snprintf(text, size, "ended with exception 0x%08x", (unsigned int)c->status);
	else
		snprintf(text, size, "exited with status %d", c->status);
	return true;
}

int workload__status(const struct workload *c)
{
	return c->status;
}

void workload__close(struct workload *c)
{
	if (c->process)
		CloseHandle(c->process);
	c->process = NULL;
	c->pid = 0;
}
