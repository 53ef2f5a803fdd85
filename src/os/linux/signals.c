/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
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
 * From the first signal taken to the moment when another ends the program at once. What comes in
 * between belongs to the first: timeout signals the program and then its group, a shell and a
 * terminal do likewise. However long the ending takes then, it is not cut short.
 */
#define SECOND_DELAY_MS 300
/* A signal that nobody took for so long: the program hangs in a write. */
#define STUCK_MS 3000

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

struct signals {
	int fd;
	bool second;  /* signals__let_second was called */
	sigset_t old; /* the mask as it was, for children */
};

#define NENDING (sizeof(ending) / sizeof(ending[0]))

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

static void timer__start(int ms)
{
	struct itimerval timer = {.it_value = {ms / 1000, ms % 1000 * 1000}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

/*
 * The handlers keep their state where the kernel does: in the mask that is put back when they
 * return, and in what is pending.
 *
 * The first signal is made pending again, for the signalfd, with what is known of its sender, and
 * stays blocked; its disposition is the default one from here (SA_RESETHAND).
 */
static void first(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	int err = errno;

	for (size_t i = 0; i < NENDING; i++)
		sigaddset(&uc->uc_sigmask, ending[i]);
	syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signal, info);
	timer__start(STUCK_MS);
	errno = err;
}

/* The timer after nobody took a signal: what is pending, or comes, has its default effect when this
 * returns. */
static void unblock(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal;
	(void)info;
	for (size_t i = 0; i < NENDING; i++)
		sigdelset(&uc->uc_sigmask, ending[i]);
}

/* The timer after the first signal was taken: what is pending was sent with it, what comes has its
 * default effect when this returns. */
static void forget(int signal, siginfo_t *info, void *context)
{
	static const struct timespec now = {0, 0};
	int err = errno;
	sigset_t mask;

	ending__mask(&mask);
	while (syscall(SYS_rt_sigtimedwait, &mask, NULL, &now, _NSIG / 8) > 0)
		;
	errno = err;
	unblock(signal, info, context);
}

int signals__open(struct signals **out, struct errmsg *f)
{
	struct signals *s = calloc(1, sizeof(*s));
	struct sigaction act = {.sa_sigaction = first, .sa_flags = SA_SIGINFO | SA_RESETHAND};
	struct sigaction timer = {.sa_sigaction = unblock, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction hup;
	sigset_t mask;
	int err;

	if (!s)
		return errmsg__set(f, -ENOMEM, "out of memory");
	s->fd = -1;
	ending__mask(&mask);
	act.sa_mask = mask;
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	s->fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	if (s->fd < 0 || sigprocmask(SIG_UNBLOCK, &mask, &s->old) ||
	    sigaction(SIGALRM, &timer, NULL) || sigaction(SIGHUP, NULL, &hup))
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

struct signals_event signals__take(struct signals *s)
{
	struct signalfd_siginfo info;

	if (read(s->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return (struct signals_event){0};
	return (struct signals_event){
		.signal = (int)info.ssi_signo,
		.sent = info.ssi_code <= 0, /* SI_USER, SI_QUEUE: a process; SI_KERNEL: the tty */
	};
}

const char *signals__name(int signal)
{
	return strsignal(signal);
}

void signals__let_second(struct signals *s)
{
	struct sigaction timer = {.sa_sigaction = forget, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigset_t mask;

	if (s->second)
		return;
	s->second = true;
	/* one that comes before the end of the delay stays pending */
	ending__mask(&mask);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	ending__default();
	sigaction(SIGALRM, &timer, NULL);
	timer__start(SECOND_DELAY_MS);
}

void signals__restore(const struct signals *s)
{
	ending__default();
	signal(SIGPIPE, SIG_DFL);
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
