/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "os/linux/refusal.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/linux/rights.h"
#include "os/proc.h"

/* The first user namespace: include/linux/proc_ns.h, PROC_USER_INIT_INO. */
#define INIT_USER_NS 0xEFFFFFFDU

#define BIT(capability) (1ULL << (capability))

/* What each needs, and the option of `docker run` that gives it. */
static const struct {
	const char *call, *name, *add;
	unsigned int capability;
} needs[] = {
	[REFUSAL_BPF] = {"bpf", "CAP_BPF", "--cap-add BPF --cap-add PERFMON", CAP_BPF},
	[REFUSAL_EVENTS] = {"perf_event_open", "CAP_PERFMON", "--cap-add BPF --cap-add PERFMON",
			    CAP_PERFMON},
	[REFUSAL_PROBE] = {"perf_event_open", "CAP_SYS_ADMIN", "--cap-add SYS_ADMIN",
			   CAP_SYS_ADMIN},
	[REFUSAL_PTRACE] = {"ptrace", "CAP_SYS_PTRACE", "--cap-add SYS_PTRACE", CAP_SYS_PTRACE},
	[REFUSAL_READ] = {"process_vm_readv", "CAP_SYS_PTRACE", "--cap-add SYS_PTRACE",
			  CAP_SYS_PTRACE},
	[REFUSAL_FILE] = {NULL, "CAP_DAC_READ_SEARCH", "--cap-add DAC_READ_SEARCH",
			  CAP_DAC_READ_SEARCH},
	[REFUSAL_MAPPED] = {NULL, "CAP_CHECKPOINT_RESTORE", "--cap-add CHECKPOINT_RESTORE",
			    CAP_CHECKPOINT_RESTORE},
};

bool refusal__in_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/user", &st) && st.st_ino != INIT_USER_NS;
}

bool refusal__lockdown(void)
{
	char line[64];

	return !proc__line("/sys/kernel/security/lockdown", line, sizeof(line)) &&
	       strstr(line, "[confidentiality]");
}

static bool permitted(unsigned int capability)
{
	return rights__permitted() & BIT(capability);
}

/*
 * Each is called so that the kernel rejects it before it does anything, and not by these errors: a
 * size that is too large (kernel/bpf/syscall.c), invalid flags (kernel/events/core.c,
 * mm/process_vm_access.c), a process that cannot be (kernel/ptrace.c).  Before Linux 5.19 bpf(2)
 * asks for CAP_BPF first.
 */
bool refusal__filtered(enum refusal_call call)
{
	struct iovec none = {NULL, 0};
	uint64_t raised;
	long result = 0;
	int err;

	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
		return false;
	raised = rights__raise(RIGHTS_LOAD);
	errno = 0;
	switch (call) {
	case REFUSAL_BPF:
		result = syscall(SYS_bpf, INT_MAX, NULL, INT_MAX);
		break;
	case REFUSAL_EVENTS:
	case REFUSAL_PROBE:
		result = syscall(SYS_perf_event_open, NULL, 0, -1, -1, ULONG_MAX);
		break;
	case REFUSAL_PTRACE:
		result = ptrace(PTRACE_DETACH, -1, NULL, NULL);
		break;
	case REFUSAL_READ:
		result = process_vm_readv(getpid(), &none, 1, &none, 1, ULONG_MAX);
		break;
	case REFUSAL_FILE:
	case REFUSAL_MAPPED:
		break;
	}
	err = result < 0 ? errno : 0;
	rights__lower(raised);
	return err == EPERM || err == EACCES || err == ENOSYS;
}

bool refusal__is(enum refusal_call call, int err)
{
	return err == -EPERM || err == -EACCES || (err == -ENOSYS && refusal__filtered(call));
}

/* @why, and how this process gets the capability that is missing. */
static const char *text__without(struct errmsg *text, enum refusal_call call, const char *why)
{
	const char *name = needs[call].name;

	if (prctl(PR_CAPBSET_READ, needs[call].capability, 0, 0, 0) == 0)
		errmsg__set(text, 0, "%s; this container or service has no %s: docker run %s%s",
			    why, name, geteuid() ? "--user 0 " : "", needs[call].add);
	else if (!geteuid())
		errmsg__set(text, 0, "%s; this root has no %s: run as root with all capabilities",
			    why, name);
	else if (call == REFUSAL_BPF || call == REFUSAL_EVENTS)
		errmsg__set(text, 0,
			    "%s; run as root or: setcap cap_bpf,cap_perfmon,cap_sys_ptrace+p on "
			    "the program",
			    why);
	else
		errmsg__set(text, 0, "%s; run as root (sudo) or with %s", why, name);
	return text->text;
}

static const char *text__filtered(struct errmsg *text, enum refusal_call call)
{
	errmsg__set(text, 0,
		    "a seccomp filter of this container or service forbids %s(2); allow it: "
		    "docker run %s",
		    needs[call].call,
		    permitted(needs[call].capability) ? "--security-opt seccomp=unconfined"
						      : needs[call].add);
	return text->text;
}

