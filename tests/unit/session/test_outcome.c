/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a failure to find R means: look again, never, or gone; and the queue of what was found. */

#include "session/outcome.h"
#include "session/pids.h"
#include "tap.h"

#define MS 1000000ull

struct row {
	int err;
	enum process_origin origin;
	const char *comm;
	bool told;
	uint64_t waited_ms;
	enum outcome want;
	const char *what;
};

static const struct row rows[] = {
	{-ESRCH, PROCESS_NAMED, "R", false, 0, OUTCOME_GONE, "ended"},
	{-ESRCH, PROCESS_WORKLOAD, "R", false, 0, OUTCOME_GONE, "ended, the workload"},
	{-EAGAIN, PROCESS_NAMED, "R", false, 4999, OUTCOME_NOT_YET, "named, R starts"},
	{-EAGAIN, PROCESS_NAMED, "R", false, 5000, OUTCOME_NEVER, "named, R does not start"},
	{-EAGAIN, PROCESS_WORKLOAD, "x", false, 9999999, OUTCOME_NOT_YET, "workload, R starts"},
	{-EAGAIN, PROCESS_SEEN, "x", true, 9999999, OUTCOME_NOT_YET, "seen, R starts late"},
	{-ENOEXEC, PROCESS_NAMED, "sleep", false, 0, OUTCOME_NEVER, "named, not R"},
	{-ENOEXEC, PROCESS_NAMED, "R", false, 0, OUTCOME_NOT_YET, "named, R's shell script"},
	{-ENOEXEC, PROCESS_NAMED, "Rscript", false, 4999, OUTCOME_NOT_YET, "named, Rscript"},
	{-ENOEXEC, PROCESS_NAMED, "Rscript", false, 5000, OUTCOME_NEVER, "named, an odd Rscript"},
	{-ENOEXEC, PROCESS_WORKLOAD, "make", false, 9999999, OUTCOME_NOT_YET,
	 "workload, not R yet"},
	{-ENOEXEC, PROCESS_SEEN, "x", true, 1999, OUTCOME_NOT_YET, "seen, its exec goes on"},
	{-ENOEXEC, PROCESS_SEEN, "x", true, 2000, OUTCOME_NEVER, "seen, and settled"},
	{-ENOEXEC, PROCESS_SEEN, "x", false, 9999, OUTCOME_NOT_YET, "scanned, R may appear"},
	{-ENOEXEC, PROCESS_SEEN, "x", false, 10000, OUTCOME_NEVER, "scanned, and settled"},
	{-ENOEXEC, PROCESS_REPLACED, "sh", true, 0, OUTCOME_NEVER, "replaced: it will be told"},
	{-ENOEXEC, PROCESS_REPLACED, "sh", false, 1999, OUTCOME_NOT_YET, "replaced, nobody tells"},
	{-ENOEXEC, PROCESS_REPLACED, "sh", false, 2000, OUTCOME_NEVER, "replaced by another"},
	{-ENOEXEC, PROCESS_REPLACED, "R", false, 9999, OUTCOME_NOT_YET, "replaced by R's script"},
	{-ENOEXEC, PROCESS_REPLACED, "R", false, 10000, OUTCOME_NEVER, "replaced by an odd R"},
	{-EBADMSG, PROCESS_NAMED, "R", false, 1999, OUTCOME_NOT_YET, "named, being mapped"},
	{-EBADMSG, PROCESS_NAMED, "R", false, 2000, OUTCOME_NEVER, "named, damaged"},
	{-EBADMSG, PROCESS_SEEN, "R", true, 0, OUTCOME_NOT_YET, "seen, being mapped"},
	{-EBADMSG, PROCESS_SEEN, "R", true, 2000, OUTCOME_NEVER, "seen, damaged"},
	{-EBADMSG, PROCESS_WORKLOAD, "R", false, 2000, OUTCOME_NEVER, "the workload, damaged"},
	{-EACCES, PROCESS_NAMED, "R", true, 0, OUTCOME_NEVER, "named, not allowed"},
	{-EACCES, PROCESS_SEEN, "R", true, 199, OUTCOME_NOT_YET, "seen, not allowed in its exec"},
	{-EACCES, PROCESS_SEEN, "R", true, 200, OUTCOME_NEVER, "seen, not allowed"},
	{-EPERM, PROCESS_WORKLOAD, "R", true, 200, OUTCOME_NEVER, "the workload, not permitted"},
	{-EMFILE, PROCESS_NAMED, "R", true, 1999, OUTCOME_NOT_YET, "named, no descriptors"},
	{-EMFILE, PROCESS_NAMED, "R", true, 2000, OUTCOME_NEVER, "named, none for long"},
	{-ENFILE, PROCESS_SEEN, "R", true, 0, OUTCOME_NOT_YET, "seen, no descriptors"},
	{-ENOMEM, PROCESS_SEEN, "R", true, 0, OUTCOME_NOT_YET, "seen, no memory"},
	{-ENOMEM, PROCESS_SEEN, "R", true, 2000, OUTCOME_NEVER, "seen, no memory for long"},
	{-EBUSY, PROCESS_SEEN, "R", true, 999999, OUTCOME_NOT_YET,
	 "not asked, for its user's sake"},
	{-ETIMEDOUT, PROCESS_SEEN, "R", true, 999999, OUTCOME_NOT_YET, "no answer"},
	{-ETIMEDOUT, PROCESS_WORKLOAD, "R", true, 999999, OUTCOME_NOT_YET,
	 "no answer of the workload"},
	{-ETIMEDOUT, PROCESS_NAMED, "R", true, 0, OUTCOME_NEVER, "no answer of one that was named"},
	{-EIO, PROCESS_NAMED, "R", true, 0, OUTCOME_NEVER, "who looks at it ends by that"},
	{-ENOTSUP, PROCESS_NAMED, "R", false, 0, OUTCOME_NEVER, "32-bit"},
	{-EEXIST, PROCESS_SEEN, "R", true, 0, OUTCOME_NEVER, "the engine has it"},
	{-EAGAIN, PROCESS_FORKED, "R", true, 0, OUTCOME_NOT_YET, "forked, R starts"},
	{-ENOEXEC, PROCESS_FORKED, "R", true, 0, OUTCOME_NEVER, "forked, not R"},
};

