/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "tracee.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/ptrace.h>
#include <time.h>
#include <unistd.h>

#include "os/os.h"
#include "os/proc.h"

#define STOP_NS 5000000000ull /* for a stop, or a system call of the handler */

/* Wait for the next stop of the thread; its status, or a negative errno. */
static int tracee__wait(struct tracee *t)
{
	uint64_t end = os__now() + STOP_NS;
	struct timespec pause = {.tv_nsec = 20000};
	int status;
	pid_t got;

	for (;;) {
		got = waitpid(t->pid, &status, __WALL | WNOHANG);
		if (got < 0)
			return -errno;
		if (got == t->pid)
			return WIFSTOPPED(status) ? status : -ESRCH;
		if (os__now() > end)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}

/*
 * Go on by @request (with @signal) to the next stop that is not the delivery of another signal than
 * SIGPROF; those are kept until the end.  The status or a negative errno.
 */
static int tracee__go(struct tracee *t, int request, int signal)
{
	int status, sig;

	for (;;) {
		if (ptrace(request, t->pid, NULL, (void *)(uintptr_t)signal))
			return -errno;
		status = tracee__wait(t);
		if (status < 0)
			return status;
		sig = WSTOPSIG(status);
		if (status >> 16 || sig == (SIGTRAP | 0x80) || sig == SIGPROF)
			return status;
		if (t->nsignals == TRACEE_SIGNALS_MAX)
			return -EAGAIN;
		t->signals[t->nsignals++] = sig;
		signal = 0;
	}
}

int tracee__stop(struct tracee *t)
{
	int status;

	if (ptrace(PTRACE_SEIZE, t->pid, NULL, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD))
		return -errno;
	t->attached = true;
	t->nsignals = 0;
	if (ptrace(PTRACE_INTERRUPT, t->pid, NULL, NULL))
		return -errno;
	status = tracee__wait(t);
	/* a signal that was just being delivered: to be delivered later */
	while (status > 0 && status >> 16 != PTRACE_EVENT_STOP) {
		if (t->nsignals == TRACEE_SIGNALS_MAX)
			return -EAGAIN;
		t->signals[t->nsignals++] = WSTOPSIG(status);
		if (ptrace(PTRACE_CONT, t->pid, NULL, NULL))
			return -errno;
		status = tracee__wait(t);
	}
	return status < 0 ? status : 0;
}

void tracee__let_go(struct tracee *t)
{
	if (!t->attached)
		return;
	ptrace(PTRACE_DETACH, t->pid, NULL, NULL);
	for (int i = 0; i < t->nsignals; i++)
		syscall(SYS_tgkill, t->pid, t->pid, t->signals[i]);
	t->attached = false;
}

/* The signals that /proc/PID/status shows under @name ("SigBlk"). */
static unsigned long long tracee__signals(const struct tracee *t, const char *name)
{
	FILE *status = proc__fopen(t->pid, "status");
	size_t len = strlen(name);
	unsigned long long mask = 0;
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, name, len) && line[len] == ':')
			mask = strtoull(line + len + 1, NULL, 16);
	if (status)
		fclose(status);
	return mask;
}

int tracee__check(const struct tracee *t)
{
	unsigned long long bit = 1ull << (SIGPROF - 1);

	if (!(tracee__signals(t, "SigCgt") & bit))
		return -ENODATA;
	return tracee__signals(t, "SigBlk") & bit ? -EAGAIN : 0;
}

int tracee__handler(struct tracee *t)
{
	struct ptrace_syscall_info info;
	bool returning = false;
	int status;

	if (syscall(SYS_tgkill, t->pid, t->pid, SIGPROF))
		return -errno;
	status = tracee__go(t, PTRACE_CONT, 0);
	if (status < 0)
		return status;
	if (status >> 16 || WSTOPSIG(status) != SIGPROF)
		return -EPROTO;
	status = tracee__go(t, PTRACE_SYSCALL, SIGPROF);
	while (status > 0) {
		if (status >> 16 || WSTOPSIG(status) != (SIGTRAP | 0x80))
			return -EPROTO; /* another SIGPROF: not of ours */
		if (returning)
			return 0;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, t->pid, (void *)sizeof(info), &info) < 0)
			return -errno;
		returning =
			info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_rt_sigreturn;
		status = tracee__go(t, PTRACE_SYSCALL, 0);
	}
	return status;
}
