/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --user, --cgroup, --comm, --exclude-pid: which of the processes that were found, not named, are
 * to be profiled.  Each may be given several times: any one value of a kind will do, and all kinds
 * that were given must agree; an excluded pid is out in any case.
 */
#ifndef XR_TARGET_FILTERS_H
#define XR_TARGET_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "os/match.h"

enum filter_kind { FILTER_USER, FILTER_CGROUP, FILTER_COMM, FILTER_EXCLUDE, FILTER_KINDS };

struct filter {
	enum filter_kind kind;
	const char *text; /* borrowed: a pattern of CGROUP or COMM */
	unsigned long id; /* of USER or EXCLUDE */
};

/* Starts as { 0 }, freed by filters__free. */
struct filters {
	struct filter *list;
	size_t n;
	bool given[FILTER_KINDS];
};

/*
 * filters__add - one option and its argument, which must live as long as @fs.
 *
 * USER: a name or a number.  CGROUP and COMM: a shell pattern (fnmatch(3), `*` matches `/` too); a
 * cgroup also matches when it lies below one of that path, or is the container whose id begins with
 * the text (12 digits or more).  EXCLUDE: PID[,PID...].  -EINVAL, -ENOMEM.
 */
int filters__add(struct filters *fs, enum filter_kind kind, const char *arg, struct errmsg *f);

/* filters__match - is the process to be profiled? */
bool filters__match(const struct filters *fs, const struct match_subject *subject);

/* filters__pass - the same for the process @pid, from /proc; no for one that has ended. */
bool filters__pass(const struct filters *fs, pid_t pid);

/* filters__narrow - may they leave nothing?  Not if all they do is to exclude some. */
bool filters__narrow(const struct filters *fs);

/* filters__text - as they would be given, "--user 1000 --comm R*", cut to @size bytes. */
void filters__text(const struct filters *fs, char *text, size_t size);

void filters__free(struct filters *fs);

#endif
