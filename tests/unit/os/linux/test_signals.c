/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The signals that end a session: each case in a separate child, and how that child ends. */
#define _GNU_SOURCE
#include <sys/ioctl.h>

#include "os/signals.h"
#include "tap.h"

#define FINE 7 /* the exit status of a child that came to its end */

static struct signals *opened(void)
{
	struct signals *s;

	if (signals__open(&s, NULL))
		_exit(99);
	return s;
}

/* Send it to ourselves: delivered when kill() returns, if it is not blocked. */
static void send(int signal)
{
	kill(getpid(), signal);
}

static void must(bool yes, int status)
{
	if (!yes)
		_exit(status);
}

static bool blocked(int signal)
{
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	return sigismember(&mask, signal);
}

/* Until the timer of 300 ms has been: then signals are let through. */
static void await_second(void)
{
	while (blocked(SIGTERM))
		usleep(1000);
}

/* What is taken next is @signal, sent by a process, and asks for @request; else end by @status. */
static void takes(struct signals *s, int signal, enum signals_request request, int status)
{
	struct signals_event e = signals__take(s);

	must(e.signal == signal && e.sent && e.request == request, status);
}

/* A child that is given what we were started with, and ends by @signal. */
static void restored_ends(struct signals *s, int signal, int status)
{
	int how = 0;
	pid_t pid = fork();

	if (!pid) {
		signals__restore(s);
		must(!blocked(SIGTERM) && !blocked(SIGINT) && !blocked(SIGUSR1), 0);
		send(signal);
		_exit(2);
	}
	while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
		;
	must(WIFSIGNALED(how) && WTERMSIG(how) == signal, status);
}

/* Child @pid comes to its end. */
static void is_fine(pid_t pid, int status)
{
	int how = 0;

	while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
		;
	must(WIFEXITED(how) && WEXITSTATUS(how) == FINE, status);
}

/* One signal alone never ends the program: it waits until the program takes it. */
static void taken(void)
{
	struct signals *s = opened();

	must(!signals__take(s).signal, 1);
	send(SIGTERM);
	await_second();
	takes(s, SIGTERM, SIGNALS_END, 2);
	must(!signals__take(s).signal, 3);
	must(signals__name(SIGTERM)[0] != '\0', 4);
	signals__close(s);
	signals__close(NULL);
}

static void ignored(void)
{
	struct signals *s;

	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	s = opened();
	send(SIGHUP);
	must(!signals__take(s).signal, 1);
	send(SIGINT);
	must(signals__take(s).signal == SIGINT, 2);
	signals__close(s);
}

static void in_a_row(void)
{
	struct signals *s = opened();
	sigset_t timer;

	/* however long this waits for a CPU, the timer comes when all are sent */
	sigemptyset(&timer);
	sigaddset(&timer, SIGALRM);
	sigprocmask(SIG_BLOCK, &timer, NULL);
	send(SIGTERM);
	send(SIGTERM); /* blocked, and pending: the same signal is pending once */
	send(SIGINT);
	must(signals__take(s).signal, 1);
	send(SIGHUP);
	send(SIGTERM);
	sigprocmask(SIG_UNBLOCK, &timer, NULL);
	await_second();
	/* had one of them been let through, we were not here */
	must(!signals__take(s).signal, 2);
	signals__close(s);
}

/* The program hangs: it takes neither the first signal nor the timer. */
static void stuck(void)
{
	opened();
	send(SIGHUP);
	await_second();
	send(SIGINT);
	for (;;)
		pause();
}

static void file_size(void)
{
	struct signals *s = opened();

	send(SIGXFSZ);
	restored_ends(s, SIGXFSZ, 3);
	signals__close(s);
}

/* Without a terminal. */
static void requests(void)
{
	struct signals *s;

	setsid();
	s = opened();
	must(!signals__reload(s) && !signals__report(s), 1);
	send(SIGHUP);
	takes(s, SIGHUP, SIGNALS_RELOAD, 2);
	send(SIGUSR1);
	takes(s, SIGUSR1, SIGNALS_REPORT, 3);
	must(!signals__take(s).signal && !blocked(SIGHUP), 4);
	/* they did not begin the end */
	send(SIGTERM);
	takes(s, SIGTERM, SIGNALS_END, 5);
	restored_ends(s, SIGHUP, 6);
	signals__close(s);
}

/* Lead a session that has a terminal, whose other end is returned; this end is left open. */
static int take_terminal(void)
{
	int other = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), fd;

	must(setsid() > 0 && other >= 0 && !grantpt(other) && !unlockpt(other), 90);
	fd = open(ptsname(other), O_RDWR | O_NOCTTY);
	must(fd >= 0 && !ioctl(fd, TIOCSCTTY, 0), 91);
	return other;
}

/* What comes next. */
static struct signals_event awaited(struct signals *s)
{
	struct signals_event e;

	for (int tries = 0; !(e = signals__take(s)).signal; tries++) {
		must(tries < 60000, 82);
		usleep(1000);
	}
	return e;
}

