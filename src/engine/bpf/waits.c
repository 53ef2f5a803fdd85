/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/waits.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi.h"
#include "base/array.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/rights.h"
#include "sampler.skel.h"

#define FUNCTION "finish_task_switch"
#define KPROBES	 "/sys/bus/event_source/devices/kprobe/type"

/* bpf/wait.h */
enum { STATE_READ, STATE_FIRST, STATE_LAST };

/* Parameters of the function that a tracepoint calls; NULL: the kernel has no such tracepoint. */
static const struct btf_type *tracepoint__proto(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	t = t ? btf__type_by_id(btf, t->type) : NULL;
	if (!t || !btf_is_ptr(t))
		return NULL;
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? t : NULL;
}

/* The first parameter is the program's own data. */
static uint32_t switch__state(const struct btf *btf)
{
	const struct btf_type *proto = tracepoint__proto(btf, "btf_trace_sched_switch");
	const struct btf_type *second;

	if (!proto || btf_vlen(proto) < 5)
		return STATE_READ;
	second = btf__type_by_id(btf, btf_params(proto)[2].type);
	return second && btf_is_ptr(second) ? STATE_LAST : STATE_FIRST;
}

/* The compiler may have made a variant of it: finish_task_switch.isra.0 */
static bool function__find(char *to, size_t size)
{
	FILE *in = fopen("/proc/kallsyms", "re");
	char line[512], name[128];
	bool found = false;

	while (in && !found && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%*x %*c %127s", name) != 1)
			continue;
		found = !strncmp(name, FUNCTION, strlen(FUNCTION)) &&
			(!name[strlen(FUNCTION)] || name[strlen(FUNCTION)] == '.') &&
			!strstr(name, ".cold") && strlen(name) < size;
	}
	if (in)
		fclose(in);
	if (found)
		snprintf(to, size, "%s", name);
	return found;
}

int bpf_waits__hooks(struct bpf_wait_hooks *hooks, const char *path, struct errmsg *f)
{
	struct btf *btf = path ? btf__parse(path, NULL) : btf__load_vmlinux_btf();

	*hooks = (struct bpf_wait_hooks){0};
	if (!btf)
		return errmsg__set(f, -ENOENT, "kernel BTF is not available");
	hooks->state_arg = switch__state(btf);
	if (tracepoint__proto(btf, "btf_trace_sched_exit_tp"))
		hooks->back = BPF_BACK_TRACEPOINT;
	else if (!access(KPROBES, F_OK) && function__find(hooks->function, sizeof(hooks->function)))
		hooks->back = BPF_BACK_KPROBE;
	else if (tracepoint__proto(btf, "btf_trace_sys_exit"))
		hooks->back = BPF_BACK_SYSCALL;
	btf__free(btf);
	if (hooks->back == BPF_BACK_NONE)
		return errmsg__set(
			f, -ENOTSUP,
			"this kernel has neither the tracepoint sched_exit_tp (6.15) nor kprobes "
			"nor sys_exit: engine bpf cannot see threads that wait; use --clock wall "
			"with --engine ptrace or vmread");
	return 0;
}

const struct bpf_program *bpf_waits__program(const struct sampler *s, enum bpf_back back, bool loop)
{
	switch (back) {
	case BPF_BACK_TRACEPOINT: /* later than bpf_loop */
		return s->progs.sample_back_loop;
	case BPF_BACK_KPROBE:
		return loop ? s->progs.sample_finish_loop : s->progs.sample_finish_bounded;
	case BPF_BACK_SYSCALL:
		return loop ? s->progs.sample_exit_loop : s->progs.sample_exit_bounded;
	case BPF_BACK_NONE:
		break;
	}
	return NULL;
}

