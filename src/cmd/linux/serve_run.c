/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/serve_run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "os/os.h"
#include "os/rights.h"
#include "serve/governor.h"
#include "serve/linux/front.h"
#include "serve/linux/notify.h"
#include "serve/linux/intervals.h"
#include "session/session.h"
#include "session/stats.h"

#define POLL_MS	       1000  /* at most, between two looks at everything */
#define FLUSH_AHEAD_MS 100   /* before an interval ends, waits that are not over are read */
#define FLUSH_MS       50    /* in so long, at most */
#define SEND_MS	       20    /* while something waits to be handed to the front */
#define DRAIN_S	       5     /* for servers to take what waits, at the end */
#define STOP_MS	       10000 /* for the front to finish */
#define AGAIN_NS       (5 * NS_PER_S) /* between two starts of a front */
#define LOOK_NS	       NS_PER_S
#define SAY_NS	       (60 * NS_PER_S)
#define MESSAGES_MAX   64 /* of the front, between two looks at everything */

/* From a start, or a SIGHUP, to the next. */
struct serve {
	struct service *service;
	const struct serve_options *options;
	struct front front;
	struct intervals *intervals;
	struct session *session;
	struct session_config config;  /* the session's */
	struct notes_limit limit;      /* of the service's own lines, */
	struct notes_limit of_session; /* and of the session's, which are about processes */
	struct governor governor;
	uint64_t front_at, looked_at, said_at; /* ns */
	bool started;			       /* it has sampled */
	uint64_t said_dropped;		       /* intervals that were not handed on */
	bool reload, told;		       /* by signals */
	bool more;			       /* messages of the front may be left */
	bool flushed;			       /* waits were read that the interval does not end */
};

static void on_note(void *arg, enum notes_level level, const char *line)
{
	const struct serve *s = arg;
	const struct config *c = &s->options->o.config;

	if (level == NOTES_USER ? !c->quiet : c->verbose)
		log__line("%s", line);
}

/* Where the service's own lines go. */
static struct notes serve__notes(struct serve *s)
{
	struct notes notes = s->config.notes;

	notes.limit = &s->limit;
	return notes;
}

__attribute__((format(printf, 2, 3))) static void serve__say(struct serve *s, const char *fmt, ...)
{
	const struct notes notes = serve__notes(s);
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	notes__user(&notes, "%s", line);
}

/* --- the front --- */

static int on_send(void *arg, const struct channel_head *head, const void *data, const char *index)
{
	struct serve *s = arg;

	return s->front.channel ? channel__send(s->front.channel, head, data, index) : -EPIPE;
}

static void serve__tell_status(struct serve *s, uint32_t id)
{
	const struct serve_parts parts = {
		.options = s->options,
		.counts = &s->service->counts,
		.session = s->session,
		.intervals = s->intervals,
		.governor = &s->governor,
	};
	struct sampler_status status;
	const struct call_counts *calls = intervals__calls(s->intervals);
	const struct channel_head head = {
		.kind = CHANNEL_STATUS,
		.id = id,
		.size = sizeof(status),
		.index_len = calls->n * sizeof(*calls->rows),
	};

	serve_status__fill(&status, &parts);
	on_send(s, &head, &status, (const char *)calls->rows);
}

static void on_message(void *arg, const struct channel_message *m)
{
	struct serve *s = arg;
	struct front_status front;
	char line[1024];

	switch ((enum channel_kind)m->head.kind) {
	case CHANNEL_WANT_STATUS:
		serve__tell_status(s, m->head.id);
		break;
	case CHANNEL_WANT_PROFILE:
		intervals__ask(s->intervals, m->head.id, m->head.seconds);
		break;
	case CHANNEL_GONE:
		intervals__forget(s->intervals, m->head.id);
		break;
	case CHANNEL_TAKEN:
		channel__taken(s->front.channel);
		break;
	case CHANNEL_SAYS:
	case CHANNEL_FAILED:
		serve__say(s, "%.*s", (int)m->head.size, (const char *)m->data);
		break;
	case CHANNEL_FRONT:
		if (serve_status__came(&front, m->data, m->head.size))
			break;
		serve_status__front(s->options, &front, line, sizeof(line));
		serve__say(s, "%s", line);
		break;
	default:
		break;
	}
}

