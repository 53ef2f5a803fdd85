/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_H
#define TAP_H

/*
 * Test Anything Protocol for the unit tests: one C program per file, each
 * writes one line per check to stdout and ends with
 *
 *	return tap__done();
 *
 * The plan is printed last ("1..N"), so nobody counts checks by hand; a
 * program that dies half way prints no plan and so fails. A test that knows
 * its number of checks beforehand may call tap__plan() first: then a different
 * number is a failure too.
 *
 * The counters live in the one translation unit that includes this file.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	int planned; /* checks announced by tap__plan(), 0: none */
	int run;
	int failed;
} tap__state;

/* Announce the number of checks beforehand. */
__attribute__((unused)) static void tap__plan(int checks)
{
	tap__state.planned = checks;
	printf("1..%d\n", checks);
	fflush(stdout);
}

__attribute__((unused)) static void tap__line(bool ok, const char *fmt, va_list ap)
{
	tap__state.run++;
	if (!ok)
		tap__state.failed++;
	printf("%sok %d - ", ok ? "" : "not ", tap__state.run);
	vprintf(fmt, ap);
	/* flushed line by line: a crash must not take results along */
	fflush(stdout);
}

/* One check. Returns @cond, so that a caller can stop or explain. */
__attribute__((unused, format(printf, 2, 3))) static bool tap__ok(bool cond, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap__line(cond, fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	return cond;
}

/*
 * One check that cannot run here, counted as passed by TAP readers; @reason is
 * mandatory. Only for what this machine really lacks.
 */
__attribute__((unused, format(printf, 2, 3))) static void tap__skip(const char *reason,
								    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap__line(true, fmt, ap);
	va_end(ap);
	printf(" # SKIP %s\n", reason);
	fflush(stdout);
}

/* A remark, as a TAP comment: "# ...". */
__attribute__((unused, format(printf, 1, 2))) static void tap__diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# ");
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

/* Stop the whole program: nothing after this can work. */
__attribute__((unused, noreturn, format(printf, 1, 2))) static void tap__bail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("Bail out! ");
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	exit(1);
}

/* Prints the plan if there was none; the program's exit status. */
__attribute__((unused)) static int tap__done(void)
{
	if (!tap__state.planned)
		printf("1..%d\n", tap__state.run);
	else if (tap__state.planned != tap__state.run)
		printf("# planned %d checks, ran %d\n", tap__state.planned, tap__state.run);
	fflush(stdout);
	if (!tap__state.run)
		return 1;
	if (tap__state.planned && tap__state.planned != tap__state.run)
		return 1;
	return tap__state.failed != 0;
}

#endif /* TAP_H */
