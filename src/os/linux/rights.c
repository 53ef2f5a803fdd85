/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who may be looked at is the kernel's to say.  It is asked by doing what is to be done, with what
 * the caller has: opening /proc/PID/maps with an empty effective set is PTRACE_MODE_READ_FSCREDS of
 * the caller (fs/proc/task_mmu.c, kernel/ptrace.c: the same user and group in all of a process'
 * ids, not setuid, not made unreadable, no capabilities).
 */
#define _GNU_SOURCE
#include "os/linux/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "os/proc.h"

#define BIT(capability) (1ULL << (capability))

struct caps {
	uint64_t effective, permitted, inheritable;
};

/*
 * What each use raises, of what is permitted: @own when the rights are the process' own, @lent when
 * the program has more than its caller.
 */
static const struct {
	enum rights_use use;
	uint64_t own, lent;
} needs[] = {
	{RIGHTS_TARGET,
	 BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_CHECKPOINT_RESTORE), 0},
	{RIGHTS_EVENTS, BIT(CAP_BPF) | BIT(CAP_PERFMON), BIT(CAP_BPF) | BIT(CAP_PERFMON)},
	/* memory of BPF counts against RLIMIT_MEMLOCK before Linux 5.11 */
	{RIGHTS_LOAD, BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_RESOURCE) | BIT(CAP_IPC_LOCK),
	 BIT(CAP_BPF) | BIT(CAP_PERFMON)},
	{RIGHTS_FILES, BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH), 0},
	{RIGHTS_PRIORITY, BIT(CAP_SYS_NICE), 0},
	{RIGHTS_SIGNAL, BIT(CAP_KILL), 0},
	{RIGHTS_USER, BIT(CAP_SETUID) | BIT(CAP_SETGID), 0},
	/* not for a caller who may not: it would tell how the kernel is laid out in memory */
	{RIGHTS_KERNEL, BIT(CAP_SYSLOG), 0},
	/* CAP_PERFMON was enough from Linux 5.8 until it was seen that a probe in the middle of
	 * an instruction harms the processes that execute it (perf_uprobe_event_init(),
	 * kernel/events/core.c) */
	{RIGHTS_PROBES, BIT(CAP_SYS_ADMIN), 0},
};

/* One that is not there, and one that includes it: include/linux/capability.h, fs/namei.c. */
static const struct {
	unsigned int missing, instead;
} stand_ins[] = {
	{CAP_BPF, CAP_SYS_ADMIN},
	{CAP_PERFMON, CAP_SYS_ADMIN},
	{CAP_CHECKPOINT_RESTORE, CAP_SYS_ADMIN},
	{CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE},
};

/* What a program that has more rights than its caller keeps of them at all. */
#define LENT (BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE))

static int caps__get(struct caps *c)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &head, data)) {
		*c = (struct caps){0};
		return -errno;
	}
	c->effective = data[0].effective | (uint64_t)data[1].effective << 32;
	c->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	c->inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32;
	return 0;
}

static int caps__set(const struct caps *c)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {
		{(uint32_t)c->effective, (uint32_t)c->permitted, (uint32_t)c->inheritable},
		{(uint32_t)(c->effective >> 32), (uint32_t)(c->permitted >> 32),
		 (uint32_t)(c->inheritable >> 32)},
	};

	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/*
 * AT_SECURE is what the kernel tells a program that got more by being executed, and stays for its
 * life.  Root has all anyhow.  Without any capability there is nothing that the caller has not.
 */
static bool caps__exceed(const struct caps *c)
{
	return getauxval(AT_SECURE) && getuid() && c->permitted;
}

static bool caller__in_group(gid_t gid)
{
	gid_t *groups;
	bool yes = getgid() == gid;
	int n = getgroups(0, NULL);

	if (yes || n <= 0)
		return yes;
	groups = calloc((size_t)n, sizeof(*groups));
	n = groups ? getgroups(n, groups) : 0;
	for (int i = 0; i < n && !yes; i++)
		yes = groups[i] == gid;
	free(groups);
	return yes;
}

/*
 * How an administrator says that a group may look at every process: the program's file is root's,
 * belongs to that group, and can be executed by it and not by others.  Only root can make such a
 * file, with capabilities, and only a member gets to run it.
 */