static int serve__start_front(struct serve *s, struct errmsg *f)
{
	int err;

	s->front_at = os__now();
	/* while samples are taken nothing is waited for */
	err = s->started ? front__fork(&s->front, &s->options->front, f)
			 : front__start(&s->front, &s->options->front, f);
	s->config.wake_fd = err ? 0 : channel__fd(s->front.channel);
	return err;
}

/* The front process ended without a request. */
static void serve__restart_front(struct serve *s)
{
	struct channel_lost lost;
	struct errmsg f;

	if (s->front.pid) {
		s->config.wake_fd = 0;
		lost = front__stop(&s->front, 0, 0, NULL, NULL);
		intervals__lost(s->intervals, &lost);
		intervals__forget_all(s->intervals); /* the next one counts its requests from 0 */
		s->service->counts.front_restarts++;
		serve__say(s, "the process that writes and sends has ended; restarting it");
	}
	if (os__now() - s->front_at < AGAIN_NS)
		return;
	if (serve__start_front(s, &f))
		serve__say(s, "%s; retrying", f.text);
}

static void serve__front(struct serve *s)
{
	struct channel_message m;
	int got = -EPIPE, n = 0, err = 0;

	/* what one that ended has said is taken, too */
	if (s->front.channel) {
		err = channel__flush(s->front.channel);
		for (; n < MESSAGES_MAX && (got = channel__take(s->front.channel, &m)) > 0; n++)
			on_message(s, &m);
	}
	if (!got)
		got = err;
	s->more = n == MESSAGES_MAX;
	if (got < 0)
		serve__restart_front(s);
}

/* --- the sampler --- */

static bool on_counts(void *arg, struct stats *stats)
{
	const struct serve *s = arg;

	return s->session && session__began(s->session) && !session__stats(s->session, stats);
}

/* With what the intervals counted, as at the end of the session. */
static int serve__stats(const struct serve *s, struct stats *stats)
{
	int err = session__stats(s->session, stats);

	if (!err)
		stats->stacks_dropped = intervals__counts(s->intervals).stackless;
	return err;
}

static void serve__govern(struct serve *s, uint64_t now)
{
	struct governor_use use = serve_status__use(s->session, s->front.pid, now);
	struct errmsg f;

	if (!governor__look(&s->governor, &use, session__freq(s->session)))
		return;
	serve__say(s, "%s", s->governor.why);
	if (s->governor.freq == session__freq(s->session))
		return;
	if (session__set_freq(s->session, s->governor.freq, &f))
		serve__say(s, "%s", f.text);
	session__poll(s->session, 0); /* what was taken before belongs to the interval that ends */
	intervals__freq(s->intervals, session__freq(s->session));
}

/* Log what is lost on the way to the front, and once that stacks, calls or labels do not fit. */
static void serve__say_lost(struct serve *s)
{
	const struct intervals_counts counts = intervals__counts(s->intervals);

	if (counts.uncalled && !s->service->said_uncalled) {
		s->service->said_uncalled = true;
		serve__say(s,
			   "memory is full of calls: samples of further ones are counted without "
			   "their call (--max-memory)");
	}
	if (counts.unlabelled && !s->service->said_unlabelled) {
		s->service->said_unlabelled = true;
		serve__say(s, "R sets more than 1,000 different labels in an interval (option "
			      "xrprof.labels): samples with further ones have none");
	}
	if (counts.stackless && !s->service->said_stackless) {
		s->service->said_stackless = true;
		serve__say(s,
			   "the interval has too many different stacks: samples with other stacks "
			   "are counted, and shown as <no-room> (--max-stacks, --max-memory)");
	}
	if (counts.dropped > s->said_dropped)
		serve__say(
			s,
			"%llu %s could not be passed to the process that writes and sends; %llu %s "
			"dropped so far",
			(unsigned long long)(counts.dropped - s->said_dropped),
			count__word(counts.dropped - s->said_dropped, "interval", "intervals"),
			(unsigned long long)counts.dropped_samples,
			count__word(counts.dropped_samples, "sample was", "samples were"));
	s->said_dropped = counts.dropped;
}

