/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery in a process that the input makes up: /proc/PID/stat, status, cgroup, maps, the name of
 * its executable, the file that is mapped, and its memory, each a part of the input.  What would
 * ask the kernel is answered from them (the linker puts the functions below in the place of the C
 * library's).
 */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "fuzz.h"
#include "os/match.h"
#include "os/proc.h"
#include "target/target.h"

#define PID 4711

static const char *const names[] = {"stat", "status", "cgroup", "maps", "exe", "file"};
#define NAMES (sizeof(names) / sizeof(names[0]))
enum { PART_EXE = 4, PART_FILE = 5 };

static struct input parts[NAMES];
static struct fuzz_memory memory;
static bool made_up; /* the process is the made-up one */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
ssize_t __real_readlink(const char *path, char *to, size_t size);
ssize_t __wrap_readlink(const char *path, char *to, size_t size);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal,
				const struct iovec *remote, unsigned long nremote,
				unsigned long flags);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* The part that @path is about; NULL: nothing of the process. */
static const struct input *path__part(const char *path)
{
	char own[32];
	size_t n = (size_t)snprintf(own, sizeof(own), "/proc/%d/", PID);

	if (!made_up || strncmp(path, own, n))
		return NULL;
	if (!strncmp(path + n, "map_files/", 10) || !strcmp(path + n, "exe"))
		return &parts[PART_FILE];
	for (size_t i = 0; i < PART_EXE; i++)
		if (!strcmp(path + n, names[i]))
			return &parts[i];
	return NULL;
}

int __wrap_open(const char *path, int flags, ...)
{
	const struct input *part = path__part(path);

	if (part)
		return fuzz__file(part->at, part->left);
	if (!made_up)
		return __real_open(path, flags, 0);
	errno = ENOENT;
	return -1;
}

ssize_t __wrap_readlink(const char *path, char *to, size_t size)
{
	const struct input *part = &parts[PART_EXE];
	size_t n = part->left < size ? part->left : size;

	if (!made_up)
		return __real_readlink(path, to, size);
	/* a link has no NUL and is not empty */
	if (!n || memchr(part->at, '\0', n)) {
		errno = ENOENT;
		return -1;
	}
	memcpy(to, part->at, n);
	return (ssize_t)n;
}

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nlocal,
				const struct iovec *remote, unsigned long nremote,
				unsigned long flags)
{
	ssize_t bytes = 0;

	if (nlocal != nremote)
		fuzz__fail("%lu and %lu spans", nlocal, nremote);
	for (unsigned long i = 0; i < nlocal; i++) {
		if (fuzz_memory__read(&memory, (uint64_t)(uintptr_t)remote[i].iov_base,
				      local[i].iov_base, local[i].iov_len)) {
			errno = EFAULT;
			return bytes ? bytes : -1;
		}
		bytes += (ssize_t)local[i].iov_len;
	}
	return bytes;
}

long __wrap_syscall(long number, ...)
{
	long a[6];
	va_list ap;

	va_start(ap, number);
	fuzz__arguments(a, ap);
	va_end(ap);
	if (!made_up || number != SYS_openat2)
		return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	errno = ENOENT;
	return -1;
}

static void ask(void)
{
	static struct match_process match;
	struct target t;
	struct errmsg f = {""};
	struct proc p;
	int err;

	if (!proc__read(PID, &p) && !memchr(p.comm, '\0', sizeof(p.comm)))
		fuzz__fail("a name without an end");
	match__process(&match, PID, true);
	err = target__find(PID, XR_ROW_LINES | XR_ROW_GC, &t, &f);
	if (err > 0 || (err && !f.text[0]))
		fuzz__fail("discovery: %d, %s", err, f.text);
	if (!err && (!t.row.head_at || t.row.layout.read_lines >= XR_CONTEXT_MAX))
		fuzz__fail("a row without what is needed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	memory = (struct fuzz_memory){.how = input__u8(&in)};
	for (size_t i = 0; i < NAMES; i++)
		parts[i] = input__part(&in);
	memory.in = in;
	made_up = true;
	ask();
	made_up = false;
	return 0;
}
