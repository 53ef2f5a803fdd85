/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE /* secure_getenv */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "engine/bpf/btf_check.h"
#include "engine/bpf/kernel.h"
#include "engine/bpf/events.h"
#include "engine/bpf/perf_events.h"
#include "engine/bpf/probe.h"
#include "os/linux/refusal.h"
#include "os/linux/rights.h"
#include "os/proc.h"

struct question;

struct asking {
	const struct engine_config *config;
	struct bpf_features *features;
	const struct question *question;
	bool found; /* all findings are reported */
};

struct question {
	const char *name, *good, *bad;
	bool needed;
	int (*ask)(struct asking *a, struct errmsg *value);
	uint32_t what; /* enum bpf_func_id; enum bpf_events_kind */
};

static int ask__kernel(struct asking *a, struct errmsg *value)
{
	char signature[256];
	struct utsname name;

	(void)a;
	if (uname(&name))
		return errmsg__set(value, -errno, "uname: %s", strerror(errno));
	proc__line("/proc/version_signature", signature, sizeof(signature)); /* Ubuntu has it */
	if (kernel__freeze_prone(name.release, name.version, signature))
		return errmsg__set(
			value, -ENOTSUP,
			"Linux %s can freeze when BPF reads a process's memory; update to "
			"6.1.36, 6.3.10, 6.4 or later, or use --engine ptrace",
			name.release);
	return errmsg__set(value, 0, "Linux %s %s", name.release, name.machine);
}

/* Made, not probed: a probe does not tell "not allowed" from "not in this kernel". */
static int ask__ring(struct asking *a, struct errmsg *value)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, sysconf(_SC_PAGESIZE), NULL);
	struct utsname name;

	if (fd >= 0) {
		close(fd);
		return errmsg__set(value, 0, "yes");
	}
	if (fd == -EINVAL && !uname(&name))
		return errmsg__set(value, -ENOTSUP,
				   "Linux %s has no BPF ring buffer (5.8); update it, or use "
				   "--engine ptrace",
				   name.release);
	return kernel__fault(value, fd == -EACCES ? -EPERM : fd, a->config);
}

/* Is the file of --btf what it should be?  libbpf would only say that loading failed. */
static int ask__btf(struct asking *a, struct errmsg *value)
{
	const char *path = a->config->btf;
	struct btf *btf;
	char why[128];
	__u32 bad;
	int err;

	if (!path) {
		if (access(KERNEL_BTF, R_OK))
			return errmsg__set(value, -errno, "%s: %s", KERNEL_BTF, strerror(errno));
		return errmsg__set(value, 0, KERNEL_BTF);
	}
	btf = btf__parse(path, NULL);
	err = errno;
	if (btf) {
		err = btf_check__run(btf, &bad);
		btf__free(btf);
		if (err)
			return errmsg__set(value, -EINVAL,
					   "--btf %s: its type %u is damaged; give a copy of this "
					   "kernel's vmlinux, or its BTF",
					   path, bad);
		return errmsg__set(value, 0, "%s", path);
	}
	libbpf_strerror(err, why, sizeof(why)); /* libbpf has further errors, from 4000 on */
	return errmsg__set(value, -EINVAL,
			   "--btf %s: contains no kernel BTF (%s); give a copy of this kernel's "
			   "vmlinux, or its BTF",
			   path, why);
}

static int ask__event(struct asking *a, struct errmsg *value)
{
	struct perf_events *events;
	const char *why;
	int err = perf_events__new(&events, a->config->freq, -1, &why, value);

	if (err)
		return err;
	errmsg__set(value, 0, "%s", perf_events__name(events));
	perf_events__free(events);
	return 0;
}

static int ask__helper(struct asking *a, struct errmsg *value)
{
	const enum bpf_func_id id = (enum bpf_func_id)a->question->what;
	struct bpf_features *f = a->features;
	bool *have = id == BPF_FUNC_loop	   ? &f->loop
		     : id == BPF_FUNC_task_pt_regs ? &f->task_regs
						   : &f->task_btf;

	*have = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, id, NULL) == 1;
	/* where no program can be loaded, the probe says yes to everything */
	if (!(rights__permitted() >> CAP_BPF & 1))
		return errmsg__set(value, -EPERM, "unknown without cap_bpf");
	return errmsg__set(value, *have ? 0 : -ENOENT, *have ? "yes" : "no");
}

static int ask__loop(struct asking *a, struct errmsg *value)
{
	const char *choice = secure_getenv("XRPROF_BPF_LOOP");
	int err = ask__helper(a, value);

	if (!choice || strcmp(choice, "0"))
		return err;
	a->features->loop = false;
	return errmsg__set(value, -ENOENT, "not used: XRPROF_BPF_LOOP=0");
}

/* The kernel's types are read for it: not unless it matters. */
static int ask__waits(struct asking *a, struct errmsg *value)
{
	struct bpf_wait_hooks *hooks = &a->features->waits;
	int err;

	if (!a->found && !(a->config->capture & XR_ROW_OFF_CPU))
		return errmsg__set(value, 0, "not requested");
	err = bpf_waits__hooks(hooks, a->config->btf, value);
	if (err)
		return err;
	if (hooks->back == BPF_BACK_SYSCALL)
		return errmsg__set(value, 0, "sys_exit, in system calls only");
	return errmsg__set(value, 0, "%s",
			   hooks->back == BPF_BACK_TRACEPOINT ? "sched_exit_tp" : hooks->function);
}

