/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/descendants.h"
#include "tap.h"

static struct descendants f;

AFTER()
{
	descendants__free(&f);
}

TEST(descent)
{
	descendants__add(&f, 10);
	descendants__forked(&f, 100, 10, 11);
	descendants__forked(&f, 110, 11, 12);
	descendants__forked(&f, 120, 5, 6);
	tap__ok(descendants__has(&f, 10) && descendants__has(&f, 11) && descendants__has(&f, 12),
		"a child and its child belong to it");
	tap__ok(!descendants__has(&f, 6) && !descendants__has(&f, 5), "others do not");
	descendants__exited(&f, 130, 11);
	descendants__settle(&f);
	tap__ok(!descendants__has(&f, 11) && descendants__has(&f, 12),
		"one that ended does no more; its child does");
	descendants__forked(&f, 140, 12, 13);
	tap__ok(descendants__has(&f, 13), "and has children itself");
}

/* The records of several CPUs come in any order. */
TEST(order)
{
	descendants__add(&f, 1000);
	/* 1000 > 1001 > 1002 > 1003, told backwards; 1001 and 1002 have ended */
	descendants__exited(&f, 104, 1002);
	descendants__exited(&f, 103, 1001);
	descendants__forked(&f, 102, 1002, 1003);
	descendants__forked(&f, 101, 1001, 1002);
	descendants__forked(&f, 100, 1000, 1001);
	tap__ok(descendants__has(&f, 1003), "a great-grandchild told first");
	descendants__settle(&f);
	tap__ok(descendants__has(&f, 1003) && !descendants__has(&f, 1002) &&
			!descendants__has(&f, 1001),
		"those between have ended");
}

TEST(reuse)
{
	descendants__add(&f, 20);
	descendants__forked(&f, 100, 20, 21);
	descendants__settle(&f);
	/* 21 ends; a stranger gets its pid and forks */
	descendants__exited(&f, 200, 21);
	descendants__settle(&f);
	descendants__forked(&f, 300, 7, 21);
	descendants__forked(&f, 310, 21, 22);
	tap__ok(!descendants__has(&f, 21) && !descendants__has(&f, 22),
		"a pid that a stranger has now");
	descendants__settle(&f);
	/* a pid is used again within the family, and the exit of the first process comes late */
	descendants__forked(&f, 400, 20, 23);
	descendants__settle(&f);
	descendants__forked(&f, 500, 20, 23);
	descendants__exited(&f, 450, 23);
	descendants__settle(&f);
	tap__ok(descendants__has(&f, 23), "the exit of an earlier process of that pid");
	descendants__exited(&f, 600, 23);
	descendants__settle(&f);
	tap__ok(!descendants__has(&f, 23), "its own exit");
}

TEST(many)
{
	bool ok = true;

	descendants__add(&f, 1);
	for (uint64_t i = 0; i < 100000; i++) {
		pid_t pid = (pid_t)(2 + i % 30000);

		descendants__forked(&f, 2 * i + 1000, 1, pid);
		descendants__forked(&f, 2 * i + 1000, 40000, (pid_t)(40001 + i % 1000));
		ok = ok && descendants__has(&f, pid);
		descendants__exited(&f, 2 * i + 1001, pid);
		if (i % 10 == 0)
			descendants__settle(&f);
	}
	descendants__settle(&f);
	tap__ok(ok, "100,000 children that come and go");
	tap__ok(f.members.count == 1, "none is left over (%zu members)", f.members.count);
	tap__ok(f.nevents == 0 && f.room <= 1024, "nothing is kept (%zu of %zu)", f.nevents,
		f.room);
}
