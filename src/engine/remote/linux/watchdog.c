/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "engine/remote/linux/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "os/linux/helper.h"
#include "os/linux/priority.h"
#include "os/os.h"
#include "os/rights.h"

#define LOOK_MS	 5    /* a stop that lasts longer is looked at, and so often from then on */
#define KILL_MS	 1000 /* after so long the kernel kills the tracer */
#define BEAT_MS	 250  /* between two signs of life while something late is held */
#define AGAIN_MS 200  /* between two looks whether there still is a watchdog */
#define READY_MS 1000 /* how long the first one is waited for */
#define READ_MS	 1000 /* between two looks at a read */
#define READS	 5    /* checks that see the same read end the tracer */

/* What the tracer and its watchdog share. */
struct page {
	_Atomic uint32_t held;	/* threads that are stopped, or were asked to stop */
	_Atomic uint32_t told;	/* the tracer was continued, and is to stop when it holds none */
	_Atomic uint64_t armed; /* when the killer was set, ns */
	_Atomic int32_t pid;	/* the process of the last one */
	_Atomic int32_t ready;	/* the watchdog that is at work; 0: none has been yet */
	_Atomic uint32_t
		read; /* the memory of a process is being read: a number of this time; 0: none is */
	_Atomic int32_t read_pid;
};

struct watchdog {
	struct page *page;
	pid_t parent, tracer; /* this process and thread */
	struct helper helper; /* the process; pid 0: there is none */
	uint64_t looked;      /* when that was looked at, ns */
	int timer;	      /* wakes the watchdog */
	int stat;	      /* /proc/.../stat of the tracer */
	timer_t killer, beat;
	bool has_killer, has_beat, beats;
	uint32_t reads;	 /* so far */
	sigset_t before; /* signals blocked outside of stops */
};

/* --- the process --- */