/* What is done once a second, and once a minute. */
static void serve__look(struct serve *s)
{
	const struct notes notes = serve__notes(s);
	uint64_t now = os__now();
	struct stats stats;
	char line[512];

	if (now - s->looked_at < LOOK_NS)
		return;
	s->looked_at = now;
	notes__settle(&notes, now, false);
	serve__govern(s, now);
	serve__say_lost(s);
	if (now - s->said_at < SAY_NS || !s->options->o.config.verbose)
		return;
	s->said_at = now;
	if (serve__stats(s, &stats))
		return;
	stats__summary(&stats, line, sizeof(line));
	on_note(s, NOTES_DEBUG, line);
}

static void serve__signals(struct serve *s)
{
	struct signals_event event = signals__take(s->service->signals);
	struct stats stats;
	char line[512];

	if (event.request == SIGNALS_RELOAD) {
		s->reload = true;
	} else if (event.request == SIGNALS_REPORT) {
		session__flush(s->session, FLUSH_MS);
		intervals__turn(s->intervals);
		if (!serve__stats(s, &stats)) {
			stats__summary(&stats, line, sizeof(line));
			serve__say(s, "%s", line);
		}
		serve__tell_status(s, 0);
	} else if (event.signal) {
		s->told = true;
	}
}

static int serve__timeout(const struct serve *s)
{
	int ms = s->more ? 0 : intervals__due(s->intervals, os__now(), POLL_MS);

	if (!s->flushed && s->options->o.config.capture & XR_ROW_OFF_CPU)
		ms = ms > FLUSH_AHEAD_MS ? ms - FLUSH_AHEAD_MS : 0;

	if (s->front.channel && channel__waiting(s->front.channel) && ms > SEND_MS)
		ms = SEND_MS;
	return ms;
}

/* What waits all the time is in each interval, too. */
static void serve__flush(struct serve *s)
{
	const bool due = intervals__due(s->intervals, os__now(), POLL_MS) <= FLUSH_AHEAD_MS;

	if (due && !s->flushed)
		session__flush(s->session, FLUSH_MS);
	s->flushed = due;
}

static enum session_state serve__loop(struct serve *s)
{
	enum session_state state = SESSION_RUNS;

	while (state == SESSION_RUNS && !s->reload && !s->told) {
		state = session__poll(s->session, serve__timeout(s));
		serve__front(s);
		serve__signals(s);
		serve__look(s);
		serve__flush(s);
	}
	return state;
}

static void serve__summary(struct serve *s, const struct stats *stats)
{
	const struct intervals_counts counts = intervals__counts(s->intervals);
	char line[512];

	stats__summary(stats, line, sizeof(line));
	serve__say(s, "%s", line);
	if (counts.dropped)
		serve__say(s, "%llu of %llu %s could not be passed on completely; %llu %s dropped",
			   (unsigned long long)counts.dropped, (unsigned long long)counts.ended,
			   count__word(counts.ended, "interval", "intervals"),
			   (unsigned long long)counts.dropped_samples,
			   count__word(counts.dropped_samples, "sample was", "samples were"));
	s->said_dropped = counts.dropped;
}

