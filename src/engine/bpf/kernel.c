/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/kernel.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "os/linux/refusal.h"

/* inode of the first pid namespace: include/linux/proc_ns.h, PROC_PID_INIT_INO */
#define INIT_PIDNS 0xEFFFFFFCU
#define NO_MEMORY                                                                                  \
	"there is too little memory to load the programs (some 20 MiB); raise the limit, or use "  \
	"--engine ptrace"

/* The digits after @mark in @text as a version; false: there are none. */
static bool version_after(const char *text, const char *mark, unsigned int v[3])
{
	const char *at = strstr(text, mark);

	v[2] = 0;
	return at && sscanf(at + strlen(mark), "%u.%u.%u", &v[0], &v[1], &v[2]) >= 2;
}

bool kernel__freeze_prone(const char *release, const char *version, const char *signature)
{
	const char *upstream = strrchr(signature, ' ');
	unsigned int v[3];

	if (!version_after(version, " Debian ", v) &&
	    !(upstream && version_after(upstream, " ", v)) && !version_after(release, "", v))
		return false;
	if (v[0] == 5)
		return v[1] >= 19;
	if (v[0] != 6)
		return false;
	return v[1] == 0 || (v[1] == 1 && v[2] < 36) || v[1] == 2 || (v[1] == 3 && v[2] < 10);
}

ino_t kernel__pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == INIT_PIDNS ? 0 : st.st_ino;
}

/* libbpf reports missing types also if it had no memory to read them. */
static bool types__memory(const char *path)
{
	struct btf *btf = btf__parse(path, NULL);
	int err = (int)libbpf_get_error(btf);

	if (!err)
		btf__free(btf);
	return err == -ENOMEM;
}

int kernel__fault(struct errmsg *f, int err, const struct engine_config *config)
{
	struct errmsg why;

	if (err != -ENOMEM && refusal__lockdown())
		return errmsg__set(f, err,
				   "bpf: the kernel's lockdown (confidentiality) does not let BPF "
				   "programs read memory; start the system with "
				   "lockdown=integrity, or use --engine ptrace");
	/* EACCES is what the verifier says when it refuses a program */
	if (err != -EACCES && refusal__is(REFUSAL_BPF, err))
		return errmsg__set(f, err, "bpf: %s", refusal__call(REFUSAL_BPF, &why));
	switch (-err) {
	case ENOSYS:
		return errmsg__set(f, err, "bpf: missing from this kernel; use --engine ptrace");
	case ENOMEM:
		return errmsg__set(f, err, "bpf: " NO_MEMORY);
	case ESRCH:
		if (types__memory(config->btf ? config->btf : KERNEL_BTF))
			return errmsg__set(f, -ENOMEM, "bpf: " NO_MEMORY);
		return errmsg__set(f, err,
				   "bpf: kernel BTF was not found in %s; name a file that has it "
				   "with --btf FILE",
				   config->btf ? config->btf : KERNEL_BTF);
	default:
		return errmsg__set(
			f, err,
			"bpf: the kernel rejected the programs: %s; --verbose shows its log",
			strerror(-err));
	}
}
