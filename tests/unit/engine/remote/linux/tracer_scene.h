/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TRACER_SCENE_H
#define TRACER_SCENE_H

/*
 * A process that traces its child and fails while the child is stopped: for the tests of what must
 * become of the child.
 */
#include <sched.h>
#include <stdatomic.h>

#include "child.h"
#include "engine/remote/linux/tracee.h"
#include "engine/remote/linux/watchdog.h"
#include "os/proc.h"
#include "tap.h"

#define SCENE_WAIT_NS 2000000000 /* for a thread that does stop: much more than it takes */

/* What the test, the tracer and its target share. */
struct scene {
	void (*life)(struct scene *s); /* of the target, */
	void (*run)(struct scene *s);  /* and of the tracer */
	pid_t tracer, target;
	struct tracees *tracees;     /* the tracer's */
	int order[2];		     /* a byte read from it makes a target that sleeps wake up */
	int errors;		     /* the tracer writes to it what it says on stderr */
	_Atomic int step;	     /* of the tracer; see each test */
	_Atomic unsigned long moves; /* of a target that runs */
};

/* How a target lives: it computes, or it sleeps where it cannot be interrupted (vfork(2)). */
__attribute__((unused, noreturn)) static void target__run(struct scene *s)
{
	for (;;)
		atomic_fetch_add(&s->moves, 1);
}

__attribute__((unused, noreturn)) static void target__sleep(struct scene *s)
{
	volatile pid_t pid = vfork();
	char byte;

	if (!pid)
		_exit(read(s->order[0], &byte, 1) != 1);
	target__run(s);
}

/* Until the watchdog is at work, which tracees__open waits a second for, nothing is stopped. */
static inline void tracees__await(struct tracees *ts)
{
	struct watchdog *w = tracees__watchdog(ts);

	while (!watchdog__enter(w, getpid()))
		usleep(1000);
	watchdog__leave(w, false);
}

static void tracer__main(int ready, void *arg)
{
	struct scene *s = arg;
	struct errmsg f;
	pid_t target;

	/* of a process group that can be stopped from its terminal */
	setpgid(0, 0);
	dup2(s->errors, STDERR_FILENO);
	s->tracer = getpid();
	target = fork();
	if (!target)
		s->life(s);
	s->target = target;
	if (target <= 0 || tracees__open(&s->tracees, &f))
		_exit(3);
	tracees__await(s->tracees);
	if (write(ready, "", 1) != 1)
		_exit(3);
	s->run(s);
	tracees__close(s->tracees);
	_exit(0);
}

/* scene__start - @run is the tracer's life, after which it ends with status 0. */
static inline struct scene *scene__start(void (*life)(struct scene *s),
					 void (*run)(struct scene *s), int errors)
{
	struct scene *s = child__shared(sizeof(*s));

	s->life = life;
	s->run = run;
	s->errors = errors;
	signal(SIGCHLD, SIG_DFL);
	/* what the tracer leaves behind is ours */
	tap__bail_if(pipe(s->order) || prctl(PR_SET_CHILD_SUBREAPER, 1), "no scene");
	tap__bail_if(child__start(tracer__main, s) != s->tracer || s->tracer <= 0, "no tracer");
	return s;
}

static inline void scene__end(struct scene *s)
{
	child__end(s->tracer);
	if (s->target > 0)
		kill(s->target, SIGKILL);
	close(s->order[0]);
	close(s->order[1]);
	munmap(s, sizeof(*s));
}

/* What is waited for comes to be, soon or never. */
#define SCENE__UNTIL(condition)                                                                    \
	({                                                                                         \
		bool came = false;                                                                 \
		for (int i = 0; i < 2000 && !(came = (condition)); i++)                            \
			usleep(10000);                                                             \
		came;                                                                              \
	})

static inline char pid__state(pid_t pid)
{
	struct proc p;

	return proc__read(pid, &p) ? '-' : p.state;
}

static inline bool scene__in_state(pid_t pid, char state)
{
	return SCENE__UNTIL(pid__state(pid) == state);
}

static inline bool scene__at(struct scene *s, int step)
{
	return SCENE__UNTIL(s->step >= step);
}

/* How the tracer ended, as of waitpid(). */
static inline int scene__status(struct scene *s)
{
	int status = -1;

	waitpid(s->tracer, &status, 0);
	s->tracer = 0;
	return status;
}

/* Does the target go on? */
static inline bool scene__moves(struct scene *s)
{
	unsigned long before = s->moves;

	return SCENE__UNTIL(s->moves != before);
}

/* The process of that name, or of any (NULL), that is a child of @pid; 0: none. */
static inline pid_t scene__child(pid_t pid, const char *comm)
{
	char path[64], *at;
	struct proc p;
	pid_t child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	at = (char *)tap__read(path, NULL);
	while (at && (child = (pid_t)strtol(at, &at, 10)) > 0)
		if (!proc__read(child, &p) && (!comm || !strcmp(p.comm, comm)) && p.state != 'Z')
			return child;
	return 0;
}

/*
 * Does @pid sleep in vfork(2)?  Its child is there then.  Before that it may sleep, too: until a
 * page of its program is read.
 */
static inline bool pid__in_vfork(pid_t pid)
{
	return scene__child(pid, NULL) && pid__state(pid) == 'D';
}

#endif
