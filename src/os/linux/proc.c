/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "os/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parse.h"
#include "os/linux/rights.h"
#include "os/os.h"

int proc__open(pid_t pid, const char *name)
{
	char path[64];
	uint64_t raised;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	raised = rights__raise(RIGHTS_TARGET);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	rights__lower(raised);
	return fd < 0 ? -errno : fd;
}

int proc__line(const char *path, char *line, size_t size)
{
	FILE *in = fopen(path, "re");
	int err = in ? 0 : -errno;

	if (!in || !fgets(line, (int)size, in)) {
		line[0] = '\0';
		err = err ? err : -EIO;
	}
	line[strcspn(line, "\n")] = '\0';
	if (in)
		fclose(in);
	return err;
}

FILE *proc__fopen(pid_t pid, const char *name)
{
	int fd = proc__open(pid, name);
	FILE *file;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

static ssize_t proc__slurp_raised(pid_t pid, const char *name, char *text, size_t size)
{
	int fd = proc__open(pid, name);
	int n;

	if (fd < 0)
		return fd;
	n = os__fill(fd, text, (unsigned int)size - 1);
	close(fd);
	if (n >= 0)
		text[n] = '\0';
	return n;
}

/* What is in it may depend on the rights of who reads it (where the stack begins). */
ssize_t proc__text(pid_t pid, const char *name, char *text, size_t size)
{
	uint64_t raised = rights__raise(RIGHTS_TARGET);
	ssize_t n = proc__slurp_raised(pid, name, text, size);

	rights__lower(raised);
	return n;
}

int proc__read(pid_t pid, struct proc *p)
{
	char text[PROC_STATUS_MAX];
	const char *at;
	uint64_t number;
	ssize_t len;

	memset(p, 0, sizeof(*p));
	if (pid <= 0)
		return -ESRCH;
	len = proc__text(pid, "stat", text, sizeof(text));
	if (len < 0)
		return len == -ENOENT || len == -ESRCH ? -ESRCH : (int)len;
	if (proc__parse_stat(text, (size_t)len, p))
		return -ESRCH;
	len = proc__text(pid, "status", text, sizeof(text));
	if (len < 0)
		return len == -ENOENT || len == -ESRCH ? -ESRCH : (int)len;
	p->tgid = (pid_t)proc__status(text, "\nTgid:", 10, (uint64_t)pid);
	/* real and effective */
	at = strstr(text, "\nUid:");
	at = at ? at + strlen("\nUid:") : NULL;
	if (at && !parse__field(&at, UINT32_MAX, &number) &&
	    !parse__field(&at, UINT32_MAX, &number))
		p->uid = (uint32_t)number;
	p->switches = proc__status(text, "\nvoluntary_ctxt_switches:", 10, 0) +
		      proc__status(text, "\nnonvoluntary_ctxt_switches:", 10, 0);
	return 0;
}

int proc__use(pid_t pid, uint64_t *cpu_ns, char *state)
{
	struct proc p = {0};
	char text[1024];
	ssize_t len = proc__text(pid, "stat", text, sizeof(text));

	if (len < 0 || proc__parse_stat(text, (size_t)len, &p))
		return -ESRCH;
	*cpu_ns = p.cpu_ns;
	if (state)
		*state = p.state;
	return 0;
}

uint64_t proc__start_time(pid_t pid)
{
	struct proc p = {0};
	char text[1024];
	ssize_t len = proc__text(pid, "stat", text, sizeof(text));

	if (len < 0 || proc__parse_stat(text, (size_t)len, &p))
		return 0;
	return p.start_time;
}

/*
 * process_vm_readv(2): bytes, or a negative errno.  The kernel asks for the right to attach each
 * time, of what runs at that moment.  Capabilities are raised when it says no without them.
 */
static ssize_t proc__readv(pid_t pid, const struct iovec *local, const struct iovec *remote,
			   unsigned int count)
{
	ssize_t n = process_vm_readv(pid, local, count, remote, count, 0);
	struct rights_loan loan;
	uint64_t raised;

	if (n >= 0 || errno != EPERM)
		return n < 0 ? -errno : n;
	raised = rights__raise(RIGHTS_TARGET);
	if (raised) {
		n = process_vm_readv(pid, local, count, remote, count, 0);
		rights__lower(raised);
		return n < 0 ? -errno : n;
	}
	if (!rights__borrow(pid, &loan))
		return -EPERM;
	n = process_vm_readv(pid, local, count, remote, count, 0);
	n = n < 0 ? -errno : n;
	if (rights__return(&loan))
		return n;
	for (unsigned int i = 0; i < count; i++)
		memset(local[i].iov_base, 0, local[i].iov_len);
	return -EPERM;
}

int proc__memory(pid_t pid, uint64_t addr, void *to, size_t len)
{
	struct iovec local = {to, len};
	struct iovec remote = {(void *)(uintptr_t)addr, len};
	ssize_t n = proc__readv(pid, &local, &remote, 1);
	int fd;

	if (n == (ssize_t)len)
		return 0;
	if (n >= 0)
		return -EFAULT;
	if (n != -EPERM && n != -ENOSYS)
		return (int)n;
	if (addr > INT64_MAX)
		return -EFAULT;
	/* a seccomp filter may forbid the call but not the file */
	fd = proc__open(pid, "mem");
	if (fd < 0)
		return fd == -EACCES ? -EPERM : fd == -ENOENT ? -ESRCH : fd;
	n = pread(fd, to, len, (off_t)addr);
	close(fd);
	return n == (ssize_t)len ? 0 : -EFAULT;
}

static int reader__read(void *arg, uint64_t addr, void *to, size_t len)
{
	return proc__memory((pid_t)(intptr_t)arg, addr, to, len);
}

/*
 * The kernel copies the spans in order (mm/process_vm_access.c) and says how many bytes it copied
 * before the first page that cannot be read.
 */
static int reader__spans(void *arg, const struct mem_span *spans, uint32_t n)
{
	struct iovec local[MEM_SPANS_MAX], remote[MEM_SPANS_MAX];
	ssize_t bytes;
	uint32_t whole, i = 0;

	if (!n || n > MEM_SPANS_MAX)
		return 0;
	do {
		local[i].iov_base = spans[i].to;
		local[i].iov_len = spans[i].len;
		remote[i].iov_base = (void *)(uintptr_t)spans[i].addr;
		remote[i].iov_len = spans[i].len;
	} while (++i < n);
	bytes = proc__readv((pid_t)(intptr_t)arg, local, remote, n);
	if (bytes < 0)
		return bytes == -EFAULT || bytes == -EINVAL ? 0 : (int)bytes;
	for (whole = 0; whole < n && bytes >= (ssize_t)spans[whole].len; whole++)
		bytes -= (ssize_t)spans[whole].len;
	return (int)whole;
}

struct mem_reader proc__reader(pid_t pid)
{
	return (struct mem_reader){
		.read = reader__read,
		.read_spans = reader__spans,
		.arg = (void *)(intptr_t)pid,
	};
}

/* Open what @found, an O_PATH descriptor or -1 with errno, leads to, and close that. */
static int found__open(int found)
{
	struct stat st;
	char path[32];
	int fd = -ENOENT;

	if (found < 0)
		return -errno;
	if (!fstat(found, &st) && S_ISREG(st.st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		fd = fd < 0 ? -errno : fd;
	}
	close(found);
	return fd;
}

int proc__open_regular(const char *path)
{
	return found__open(open(path, O_PATH | O_CLOEXEC));
}

static int proc__open_in_root_raised(pid_t pid, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char name[32];
	int root, fd;

	snprintf(name, sizeof(name), "/proc/%d/root", (int)pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0 && errno == ENOSYS) {
		/* before Linux 5.6: an absolute symbolic link is then taken from our root */
		while (*path == '/')
			path++;
		fd = openat(root, path, (int)how.flags);
	}
	fd = found__open(fd);
	close(root);
	return fd;
}

int proc__open_in_root(pid_t pid, const char *path)
{
	uint64_t raised = rights__raise(RIGHTS_TARGET);
	int fd = proc__open_in_root_raised(pid, path);

	rights__lower(raised);
	return fd;
}

ssize_t proc__link(pid_t pid, const char *name, char *path, size_t size)
{
	char link[64];
	uint64_t raised;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/%s", (int)pid, name);
	raised = rights__raise(RIGHTS_TARGET);
	n = readlink(link, path, size - 1);
	rights__lower(raised);
	if (n < 0)
		return -errno;
	if ((size_t)n == size - 1)
		return -ENAMETOOLONG;
	path[n] = '\0';
	return n;
}

int proc__exe(pid_t pid, char *path, size_t size, bool *deleted)
{
	static const char mark[] = " (deleted)";
	ssize_t n = proc__link(pid, "exe", path, size);

	if (n < 0)
		return (int)n;
	*deleted = n >= (ssize_t)sizeof(mark) && !strcmp(path + n - (sizeof(mark) - 1), mark);
	if (*deleted)
		path[n - (ssize_t)(sizeof(mark) - 1)] = '\0';
	return 0;
}

int proc__directory(pid_t pid, char *path, size_t size)
{
	char root[8], its[64], ours[64];
	ssize_t n;

	/* as seen from this one's root: another one is longer */
	if (proc__link(pid, "root", root, sizeof(root)) != 1 || root[0] != '/' ||
	    proc__link(pid, "ns/mnt", its, sizeof(its)) <= 0 ||
	    proc__link(getpid(), "ns/mnt", ours, sizeof(ours)) <= 0 || strcmp(its, ours) != 0)
		return -EXDEV;
	n = proc__link(pid, "cwd", path, size);
	return n < 0 ? (int)n : 0;
}

uint64_t proc__began(uint64_t start_time)
{
	struct timespec up;
	uint64_t boot = os__real_time();

	/* in this order: no process begins in the future if this waits for a CPU in between */
	clock_gettime(CLOCK_BOOTTIME, &up);
	boot -= (uint64_t)up.tv_sec * NS_PER_S + (uint64_t)up.tv_nsec;
	return boot + start_time * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}