/* Which events there are, if that is reported. */
static int ask__events(struct asking *a, struct errmsg *value)
{
	return a->found ? bpf_events__ask((enum bpf_events_kind)a->question->what, value)
			: errmsg__set(value, 0, "not requested");
}

static int ask__pidns(struct asking *a, struct errmsg *value)
{
	if (access("/proc/self/ns/pid", F_OK))
		return errmsg__set(value, -errno, "%s", strerror(errno));
	a->features->pidns = kernel__pid_namespace();
	return errmsg__set(value, 0, a->features->pidns ? "a nested one" : "the first");
}

static int ask__rate(struct asking *a, struct errmsg *value)
{
	uint32_t limit = perf_events__limit();

	(void)a;
	return limit ? errmsg__set(value, 0, "%u", limit) : errmsg__set(value, -ENOENT, "unknown");
}

/* In the order in which they are asked: what is needed for the next stands before it. */
static const struct question questions[] = {
	{"kernel", "BPF may read the memory of processes",
	 "this release can freeze when BPF reads memory: engine bpf is refused; update the kernel",
	 true, ask__kernel, 0},
	{"ring buffer", "samples reach the profiler in order, from all CPUs",
	 "engine bpf cannot be used (needs Linux 5.8 and CAP_BPF)", true, ask__ring, 0},
	{"BTF", "the kernel describes its structures",
	 "give a file with this kernel's BTF by --btf FILE", false, ask__btf, 0},
	{"event", "what triggers the sampler: cycles are counted by the CPU, cpu-clock by a timer",
	 "no event can trigger the sampler: engine bpf cannot be used", true, ask__event, 0},
	{"bpf_loop", "stacks are walked to 32,768 contexts by a loop that is cheap to verify",
	 "bounded loops do the same (bpf_loop came with Linux 5.17)", false, ask__loop,
	 BPF_FUNC_loop},
	{"bpf_task_pt_regs", "the sampler reads the user's stack pointer with a helper",
	 "the sampler reads the user's stack pointer where this architecture keeps it (helper: "
	 "Linux 5.15)",
	 false, ask__helper, BPF_FUNC_task_pt_regs},
	{"current task", "fields of a task are loaded directly",
	 "each field of a task costs a call (bpf_get_current_task_btf came with Linux 5.11)", false,
	 ask__helper, BPF_FUNC_get_current_task_btf},
	{"time off CPU",
	 "a thread that waited is sampled at this hook when it runs again (--off-cpu, --clock "
	 "wall)",
	 "engine bpf samples CPU time only; use another engine for --clock wall", false, ask__waits,
	 0},
	{"hardware events", "counted by the CPU, for --event",
	 "--event does not have cycles, cache-misses and the like", false, ask__events,
	 BPF_EVENTS_HARDWARE},
	{"software events", "counted by the kernel, for --event",
	 "--event does not have page-faults and the like", false, ask__events, BPF_EVENTS_SOFTWARE},
	{"cache events", "counted by the CPU's caches, for --event",
	 "--event does not have L1-dcache-load-misses and the like", false, ask__events,
	 BPF_EVENTS_CACHES},
	{"tracepoints", "--event tracepoint:CATEGORY:NAME accepts those listed there",
	 "--event does not have tracepoints", false, ask__events, BPF_EVENTS_TRACEPOINTS},
	{"probes in files", "--event accepts uprobe:/PATH:FUNCTION and usdt:/PATH:PROVIDER:NAME",
	 "--event does not have uprobe and usdt", false, ask__events, BPF_EVENTS_PROBES},
	{"collections",
	 "how --event gc detects garbage collections, to show which functions allocate",
	 "--event does not have gc", false, ask__events, BPF_EVENTS_COLLECTIONS},
	{"pid namespace", "pids are those of this namespace",
	 "pids of other namespaces cannot be translated", false, ask__pidns, 0},
	{"rate limit", "samples a second and CPU that the kernel allows", "not known", false,
	 ask__rate, 0},
};

static int bpf_probe__ask_raised(const struct engine_config *config, engine_found found, void *arg,
				 struct bpf_features *features, struct errmsg *f)
{
	struct asking a = {.config = config, .features = features, .found = found};
	int err, first = 0;

	memset(features, 0, sizeof(*features));
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		const struct question *q = &questions[i];
		struct engine_finding finding = {.name = q->name};

		a.question = q;
		err = q->ask(&a, &finding.value);
		/* what the user asks for must be there, and a file that is named be right */
		if (err && !first &&
		    (q->needed || (q->ask == ask__btf && config->btf) ||
		     (q->ask == ask__waits && config->capture & XR_ROW_OFF_CPU))) {
			first = errmsg__set(f, err, "%s", finding.value.text);
			if (!found)
				return first;
		}
		finding.ok = !err;
		finding.meaning = err ? q->bad : q->good;
		if (found)
			found(arg, &finding);
	}
	return first;
}

int bpf_probe__ask(const struct engine_config *config, engine_found found, void *arg,
		   struct bpf_features *features, struct errmsg *f)
{
	uint64_t raised = rights__raise(RIGHTS_LOAD | RIGHTS_FILES);
	int err = bpf_probe__ask_raised(config, found, arg, features, f);

	rights__lower(raised);
	return err;
}