/* 'R', 'S', 'D', 'T', ...; 0: not known. */
static char tracer__state(const struct watchdog *w)
{
	char text[512], *at;
	ssize_t n = pread(w->stat, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = strrchr(text, ')'); /* the name before it may hold anything */
	return at && at[1] ? at[2] : '\0';
}

/* A stop lasts long, or has just ended: what can be done is done.  Is one to be looked at again? */
static bool watchdog__look(const struct watchdog *w)
{
	if (!atomic_load(&w->page->held))
		return false;
	/* asked again: one that has let go since then, and stopped itself, is left alone */
	if (tracer__state(w) == 'T' && atomic_load(&w->page->held) && getppid() == w->parent) {
		atomic_store(&w->page->told, 1);
		syscall(SYS_tgkill, w->parent, w->tracer, SIGCONT);
	}
	return true;
}

/* A read that was seen: which, since when it was looked at, and how often. */
struct seen {
	uint32_t read;
	unsigned int times;
	uint64_t at;
};

/*
 * Only its end gets the tracer out of a read of memory that is never provided: a page of a
 * file system that does not respond, or one that its process (userfaultfd(2)) does not give.  It
 * sees no signal and no deadline then.
 */
static void watchdog__look_at_reads(const struct watchdog *w, struct seen *seen)
{
	uint64_t now = os__now();
	uint32_t read = atomic_load(&w->page->read);
	int pid = atomic_load(&w->page->read_pid);

	if (now - seen->at < READ_MS * NS_PER_MS)
		return;
	seen->at = now;
	if (!read || read != seen->read || tracer__state(w) != 'D') {
		seen->read = read;
		seen->times = 0;
		return;
	}
	if (++seen->times < READS || getppid() != w->parent)
		return;
	log__line("the memory of process %d does not respond: the profiler waited for it for %d s, "
		  "and was killed; use --engine bpf, or leave that process out",
		  pid, READ_MS * READS / 1000);
	kill(w->parent, SIGKILL);
	_exit(0);
}

/* The tracer has ended.  Was it the kernel's timer? */
static void watchdog__report(const struct watchdog *w)
{
	if (!atomic_load(&w->page->held) ||
	    os__now() - atomic_load(&w->page->armed) < KILL_MS * NS_PER_MS)
		return;
	log__line("the profiler stalled for %d ms while process %d was stopped, and was killed so "
		  "that the process continues: the profile ends early",
		  KILL_MS, (int)atomic_load(&w->page->pid));
}

/* @fd is hung up when the tracer's process has ended. */
static void watchdog__run(int fd, const void *arg)
{
	const struct watchdog *w = arg;
	struct pollfd fds[2] = {{.fd = w->timer, .events = POLLIN}, {.fd = fd}};
	struct seen seen = {0};
	bool again = false;
	uint64_t expired;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	priority__raise();
	rights__keep(0); /* to signal a process of the same user takes no capability */
	atomic_store(&w->page->ready, getpid());
	while (getppid() == w->parent) {
		poll(fds, 2, again ? LOOK_MS : READ_MS);
		if (read(w->timer, &expired, sizeof(expired)) > 0 || again)
			again = watchdog__look(w);
		watchdog__look_at_reads(w, &seen);
	}
	watchdog__report(w);
}

/* --- the tracer's side --- */

static int watchdog__start(struct watchdog *w)
{
	const struct helper_job job = {
		.name = "xrprof-watchdog",
		.flags = HELPER_OUTLIVES | HELPER_STDERR, /* it has the last word */
		.rights = RIGHTS_PRIORITY,
		.keep = {w->timer, w->stat},
		.run = watchdog__run,
	};

	return helper__start(&w->helper, &job, w);
}

/* Without one nothing is stopped: on a busy machine it may take long to begin. */
static bool watchdog__ready(const struct watchdog *w)
{
	return w->helper.pid && atomic_load(&w->page->ready) == w->helper.pid;
}

static void watchdog__await(const struct watchdog *w)
{
	const struct timespec step = {.tv_nsec = NS_PER_MS};
	const uint64_t end = os__now() + READY_MS * NS_PER_MS;

	while (!watchdog__ready(w) && os__now() < end)
		nanosleep(&step, NULL);
}

/* Another process may have killed it. */
static void watchdog__tend(struct watchdog *w, uint64_t now)
{
	if (now - w->looked < AGAIN_MS * NS_PER_MS)
		return;
	w->looked = now;
	if (!helper__ended(&w->helper))
		return;
	helper__end(&w->helper, 0);
	watchdog__start(w);
}

static struct itimerspec every(int first_ms, int ms)
{
	return (struct itimerspec){
		.it_value = {first_ms / 1000, first_ms % 1000 * NS_PER_MS},
		.it_interval = {ms / 1000, ms % 1000 * NS_PER_MS},
	};
}

static void timers__arm(const struct watchdog *w, uint64_t now)
{
	const struct itimerspec look = every(LOOK_MS, 0), kill = every(KILL_MS, 0);

	atomic_store(&w->page->armed, now);
	timerfd_settime(w->timer, 0, &look, NULL);
	timer_settime(w->killer, 0, &kill, NULL);
}

static void beat__set(struct watchdog *w, bool on)
{
	const struct itimerspec when = every(on ? BEAT_MS : 0, on ? BEAT_MS : 0);

	if (w->beats == on)
		return;
	timer_settime(w->beat, 0, &when, NULL);
	w->beats = on;
}

/* Nothing is held: a timer that expires now finds nothing to do. */
static void timers__disarm(struct watchdog *w)
{
	const struct itimerspec never = every(0, 0);

	timer_settime(w->killer, 0, &never, NULL);
	timerfd_settime(w->timer, 0, &never, NULL);
	beat__set(w, false);
}

/*
 * The watchdog has continued us while we held a thread.  We hold none now, and stop, unless
 * somebody else continued us, too: SIGCONT is blocked, and what is pending has come after the last
 * signal that stops (kernel/signal.c, prepare_signal()).
 */
static void watchdog__obey(struct watchdog *w)
{
	const struct timespec now = {0, 0};
	bool others = false;
	siginfo_t info;
	sigset_t cont;

	if (!atomic_exchange(&w->page->told, 0))
		return;
	sigemptyset(&cont);
	sigaddset(&cont, SIGCONT);
	while (sigtimedwait(&cont, &info, &now) == SIGCONT)
		others = others || info.si_pid != w->helper.pid;
	if (!others)
		kill(w->parent, SIGSTOP);
}

static void watchdog__let_go(struct watchdog *w)
{
	if (atomic_fetch_sub(&w->page->held, 1) != 1)
		return;
	timers__disarm(w);
	watchdog__obey(w);
}

bool watchdog__enter(struct watchdog *w, pid_t pid)
{
	uint64_t now;
	sigset_t all;

	if (atomic_load(&w->page->told) && atomic_load(&w->page->held))
		return false;
	now = os__now();
	watchdog__tend(w, now);
	if (!watchdog__ready(w))
		return false;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &w->before);
	atomic_store(&w->page->pid, pid);
	atomic_fetch_add(&w->page->held, 1);
	timers__arm(w, now);
	return true;
}