static bool program__is_for_group(gid_t *gid)
{
	struct statfs fs;
	struct stat st;
	int proc, exe;
	bool yes;

	proc = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return false;
	exe = openat(proc, "exe", O_PATH | O_CLOEXEC);
	yes = exe >= 0 && !fstatfs(proc, &fs) && fs.f_type == PROC_SUPER_MAGIC &&
	      !fstat(exe, &st) && !st.st_uid && st.st_gid && (st.st_mode & S_IXGRP) &&
	      !(st.st_mode & (S_IWGRP | S_IWOTH | S_IXOTH)) && caller__in_group(st.st_gid);
	if (yes && gid)
		*gid = st.st_gid;
	if (exe >= 0)
		close(exe);
	close(proc);
	return yes;
}

static enum rights_whose caps__whose(const struct caps *c, gid_t *gid)
{
	if (!caps__exceed(c))
		return RIGHTS_PROCESS;
	return program__is_for_group(gid) ? RIGHTS_GROUP : RIGHTS_CALLER;
}

enum rights_whose rights__whose(gid_t *gid)
{
	struct caps c;

	caps__get(&c);
	return caps__whose(&c, gid);
}

/* The one digit of a setting of the kernel's; '0' where there is none. */
static char setting__read(const char *path)
{
	char line[16];

	return proc__line(path, line, sizeof(line)) ? '0' : line[0];
}

bool rights__events_restricted(void)
{
	return setting__read("/proc/sys/kernel/perf_event_paranoid") > '2';
}

unsigned int rights__ptrace_scope(void)
{
	return (unsigned int)(setting__read("/proc/sys/kernel/yama/ptrace_scope") - '0');
}

/* The capabilities for @uses, of those permitted. */
static uint64_t caps__for(const struct caps *c, unsigned int uses)
{
	bool exceed = caps__exceed(c);
	uint64_t set = 0, have;

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (uses & needs[i].use)
			set |= exceed ? needs[i].lent : needs[i].own;
	have = set & c->permitted;
	if (exceed) {
		/* asked last: it costs some system calls */
		if (uses & RIGHTS_TARGET && c->permitted & BIT(CAP_SYS_PTRACE) &&
		    program__is_for_group(NULL))
			have |= BIT(CAP_SYS_PTRACE);
		return have;
	}
	/*
	 * Without it the kernel asks whether the caller has what the target has: in effect for
	 * files of /proc, permitted for ptrace(2) and process_vm_readv(2)
	 * (cap_ptrace_access_check(), security/commoncap.c).
	 */
	if (uses & RIGHTS_TARGET && !(c->permitted & BIT(CAP_SYS_PTRACE)))
		have |= c->permitted;
	if (uses & RIGHTS_EVENTS && c->permitted & BIT(CAP_SYS_ADMIN) &&
	    rights__events_restricted())
		have |= BIT(CAP_SYS_ADMIN);
	for (size_t i = 0; i < sizeof(stand_ins) / sizeof(stand_ins[0]); i++)
		if (set & ~have & BIT(stand_ins[i].missing))
			have |= BIT(stand_ins[i].instead) & c->permitted;
	return have;
}

uint64_t rights__raise(unsigned int uses)
{
	struct caps c;
	uint64_t more;

	if (caps__get(&c) || !c.permitted)
		return 0;
	more = caps__for(&c, uses) & ~c.effective;
	if (!more)
		return 0;
	c.effective |= more;
	return caps__set(&c) ? 0 : more;
}

void rights__lower(uint64_t raised)
{
	struct caps c;
	int err = errno;

	if (raised && !caps__get(&c)) {
		c.effective &= ~raised;
		caps__set(&c);
	}
	errno = err; /* of what was done in between */
}

/* Does the system forbid its users to read their own processes (Yama)? */
static bool caller__is_limited(void)
{
	unsigned int scope = rights__ptrace_scope();

	return scope == 1 || scope == 2; /* 3: whatever the capabilities */
}

bool rights__exceed(void)
{
	struct caps c;

	return !caps__get(&c) && caps__exceed(&c);
}

void rights__keep(unsigned int uses)
{
	struct caps c;

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (!caps__get(&c)) {
		/* where the caller's rights count it is only lent: rights__borrow() */
		uint64_t kept = caps__for(&c, uses);

		if (uses & RIGHTS_TARGET)
			kept |= c.permitted & BIT(CAP_SYS_PTRACE);
		c.permitted = kept;
		c.effective &= kept;
		c.inheritable = 0;
		caps__set(&c);
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/*
 * A closed descriptor would be given to the next file that is opened.  In its place /dev/null,
 * opened so that it cannot be used: a read or write fails with EBADF, as before.  The workload
 * finds it closed.
 */
static int descriptors__reserve(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int got;

		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		got = open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
		if (got != fd)
			return got < 0 ? -errno : -EBADF;
	}
	return 0;
}

/* A setuid or setgid program: its user and group become the caller's, capabilities stay. */
static int ids__become_caller(void)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	if (!uid || (geteuid() == uid && getegid() == gid))
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		return -errno;
	prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	return 0;
}