int bpf_waits__attach(struct bpf_link **link, const struct sampler *s,
		      const struct bpf_wait_hooks *hooks, bool loop, struct errmsg *f)
{
	const struct bpf_program *program = bpf_waits__program(s, hooks->back, loop);
	const char *name = hooks->back == BPF_BACK_KPROBE    ? hooks->function
			   : hooks->back == BPF_BACK_SYSCALL ? "sys_exit"
							     : "sched_exit_tp";
	uint64_t raised;
	int err;

	raised = rights__raise(RIGHTS_EVENTS); /* a kprobe is a perf event */
	*link = hooks->back == BPF_BACK_KPROBE ? bpf_program__attach_kprobe(program, false, name)
					       : bpf_program__attach_raw_tracepoint(program, name);
	err = *link ? 0 : -errno;
	rights__lower(raised);
	return err ? errmsg__set(f, err, "bpf: cannot attach to %s: %s", name, strerror(-err)) : 0;
}

static uint32_t thread__flags(char state)
{
	switch (state) {
	case 'D':
		return XR_F_DISK;
	case 'T':
	case 't':
		return XR_F_STOPPED;
	default:
		return 0;
	}
}

/*
 * False: the thread has ended, or is about to.  /proc/TID/stat adds up what all threads of the
 * process used (do_task_stat(), fs/proc/array.c); the same file below task/ is of one thread.
 */
static bool thread__read(pid_t pid, uint32_t tid, struct proc *thread)
{
	char name[32], text[1024];
	ssize_t len;

	snprintf(name, sizeof(name), "task/%u/stat", tid);
	len = proc__text(pid, name, text, sizeof(text));
	return len >= 0 && !proc__parse_stat(text, (size_t)len, thread) && !thread->ending;
}

/*
 * A thread that runs between the look and the note is not harmed: it is on a CPU then, and a new
 * note is made when it leaves that.  If it ends in between, the kernel's program has removed its
 * note before it was made (bpf/wait.h): it is removed here.
 */
static void thread__begin(int waits, pid_t pid, uint32_t tid)
{
	struct xr_wait wait = {.since = os__now(), .pid = (uint32_t)pid};
	struct proc thread;

	if (!thread__read(pid, tid, &thread) || !strchr("SDTt", thread.state))
		return;
	wait.flags = thread__flags(thread.state);
	if (!bpf_map_update_elem(waits, &tid, &wait, BPF_NOEXIST) &&
	    !thread__read(pid, tid, &thread))
		bpf_map_delete_elem(waits, &tid);
}

/* Open the list of threads of the next process that still exists.  False: there is none. */
static bool begun__next(struct bpf_waits_begun *b)
{
	char path[32];

	while (!b->dir && b->next < b->n) {
		snprintf(path, sizeof(path), "/proc/%d/task", (int)b->pids[b->next++]);
		b->dir = opendir(path);
	}
	return b->dir;
}

void bpf_waits__go_on(struct bpf_waits_begun *b, int waits)
{
	uint64_t raised = rights__raise(RIGHTS_TARGET | RIGHTS_EVENTS);
	struct dirent *entry;

	for (uint32_t i = 0; i < BPF_WAITS_SLICE && begun__next(b); i++) {
		uint32_t tid;

		entry = readdir(b->dir);
		tid = entry ? (uint32_t)atoi(entry->d_name) : 0;
		if (tid)
			thread__begin(waits, b->pids[b->next - 1], tid);
		if (!entry) {
			closedir(b->dir);
			b->dir = NULL;
		}
	}
	if (!b->dir && b->next == b->n)
		b->n = b->next = 0;
	rights__lower(raised);
}

int bpf_waits__begin(struct bpf_waits_begun *b, int waits, pid_t pid)
{
	const bool first = !b->n;

	if (array__room(&b->pids, b->n, &b->cap, sizeof(*b->pids)))
		return -ENOMEM;
	b->pids[b->n++] = pid;
	if (first)
		bpf_waits__go_on(b, waits);
	return 0;
}

void bpf_waits__free(struct bpf_waits_begun *b)
{
	if (b->dir)
		closedir(b->dir);
	free(b->pids);
}
