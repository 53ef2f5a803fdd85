/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "os/signals.h"

/*
 * From the first signal to the moment when another ends the program at once.  What comes in between
 * belongs to the first: timeout signals the program and then its group, a shell and a terminal
 * do the same.  However long the ending takes then, it is not cut short.
 */
#define SECOND_DELAY_MS 300

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

struct signals {
	int fd; /* of those in `taken` */
	sigset_t taken;
	sigset_t old; /* the mask as it was, for children */
	bool full;    /* SIGXFSZ had its default effect, for children */
};

#define NENDING (sizeof(ending) / sizeof(ending[0]))
#define RELOAD	NENDING	      /* as of noted(): the SIGHUP that ends nothing, */
#define COMMAND (NENDING + 1) /* and the SIGINT */

static void ending__mask(sigset_t *mask)
{
	sigemptyset(mask);
	for (size_t i = 0; i < NENDING; i++)
		sigaddset(mask, ending[i]);
}

/* Take the handlers away. */
static void ending__default(void)
{
	struct sigaction act;

	for (size_t i = 0; i < NENDING; i++)
		if (!sigaction(ending[i], NULL, &act) && act.sa_handler != SIG_IGN)
			signal(ending[i], SIG_DFL);
}

/*
 * The first ending signal is noted as a separate real-time signal, which stays pending until
 * signals__take reads it: so the ending signals themselves need not stay blocked for it.
 */
static int noted(size_t i)
{
	return SIGRTMIN + (int)i;
}

static void noted__mask(sigset_t *mask)
{
	sigemptyset(mask);
	for (size_t i = 0; i <= COMMAND; i++)
		sigaddset(mask, noted(i));
}

/*
 * The handlers keep their state where the kernel does: in the mask that is put back when they
 * return, in the dispositions, and in what is pending.
 *
 * The first signal is noted, with what is known of its sender; from here on the ending signals are
 * blocked, and have their default effect once that is over.
 */
static void first(int signal, siginfo_t *info, void *context)
{
	const struct itimerval timer = {.it_value = {0, SECOND_DELAY_MS * 1000}};
	ucontext_t *uc = context;
	int err = errno;

	for (size_t i = 0; i < NENDING; i++) {
		sigaddset(&uc->uc_sigmask, ending[i]);
		if (ending[i] == signal)
			syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), noted(i), info);
	}
	ending__default();
	setitimer(ITIMER_REAL, &timer, NULL);
	errno = err;
}

/* The timer after the first signal: what is pending was sent with it, what comes ends us. */
static void second(int signal, siginfo_t *info, void *context)
{
	static const struct timespec now = {0, 0};
	ucontext_t *uc = context;
	int err = errno;
	sigset_t mask;

	(void)signal;
	(void)info;
	ending__mask(&mask);
	while (syscall(SYS_rt_sigtimedwait, &mask, NULL, &now, _NSIG / 8) > 0)
		;
	for (size_t i = 0; i < NENDING; i++)
		sigdelset(&uc->uc_sigmask, ending[i]);
	errno = err;
}

/* Is there a terminal that this process belongs to? */
static bool terminal__is_there(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* SIGHUP to a process without a terminal. */
static void reload(int signal, siginfo_t *info, void *context)
{
	int err = errno;

	if (info->si_code > 0)
		first(signal, info, context);
	else
		syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), noted(RELOAD), info);
	errno = err;
}

/* SIGHUP to a process that was started at a terminal. */
static void reload_or_hangup(int signal, siginfo_t *info, void *context)
{
	int err = errno;

	if (info->si_pid == getsid(0) || !terminal__is_there())
		first(signal, info, context);
	else
		reload(signal, info, context);
	errno = err;
}

/* SIGINT while a command runs: from the keyboard, all of the foreground has it. */
static void interrupt(int signal, siginfo_t *info, void *context)
{
	int err = errno;

	if (info->si_code > 0)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), noted(COMMAND), info);
	else
		first(signal, info, context);
	errno = err;
}

