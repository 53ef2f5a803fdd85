/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LOOP_SCENE_H
#define LOOP_SCENE_H

/*
 * The engines ptrace and vmread beside one live process that holds a made-up stack of R's
 * (r_image.h).
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "child.h"
#include "engine/engine.h"
#include "os/os.h"
#include "os/proc.h"
#include "r_image.h"
#include "tap.h"
#include "target/layouts.h"

#define HEAP_SIZE   (1u << 16)
#define STACK_SIZE  (1u << 16)
#define THREAD_SIZE (1u << 18) /* above the made-up stack: of a thread that has both */

extern const struct engine_ops engine_ptrace, engine_vmread;

static struct image image;
static uint32_t nframes;

/* What came from an engine. */
struct seen {
	unsigned int samples, whole; /* of the pid asked for; with the frames that are right */
	unsigned int others;	     /* samples of other processes */
	unsigned int first;	     /* of its first thread */
	uint32_t tid;		     /* of the last sample */
	unsigned int texts, forks, execs, exits;
	uint32_t pid;
	struct xr_process fork; /* the last one */
	char note[256];
};

static inline void seen__note(void *arg, const char *line)
{
	struct seen *s = arg;

	snprintf(s->note, sizeof(s->note), "%s", line);
}

static inline void seen__record(void *arg, const void *record, size_t size)
{
	const struct xr_sample *sample = record;
	const struct xr_process *process = record;
	struct seen *s = arg;

	switch (sample->head.type) {
	case XR_REC_TEXT:
		s->texts++;
		return;
	case XR_REC_SAMPLE:
		if (sample->pid != s->pid)
			s->others++;
		s->samples += sample->pid == s->pid;
		s->first += sample->tid == s->pid;
		s->tid = sample->tid;
		s->whole += sample->nslots == nframes &&
			    size == sizeof(*sample) + nframes * sizeof(struct xr_slot);
		return;
	case XR_REC_PROCESS:
		s->forks += process->event == XR_PROCESS_FORK;
		s->execs += process->event == XR_PROCESS_EXEC;
		s->exits += process->event == XR_PROCESS_EXIT;
		if (process->event == XR_PROCESS_FORK)
			s->fork = *process;
	}
}

/* --- processes --- */

enum life { LIFE_REST, LIFE_RUN, LIFE_FORK, LIFE_EXEC, LIFE_THREAD };

struct target {
	pid_t pid;
	enum life life;
	int orders[2]; /* a byte written here lets LIFE_FORK and LIFE_EXEC do it */
};

static void *rest(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static atomic_uint spinning; /* threads that have begun to compute */
static atomic_bool ends;     /* computing that has an end does */

/* Compute for ever, or (@has_end) until it ends. */
static void *spin(void *has_end)
{
	spinning++;
	for (;;)
		if (has_end && ends)
			return NULL;
}

/*
 * R runs on a second thread, which never waits: one that has the made-up stack.  So does a third,
 * which is not R's.  On an order R's thread ends, and R runs on another one, with that stack.
 */
static void target__threads(void *stack, int ready, int orders)
{
	pthread_attr_t attributes;
	pthread_t other, thread;
	char byte = 1;

	if (pthread_create(&other, NULL, spin, NULL) || pthread_attr_init(&attributes) ||
	    pthread_attr_setstack(&attributes, stack, STACK_SIZE + THREAD_SIZE) ||
	    pthread_create(&thread, &attributes, spin, &ends))
		_exit(3);
	/* the kernel knows where a thread's stack is when it has begun to run */
	while (spinning < 2)
		usleep(1000);
	if (write(ready, &byte, 1) != 1 || read(orders, &byte, 1) != 1)
		_exit(3);
	ends = true;
	pthread_join(thread, NULL);
	if (pthread_create(&thread, &attributes, spin, NULL))
		_exit(3);
	rest(NULL);
}

static void target__live(int ready, void *arg)
{
	const struct target *t = arg;
	const enum life life = t->life;
	const int orders = t->orders[0];
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	void *heap = (void *)(uintptr_t)IMAGE_HEAP_AT;
	void *stack = (void *)(uintptr_t)IMAGE_STACK_AT;
	const pid_t parent = getpid();
	char byte = 1;

	if (mmap(heap, HEAP_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0) != heap ||
	    mmap(stack, STACK_SIZE + THREAD_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0) != stack)
		_exit(2);
	memcpy(heap, image.heap, HEAP_SIZE);
	memcpy(stack, image.stack, STACK_SIZE);
	if (life == LIFE_THREAD)
		target__threads(stack, ready, orders);
	if (write(ready, &byte, 1) != 1)
		_exit(4);
	if (life == LIFE_RUN)
		spin(NULL);
	if ((life == LIFE_FORK || life == LIFE_EXEC) && read(orders, &byte, 1) != 1)
		_exit(5);
	if (life == LIFE_FORK && !fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent) /* which has ended before that */
			_exit(6);
	}
	if (life == LIFE_EXEC)
		execlp("sleep", "sleep", "1000", NULL);
	rest(NULL);
}

static struct target target__start(enum life life)
{
	struct target t = {.life = life};

	tap__bail_if(pipe2(t.orders, O_CLOEXEC), "no pipe");
	t.pid = child__start(target__live, &t);
	tap__bail_if(t.pid < 0, "the target could not map its memory");
	return t;
}

static inline void target__order(const struct target *t)
{
	tap__bail_if(write(t->orders[1], "x", 1) != 1, "the target does not listen");
}

static inline void target__end(struct target *t)
{
	child__end(t->pid);
	t->pid = 0;
}

/* --- engines --- */

struct scene {
	const struct engine_ops *ops;
	struct engine *e;
	struct target target;
	struct xr_row row;
	struct seen seen;
	struct errmsg f;
};

/* Opens the engine and adds a target. */
static void scene__begin(struct scene *s, const struct engine_ops *ops, enum life life,
			 enum engine_clock clock, uint32_t flags)
{
	struct engine_config config = {
		.freq = 500,
		.max_processes = 2,
		.clock = clock,
		.note = seen__note,
		.note_arg = &s->seen,
	};

	*s = (struct scene){.ops = ops, .target = target__start(life)};
	tap__bail_if(ops->open(&s->e, &config, &s->f), "%s", s->f.text);
	s->row = image__row(&image);
	s->row.flags = flags;
	s->row.serial = 7;
	s->row.pid = s->seen.pid = (uint32_t)s->target.pid;
	s->row.start_time = proc__start_time(s->target.pid);
	tap__bail_if(ops->add(s->e, &s->row, &s->f), "%s", s->f.text);
}

static inline void scene__end(struct scene *s)
{
	s->ops->stop(s->e);
	s->ops->poll(s->e, 0, seen__record, &s->seen);
	s->ops->close(s->e);
	target__end(&s->target);
}

/* Poll until *@count is @n or more.  The time limit of the case ends what never comes. */
static inline bool scene__until(struct scene *s, const unsigned int *count, unsigned int n)
{
	while (*count < n)
		s->ops->poll(s->e, 50, seen__record, &s->seen);
	return true;
}

static inline void image__make(void)
{
	image__init(&image, layouts__last(LAYOUTS_X86_64_LINUX), HEAP_SIZE, STACK_SIZE);
	image__forms(&image, 0);
	for (size_t i = 0; i < IMAGE_FORMS; i++)
		nframes += image_forms[i].name != NULL;
}

#endif
