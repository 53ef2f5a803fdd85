/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "family.h"
#include "tap.h"

static void test_descent(void)
{
	struct family f = {0};

	family__add(&f, 10);
	family__forked(&f, 100, 10, 11);
	family__forked(&f, 110, 11, 12);
	family__forked(&f, 120, 5, 6);
	tap__ok(family__has(&f, 10) && family__has(&f, 11) && family__has(&f, 12),
		"a child and its child belong to it");
	tap__ok(!family__has(&f, 6) && !family__has(&f, 5), "others do not");
	family__exited(&f, 130, 11);
	family__settle(&f);
	tap__ok(!family__has(&f, 11) && family__has(&f, 12),
		"one that ended does no more; its child does");
	family__forked(&f, 140, 12, 13);
	tap__ok(family__has(&f, 13), "and has children itself");
	family__free(&f);
}

/* The records of several CPUs come in any order. */
static void test_order(void)
{
	struct family f = {0};

	family__add(&f, 1000);
	/* 1000 > 1001 > 1002 > 1003, told backwards; 1001 and 1002 have ended */
	family__exited(&f, 104, 1002);
	family__exited(&f, 103, 1001);
	family__forked(&f, 102, 1002, 1003);
	family__forked(&f, 101, 1001, 1002);
	family__forked(&f, 100, 1000, 1001);
	tap__ok(family__has(&f, 1003), "a great-grandchild told first");
	family__settle(&f);
	tap__ok(family__has(&f, 1003) && !family__has(&f, 1002) && !family__has(&f, 1001),
		"those between have ended");
	family__free(&f);
}

static void test_reuse(void)
{
	struct family f = {0};

	family__add(&f, 20);
	family__forked(&f, 100, 20, 21);
	family__settle(&f);
	/* 21 ends; a stranger gets its pid and forks */
	family__exited(&f, 200, 21);
	family__settle(&f);
	family__forked(&f, 300, 7, 21);
	family__forked(&f, 310, 21, 22);
	tap__ok(!family__has(&f, 21) && !family__has(&f, 22), "a pid that a stranger has now");
	family__settle(&f);
	/* the pid comes round within the family, and the exit of the first is told late */
	family__forked(&f, 400, 20, 23);
	family__settle(&f);
	family__forked(&f, 500, 20, 23);
	family__exited(&f, 450, 23);
	family__settle(&f);
	tap__ok(family__has(&f, 23), "the exit of an earlier process of that pid");
	family__exited(&f, 600, 23);
	family__settle(&f);
	tap__ok(!family__has(&f, 23), "its own exit");
	family__free(&f);
}

static void test_many(void)
{
	struct family f = {0};
	bool ok = true;

	family__add(&f, 1);
	for (uint64_t i = 0; i < 100000; i++) {
		pid_t pid = (pid_t)(2 + i % 30000);

		family__forked(&f, 2 * i + 1000, 1, pid);
		family__forked(&f, 2 * i + 1000, 40000, (pid_t)(40001 + i % 1000));
		ok = ok && family__has(&f, pid);
		family__exited(&f, 2 * i + 1001, pid);
		if (i % 10 == 0)
			family__settle(&f);
	}
	family__settle(&f);
	tap__ok(ok, "100,000 children that come and go");
	tap__ok(f.members.count == 1, "none is left over (%zu members)", f.members.count);
	tap__ok(f.nevents == 0 && f.room <= 1024, "nothing is kept (%zu of %zu)", f.nevents,
		f.room);
	family__free(&f);
}

int main(void)
{
	test_descent();
	test_order();
	test_reuse();
	test_many();
	return tap__done();
}
