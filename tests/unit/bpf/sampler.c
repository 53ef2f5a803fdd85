/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The BPF programs in a program: see sampler.h.  The kernel's types are those of vmlinux/, so this
 * file includes no header of the C library.
 */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wattributes"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"
#endif

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define __bpf__

#include "sampler.h"

void *calloc(__SIZE_TYPE__ n, __SIZE_TYPE__ size);
void abort(void);

/* --- what a program calls --- */

static void *kernel__lookup(void *map, const void *key);
static long kernel__update(void *map, const void *key, const void *value);
static long kernel__delete(void *map, const void *key);
static long kernel__output(const void *data, __u64 size);
static long kernel__read_user(void *to, __u32 len, const void *from);
static long kernel__read(void *to, __u32 len, const void *from);
static long kernel__loop(__u32 n, long (*step)(__u32 i, void *state), void *state);

static struct task_struct *current;
static struct pt_regs *current_regs;

#define bpf_map_lookup_elem(map, key)		    kernel__lookup(map, key)
#define bpf_map_update_elem(map, key, value, flags) kernel__update(map, key, value)
#define bpf_map_delete_elem(map, key)		    kernel__delete(map, key)
#define bpf_ringbuf_output(ring, data, size, flags) ((void)(flags), kernel__output(data, size))
#define bpf_ringbuf_query(ring, what)		    0
#define bpf_probe_read_user(to, len, from)	    kernel__read_user(to, len, from)
#define bpf_probe_read_kernel(to, len, from)	    kernel__read(to, len, from)
#define bpf_probe_read_kernel_str(to, len, from)    kernel__read(to, len, from)
#define bpf_loop(n, step, state, flags)		    kernel__loop(n, step, state)
#define bpf_get_stack(ctx, to, size, flags)	    (-1)
#define bpf_get_current_task()			    ((__u64)(unsigned long)current)
#define bpf_get_current_task_btf()		    current
#define bpf_task_pt_regs(task)			    ((long)(task ? current_regs : NULL))
#define bpf_get_current_pid_tgid()		    ((__u64)current->tgid << 32 | (__u32)current->pid)
#define bpf_get_smp_processor_id()		    1u
#define bpf_get_prandom_u32()			    kernel.random
#define bpf_ktime_get_ns()			    (kernel.now += kernel.pace)

#define __builtin_preserve_access_index(x)     (x)
#define __builtin_preserve_field_info(x, what) 1
#undef bpf_core_type_size
#define bpf_core_type_size(type) sizeof(type)
#undef BPF_CORE_READ_BITFIELD_PROBED
#define BPF_CORE_READ_BITFIELD_PROBED(from, field) ((from)->field)
#undef SEC
#define SEC(name)

struct kernel kernel = {.room = 1 << 20};

/* What the loader sets can be set; registers of BPF are variables. */
#define const
#define asm(name)
#include "../../../bpf/sampler.bpf.c"
#undef asm
#undef const

/* --- maps --- */

static const struct kernel_map {
	const void *map;
	__u32 key, value;
	bool array;
} maps[] = {
	{&rows, 4, sizeof(struct xr_row), false},
	{&tallies, 4, sizeof(struct tally), true},
	{&sent, sizeof(struct sent_key), 1, false},
	{&scratches, 4, sizeof(struct scratch), true},
	{&texts, 4, sizeof(struct text_record), true},
	{&native_memos, 4, sizeof(struct memos), true},
	{&serials, 4, 4, true},
	{&waits, 4, sizeof(struct xr_wait), false},
	{&waits_told, 4, sizeof(struct xr_wait_told), false},
	{&switched, 4, sizeof(struct switched), true},
};

static struct element {
	const struct kernel_map *map; /* NULL: deleted; a program may go on using the value */
	unsigned char key[16];
	void *value;
	struct element *next;
} * elements;

