/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of a session's processes, and how the end of one is seen. */

#include "os/os.h"
#include "session/processes.h"
#include "tap.h"

TEST(processes)
{
	static struct processes ps;
	struct process *p, *next, *last = NULL;
	unsigned int n = 0;

	for (uint32_t i = 1; i <= 5000; i++) {
		p = processes__add(&ps, i % 2 ? 0 : 0x80000000u + i, i);
		tap__bail_if(!p, "no memory");
		last = p;
	}
	tap__ok(ps.count == 5000 && ps.last_serial == 2500, "serials of ours leave bit 31 alone");
	tap__ok(processes__find(&ps, 0x80000000u + 5000) == last && !processes__find(&ps, 2501),
		"found by serial");
	tap__ok(processes__find_pid(&ps, 5000) == last, "found by pid");
	last->state = PROCESS_ENDED;
	tap__ok(!processes__find_pid(&ps, 5000), "but not when it has ended");
	for (p = processes__next(&ps, NULL); p; p = next) {
		next = processes__next(&ps, p);
		processes__remove(&ps, p);
		n++;
	}
	tap__ok(n == 5000 && ps.count == 0, "each is met once, and can be removed on the way");
	ps.last_serial = 0x7fffffff;
	p = processes__add(&ps, 0, 1);
	tap__ok(p && p->serial == 1, "after 2^31 serials it starts again, not at 0");
	if (p)
		processes__remove(&ps, p);
}

TEST(gone)
{
	static struct processes ps;
	struct process *p;
	int fds[2];
	pid_t pid;
	char c;

	tap__bail_if(pipe(fds), "pipe");
	pid = fork();
	if (!pid) {
		close(fds[1]);
		_exit(read(fds[0], &c, 1) != 0);
	}
	p = processes__add(&ps, 0, (uint32_t)pid);
	tap__bail_if(pid < 0 || !p, "no process");
	process__hold(p);
	tap__ok(!process__gone(p, os__now()), "a process that waits is not gone");
	close(fds[1]);
	/* ends when the pipe does, so this ends too */
	while (!process__gone(p, os__now()))
		usleep(1000);
	tap__ok(true, "one that exited is, before its parent has seen it");
	processes__remove(&ps, p);
	close(fds[0]);
}