int rights__begin(struct errmsg *f)
{
	struct caps c;
	int err = descriptors__reserve();

	if (err)
		return errmsg__set(f, err,
				   "cannot open /dev/null in place of a closed standard stream: %s",
				   strerror(-err));
	err = ids__become_caller();
	if (!err)
		err = caps__get(&c);
	if (!err) {
		bool exceed = caps__exceed(&c);

		c.effective = 0;
		if (exceed)
			c.permitted &= LENT;
		if (exceed && !caller__is_limited() && !program__is_for_group(NULL))
			c.permitted &= ~BIT(CAP_SYS_PTRACE);
		err = caps__set(&c);
		/* as all is the caller's own, it may stay as it is */
		if (!exceed)
			err = 0;
	}
	return err ? errmsg__set(f, err, "cannot drop privileges that the caller does not have: %s",
				 strerror(-err))
		   : 0;
}

/*
 * Ask for what runs as @pid, which is held by a descriptor of its directory: that of another
 * process with the same pid would be another directory.
 */
static int caller__may_look(pid_t pid, struct proc *p)
{
	char text[1024], name[32];
	ssize_t n = -1;
	int dir, maps, stat, err = 0;

	snprintf(name, sizeof(name), "/proc/%d", (int)pid);
	dir = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -ESRCH;
	maps = openat(dir, "maps", O_RDONLY | O_CLOEXEC);
	if (maps < 0)
		err = errno == EACCES || errno == EPERM ? -EACCES : -ESRCH;
	stat = err ? -1 : openat(dir, "stat", O_RDONLY | O_CLOEXEC);
	if (stat >= 0)
		n = read(stat, text, sizeof(text));
	if (!err && (n <= 0 || proc__parse_stat(text, (size_t)n, p)))
		err = -ESRCH;
	if (maps >= 0)
		close(maps);
	if (stat >= 0)
		close(stat);
	close(dir);
	return err;
}

/* The same, with nothing in the effective set. */
static int rights__look(pid_t pid, struct proc *p)
{
	struct caps c;
	uint64_t effective;
	int err;

	if (caps__get(&c))
		return -EACCES;
	effective = c.effective;
	c.effective = 0;
	if (effective && caps__set(&c))
		return -EACCES;
	err = caller__may_look(pid, p);
	c.effective = effective;
	if (effective)
		caps__set(&c);
	return err;
}

int rights__may_look(pid_t pid, uint64_t start_time)
{
	struct proc p;
	int err;

	if (rights__whose(NULL) != RIGHTS_CALLER)
		return 0;
	err = rights__look(pid, &p);
	if (!err && p.start_time != start_time)
		err = -ESRCH;
	return err;
}

bool rights__borrow(pid_t pid, struct rights_loan *loan)
{
	struct proc p;
	struct caps c;

	if (caps__get(&c) || !(c.permitted & ~c.effective & BIT(CAP_SYS_PTRACE)))
		return false;
	if (caps__whose(&c, NULL) != RIGHTS_CALLER || rights__look(pid, &p) || !p.stack)
		return false;
	*loan = (struct rights_loan){pid, p.start_time, p.stack};
	c.effective |= BIT(CAP_SYS_PTRACE);
	return !caps__set(&c);
}

bool rights__return(const struct rights_loan *loan)
{
	struct proc p;

	rights__lower(BIT(CAP_SYS_PTRACE));
	return !rights__look(loan->pid, &p) && p.stack == loan->stack &&
	       p.start_time == loan->start_time;
}

/* With what CAP_SYS_ADMIN stands in for. */
static uint64_t caps__meant(uint64_t set)
{
	for (size_t i = 0; i < sizeof(stand_ins) / sizeof(stand_ins[0]); i++)
		if (set & BIT(stand_ins[i].instead))
			set |= BIT(stand_ins[i].missing);
	return set;
}

uint64_t rights__permitted(void)
{
	struct caps c;

	caps__get(&c);
	return caps__meant(c.permitted);
}

uint64_t rights__effective(void)
{
	struct caps c;

	caps__get(&c);
	return caps__meant(c.effective);
}
