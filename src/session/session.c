/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "os/os.h"
#include "base/log.h"
#include "session/session.h"

#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

#define POLL_MS	     100  /* between two looks at what has come */
#define POLL_SOON_MS 10	  /* until the first sample */
#define INIT_MS	     5000 /* how long --pid waits for an R that is starting */
#define REAP_MS	     500  /* for a command that is ending to have ended */
#define DRAIN_MS     5000 /* at most, for what is left after the end */

uint64_t session__now(void)
{
	return os__now();
}

static void session__say(const char *fmt, va_list ap)
{
	char text[768];

	vsnprintf(text, sizeof(text), fmt, ap);
	log__line("%s", text);
}

void session__note(const struct session *s, const char *fmt, ...)
{
	va_list ap;

	if (s->config->quiet)
		return;
	va_start(ap, fmt);
	session__say(fmt, ap);
	va_end(ap);
}

void session__debug(const struct session *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->config->verbose)
		return;
	va_start(ap, fmt);
	session__say(fmt, ap);
	va_end(ap);
}

static void session__engine_note(void *arg, const char *line)
{
	session__note(arg, "%s", line);
}

/*
 * The engine asked for, or the first that works here.  When none does, the reason given is the
 * first one's: it is the one to be preferred.
 */
static int session__open_engine(struct session *s)
{
	const struct engine_ops *const *all = engines__all(), *one[2] = {s->config->engine, NULL};
	const struct engine_ops *const *e = s->config->engine ? one : all;
	struct engine_config config = {
		.freq = s->config->freq,
		.all = s->config->all,
		.follow = s->config->follow,
		.capture = s->config->capture,
		.clock = s->config->clock,
		.btf = s->config->btf,
		.verbose = s->config->verbose,
		.note = session__engine_note,
		.note_arg = s,
	};
	struct errmsg fault = {""};
	int err, first = 0;

	for (; *e; e++) {
		err = (*e)->open(&s->engine, &config, &fault);
		if (!err) {
			s->ops = *e;
			if (first)
				session__note(s, "using engine %s (%s clock), because %s",
					      s->ops->name, s->ops->clock, s->fault.text);
			return 0;
		}
		if (!first) {
			first = err;
			s->fault = fault;
		} else {
			session__debug(s, "engine %s: %s", (*e)->name, fault.text);
		}
		s->engine = NULL;
	}
	return first;
}

static int session__add_pids(struct session *s)
{
	const struct config *o = s->config;
	int err;

	for (size_t i = 0; i < o->npids; i++) {
		err = session__add_target(s, o->pids[i], true, INIT_MS);
		if (err && (o->npids == 1 || err == -ENOMEM))
			return err;
		/* of several, those that can be profiled are */
		if (err && s->live + o->npids - i > 1)
			session__note(s, "%s", s->fault.text);
		if (err && !s->live && i + 1 == o->npids)
			return err;
	}
	return 0;
}

static int session__start(struct session *s)
{
	static const struct decoder_ops decoder_ops = {
		.sample = session__on_sample,
		.process = session__on_process,
	};
	const struct config *o = s->config;
	int err;

	if (o->command) {
		err = workload__start(&s->command, o->command, strcmp(o->output, "-") != 0,
				      s->signals, &s->fault);
		if (err)
			return err;
	}
	if (o->npids > 1 || o->all || o->follow)
		os__many_files(); /* each process may need a file and a pidfd */
	err = decoder__new(&s->decoder, &decoder_ops, s);
	if (err)
		return errmsg__set(&s->fault, err, "cannot make a decoder: %s", strerror(-err));
	err = session__add_pids(s);
	if (err)
		return err;
	err = session__open_engine(s);
	if (err)
		return err;
	s->sinking = true;
	err = s->sink.ops->begin(s->sink.arg);
	if (err)
		return err;
	err = session__attach(s);
	if (err)
		return err;
	err = session__watch(s);
	if (err)
		return err;
	if (o->command) {
		err = workload__go(&s->command, &s->fault);
		if (!err)
			err = session__add_target(s, s->command.pid, true, UINT32_MAX);
	}
	return err;
}

static int session__poll(struct session *s, int timeout_ms)
{
	int n = s->ops->poll(s->engine, timeout_ms, decoder__record, s->decoder);

	if (n == -EINTR)
		return 0;
	if (n < 0 && !s->err)
		s->err = errmsg__set(&s->fault, n, "engine %s stopped working: %s", s->ops->name,
				     strerror(-n));
	return n;
}

/* Has the time come?  Otherwise shorten @timeout_ms so that it is not overslept. */
static bool session__time_over(const struct session *s, int *timeout_ms)
{
	uint64_t end, now = session__now(), left;

	if (s->config->duration <= 0 || !s->began)
		return false;
	end = s->began + (uint64_t)(s->config->duration * (double)NS_PER_S);
	if (now >= end)
		return true;
	left = (end - now + NS_PER_MS - 1) / NS_PER_MS;
	if (left < (uint64_t)*timeout_ms)
		*timeout_ms = (int)left;
	return false;
}