/* SIGQUIT then: what a process sent is meant for this one. */
static void quit(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code > 0)
		return;
	signal(sig, SIG_DFL);
	raise(sig); /* when this returns */
}

int signals__open(struct signals **out, struct errmsg *f)
{
	struct signals *s = calloc(1, sizeof(*s));
	struct sigaction act = {.sa_sigaction = first, .sa_flags = SA_SIGINFO};
	struct sigaction timer = {.sa_sigaction = second, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction hup;
	sigset_t mask, old;
	int err;

	if (!s)
		return errmsg__set(f, -ENOMEM, "out of memory");
	s->fd = -1;
	ending__mask(&mask);
	act.sa_mask = mask;
	signal(SIGCHLD, SIG_DFL);
	timer.sa_mask = mask;
	signal(SIGPIPE, SIG_IGN);
	/* write(2) fails if the file may not grow */
	s->full = signal(SIGXFSZ, SIG_IGN) == SIG_DFL;
	noted__mask(&s->taken);
	s->fd = signalfd(-1, &s->taken, SFD_NONBLOCK | SFD_CLOEXEC);
	if (s->fd < 0 || sigprocmask(SIG_BLOCK, &s->taken, &s->old) ||
	    sigprocmask(SIG_UNBLOCK, &mask, &old) || sigaction(SIGALRM, &timer, NULL) ||
	    sigaction(SIGHUP, NULL, &hup))
		goto failed;
	/* A shell starts background jobs with SIGINT ignored; what is sent to us is still meant.
	 * SIGHUP ignored is the wish of nohup. */
	if (sigaction(SIGINT, &act, NULL) || sigaction(SIGTERM, &act, NULL) ||
	    (hup.sa_handler != SIG_IGN && sigaction(SIGHUP, &act, NULL)))
		goto failed;
	*out = s;
	return 0;
failed:
	err = -errno;
	signals__close(s);
	return errmsg__set(f, err, "cannot wait for signals: %s", strerror(-err));
}

int signals__reload(struct signals *s)
{
	struct sigaction act = {.sa_flags = SA_SIGINFO}, old;

	(void)s;
	if (sigaction(SIGHUP, NULL, &old))
		return -errno;
	if (old.sa_handler == SIG_IGN)
		return 0;
	act.sa_sigaction = terminal__is_there() ? reload_or_hangup : reload;
	ending__mask(&act.sa_mask);
	return sigaction(SIGHUP, &act, NULL) ? -errno : 0;
}

int signals__report(struct signals *s)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&s->taken, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &mask, NULL) || signalfd(s->fd, &s->taken, 0) < 0)
		return -errno;
	return 0;
}

int signals__command(struct signals *s)
{
	struct sigaction act = {.sa_sigaction = interrupt, .sa_flags = SA_SIGINFO};

	(void)s;
	ending__mask(&act.sa_mask);
	if (sigaction(SIGINT, &act, NULL))
		return -errno;
	act.sa_sigaction = quit;
	return sigaction(SIGQUIT, &act, NULL) ? -errno : 0;
}

struct signals_event signals__take(struct signals *s)
{
	struct signalfd_siginfo info;
	struct signals_event e = {0};
	size_t i;

	if (read(s->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return e;
	e.sent = info.ssi_code <= 0; /* SI_USER, SI_QUEUE: a process; SI_KERNEL: the tty */
	if (info.ssi_signo == SIGUSR1) {
		e.signal = SIGUSR1;
		e.request = SIGNALS_REPORT;
		return e;
	}
	i = info.ssi_signo - (uint32_t)noted(0);
	e.signal = i == RELOAD ? SIGHUP : i == COMMAND ? SIGINT : ending[i];
	e.request = i == RELOAD ? SIGNALS_RELOAD : i == COMMAND ? SIGNALS_COMMAND : SIGNALS_END;
	return e;
}

const char *signals__name(int signal)
{
	return strsignal(signal);
}

void signals__restore(const struct signals *s)
{
	ending__default();
	signal(SIGPIPE, SIG_DFL);
	if (s->full)
		signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, &s->old, NULL);
}

void signals__close(struct signals *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}