/* All that is known is in order. */
static const char *text__unknown(struct errmsg *text)
{
	errmsg__set(text, 0,
		    "permission denied, perhaps by a security module (SELinux, AppArmor); its log "
		    "shows the rule");
	return text->text;
}

const char *refusal__call(enum refusal_call call, struct errmsg *text)
{
	if (refusal__in_namespace())
		errmsg__set(text, 0,
			    "permission denied: a user namespace (such as of a rootless container) "
			    "does not allow it, whatever the capabilities; run the profiler "
			    "outside of it");
	else if (!permitted(needs[call].capability))
		text__without(text, call, "permission denied");
	else if (refusal__filtered(call))
		text__filtered(text, call);
	else if (call == REFUSAL_EVENTS && rights__events_restricted() && !permitted(CAP_SYS_ADMIN))
		errmsg__set(text, 0,
			    "permission denied: kernel.perf_event_paranoid is above 2, where "
			    "CAP_PERFMON is not enough; set it to 2, or run as root");
	else
		text__unknown(text);
	return text->text;
}

/* The capabilities that process @pid has and this one has not. */
static uint64_t target__exceeds(pid_t pid)
{
	char status[PROC_STATUS_MAX];
	const char *at;
	unsigned long long its;

	if (proc__text(pid, "status", status, sizeof(status)) <= 0)
		return 0;
	at = strstr(status, "\nCapPrm:");
	return at && sscanf(at + strlen("\nCapPrm:"), "%llx", &its) == 1
		       ? its & ~rights__permitted()
		       : 0;
}

/* It may not be looked at: __ptrace_may_access() (kernel/ptrace.c). */
static const char *text__not_ours(struct errmsg *text, enum refusal_call call, pid_t pid)
{
	struct proc p;

	if (permitted(CAP_SYS_PTRACE) && refusal__in_namespace()) {
		errmsg__set(text, 0,
			    "it is outside of this user namespace; run the profiler there");
		return text->text;
	}
	if (permitted(CAP_SYS_PTRACE))
		return text__unknown(text);
	if (!proc__read(pid, &p) && p.uid != geteuid())
		return text__without(text, call, "it is another user's");
	if (target__exceeds(pid))
		return text__without(text, call,
				     "it has capabilities that the profiler does not have");
	return text__without(text, call,
			     "it changed its user or made itself unreadable (PR_SET_DUMPABLE)");
}

/* It may be looked at, but its memory not be read, or it not be stopped. */
static const char *text__not_attached(struct errmsg *text, enum refusal_call call)
{
	const unsigned int scope = rights__ptrace_scope();
	char why[96];

	if (refusal__filtered(call))
		return text__filtered(text, call);
	if (scope == 3) {
		errmsg__set(text, 0,
			    "kernel.yama.ptrace_scope is 3: no process may read or trace another; "
			    "set a lower value in /etc/sysctl.d and restart the system");
		return text->text;
	}
	if (!scope || permitted(CAP_SYS_PTRACE))
		return text__unknown(text);
	snprintf(why, sizeof(why), "kernel.yama.ptrace_scope is %u: %s", scope,
		 scope == 1 ? "only processes that the profiler started may be read"
			    : "users may read no process");
	return text__without(text, call, why);
}

const char *refusal__target(enum refusal_call call, pid_t pid, struct errmsg *text)
{
	char path[8];

	if (rights__whose(NULL) == RIGHTS_CALLER) {
		errmsg__set(text, 0,
			    "the program's capabilities are for R processes of the caller; run it "
			    "by sudo");
		return text->text;
	}
	/* (its mappings do not tell: from Linux 6.14 on CAP_PERFMON is enough, kernel/fork.c) */
	if (proc__link(pid, "exe", path, sizeof(path)) == -EACCES)
		return text__not_ours(text, call == REFUSAL_PTRACE ? call : REFUSAL_READ, pid);
	if (call == REFUSAL_PTRACE || call == REFUSAL_READ)
		return text__not_attached(text, call);
	if (permitted(needs[call].capability))
		return text__unknown(text);
	return text__without(text, call, "this user may not read the file");
}

bool refusal__hidden(pid_t pid, struct errmsg *text)
{
	char link[16] = "", self[16];

	if (pid <= 0 || (kill(pid, 0) && errno != EPERM))
		return false;
	snprintf(self, sizeof(self), "%d", (int)getpid());
	if (readlink("/proc/self", link, sizeof(link) - 1) < 0 || strcmp(link, self) != 0)
		errmsg__set(text, 0,
			    "/proc is not mounted, or belongs to another pid namespace; mount -t "
			    "proc proc /proc");
	else if (rights__whose(NULL) == RIGHTS_CALLER)
		errmsg__set(text, 0, "/proc hides it (mount option hidepid); run it by sudo");
	else
		text__without(text, REFUSAL_READ, "/proc hides it (mount option hidepid)");
	return true;
}
