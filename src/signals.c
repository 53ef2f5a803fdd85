/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "signals.h"

#define SECOND_DELAY_US 300000

int signals__open(struct signals *s, struct fault *f)
{
	struct sigaction hup;
	sigset_t mask;
	int err;

	*s = (struct signals){.fd = -1};
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN)
		sigaddset(&mask, SIGHUP);
	/* A shell starts background jobs with SIGINT ignored; what is sent to us is still meant. */
	signal(SIGINT, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &mask, &s->old)) {
		err = -errno;
		goto failed;
	}
	s->fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
	if (s->fd < 0) {
		err = -errno;
		goto failed;
	}
	return 0;
failed:
	return fault__set(f, err, "cannot wait for signals: %s", strerror(-err));
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

/*
 * The handler of the timer: changes the mask that is put back when it returns, so that a signal
 * that is pending or comes later has its default effect.
 */
static void unblock(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal;
	(void)info;
	sigdelset(&uc->uc_sigmask, SIGINT);
	sigdelset(&uc->uc_sigmask, SIGTERM);
	sigdelset(&uc->uc_sigmask, SIGHUP);
}

void signals__let_second(struct signals *s)
{
	struct sigaction act = {.sa_sigaction = unblock, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct itimerval timer = {.it_value.tv_usec = SECOND_DELAY_US};

	if (s->second)
		return;
	s->second = true;
	if (!sigaction(SIGALRM, &act, NULL))
		setitimer(ITIMER_REAL, &timer, NULL);
}

void signals__restore(const struct signals *s)
{
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &s->old, NULL);
}

void signals__close(struct signals *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
