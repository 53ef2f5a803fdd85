/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The first lines of `info`, for each answer that a machine can give. */
#include "cmd/linux/verdict.h"

#include <linux/capability.h>
#include <string.h>

#include "tap.h"

#define BIT(capability) (1ULL << (capability))
#define ALL		(~0ULL)
/* the capabilities that are permitted, and those that sudo can give */
#define HAS(set) .permitted = (set), .bounding = (set)
#define NO_BPF	 .bpf = {"bpf: permission denied; run as root"}

static const struct {
	const char *name;
	struct verdict_facts facts;
} cases[] = {
	{"root", {HAS(ALL), .root = true, .ptrace_scope = 2}},
	{"a member of the program's group", {.whose = RIGHTS_GROUP, HAS(ALL), .ptrace_scope = 1}},
	{"install-caps, another user", {.whose = RIGHTS_CALLER, HAS(ALL), .ptrace_scope = 1}},
	{"a container with all capabilities", {HAS(ALL), .root = true, .pid_ns = true}},
	{"a container with CAP_BPF and CAP_PERFMON",
	 {HAS(BIT(CAP_BPF) | BIT(CAP_PERFMON)), .root = true}},
	{"an ordinary user", {.bounding = ALL, NO_BPF}},
	{"an ordinary user of Ubuntu", {.bounding = ALL, NO_BPF, .ptrace_scope = 1}},
	{"an ordinary user, ptrace_scope 2", {.bounding = ALL, NO_BPF, .ptrace_scope = 2}},
	{"root, ptrace_scope 3", {HAS(ALL), .root = true, .ptrace_scope = 3}},
	{"root of a container without CAP_BPF", {HAS(BIT(CAP_SYS_PTRACE)), .root = true, NO_BPF}},
	{"a user of a container without capabilities", {NO_BPF}},
	{"the same, ptrace_scope 1", {NO_BPF, .ptrace_scope = 1}},
	{"root of a user namespace", {HAS(ALL), .root = true, .user_ns = true, NO_BPF}},
	{"perf events are refused",
	 {HAS(ALL),
	  .bpf = {"perf_event_open: permission denied: kernel.perf_event_paranoid is above "
		  "2, where CAP_PERFMON is not enough; set it to 2, or run as root"}}},
	{"an old kernel",
	 {HAS(ALL), .root = true,
	  .bpf = {"bpf: Linux 5.4 has no BPF ring buffer (5.8); update it"}}},
	{"a user, lockdown",
	 {.bounding = ALL, .lockdown = true, .bpf = {"bpf: lockdown forbids it; boot"}}},
	{"a filter forbids to read memory",
	 {HAS(ALL), .root = true,
	  .outside = {"process_vm_readv: a seccomp filter forbids it; allow it"}}},
};

TEST(of)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct verdict v;

		verdict__of(&v, &cases[i].facts);
		tap__say("%s: %s, %s BPF\n%s\n%s\n\n", cases[i].name, verdict__reach_name(v.reach),
			 v.bpf ? "with" : "without", v.text.text, v.advice.text);
	}
	tap__golden("verdict.txt");
}