void watchdog__leave(struct watchdog *w, bool late)
{
	if (late)
		beat__set(w, true);
	else
		watchdog__let_go(w);
	sigprocmask(SIG_SETMASK, &w->before, NULL);
}

void watchdog__undone(struct watchdog *w)
{
	watchdog__let_go(w);
}

void watchdog__beat(struct watchdog *w)
{
	if (atomic_load(&w->page->held))
		timers__arm(w, os__now());
}

void watchdog__read(struct watchdog *w, pid_t pid)
{
	watchdog__tend(w, os__now());
	atomic_store(&w->page->read_pid, pid);
	w->reads += w->reads == UINT32_MAX ? 2 : 1;
	atomic_store(&w->page->read, w->reads);
}

void watchdog__read_done(struct watchdog *w)
{
	atomic_store(&w->page->read, 0);
}

void watchdog__stopped(const struct watchdog *w, pid_t pid)
{
	if (pid == w->helper.pid)
		kill(pid, SIGCONT);
}

static void cont__block(bool on)
{
	sigset_t cont;

	sigemptyset(&cont);
	sigaddset(&cont, SIGCONT);
	sigprocmask(on ? SIG_BLOCK : SIG_UNBLOCK, &cont, NULL);
}

void watchdog__close(struct watchdog *w)
{
	if (!w)
		return;
	helper__end(&w->helper, 0);
	if (w->has_killer)
		timer_delete(w->killer);
	if (w->has_beat)
		timer_delete(w->beat);
	if (w->timer >= 0)
		close(w->timer);
	if (w->stat >= 0)
		close(w->stat);
	if (w->page)
		munmap(w->page, sizeof(*w->page));
	cont__block(false);
	free(w);
}

static int timers__make(struct watchdog *w)
{
	struct sigevent killer = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct sigevent beat = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCHLD};

	w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (w->timer < 0)
		return -errno;
	w->has_killer = !timer_create(CLOCK_MONOTONIC, &killer, &w->killer);
	if (!w->has_killer)
		return -errno;
	w->has_beat = !timer_create(CLOCK_MONOTONIC, &beat, &w->beat);
	return w->has_beat ? 0 : -errno;
}

static int watchdog__make(struct watchdog *w)
{
	char path[64];
	int err;

	w->page = mmap(NULL, sizeof(*w->page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (w->page == MAP_FAILED) {
		w->page = NULL;
		return -errno;
	}
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)w->tracer);
	w->stat = open(path, O_RDONLY | O_CLOEXEC);
	if (w->stat < 0)
		return -errno;
	err = timers__make(w);
	if (!err)
		err = watchdog__start(w);
	if (!err)
		watchdog__await(w);
	return err;
}

int watchdog__open(struct watchdog **out, struct errmsg *f)
{
	struct watchdog *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return errmsg__set(f, -ENOMEM, "out of memory");
	w->parent = getpid();
	w->tracer = (pid_t)syscall(SYS_gettid);
	w->helper = HELPER_NONE;
	w->timer = w->stat = -1;
	w->looked = os__now();
	cont__block(true);
	err = watchdog__make(w);
	if (err) {
		watchdog__close(w);
		return errmsg__set(f, err, "cannot start the watchdog of the engine: %s",
				   strerror(-err));
	}
	*out = w;
	return 0;
}