/* Where others are profiled, too. */
static const struct row followed[] = {
	{-ENOEXEC, PROCESS_NAMED, "sh", false, 9999999, OUTCOME_NOT_YET, "named, R may be below"},
	{-ENOEXEC, PROCESS_REPLACED, "sh", false, 9999, OUTCOME_NOT_YET,
	 "replaced, R may be below"},
};

static void test_rows(const struct row *all, size_t n, bool follow)
{
	for (const struct row *r = all; r < all + n; r++) {
		const struct outcome_facts facts = {
			.origin = r->origin,
			.comm = r->comm,
			.told = r->told,
			.follow = follow,
			.waited = r->waited_ms * MS,
		};
		tap__ok(outcome__of(r->err, &facts) == r->want, "%s", r->what);
	}
}

static void test_pids(void)
{
	struct pids q = {0};
	pid_t pid = 0;
	bool ok = true;

	tap__ok(!pids__take(&q, &pid), "an empty queue has nothing");
	for (pid_t i = 1; i <= 1000; i++) {
		ok &= !pids__put(&q, i);
		if (i % 3 == 0) /* taken while it is filled */
			ok &= pids__take(&q, &pid) && pid == i / 3;
	}
	for (pid_t i = 334; i <= 1000; i++)
		ok &= pids__take(&q, &pid) && pid == i;
	tap__ok(ok && !pids__take(&q, &pid), "first in, first out");
	pids__free(&q);
}

TEST(outcome)
{
	test_rows(rows, COUNT(rows), false);
	test_rows(followed, COUNT(followed), true);
	tap__ok(!outcome__matters(-ESRCH) && !outcome__matters(-ENOEXEC) &&
			!outcome__matters(-EEXIST) && !outcome__matters(-E2BIG),
		"what is ordinary is not said");
	tap__ok(outcome__matters(-EACCES) && outcome__matters(-EBADMSG) &&
			outcome__matters(-ENOTSUP) && outcome__matters(-ETIMEDOUT),
		"what is not is");
	tap__ok(outcome__is_full(-E2BIG) && outcome__is_full(-EMFILE) &&
			outcome__is_full(-ENFILE) && !outcome__is_full(-ENOMEM) &&
			!outcome__matters(-EMFILE),
		"what is full is said once");
	test_pids();
}
