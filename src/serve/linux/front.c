/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/front.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/os.h"
#include "serve/call_counts.h"
#include "serve/linux/http.h"
#include "serve/linux/libraries.h"
#include "serve/linux/usage.h"
#include "serve/linux/push.h"
#include "serve/metrics.h"

#define DRAIN_MAX 60u /* seconds */

/* One of the ways out. */
struct way {
	struct push *push; /* NULL: the directory */
	struct way_status status;
	bool failing;		/* and it was logged */
	uint64_t dropped, sent; /* when it last worked */
};

struct front_process {
	const struct front_config *config;
	struct channel *channel;
	struct store *store;
	struct http *http;
	struct way ways[WAYS];
	char spools[WAYS][4096];
	int drain_ms; /* for servers, at the end */
	bool over;
};

/* --- to the sampler --- */

static void front__tell(struct front_process *p, enum channel_kind kind, uint32_t id,
			uint32_t seconds, const void *data, size_t size)
{
	struct channel_head head = {.kind = kind, .id = id, .seconds = seconds, .size = size};

	channel__send(p->channel, &head, data, NULL);
}

__attribute__((format(printf, 2, 3))) static void front__say(struct front_process *p,
							     const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	front__tell(p, CHANNEL_SAYS, 0, 0, line, strlen(line));
}

/* --- how it is --- */

static void way__ask(struct front_process *p, struct way *way)
{
	if (way->push)
		push__status(way->push, &way->status);
	else if (p->store && way == &p->ways[WAY_STORE])
		store__status(p->store, &way->status);
}

static void front__status(struct front_process *p, struct front_status *s)
{
	*s = (struct front_status){0};
	for (size_t i = 0; i < WAYS; i++) {
		way__ask(p, &p->ways[i]);
		s->ways[i] = p->ways[i].status;
	}
	if (p->http)
		http__counts(p->http, &s->requests, &s->refused);
	s->cpu_ns = usage__cpu();
	s->resident = usage__resident();
}

/* The first failure after a success is logged, and when the next profile was sent. */
static void front__say_failures(struct front_process *p)
{
	for (size_t i = 0; i < WAYS; i++) {
		struct way *way = &p->ways[i];
		bool failing;

		way__ask(p, way);
		failing = way->status.error[0] != '\0';
		if (failing && (!way->failing || way->status.sent != way->sent))
			front__say(p, "%s %s: %s", way__name(i), p->config->to[i],
				   way->status.error);
		else if (!failing && way->failing)
			front__say(p, "%s %s: works again; %llu %s dropped", way__name(i),
				   p->config->to[i],
				   (unsigned long long)(way->status.dropped - way->dropped),
				   count__word(way->status.dropped - way->dropped, "profile was",
					       "profiles were"));
		way->failing = failing;
		way->sent = way->status.sent;
		if (!failing)
			way->dropped = way->status.dropped;
	}
}

/* --- requests --- */

static void front__answer_text(struct front_process *p, uint32_t id, unsigned int status,
			       const char *text)
{
	http__answer(p->http, id, status, HTTP_TYPE_TEXT, text, strlen(text));
}

static void front__asked(void *arg, const struct http_request *r)
{
	static const enum channel_kind kinds[] = {
		[HTTP_METRICS] = CHANNEL_WANT_STATUS,
		[HTTP_HEALTH] = CHANNEL_WANT_STATUS,
		[HTTP_PROFILE] = CHANNEL_WANT_PROFILE,
		[HTTP_GONE] = CHANNEL_GONE,
	};

	front__tell(arg, kinds[r->want], r->id, r->seconds, NULL, 0);
}

static void front__metrics(struct front_process *p, uint32_t id, const struct sampler_status *s,
			   const struct channel_message *m)
{
	struct metrics_ways ways = {
		.calls = m->index,
		.ncalls = (size_t)m->head.index_len / sizeof(struct call_count),
	};
	struct front_status front;
	struct buf text = {0};

	for (size_t i = 0; i < WAYS; i++)
		ways.has[i] = p->config->to[i];
	front__status(p, &front);
	if (metrics__text(&text, s, &front, ways))
		front__answer_text(p, id, 503, "out of memory\n");
	else
		http__answer(p->http, id, 200, HTTP_TYPE_METRICS, text.data, text.len);
	buf__free(&text);
}

/*
 * Sampling works, so report healthy: restarting this service would not fix an unreachable server.
 * If R was found and none of it could be sampled, sampling does not work.
 */