/* Was the session told to end?  What was sent to us alone is passed on to the command. */
static bool session__signalled(struct session *s)
{
	struct signals_event event = signals__take(s->signals);

	if (!event.signal)
		return false;
	session__debug(s, "ending: %s", signals__name(event.signal));
	s->command_ends = true;
	if (s->command.pid && !workload__ended(&s->command) && event.sent)
		workload__signal(&s->command, event.signal);
	return true;
}

static void session__loop(struct session *s)
{
	int timeout;

	if (s->config->all)
		s->began = session__now();
	while (!s->err) {
		timeout = POLL_MS;
		if (s->live && !decoder__stats(s->decoder)->samples)
			timeout = POLL_SOON_MS;
		timeout = session__retry_in(s, timeout);
		if (session__time_over(s, &timeout))
			break;
		session__poll(s, session__wait(s, timeout));
		session__settle(s);
		if (!s->err)
			s->err = s->sink.ops->tick(s->sink.arg, session__now());
		workload__ended(&s->command);
		if (session__signalled(s))
			break;
		if (!s->live && !session__may_come(s)) {
			s->command_ends = true;
			break;
		}
	}
}

/* No more samples; those that were taken are delivered. */
static void session__stop(struct session *s)
{
	uint64_t counts[XR_COUNTERS] = {0};
	uint64_t now = session__now(), end = now + DRAIN_MS * NS_PER_MS;
	int err;

	signals__let_second(s->signals);
	s->ops->stop(s->engine);
	s->stats.seconds = s->began ? (double)(now - s->began) / (double)NS_PER_S : 0;
	while (!s->err && session__poll(s, 0) > 0 && session__now() < end)
		;
	err = s->ops->counters(s->engine, counts);
	if (err && !s->err)
		s->err = errmsg__set(&s->fault, err, "engine %s: no counts: %s", s->ops->name,
				     strerror(-err));
	s->stats.engine = s->ops->name;
	s->stats.event = s->ops->event(s->engine);
	s->stats.freq = s->config->freq;
	stats__fill(&s->stats, counts, decoder__stats(s->decoder));
	s->stats.rows_full += s->unprofiled;
}

/* The end of it, for people: returns the exit status. */
static int session__report(struct session *s, bool started)
{
	const struct stats *st = &s->stats;
	struct errmsg fault;
	char line[512];
	int status = 0;

	if (s->err && s->err != -EPIPE) {
		log__line("%s", s->fault.text);
		status = 1;
	} else if (!st->processes && !s->config->all && started) {
		if (s->command.pid && workload__wait(&s->command, s->command_ends ? REAP_MS : 0))
			log__line("%s ended before R was found running in it", s->command.name);
		else if (s->fault.text[0])
			log__line("%s", s->fault.text);
		else
			log__line("nothing was profiled");
		status = 1;
	} else if (started) {
		stats__summary(st, line, sizeof(line));
		session__note(s, "%s", line);
	}
	if (!started)
		return 1;
	if (st->sent != st->written || st->decoder.malformed || st->decoder.partial)
		session__debug(s,
			       "the sampler sent %llu samples, %llu came; %llu records were "
			       "malformed, %llu samples incomplete",
			       (unsigned long long)st->sent, (unsigned long long)st->written,
			       (unsigned long long)st->decoder.malformed,
			       (unsigned long long)st->decoder.partial);
	if (!stats__conserved(st))
		session__debug(s, "%llu ticks do not add up with what became of them",
			       (unsigned long long)st->ticks);
	if (st->rows_full)
		session__note(s, "%llu forked processes were not profiled: too many at once",
			      (unsigned long long)st->rows_full);
	if (s->config->stats && stats__write(st, s->config->stats, &fault)) {
		log__line("%s", fault.text);
		status = 1;
	}
	if (s->command.pid && !workload__wait(&s->command, s->command_ends ? REAP_MS : 0))
		session__note(s, "%s (process %d) runs on", s->command.name, (int)s->command.pid);
	else if (s->command.pid && workload__result(&s->command, line, sizeof(line)))
		session__note(s, "%s %s", s->command.name, line);
	return status;
}

int session__run(const struct config *config, struct sink sink, struct signals *signals)
{
	struct session s = {.config = config, .sink = sink, .signals = signals};
	struct process *p, *next;
	bool started = false;
	int err, status;

	s.started = session__now();
	s.err = session__start(&s);
	if (s.err)
		goto cleanup;
	started = true;
	session__loop(&s);
	session__stop(&s);
cleanup:
	for (p = processes__next(&s.processes, NULL); p; p = next) {
		next = processes__next(&s.processes, p);
		processes__remove(&s.processes, p);
	}
	err = s.sinking ? sink.ops->finish(sink.arg, &s.stats) : 0;
	if (err) { /* a sink's error has its own text */
		s.err = err;
		s.fault = *sink.ops->why(sink.arg);
	}
	status = session__report(&s, started);
	if (s.engine)
		s.ops->close(s.engine);
	session__unwatch(&s);
	session__lines_free(&s);
	decoder__free(s.decoder);
	workload__close(&s.command);
	return status;
}
