/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Libraries that are there, that are not, and that lack a function. */
#define _GNU_SOURCE
#include "os/linux/library.h"

#include <math.h>

#include "tap.h"

#define FUNCTIONS(F) F(ldexp) F(cbrt)
LIBRARY_FUNCTIONS(m, FUNCTIONS)

TEST(library)
{
	volatile double eight = 8;
	struct errmsg f = {""};
	void *none[2] = {NULL, NULL};
	int err;

	err = library__load("libxrprof-not-there.so.1", LIBRARY_NAMES(FUNCTIONS), none, "libthis1",
			    &f);
	tap__ok(err == -ENOENT && !none[0] && strstr(f.text, "libxrprof-not-there.so.1") &&
			strstr(f.text, "(install libthis1)"),
		"one that is not there: %s", f.text);
	err = library__load("libm.so.6", (const char *const[]){"cbrt", "no_such_function", NULL},
			    none, "libc6", &f);
	tap__ok(err == -ENOSYS && !none[0] && strstr(f.text, "libm.so.6") &&
			strstr(f.text, "no_such_function"),
		"one that lacks a function: %s", f.text);
	tap__ok(!library__load("libm.so.6", LIBRARY_NAMES(FUNCTIONS), m_addresses, "libc6", &f),
		"one that is there");
	tap__ok(cbrt(eight) == 2, "its function is called");
	tap__ok(ldexp(eight, (int)eight) == 2048, "each by its name");
	tap__ok(!library__load("libxrprof-not-there.so.1", LIBRARY_NAMES(FUNCTIONS), m_addresses,
			       "x", &f) &&
			cbrt(eight) == 2,
		"what has been loaded stays");
}