static void front__health(struct front_process *p, const struct http_request *r,
			  const struct sampler_status *s)
{
	const unsigned int status = s->starved[0] ? 503 : 200;
	struct buf text = {0};
	int err = s->starved[0]
			  ? buf__printf(&text, "R was found, but no sample could be taken: %s\n",
					s->starved)
			  : buf__str(&text, "ok\n");

	/* any client may ask for it: one that has not shown the token gets no more */
	if (!err && r->trusted && s->stats.refused)
		err = buf__str(&text, "sampler: an R process could not be profiled; the log has "
				      "the reason\n");
	for (size_t i = 0; i < WAYS && !err && r->trusted; i++) {
		way__ask(p, &p->ways[i]);
		if (p->ways[i].status.error[0])
			err = buf__printf(&text, "%s: %s\n", way__name(i), p->ways[i].status.error);
	}
	http__answer(p->http, r->id, status, HTTP_TYPE_TEXT, text.data, text.len);
	buf__free(&text);
}

/* --- messages --- */

static void on_status(struct front_process *p, const struct channel_message *m)
{
	const struct http_request *r = http__waiting(p->http, m->head.id);
	struct sampler_status s;
	struct front_status front;

	if (m->head.size != sizeof(s))
		return;
	memcpy(&s, m->data, sizeof(s));
	s.starved[sizeof(s.starved) - 1] = '\0';
	if (!m->head.id) {
		front__status(p, &front);
		front__tell(p, CHANNEL_FRONT, 0, 0, &front, sizeof(front));
	}
	if (r && r->want == HTTP_METRICS)
		front__metrics(p, r->id, &s, m);
	else if (r && r->want == HTTP_HEALTH)
		front__health(p, r, &s);
}

static void on_interval(struct front_process *p, const struct channel_message *m)
{
	const struct store_interval interval = {
		.began = m->head.began,
		.ended = m->head.ended,
		.samples = m->head.samples,
		.data = m->data,
		.size = (size_t)m->head.size,
		.index = m->index,
		.index_len = (size_t)m->head.index_len,
	};
	struct queue_entry entry = {
		.name = interval_name__of(interval.began, interval.ended),
		.samples = interval.samples,
		.data = interval.data,
		.size = interval.size,
	};
	char file[PATH_MAX] = "", name[INTERVAL_NAME_MAX];

	/* what fails is in its status */
	if (p->store && !store__add(p->store, &interval, &entry.name)) {
		interval_name__print(name, &entry.name);
		snprintf(file, sizeof(file), "%s/%s", p->config->to[WAY_STORE], name);
	}
	for (size_t i = 0; i < WAYS && interval.samples; i++)
		if (p->ways[i].push)
			push__add(p->ways[i].push, &entry, *file ? file : NULL);
	front__tell(p, CHANNEL_TAKEN, 0, 0, NULL, 0);
}

static void on_profile(struct front_process *p, const struct channel_message *m)
{
	const struct http_request *r = http__waiting(p->http, m->head.id);

	if (!r || r->want != HTTP_PROFILE)
		return;
	if (m->head.size)
		http__answer(p->http, r->id, 200, HTTP_TYPE_PROFILE, m->data, (size_t)m->head.size);
	else
		front__answer_text(p, r->id, 503,
				   "the profile does not fit into memory (--max-memory)\n");
}

static void front__message(struct front_process *p, const struct channel_message *m)
{
	switch ((enum channel_kind)m->head.kind) {
	case CHANNEL_STATUS:
		on_status(p, m);
		break;
	case CHANNEL_INTERVAL:
		on_interval(p, m);
		break;
	case CHANNEL_PROFILE:
		on_profile(p, m);
		break;
	case CHANNEL_END:
		p->over = true;
		p->drain_ms =
			(int)(m->head.seconds < DRAIN_MAX ? m->head.seconds : DRAIN_MAX) * 1000;
		break;
	default: /* those that go the other way */
		break;
	}
}

/* --- the process --- */

static int front__open_push(struct front_process *p, size_t way, struct errmsg *f)
{
	const struct front_config *c = p->config;
	const struct push_config config = {
		.kind = way == WAY_OTLP ? PUSH_OTLP : PUSH_PYROSCOPE,
		.url = c->to[way],
		.headers = c->headers[way],
		.ca = c->ca,
		.spool = p->spools[way],
		.spool_size = c->spool_size,
		.memory = c->memory,
	};
	int err = libraries__curl(f);

	if (err)
		return err;
	if (mkdir(c->spool, 0700) && errno != EEXIST)
		return errmsg__set(f, -errno, "cannot create the directory %s: %s", c->spool,
				   strerror(errno));
	snprintf(p->spools[way], sizeof(p->spools[way]), "%s/%s", c->spool, way__name(way));
	return push__open(&p->ways[way].push, &config, f);
}

