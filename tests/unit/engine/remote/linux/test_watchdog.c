/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A tracer that is stopped, hangs, or loses its watchdog while it holds a thread: the thread always
 * goes on, and what was wanted of the tracer happens.
 */
#define _GNU_SOURCE

#include "tracer_scene.h"

#define WATCHDOG "xrprof-watchdog"

/* Stop the target, */
static void hold(struct scene *s)
{
	if (tracees__stop(s->tracees, s->target, s->target, NULL, SCENE_WAIT_NS) != STOPPED)
		_exit(4);
	s->step = 1;
}

/* and after what comes of that let it go. */
static void let_go(struct scene *s)
{
	tracees__let_go(s->tracees);
	s->step = 3;
	/* until the test has seen it */
	while (s->step < 4)
		usleep(1000);
}

/* What comes to a tracer while it holds a thread, and what becomes of the tracer then. */
static const struct row {
	int signals[2];
	bool job; /* to its process group, of which the target is not; the watchdog has another */
	enum { STOPS, ENDS, RUNS_ON } then;
	const char *what;
} rows[] = {
	{{SIGSTOP}, false, STOPS, "a stop"},
	{{SIGSTOP}, true, STOPS, "a stop of the job"},
	{{SIGTSTP, SIGTTIN}, false, STOPS, "stops of the terminal"},
	{{SIGTERM, SIGQUIT}, false, ENDS, "what ends it"}, /* SIGQUIT may write a core file first */
	{{SIGSTOP, SIGCONT}, false, RUNS_ON, "a stop that others take back"},
};
static const struct row *row;

static void run__signals(struct scene *s)
{
	if (row->job && setpgid(s->target, s->target))
		_exit(5);
	hold(s);
	for (size_t i = 0; i < COUNT(row->signals) && row->signals[i]; i++)
		kill(row->job ? 0 : getpid(), row->signals[i]);
	s->step = 2;
	let_go(s);
}

static void run__hang(struct scene *s)
{
	hold(s);
	for (;;)
		pause();
}

static void run__alone(struct scene *s)
{
	pid_t pid = 0;

	hold(s);
	if (!SCENE__UNTIL((pid = scene__child(s->tracer, WATCHDOG))))
		_exit(5);
	kill(pid, SIGKILL);
	kill(getpid(), SIGSTOP);
	let_go(s);
}

/* One sample after the other. */
static void run__samples(struct scene *s)
{
	for (;;) {
		int got = tracees__stop(s->tracees, s->target, s->target, NULL, SCENE_WAIT_NS);

		if (got == STOPPED)
			tracees__let_go(s->tracees);
		else if (got < 0)
			_exit(4);
		s->step++;
		usleep(1000);
	}
}

TEST(signals)
{
	for (row = rows; row < rows + COUNT(rows); row++) {
		struct scene *s = scene__start(target__run, run__signals, STDERR_FILENO);

		/* of a tracer that stops, the last stop is the one after its target moves */
		tap__ok(scene__at(s, 2) && scene__moves(s), "%s: the target runs on", row->what);
		if (row->then == ENDS)
			tap__ok(WIFSIGNALED(scene__status(s)), "%s: the tracer ends", row->what);
		if (row->then == RUNS_ON)
			tap__ok(scene__at(s, 3) && pid__state(s->tracer) != 'T',
				"%s: the tracer runs on", row->what);
		if (row->then == STOPS) {
			tap__ok(scene__in_state(s->tracer, 'T') && s->step == 2,
				"%s: the tracer stops when it has let go", row->what);
			kill(s->tracer, SIGCONT);
			tap__ok(scene__at(s, 3), "%s: it goes on when it is continued", row->what);
		}
		tap__ok(scene__moves(s), "%s: the target goes on", row->what);
		scene__end(s);
	}
}

/* The tracer is killed by the kernel, and the target runs on. */
static void killed(void (*run)(struct scene *s), const char *what, const char *said)
{
	char text[512] = "";
	int errors[2];
	struct scene *s;
	size_t len;
	FILE *in;

	tap__bail_if(pipe(errors), "no pipe");
	s = scene__start(target__run, run, errors[1]);
	close(errors[1]);
	tap__ok(scene__status(s) == SIGKILL, "%s: it is killed", what);
	tap__ok(scene__moves(s), "%s: its target runs on", what);
	/* the target has the other end, too */
	kill(s->target, SIGKILL);
	in = fdopen(errors[0], "r");
	tap__bail_if(!in, "no stream");
	len = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	if (said)
		tap__ok(strstr(text, said) && strchr(text, '\n') == text + len - 1,
			"%s: reported in one line: %.*s", what, (int)strcspn(text, "\n"), text);
	else
		tap__ok(!text[0], "%s: no process is left to report it", what);
	scene__end(s);
}

TEST(watched)
{
	struct scene *s = scene__start(target__run, run__samples, STDERR_FILENO);
	pid_t first = 0, second = 0;

	/* as soon as the tracer can stop anything: not waited for */
	first = scene__child(s->tracer, WATCHDOG);
	tap__bail_if(!first, "no watchdog");
	tap__ok(getsid(first) != getsid(s->tracer) && getpgid(first) != getpgid(s->tracer),
		"the watchdog has a separate session and process group");
	kill(first, SIGTERM);
	kill(first, SIGINT);
	kill(first, SIGHUP);
	kill(first, SIGSTOP);
	scene__at(s, s->step + 100);
	tap__ok(SCENE__UNTIL(pid__state(first) == 'S'), "it cannot be stopped for long");
	kill(first, SIGKILL);
	tap__ok(SCENE__UNTIL((second = scene__child(s->tracer, WATCHDOG)) && second != first),
		"nor ended for long");
	tap__ok(scene__moves(s), "the target runs");
	kill(s->tracer, SIGKILL);
	tap__ok(SCENE__UNTIL(strchr("-Z", pid__state(second))), "it ends with its parent");
	tap__ok(scene__moves(s), "and the target runs on");
	scene__end(s);
}

TEST(killed)
{
	killed(run__hang, "a tracer that hangs", "was killed so that the process continues");
	killed(run__alone, "a tracer that is stopped, without a watchdog", NULL);
}
