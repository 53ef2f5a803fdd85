/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What --btf names: the file is parsed, and the sampler is relocated against it, as far as that
 * goes without a kernel. No maps or programs are made: bpf() returns a descriptor and does nothing.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include "engine/bpf/btf_check.h"
#include "fuzz.h"
#include "sampler.skel.h"

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static int print__nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	libbpf_set_print(print__nothing);
	return 0;
}

/* Loading one of the sampler's programs ends the run; the few instructions of libbpf's own
 * questions pass. */
#define QUESTION_MAX 16u

long __wrap_syscall(long number, ...)
{
	const union bpf_attr *attr;
	long a[6];
	va_list ap;

	va_start(ap, number);
	fuzz__arguments(a, ap);
	va_end(ap);
	if (number != SYS_bpf)
		return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	attr = (const void *)a[1];
	switch (a[0]) {
	case BPF_PROG_LOAD:
		if (attr->insn_cnt > QUESTION_MAX) {
			errno = EPERM;
			return -1;
		}
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	case BPF_MAP_CREATE:
	case BPF_BTF_LOAD:
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	case BPF_MAP_UPDATE_ELEM:
	case BPF_MAP_FREEZE:
		return 0;
	default:
		errno = EINVAL;
		return -1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = fuzz__file(data, size);
	char path[32];
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = path);
	struct sampler *sampler;
	struct btf *btf;
	bool sound;
	__u32 bad;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	btf = btf__parse(path, NULL);
	sound = btf && !btf_check__run(btf, &bad);
	btf__free(btf);
	if (sound) {
		sampler = sampler__open_opts(&opts);
		if (!sampler)
			fuzz__fail("the sampler cannot be opened");
		if (!sampler__load(sampler))
			fuzz__fail("a program was loaded");
		sampler__destroy(sampler);
	}
	close(fd);
	return 0;
}
