/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first lines of `info`, for each answer that a machine can give. */
#include "cmd/linux/verdict.h"

#include <linux/capability.h>
#include <string.h>

#include "tap.h"

#define BIT(capability) (1ULL << (capability))
#define ALL		(~0ULL)
#define NO_BPF                                                                                     \
	{                                                                                          \
		"bpf: permission denied; run as root"                                              \
	}
#define SUDO	     "To profile every R process with BPF, run xrprof-bpf with sudo."
#define DOCKER_BPF   "To use BPF in Docker: docker run --cap-add BPF --cap-add PERFMON."
#define DOCKER_TRACE "To profile other processes in Docker: docker run --cap-add SYS_PTRACE."

static const struct {
	const char *name;
	struct verdict_facts facts;
	enum verdict_reach reach;
	bool bpf;
	const char *text, *advice;
} cases[] = {
	{
		"root",
		{.permitted = ALL, .bounding = ALL, .root = true, .ptrace_scope = 2},
		VERDICT_EVERY,
		true,
		"You can profile every R process, with BPF.",
		"",
	},
	{
		"a member of the program's group",
		{.whose = RIGHTS_GROUP, .permitted = ALL, .bounding = ALL, .ptrace_scope = 1},
		VERDICT_EVERY,
		true,
		"You can profile every R process, with BPF.",
		"",
	},
	{
		"install-caps, another user",
		{.whose = RIGHTS_CALLER, .permitted = ALL, .bounding = ALL, .ptrace_scope = 1},
		VERDICT_OWN,
		true,
		"You can profile your own R processes, with BPF.",
		SUDO,
	},
	{
		"a container with all capabilities",
		{.permitted = ALL, .bounding = ALL, .root = true, .pid_ns = true},
		VERDICT_EVERY,
		true,
		"You can profile every R process of this pid namespace, with BPF.",
		"",
	},
	{
		"a container with CAP_BPF and CAP_PERFMON",
		{.permitted = BIT(CAP_BPF) | BIT(CAP_PERFMON),
		 .bounding = BIT(CAP_BPF) | BIT(CAP_PERFMON),
		 .root = true},
		VERDICT_OWN,
		true,
		"You can profile your own R processes, with BPF.",
		DOCKER_TRACE,
	},
	{
		"an ordinary user",
		{.bounding = ALL, .bpf = NO_BPF},
		VERDICT_OWN,
		false,
		"You can profile your own R processes, without BPF: only root and programs with "
		"CAP_BPF may use it.",
		SUDO,
	},
	{
		"an ordinary user of Ubuntu",
		{.bounding = ALL, .bpf = NO_BPF, .ptrace_scope = 1},
		VERDICT_STARTED,
		false,
		"You can profile only R processes that the profiler starts, without BPF: "
		"kernel.yama.ptrace_scope is 1.",
		SUDO,
	},
	{
		"an ordinary user, ptrace_scope 2",
		{.bounding = ALL, .bpf = NO_BPF, .ptrace_scope = 2},
		VERDICT_NONE,
		false,
		"You cannot profile R processes: kernel.yama.ptrace_scope is 2.",
		SUDO,
	},
	{
		"root, ptrace_scope 3",
		{.permitted = ALL, .bounding = ALL, .root = true, .ptrace_scope = 3},
		VERDICT_NONE,
		true,
		"You cannot profile R processes: kernel.yama.ptrace_scope is 3: no process may "
		"read another.",
		"Set a lower value in /etc/sysctl.d and restart the system.",
	},
	{
		"root of a container without CAP_BPF",
		{.permitted = BIT(CAP_SYS_PTRACE),
		 .bounding = BIT(CAP_SYS_PTRACE),
		 .root = true,
		 .bpf = NO_BPF},
		VERDICT_EVERY,
		false,
		"You can profile every R process, without BPF: this container or service has no "
		"CAP_BPF or CAP_PERFMON.",
		DOCKER_BPF,
	},
	{
		"a user of a container without capabilities",
		{.bpf = NO_BPF},
		VERDICT_OWN,
		false,
		"You can profile your own R processes, without BPF: this container or service has "
		"no CAP_BPF or CAP_PERFMON.",
		DOCKER_BPF,
	},
	{
		"the same, ptrace_scope 1",
		{.bpf = NO_BPF, .ptrace_scope = 1},
		VERDICT_STARTED,
		false,
		"You can profile only R processes that the profiler starts, without BPF: "
		"kernel.yama.ptrace_scope is 1.",
		DOCKER_TRACE,
	},
	{
		"root of a user namespace",
		{.permitted = ALL, .bounding = ALL, .root = true, .user_ns = true, .bpf = NO_BPF},
		VERDICT_EVERY,
		false,
		"You can profile every R process of this user namespace, without BPF: a user "
		"namespace does not allow it.",
		"To use BPF, run xrprof-bpf outside of the user namespace (a rootless container is "
		"one).",
	},
	{
		"perf events are refused",
		{.permitted = ALL,
		 .bounding = ALL,
		 .bpf = {"perf_event_open: permission denied: kernel.perf_event_paranoid is above "
			 "2, where CAP_PERFMON is not enough; set it to 2, or run as root"}},
		VERDICT_EVERY,
		false,
		"You can profile every R process, without BPF: perf_event_open: permission denied: "
		"kernel.perf_event_paranoid is above 2, where CAP_PERFMON is not enough.",
		"What helps: set it to 2, or run as root.",
	},
	{
		"an old kernel",
		{.permitted = ALL,
		 .bounding = ALL,
		 .root = true,
		 .bpf = {"bpf: Linux 5.4 has no BPF ring buffer (5.8); update it"}},
		VERDICT_EVERY,
		false,
		"You can profile every R process, without BPF: Linux 5.4 has no BPF ring buffer "
		"(5.8).",
		"What helps: update it.",
	},
	{
		"a user, lockdown",
		{.bounding = ALL, .lockdown = true, .bpf = {"bpf: lockdown forbids it; boot"}},
		VERDICT_OWN,
		false,
		"You can profile your own R processes, without BPF: lockdown forbids it.",
		"What helps: boot.",
	},
	{
		"a filter forbids to read memory",
		{.permitted = ALL,
		 .bounding = ALL,
		 .root = true,
		 .outside = {"process_vm_readv: a seccomp filter forbids it; allow it"}},
		VERDICT_NONE,
		true,
		"You cannot profile R processes: process_vm_readv: a seccomp filter forbids it.",
		"What helps: allow it.",
	},
};

TEST(of)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct verdict v;

		verdict__of(&v, &cases[i].facts);
		tap__ok(v.reach == cases[i].reach && v.bpf == cases[i].bpf &&
				!strcmp(v.text.text, cases[i].text) &&
				!strcmp(v.advice.text, cases[i].advice),
			"%s: %s, BPF %d: %s %s", cases[i].name, verdict__reach_name(v.reach), v.bpf,
			v.text.text, v.advice.text);
	}
}
