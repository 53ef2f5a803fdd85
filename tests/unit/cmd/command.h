/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Running the program as main() has it, within a unit test. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdarg.h>

#include "cmd/cmd.h"
#include "tap.h"

/* words - @first and the words of @line, split at blanks; until the next call. */
static inline char **words(const char *first, const char *line, int *argc)
{
	static char text[512], *argv[34];
	char *save = NULL;

	*argc = 0;
	argv[(*argc)++] = (char *)(uintptr_t)first;
	snprintf(text, sizeof(text), "%s", line);
	for (char *w = strtok_r(text, " ", &save); w && *argc < 33; w = strtok_r(NULL, " ", &save))
		argv[(*argc)++] = w;
	argv[*argc] = NULL;
	return argv;
}

static char out_text[65536], err_text[4096];
static int err_lines;

static void read_back(FILE *from, char *text, size_t size)
{
	size_t n;

	rewind(from);
	n = fread(text, 1, size - 1, from);
	text[n] = '\0';
	fclose(from);
}

/*
 * Run the words of @line with standard output to @path, NULL: to what is read back; out_text and
 * err_text are what it printed, the latter without newlines. Returns the exit status.
 */
static inline int run_to(const char *path, const char *line)
{
	FILE *out = path ? fopen(path, "w+") : tmpfile(), *err = tmpfile();
	int status, saved_out, saved_err, argc;
	char **argv = words("xrprof-bpf", line, &argc);

	fflush(stdout);
	saved_out = dup(STDOUT_FILENO);
	saved_err = dup(STDERR_FILENO);
	tap__bail_if(!out || !err || saved_out < 0 || saved_err < 0 ||
			     dup2(fileno(out), STDOUT_FILENO) < 0 ||
			     dup2(fileno(err), STDERR_FILENO) < 0,
		     "no files for what is printed");
	status = cmd__run(argc, argv);
	fflush(stdout);
	dup2(saved_out, STDOUT_FILENO);
	dup2(saved_err, STDERR_FILENO);
	close(saved_out);
	close(saved_err);
	read_back(out, out_text, sizeof(out_text));
	read_back(err, err_text, sizeof(err_text));
	err_lines = 0;
	for (char *at = err_text; *at; at++)
		if (*at == '\n') {
			err_lines++;
			*at = at[1] ? '|' : '\0';
		}
	return status;
}

__attribute__((format(printf, 1, 2))) static inline int run(const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	return run_to(NULL, line);
}

static bool text__has(const char *text, const char *part)
{
	return !part || (*part ? strstr(text, part) != NULL : !*text);
}

/*
 * Run the line: it ends with @status, and what it prints has @out in it, on standard error @err.
 * -1 and NULL: any; "": nothing.
 */
static inline void gives(int status, const char *out, const char *err, const char *line)
{
	int got = run("%s", line);

	if (!tap__ok((status < 0 || got == status) && text__has(out_text, out) &&
			     text__has(err_text, err),
		     "'%s': %d %s", line, got, err_text))
		tap__diag("%s", out_text);
}

/* What `report` makes of these words is a part of the golden file. */
static inline void report(const char *options)
{
	int status = run("report %s", options);

	tap__say("$ report %s: %d\n%s%s%s\n", options, status, out_text, err_text,
		 *err_text ? "\n" : "");
}

#endif
