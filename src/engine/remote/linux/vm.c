/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "engine/remote/linux/vm.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/os.h"

/*
 * The kernel copies the spans in order (mm/process_vm_access.c) and says how many bytes it copied
 * before the first page that cannot be read.
 */
static int vm__read(void *arg, const struct remote_span *spans, uint32_t n)
{
	struct iovec local[REMOTE_BATCH], remote[REMOTE_BATCH];
	const pid_t *pid = arg;
	ssize_t bytes;
	uint32_t whole, i = 0;

	if (!n || n > REMOTE_BATCH)
		return 0;
	do {
		local[i].iov_base = spans[i].to;
		local[i].iov_len = spans[i].len;
		remote[i].iov_base = (void *)(uintptr_t)spans[i].addr;
		remote[i].iov_len = spans[i].len;
	} while (++i < n);
	bytes = process_vm_readv(*pid, local, n, remote, n, 0);
	if (bytes < 0)
		return errno == EFAULT || errno == EINVAL ? 0 : -errno;
	for (whole = 0; whole < n && bytes >= (ssize_t)spans[whole].len; whole++)
		bytes -= (ssize_t)spans[whole].len;
	return (int)whole;
}

struct remote_reader remote_vm__reader(pid_t *pid)
{
	return (struct remote_reader){.read = vm__read, .now = os__now, .arg = pid};
}

int remote_vm__usable(void)
{
	char from = 'x', to = 0;
	struct remote_span span = {.addr = (uintptr_t)&from, .to = &to, .len = 1};
	pid_t self = getpid();
	int got = vm__read(&self, &span, 1);

	return got < 0 ? got : 0;
}