static int front__open(struct front_process *p, struct errmsg *f)
{
	const struct front_config *c = p->config;
	const struct http_config http = {
		.listen = c->listen,
		.token = c->token,
		.ask = front__asked,
		.arg = p,
	};
	int err = 0;

	/* without an error, @f may have something to log: later parts set it only when they fail */
	if (c->to[WAY_STORE])
		err = store__open(&p->store, c->to[WAY_STORE], &c->keep, f);
	for (size_t i = WAY_STORE + 1; i < WAYS && !err; i++)
		err = c->to[i] ? front__open_push(p, i, f) : 0;
	if (!err && c->listen)
		err = libraries__microhttpd(f);
	if (!err && c->listen)
		err = http__open(&p->http, &http, f);
	return err;
}

/* Its descriptor is among those that are polled, and its time counts. */
static void front__wait_for(struct pollfd *fd, struct poll_until wait, int *ms)
{
	*fd = (struct pollfd){.fd = wait.fd, .events = POLLIN};
	if (wait.ms >= 0 && (*ms < 0 || wait.ms < *ms))
		*ms = wait.ms;
}

static void front__wait(struct front_process *p)
{
	struct pollfd fds[2 + WAYS] = {{.fd = channel__fd(p->channel), .events = POLLIN}};
	nfds_t n = 1;
	int ms = -1;

	if (channel__waiting(p->channel))
		fds[0].events |= POLLOUT;
	if (p->http)
		front__wait_for(&fds[n++], http__wait(p->http), &ms);
	for (size_t i = 0; i < WAYS; i++)
		if (p->ways[i].push)
			front__wait_for(&fds[n++], push__wait(p->ways[i].push), &ms);
	poll(fds, n, ms);
}

static void front__parts(struct front_process *p)
{
	if (p->http)
		http__run(p->http);
	/* at the end push__drain() sends, if there is time for it: what is cut off is sent again */
	for (size_t i = 0; i < WAYS && !p->over; i++)
		if (p->ways[i].push)
			push__run(p->ways[i].push);
}

/* They get one time together, of which none has what the others need. */
static void front__drain(struct front_process *p)
{
	uint64_t end = os__now() + (uint64_t)p->drain_ms * NS_PER_MS, now;
	int left = 0;

	for (size_t i = 0; i < WAYS; i++)
		left += p->ways[i].push != NULL;
	for (size_t i = 0; i < WAYS; i++) {
		if (!p->ways[i].push)
			continue;
		now = os__now();
		push__drain(p->ways[i].push, now < end ? (int)((end - now) / NS_PER_MS) / left : 0);
		left--;
	}
}

/* The servers get a last chance; the sampler gets the last status. */
static void front__end(struct front_process *p)
{
	struct front_status s;

	front__drain(p);
	front__say_failures(p);
	front__status(p, &s);
	front__tell(p, CHANNEL_FRONT, 0, 0, &s, sizeof(s));
	channel__flush(p->channel);
	http__close(p->http);
	for (size_t i = 0; i < WAYS; i++)
		push__close(p->ways[i].push);
	store__close(p->store);
}

void front__serve(struct channel *channel, const struct front_config *config)
{
	struct front_process *p = calloc(1, sizeof(*p));
	struct channel_message m;
	struct errmsg f = {""};
	int got = 0;

	if (!p)
		return;
	p->config = config;
	p->channel = channel;
	if (front__open(p, &f)) {
		front__tell(p, CHANNEL_FAILED, 0, 0, f.text, strlen(f.text));
		free(p);
		return;
	}
	front__tell(p, CHANNEL_READY, 0, 0, NULL, 0);
	if (f.text[0]) /* all is open, but not as it should be */
		front__say(p, "%s", f.text);
	if (p->http)
		front__say(p, "listening on %s", http__address(p->http));
	while (got >= 0 && !p->over) {
		front__wait(p);
		channel__flush(channel);
		while (!p->over && (got = channel__take(channel, &m)) > 0)
			front__message(p, &m);
		front__parts(p);
		front__say_failures(p);
	}
	front__end(p);
	free(p);
}