/* The keyboard's are those of a command in the foreground, what a process sends is meant for us. */
static void keyboard(void)
{
	int terminal = take_terminal();
	struct signals *s = opened();
	struct signals_event e;

	must(!signals__command(s), 1);
	for (int i = 0; i < 2; i++) {
		must(write(terminal, "\034\003", 2) == 2, 2);
		e = awaited(s);
		must(e.signal == SIGINT && !e.sent && e.request == SIGNALS_COMMAND, 3);
	}
	send(SIGINT);
	e = awaited(s);
	must(e.signal == SIGINT && e.sent && e.request == SIGNALS_END, 4);
	signals__close(s);
}

/*
 * A job of ours, which leads the session of a terminal, gets SIGHUP first of all signals, from us
 * or from another process, @gone: when the terminal is.  It ends well if that asks for @request.
 */
static void job__hang_up(enum signals_request request, bool by_us, bool gone)
{
	int terminal = take_terminal(), told[2];
	struct signals *s;
	char byte;
	pid_t pid;

	if (gone)
		signal(SIGHUP, SIG_IGN);
	must(!pipe(told), 1);
	pid = fork();
	if (!pid) {
		signal(SIGHUP, SIG_DFL);
		s = opened();
		close(terminal);
		must(!setpgid(0, 0) && !signals__reload(s) && write(told[1], "", 1) == 1, 80);
		_exit(awaited(s).request == request ? FINE : 2);
	}
	must(read(told[0], &byte, 1) == 1, 3);
	if (gone)
		close(terminal);
	if (by_us)
		must(!kill(pid, SIGHUP), 5);
	else if (!fork())
		_exit(kill(pid, SIGHUP));
	is_fine(pid, 4);
}

/* The kernel tells those in the foreground when the leader ends. */
static void told_by_terminal(void)
{
	struct signals_event e;
	struct signals *s;
	int told[2];
	char byte;

	must(!pipe(told), 1);
	if (!fork()) {
		int terminal = take_terminal(), ready[2];

		must(!pipe(ready), 2);
		if (fork())
			_exit(read(ready[0], &byte, 1) != 1);
		s = opened();
		close(terminal);
		must(!signals__reload(s) && write(ready[1], "", 1) == 1, 81);
		e = awaited(s);
		byte = e.request == SIGNALS_END && !e.sent;
		_exit(write(told[1], &byte, 1) != 1);
	}
	close(told[1]);
	must(read(told[0], &byte, 1) == 1 && byte, 3);
}

TEST(signals)
{
	static const struct {
		const char *name;
		void (*run)(void); /* NULL: job__hang_up() */
		int signal;	   /* the child is to end by; 0: it comes to its end */
		enum signals_request request;
		bool by_us, gone;
	} cases[] = {
		{"a signal waits until it is taken, once, and was sent by a process", .run = taken},
		{"SIGHUP stays ignored, SIGINT does not", .run = ignored},
		{"what comes with the first signal does not cut the ending short", .run = in_a_row},
		{"a second one ends a program that never looked at the first", .run = stuck,
		 .signal = SIGINT},
		{"a file at its size limit does not end the program, but ends its children",
		 .run = file_size},
		{"without a terminal SIGHUP and SIGUSR1 are requests", .run = requests},
		{"what the keyboard sends is the command's", .run = keyboard},
		{"at a terminal SIGHUP of another process is a request", .request = SIGNALS_RELOAD},
		/* a shell passes the SIGHUP of its terminal on to its jobs */
		{"SIGHUP of the session's leader ends", .request = SIGNALS_END, .by_us = true},
		{"SIGHUP of the terminal ends", .run = told_by_terminal},
		{"SIGHUP of another process ends when the terminal is gone", .request = SIGNALS_END,
		 .gone = true},
	};
	enum { N = COUNT(cases) };
	pid_t child[N];

	for (size_t i = 0; i < N; i++) {
		child[i] = fork();
		if (!child[i]) {
			sigset_t none;

			/* whatever we were started with */
			sigemptyset(&none);
			sigprocmask(SIG_SETMASK, &none, NULL);
			signal(SIGINT, SIG_DFL);
			signal(SIGHUP, SIG_DFL);
			signal(SIGTERM, SIG_DFL);
			if (cases[i].run)
				cases[i].run();
			else
				job__hang_up(cases[i].request, cases[i].by_us, cases[i].gone);
			exit(FINE);
		}
	}
	for (size_t i = 0; i < N; i++) {
		int status = 0;
		bool ok;

		while (waitpid(child[i], &status, 0) < 0 && errno == EINTR)
			;
		ok = cases[i].signal ? WIFSIGNALED(status) && WTERMSIG(status) == cases[i].signal
				     : WIFEXITED(status) && WEXITSTATUS(status) == FINE;
		if (!tap__ok(ok, "%s", cases[i].name))
			tap__diag("status %x", (unsigned int)status);
	}
}
