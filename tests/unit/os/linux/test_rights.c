/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Capabilities raised, lowered and given up; standard descriptors.  In children: it is for good. */
#define _GNU_SOURCE
#include "os/linux/rights.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "os/proc.h"
#include "child.h"
#include "tap.h"

#define BIT(n) (1ULL << (n))

static const uint64_t in_memory = 0x5eed;

static bool nothing_in_effect(void)
{
	struct errmsg f;

	return !rights__begin(&f) && !rights__effective() &&
	       rights__permitted() & BIT(CAP_SYS_PTRACE);
}

static bool raised_and_lowered(void)
{
	struct errmsg f;
	uint64_t outer, inner;
	bool ok;

	rights__begin(&f);
	outer = rights__raise(RIGHTS_TARGET);
	ok = rights__effective() & BIT(CAP_SYS_PTRACE) &&
	     !(rights__effective() & BIT(CAP_SYS_ADMIN));
	inner = rights__raise(RIGHTS_TARGET | RIGHTS_PRIORITY);
	ok = ok && rights__effective() & BIT(CAP_SYS_NICE);
	errno = EXDEV;
	rights__lower(inner);
	ok = ok && errno == EXDEV && rights__effective() & BIT(CAP_SYS_PTRACE) &&
	     !(rights__effective() & BIT(CAP_SYS_NICE));
	rights__lower(outer);
	return ok && !rights__effective();
}

static bool given_up(void)
{
	struct errmsg f;
	uint64_t raised;

	rights__begin(&f);
	rights__keep(RIGHTS_TARGET);
	if (rights__permitted() &
	    ~(BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_CHECKPOINT_RESTORE)))
		return false;
	raised = rights__raise(RIGHTS_LOAD | RIGHTS_FILES | RIGHTS_SIGNAL);
	return !(raised & ~BIT(CAP_DAC_READ_SEARCH)) && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

/* A child that is of another user, if @arg. */
static void waits(int ready, void *arg)
{
	if (!arg || child__user(60002))
		child__wait(ready);
}

/* Root without capabilities is a user like others. */
static bool without_reading(void)
{
	char path[64];
	const pid_t pid = child__start(waits, path);
	struct errmsg f;
	uint64_t raised;
	bool no, yes;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	rights__begin(&f);
	no = open(path, O_RDONLY) < 0 && errno == EACCES;
	raised = rights__raise(RIGHTS_TARGET);
	yes = open(path, O_RDONLY) >= 0;
	rights__lower(raised);
	raised = rights__raise(RIGHTS_SIGNAL);
	child__end(pid);
	rights__lower(raised);
	return no && yes;
}

/* Process @pid can be looked at, and read. */
static bool looks(pid_t pid)
{
	int fd = proc__open(pid, "maps");
	uint64_t value = 0;

	if (fd >= 0)
		close(fd);
	return fd >= 0 &&
	       !proc__memory(pid, (uint64_t)(uintptr_t)&in_memory, &value, sizeof(value)) &&
	       value == in_memory;
}

/*
 * As in a container: not CAP_SYS_PTRACE, but other capabilities, which the inspected process also
 * has.  If the profiler drops other capabilities, it can still inspect that process.
 */
static bool as_in_container(void)
{
	const uint64_t container = BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_SETUID) |
				   BIT(CAP_NET_RAW) | BIT(CAP_SETFCAP);
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{(uint32_t)container, (uint32_t)container, 0},
						 {0, 0, 0}};
	struct errmsg f;
	bool yes, kept;
	pid_t pid;

	if (syscall(SYS_capset, &head, data))
		return false;
	pid = child__start(waits, NULL);
	yes = !rights__begin(&f) && !rights__effective() && looks(pid) && !rights__effective();
	rights__keep(RIGHTS_TARGET | RIGHTS_PRIORITY);
	kept = looks(pid) && !rights__effective();
	child__end(pid);
	return yes && kept;
}

static bool closed_descriptors(void)
{
	struct errmsg f;
	char c;

	for (int fd = 0; fd < 3; fd++)
		close(fd);
	return !rights__begin(&f) && open("/dev/null", O_RDWR) > 2 && read(0, &c, 1) < 0 &&
	       errno == EBADF && write(1, "x", 1) < 0 && errno == EBADF && write(2, "x", 1) < 0 &&
	       fcntl(1, F_GETFD) == FD_CLOEXEC;
}

TEST(rights)
{
	tap__ok(!rights__exceed() && rights__whose(NULL) == RIGHTS_PROCESS &&
			!rights__may_look(getpid(), 0),
		"this program has what its caller has");
	tap__ok(child__holds(closed_descriptors),
		"closed standard descriptors are taken, and useless");
	if (geteuid() || !(rights__permitted() & BIT(CAP_SYS_PTRACE))) {
		tap__skip("needs root's capabilities", "capabilities");
		return;
	}
	tap__ok(child__holds(nothing_in_effect), "at the start nothing is in effect");
	tap__ok(child__holds(raised_and_lowered), "what a use needs is, until it is lowered");
	tap__ok(child__holds(given_up), "dropped capabilities cannot be raised again");
	tap__ok(child__holds(without_reading), "another user's process is looked at with it alone");
	tap__ok(child__holds(as_in_container),
		"one with the same capabilities is looked at without CAP_SYS_PTRACE");
}