/* It samples now. */
static void serve__say_began(struct serve *s)
{
	const struct config *c = &s->options->o.config;
	const char *whom = c->all ? " every R process" : "";

	if (c->events.n)
		serve__say(s, "profiling%s at %s", whom, intervals__about(s->intervals)->event);
	else
		serve__say(s, "profiling%s at %u Hz", whom, c->freq);
}

/* The session is open: all until its end.  The exit status, if that is the end of the service. */
static int serve__session(struct serve *s)
{
	enum session_state state = SESSION_FAILED;
	struct governor_use use;
	struct stats stats;
	int err;

	err = session__start(s->session);
	rights__keep(cmd__rights(&s->options->o.config, true));
	if (!err) {
		use = serve_status__use(s->session, s->front.pid, os__now());
		governor__init(&s->governor, s->options->max_cpu, s->options->o.config.freq, &use);
		serve__say_began(s);
		s->started = true;
		notify__send("READY=1");
		state = serve__loop(s);
		if (s->reload && !s->told)
			notify__reloading();
		else
			notify__send("STOPPING=1");
	}
	err = session__stop(s->session, &stats);
	if (!err && state != SESSION_FAILED) {
		serve__summary(s, &stats);
		if (state != SESSION_OVER || stats.processes)
			return CMD_OK;
	}
	log__line("%s", session__why(s->session)->text);
	return CMD_FAILED;
}

static int serve__open_intervals(struct serve *s, struct errmsg *f)
{
	const struct serve_options *so = s->options;
	const struct intervals_config config = {
		.interval = (uint64_t)(so->interval * (double)NS_PER_S),
		.memory = so->o.config.max_memory,
		.max_stacks = so->max_stacks,
		.intervals = so->front.to[WAY_STORE] || front_config__sends(&so->front),
		.index = so->front.to[WAY_STORE],
		.labels = so->labels,
		.nlabels = so->nlabels,
		.host = so->host,
		.send = on_send,
		.counts = on_counts,
		.arg = s,
	};
	int err = intervals__new(&s->intervals, &config);

	return err ? errmsg__set(f, err, "out of memory") : 0;
}

int serve__once(struct service *service, enum served *how)
{
	const struct config *c = &service->options->o.config;
	const struct engine_ops *one[2];
	struct serve s = {
		.service = service,
		.options = service->options,
		.of_session = {.few = 1, .window = 3600},
	};
	int status = CMD_FAILED, err;
	struct channel_lost lost;
	struct label_rules labels;
	struct notes notes;
	struct errmsg f = {""};

	s.config = cmd__session(c, one);
	s.config.max_processes = s.options->max_processes;
	s.config.rate_changes = s.options->max_cpu > 0;
	s.config.notes = (struct notes){
		.line = on_note,
		.arg = &s,
		.lowest = c->verbose ? NOTES_DEBUG : NOTES_USER,
		.limit = &s.of_session,
	};
	labels = (struct label_rules){.env = s.options->env, .service = s.options->service};
	s.config.labels = &labels;
	err = cmd__btf(c->btf, &f);
	if (!err)
		err = serve__start_front(&s, &f);
	if (!err)
		err = serve__open_intervals(&s, &f);
	if (!err)
		err = session__open(&s.session, &s.config, intervals__sink(s.intervals), &f);
	if (err)
		log__line("%s", f.text);
	else
		status = serve__session(&s);
	*how = s.started ? SERVED_ALL : SERVED_NOTHING;
	if (s.started && status == CMD_OK && s.reload && !s.told)
		*how = SERVED_RELOAD;
	lost = front__stop(&s.front, s.started ? STOP_MS : 0, *how == SERVED_RELOAD ? 0 : DRAIN_S,
			   on_message, &s);
	if (lost.intervals) {
		intervals__lost(s.intervals, &lost);
		serve__say_lost(&s);
	}
	notes = serve__notes(&s);
	notes__settle(&notes, os__now(), true);
	session__free(s.session);
	intervals__free(s.intervals);
	return status;
}
