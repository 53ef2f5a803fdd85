/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_H
#define TAP_H

/*
 * Unit tests are registered cases.  All files of a room are linked into one program,
 * build/tests/unit/ROOM, and main.c runs each case in a separate process:
 *
 *	TEST(empty)
 *	{
 *		tap__ok(!parse(""), "an empty line is refused");
 *	}
 *
 * Each check is a line of the Test Anything Protocol.  A case may leave behind whatever it likes
 * (globals, limits, signal handlers, children): it ends with its process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Many callbacks of tests use few of their arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Elements of an array. */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum tap__kind { TAP_CASE, TAP_BEFORE, TAP_AFTER, TAP_PROGRAM };

struct tap__entry {
	enum tap__kind kind;
	const char *file, *name;
	union {
		void (*run)(void);
		int (*program)(int argc, char **argv);
	};
	struct tap__entry *next;
};

void tap__register(struct tap__entry *e);

#define TAP__ENTRY(entry_kind, entry_name, member, function)                                       \
	__attribute__((constructor)) static void tap__add_##function(void)                         \
	{                                                                                          \
		static struct tap__entry e = {                                                     \
			.kind = entry_kind, .file = __FILE__, .name = entry_name};                 \
                                                                                                   \
		e.member = function;                                                               \
		tap__register(&e);                                                                 \
	}

/* A case: its name is FILE:NAME, without the "test_" of the file. */
#define TEST(name)                                                                                 \
	static void tap__case_##name(void);                                                        \
	TAP__ENTRY(TAP_CASE, #name, run, tap__case_##name)                                         \
	static void tap__case_##name(void)

/* Run before and after each case of this file, in its process. */
#define BEFORE()                                                                                   \
	static void tap__before(void);                                                             \
	TAP__ENTRY(TAP_BEFORE, "", run, tap__before)                                               \
	static void tap__before(void)
#define AFTER()                                                                                    \
	static void tap__after(void);                                                              \
	TAP__ENTRY(TAP_AFTER, "", run, tap__after)                                                 \
	static void tap__after(void)

/*
 * What the program does in place of the tests if it is called with "-x NAME ARGUMENT..."; argv[0]
 * is NAME.  For tests that execute themselves, and scripts that want what a test can make.
 */
#define PROGRAM(name)                                                                              \
	static int tap__program_##name(int argc, char **argv);                                     \
	TAP__ENTRY(TAP_PROGRAM, #name, program, tap__program_##name)                               \
	static int tap__program_##name(int argc, char **argv)

/* One check. Returns @cond, so that a caller can stop or explain. */
__attribute__((format(printf, 2, 3))) bool tap__ok(bool cond, const char *fmt, ...);

/* One check: is @got the text @want?  Prints both if it is not.  NULL differs from any text. */
__attribute__((format(printf, 3, 4))) bool tap__is(const char *got, const char *want,
						   const char *fmt, ...);

/*
 * One check that cannot run here, counted as passed by TAP readers; @reason is mandatory. Only for
 * what this machine really lacks.
 */
__attribute__((format(printf, 2, 3))) void tap__skip(const char *reason, const char *fmt, ...);

/*
 * What callbacks of a case were called with, in their order: each adds to one text.  A check of it
 * takes it: the next text begins empty.
 */
__attribute__((format(printf, 1, 2))) void tap__say(const char *fmt, ...);
__attribute__((format(printf, 2, 3))) bool tap__said(const char *want, const char *fmt, ...);

/*
 * The same with the file tests/golden/@name: what a whole output is to be. XRPROF_GOLDEN=write
 * writes the file, and fails: see `git diff`.
 */
bool tap__golden(const char *name);

/* The text so far, for a look at a part of it. */
const char *tap__saying(void);

/* A remark, as a TAP comment: "# ...". */
__attribute__((format(printf, 1, 2))) void tap__diag(const char *fmt, ...);

/* Fail, and end the process: nothing after this can work. */
__attribute__((noreturn, format(printf, 1, 2))) void tap__bail(const char *fmt, ...);

/*
 * The same, if @failed; errno is printed, too.  The arguments are evaluated in any case.
 */
__attribute__((format(printf, 2, 3))) void tap__bail_if(bool failed, const char *fmt, ...);

/* The case's own folder below /tmp: made on the first call, removed with all in it at the end. */
const char *tap__folder(void);

/* The path of @name in that folder. */
const char *tap__path(const char *name);

/* Make @path a file of these @len bytes. */
void tap__write(const char *path, const void *data, size_t len);

/* All of the file @path and a NUL, until the next call; NULL: it cannot be read.  @len may be NULL.
 */
const char *tap__read(const char *path, size_t *len);

/* Does this run want the tests at their full size, too (XRPROF_TESTS=all)? */
bool tap__all(void);

/*
 * Is this root of the machine, who may become other users and give files away?  In a user
 * namespace without other users (unshare -Ur) root may not.
 */
bool tap__root(void);

#endif /* TAP_H */