static const struct kernel_map *map__of(const void *map)
{
	for (__u32 i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		if (maps[i].map == map)
			return &maps[i];
	abort();
}

/* Where the pointer to the element is, or would be. */
static struct element **map__find(const struct kernel_map *m, const void *key)
{
	struct element **e = &elements;

	while (*e && ((*e)->map != m || __builtin_memcmp((*e)->key, key, m->key)))
		e = &(*e)->next;
	return e;
}

static void *map__add(const struct kernel_map *m, struct element **at, const void *key)
{
	struct element *e = calloc(1, sizeof(*e));

	e->map = m;
	__builtin_memcpy(e->key, key, m->key);
	e->value = calloc(1, m->value);
	*at = e;
	return e->value;
}

static void *kernel__lookup(void *map, const void *key)
{
	const struct kernel_map *m = map__of(map);
	struct element **e = map__find(m, key);

	return *e ? (*e)->value : m->array ? map__add(m, e, key) : NULL;
}

static long kernel__update(void *map, const void *key, const void *value)
{
	const struct kernel_map *m = map__of(map);
	struct element **e = map__find(m, key);

	__builtin_memcpy(*e ? (*e)->value : map__add(m, e, key), value, m->value);
	return 0;
}

static long kernel__delete(void *map, const void *key)
{
	struct element *e = *map__find(map__of(map), key);

	if (!e)
		return -2;
	e->map = NULL;
	return 0;
}

/* --- memory, the ring, loops --- */

static unsigned char records[1 << 20];
static __u64 records_len, records_at;

static long kernel__output(const void *data, __u64 size)
{
	if (size > kernel.room || size > sizeof(records) - records_len)
		return -1;
	kernel.room -= size;
	__builtin_memcpy(records + records_len, data, size);
	records_len += (size + 7) & ~7ULL;
	return 0;
}

const struct xr_head *kernel__record(void)
{
	const struct xr_head *head = (void *)(records + records_at);

	if (records_at >= records_len)
		return NULL;
	records_at += (head->size + 7) & ~7ULL;
	return head;
}

static long kernel__read_user(void *to, __u32 len, const void *from)
{
	if (!kernel.read(kernel.arg, to, len, (__u64)(unsigned long)from))
		return 0;
	__builtin_memset(to, 0, len);
	return -14;
}

static long kernel__read(void *to, __u32 len, const void *from)
{
	if ((unsigned long)from < 4096) {
		__builtin_memset(to, 0, len);
		return -14;
	}
	__builtin_memcpy(to, from, len);
	return 0;
}

static long kernel__loop(__u32 n, long (*step)(__u32 i, void *state), void *state)
{
	for (__u32 i = 0; i < n; i++)
		if (step(i, state))
			return i + 1;
	return n;
}

/* --- tasks --- */

struct whole_task {
	struct task_struct task;
	struct mm_struct mm;
	struct signal_struct signal;
	struct pt_regs regs;
};

/* Each of them, until the process ends: a test's own tasks may be gone earlier. */
static struct whole_task *tasks[64];
static unsigned int ntasks;

static struct whole_task *task__of(struct kernel_task *t)
{
	struct whole_task *w = t->task;

	if (!w) {
		if (ntasks == sizeof(tasks) / sizeof(tasks[0]))
			__builtin_trap();
		w = calloc(1, sizeof(*w));
		tasks[ntasks++] = w;
	}
	t->task = w;
	w->task.pid = (int)t->tid;
	w->task.tgid = (int)t->pid;
	w->task.group_leader = t->leader ? &task__of(t->leader)->task : &w->task;
	w->task.on_cpu = !t->off;
	w->task.start_boottime = t->start_ns;
	w->task.flags = t->exiting ? PF_EXITING : 0;
	w->task.__state = t->state;
	w->task.mm = t->no_memory ? NULL : &w->mm;
	w->task.in_execve = t->in_exec;
	w->task.signal = &w->signal;
	w->signal.nr_threads = (int)t->threads;
	w->signal.live.counter = (int)t->threads - t->exiting;
	XR_REGS_SP(&w->regs) = t->sp;
	*XR_SYSCALL_AT(&w->regs) = (XR_SYSCALL_TYPE)t->syscall;
#ifdef __x86_64__
	w->task.thread.fsbase = t->top;
	w->regs.cs = 3;
#else
	w->task.thread.uw.tp_value = t->top;
#endif
	return w;
}

void kernel__runs(struct kernel_task *t)
{
	struct whole_task *w = task__of(t);

	current = &w->task;
	current_regs = &w->regs;
	cfg_have_task_regs = true;
	cfg_capture = XR_CAPTURE & ~XR_ROW_NATIVE;
}

void kernel__busy(bool busy)
{
	for (__u32 level = 0; level < XR_LEVELS; level++)
		((struct scratch *)kernel__lookup(&scratches, &level))->busy = busy;
}

/* --- the programs --- */

#define ARG(task) (__u64)(unsigned long)(task)

void kernel__tick(void)
{
	struct bpf_perf_event_data data = {.sample_period = 1};

	__builtin_memcpy(&data.regs, current_regs, sizeof(data.regs));
	sample_loop(&data);
}

void kernel__switch(struct kernel_task *next, bool preempted)
{
	__u64 args[] = {preempted, ARG(current), ARG(&task__of(next)->task)};

	on_switch((void *)args);
	kernel__runs(next);
}

void kernel__back(void)
{
	sample_back_loop(NULL);
}

void kernel__fork(struct kernel_task *child)
{
	__u64 args[] = {ARG(current), ARG(&task__of(child)->task)};

	on_fork((void *)args);
}

void kernel__gone(bool exits)
{
	__u64 args[] = {ARG(current)};

	if (exits)
		on_exit((void *)args);
	else
		on_exec((void *)args);
}

void kernel__put(const struct xr_row *row)
{
	kernel__update(&rows, &row->pid, row);
}

struct xr_row *kernel__row(__u32 pid)
{
	return kernel__lookup(&rows, &pid);
}

const struct xr_wait_told *kernel__tell(__u32 tid, __u64 since, __u64 until)
{
	const struct xr_wait_told told = {.since = since, .until = until};

	any_told = true;
	kernel__update(&waits_told, &tid, &told);
	return kernel__lookup(&waits_told, &tid);
}

__u64 kernel__count(__u32 which)
{
	__u64 sum = 0;

	for (__u32 level = 0; level <= XR_LEVELS; level++)
		sum += ((struct tally *)kernel__lookup(&tallies, &level))->counts[which];
	return sum;
}
