/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/push.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "os/os.h"
#include "output/gzip.h"
#include "serve/linux/post.h"
#include "serve/linux/push_body.h"
#include "serve/linux/push_headers.h"
#include "serve/linux/push_profile.h"

#define TIMEOUT_MS	10000u
#define BACK_OFF_MS	1000u
#define BACK_OFF_MAX_MS 300000u
#define RETRY_AFTER_MAX 3600u /* seconds */

struct push {
	struct push_config config;
	char *url; /* without a slash at its end */
	struct post *post;
	struct queue *queue;
	struct push_headers headers;
	struct errmsg headers_wrong; /* "": their file could be read when it was last */
	struct push_reader reader;
	/* the request that is sent, or was last */
	struct buf address, packed;
	uint64_t sending; /* number of its profile */
	uint64_t size;	  /* bytes of its body */
	bool probing;	  /* it is the one behind the first */
	/* the first that waits: its profile, and its samples with what was left out before it */
	uint64_t first, first_samples;
	/* one behind it was accepted: the number of its profile, and its samples */
	bool ahead;
	uint64_t ahead_of, ahead_samples;
	uint64_t not_before;
	uint32_t back_off_ms; /* the next */
	uint32_t tries;	      /* of the first that waits, by answers that may be about it, */
	uint32_t failures;    /* and by connections that broke */
	struct way_status status;
};

static void status__say(struct way_status *s, const struct errmsg *f)
{
	snprintf(s->error, sizeof(s->error), "%.*s", (int)sizeof(s->error) - 1, f->text);
	utf8__tame(s->error); /* it may have been cut in a character */
}

static void push__say(struct push *p, const struct errmsg *f)
{
	status__say(&p->status, f);
}

/* The message says which URL is wrong: that of otlp or that of pyroscope. */
static int push__url(struct push *p, struct errmsg *f)
{
	struct errmsg why = {""};
	int err = post__url(&p->url, p->config.url, &why);

	return err ? errmsg__set(f, err, "%s: %s",
				 p->config.kind == PUSH_OTLP ? "otlp" : "pyroscope", why.text)
		   : 0;
}

int push__open(struct push **out, const struct push_config *config, struct errmsg *f)
{
	struct push *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return errmsg__set(f, -ENOMEM, "out of memory for sending");
	p->config = *config;
	p->config.timeout_ms = config->timeout_ms ?: TIMEOUT_MS;
	p->config.back_off_ms = config->back_off_ms ?: BACK_OFF_MS;
	p->config.back_off_max_ms = config->back_off_max_ms ?: BACK_OFF_MAX_MS;
	p->reader.kind = config->kind;
	p->reader.memory = config->memory ?: LIMIT_MEMORY;
	p->back_off_ms = p->config.back_off_ms;
	p->first = UINT64_MAX;
	err = push__url(p, f);
	if (!err && config->headers)
		err = push_headers__read(&p->headers, config->headers, f);
	if (err >= 0)
		err = post__open(&p->post, config->ca, p->config.timeout_ms, f);
	if (!err)
		err = queue__open(&p->queue, config->spool, config->spool_size, f);
	if (err) {
		push__close(p);
		return err;
	}
	*out = p;
	return 0;
}

int push__add(struct push *p, const struct queue_entry *e, const char *file)
{
	int err = queue__add(p->queue, e, file);
	struct errmsg f;

	if (err) {
		errmsg__set(&f, err, "cannot keep a profile of %zu bytes for later: %s",
			    (size_t)e->size, strerror(-err));
		push__say(p, &f);
	}
	return err;
}

/* Between half of @ms and all of it, so that many hosts do not come back at once. */
static uint64_t jitter_ns(uint64_t ms)
{
	uint32_t r;

	if (getrandom(&r, sizeof(r), GRND_NONBLOCK) != sizeof(r))
		r = (uint32_t)(os__now() * UINT64_C(2654435761) >> 16);
	return ms * NS_PER_MS / 2 + (uint64_t)((double)ms * NS_PER_MS / 2 * r / UINT32_MAX);
}

/* Try again; @retry_after: seconds that the server asked for; 0: it did not. */
static void push__later(struct push *p, uint32_t retry_after)
{
	const bool brief = retry_after && p->back_off_ms > BACK_OFF_MS;
	uint64_t wait = jitter_ns(brief ? BACK_OFF_MS : p->back_off_ms);

	if (retry_after > RETRY_AFTER_MAX)
		retry_after = RETRY_AFTER_MAX;
	if (retry_after) /* never before that */
		wait += retry_after * NS_PER_S;
	p->not_before = os__now() + wait;
	p->back_off_ms = p->back_off_ms < p->config.back_off_max_ms / 2 ? p->back_off_ms * 2
									: p->config.back_off_max_ms;
}

/* --- which request --- */

/* The first may be another one: nothing is known of that, except what was sent ahead. */
static void push__look(struct push *p)
{
	const struct queue_entry *e = queue__at(p->queue, 0);

	if (e && e->number == p->first)
		return;
	p->first = e ? e->number : UINT64_MAX;
	p->tries = p->failures = 0;
	p->probing = false;
	if (p->ahead && e && e->number == p->ahead_of)
		queue__progress(p->queue, 1, p->ahead_samples);
	p->ahead = false;
}

/* The first profile is over. */
static void push__done(struct push *p, bool dropped)
{
	if (p->reader.number == p->first)
		push_reader__forget(&p->reader);
	if (dropped)
		queue__drop(p->queue);
	else
		queue__done(p->queue);
	push__look(p);
}

/* The first profile cannot be read, by @err: is it lost?  What may be better later is tried again.
 */
static bool push__is_lost(struct push *p, int err)
{
	if (err == -EIO || err == -EACCES || err == -ENOMEM || err == -EMFILE || err == -ENFILE)
		return ++p->tries >= PUSH_PROBE;
	return true;
}

/* Count what is too large for any request. */
static void push__count_left_out(struct push *p)
{
	struct errmsg f;

	if (!p->reader.left_out)
		return;
	errmsg__set(&f, 0, "a stack that is too large is dropped, with %" PRIu64 " %s",
		    p->reader.left_out, count__word(p->reader.left_out, "sample", "samples"));
	push__say(p, &f);
	p->status.dropped++;
	p->status.dropped_samples += p->reader.left_out;
	queue__progress(p->queue, 0, p->reader.left_out);
	p->reader.left_out = 0;
}

/* The first request that waits.  1; 0: there is none; negative errno, @f filled: try again later.
 */
static int push__first(struct push *p, struct errmsg *f)
{
	const struct queue_entry *e;
	int err;

	p->probing = false;
	while ((e = queue__at(p->queue, 0))) {
		err = push_reader__request(&p->reader, p->queue, e, e->requests, f);
		if (err < 0 && !push__is_lost(p, err))
			return err;
		if (err > 0) {
			p->first_samples = p->reader.part.samples + p->reader.left_out;
			return 1;
		}
		if (!err) {
			push__count_left_out(p);
		} else {
			p->status.failed++;
			push__say(p, f);
		}
		push__done(p, err < 0);
	}
	return 0;
}

/* The one behind it, to see whether the server accepts that.  False: there is none. */
static bool push__second(struct push *p)
{
	const struct queue_entry *e = queue__at(p->queue, 0), *next = queue__at(p->queue, 1);
	struct errmsg f;
	int err = push_reader__request(&p->reader, p->queue, e, e->requests + 1, &f);

	if (!err && next)
		err = push_reader__request(&p->reader, p->queue, next, 0, &f);
	p->probing = err > 0;
	return p->probing;
}

static int push__choose(struct push *p, struct errmsg *f)
{
	push__look(p);
	if (p->failures >= PUSH_PROBE && !p->probing && !p->ahead && push__second(p))
		return 1;
	return push__first(p, f);
}

/* Send what is in p->reader.part. */
static int push__send(struct push *p)
{
	const struct queue_entry *e = queue__at(p->queue, p->reader.number != p->first);
	struct post_request request = {.data = p->reader.part.data, .size = p->reader.part.size};
	int err = 0;

	p->address.len = p->packed.len = 0;
	if (p->config.kind == PUSH_OTLP) {
		err = gzip__pack(&p->packed, p->reader.part.data, p->reader.part.size);
		request.data = p->packed.data;
		request.size = p->packed.len;
	}
	err = err ? err
		  : push_body__address(&p->address, p->config.kind, p->url, p->reader.part.service,
				       p->reader.part.series, &e->name);
	if (err)
		return err;
	request.url = p->address.data;
	p->size = request.size;
	p->sending = e->number;
	push_body__headers(&request, p->config.kind);
	for (size_t i = 0; i < p->headers.n && request.nheaders < POST_HEADERS_MAX; i++)
		request.headers[request.nheaders++] = p->headers.line[i];
	return post__start(p->post, &request);
}

static void push__start(struct push *p)
{
	struct errmsg f = {""};
	int got;

	/* a changed file that cannot be read now was good before; sending does not fix it */
	if (p->config.headers &&
	    push_headers__read(&p->headers, p->config.headers, &p->headers_wrong) >= 0)
		*p->headers_wrong.text = '\0';
	got = push__choose(p, &f);
	if (!got)
		return;
	if (got > 0) {
		got = push__send(p);
		if (!got)
			return;
		errmsg__set(&f, got, "cannot send a profile: %s", strerror(-got));
	}
	push__say(p, &f);
	p->status.failed++;
	push_reader__forget(&p->reader);
	push__later(p, 0);
}

/* Was the profile that was sent dropped meanwhile, for a new one?  It was counted then. */
static bool push__is_gone(struct push *p)
{
	push__look(p);
	if (p->probing || p->sending == p->first)
		return false;
	push_reader__forget(&p->reader);
	return true;
}

/* The first request is over, and does not wait any more.  @dropped: @samples of it are counted. */
static void push__over(struct push *p, bool dropped, uint64_t samples)
{
	if (dropped) {
		p->status.dropped++;
		p->status.dropped_samples += samples;
	}
	push__count_left_out(p);
	queue__progress(p->queue, 1, samples);
	p->tries = p->failures = 0;
	if (!p->ahead)
		return;
	if (p->ahead_of == p->first) {
		queue__progress(p->queue, 1, p->ahead_samples);
		p->ahead = false;
	} else {
		push__done(p, false);
	}
}

/* The server accepts the one behind the first, and then fails on the first again: it is dropped. */
static void push__skip(struct push *p)
{
	struct errmsg f;

	errmsg__set(&f, 0,
		    "a profile of %" PRIu64 " %s failed %u %s, and the next one did not: "
		    "it is dropped",
		    p->first_samples, count__word(p->first_samples, "sample", "samples"),
		    p->failures, count__word(p->failures, "time", "times"));
	push__say(p, &f);
	p->reader.left_out = 0;
	push__over(p, true, p->first_samples);
}

static void push__sent(struct push *p, const struct post_answer *a)
{
	struct push_rejected rejected = {0};

	if (p->config.kind == PUSH_OTLP && a->whole)
		push_body__rejected(&rejected, a->body, a->body_len);
	if (!rejected.profiles) {
		p->status.sent++;
		p->status.size += p->size;
		p->status.last = os__real_time();
		*p->status.error = '\0';
	}
	p->back_off_ms = p->config.back_off_ms;
	p->not_before = 0;
	if (push__is_gone(p))
		return;
	/* some of it or all was rejected: the server does not say which samples */
	if (rejected.profiles)
		push__say(p, &rejected.why);
	if (!p->probing) {
		push__over(p, rejected.profiles, p->reader.part.samples);
		return;
	}
	if (rejected.profiles) {
		p->status.dropped++;
		p->status.dropped_samples += p->reader.part.samples;
	}
	p->ahead = true;
	p->ahead_of = p->sending;
	p->ahead_samples = p->reader.part.samples;
}

static void push__answered(struct push *p, const struct post_answer *a)
{
	uint32_t of_another = 0;
	const enum push_verdict verdict =
		push_body__verdict(p->config.kind, a, p->probing ? &of_another : &p->tries);
	const bool dropped = verdict == PUSH_GIVE_UP && !p->probing;
	bool broke = a->begun && (!a->status || a->status == 502 || a->status == 504);
	struct errmsg f;

	if (verdict == PUSH_SENT) {
		push__sent(p, a);
		return;
	}
	p->status.failed++;
	push_body__wrong(&f, a, dropped);
	push__say(p, &f);
	push__later(p, a->retry_after);
	if (push__is_gone(p))
		return;
	if (dropped) {
		push__over(p, true, p->reader.part.samples);
		return;
	}
	/* it is read again: the wait may be long */
	push_reader__forget(&p->reader);
	p->failures += broke;
	if (p->ahead && broke)
		push__skip(p);
}

static bool push__something(const struct push *p)
{
	return queue__at(p->queue, 0);
}

struct poll_until push__wait(const struct push *p)
{
	struct poll_until w = post__wait(p->post);
	uint64_t now = os__now(), ms;

	if (post__busy(p->post) || !push__something(p))
		return w;
	ms = p->not_before > now ? (p->not_before - now + NS_PER_MS - 1) / NS_PER_MS : 0;
	if (w.ms < 0 || (uint64_t)w.ms > ms)
		w.ms = (int)ms;
	return w;
}

void push__run(struct push *p)
{
	struct post_answer answer;

	if (post__run(p->post, &answer))
		push__answered(p, &answer);
	if (!post__busy(p->post) && p->not_before <= os__now() && push__something(p)) {
		push__start(p);
		if (post__run(p->post, &answer))
			push__answered(p, &answer);
	}
}

void push__drain(struct push *p, int ms)
{
	uint64_t end = os__now() + (uint64_t)(ms > 0 ? ms : 0) * NS_PER_MS, now;
	struct post_answer answer;
	struct poll_until w;
	struct pollfd fd;
	uint64_t failed;

	/* one that is there counts, also if there is no time */
	if (post__run(p->post, &answer))
		push__answered(p, &answer);
	failed = p->status.failed;
	p->not_before = 0; /* once, whatever was before */
	while (push__something(p) && p->status.failed == failed && (now = os__now()) < end) {
		push__run(p);
		w = push__wait(p);
		ms = (int)((end - now) / NS_PER_MS) + 1;
		fd = (struct pollfd){.fd = w.fd, .events = POLLIN};
		if (push__something(p) && p->status.failed == failed)
			poll(&fd, 1, w.ms >= 0 && w.ms < ms ? w.ms : ms);
	}
	queue__end(p->queue);
}

void push__status(const struct push *p, struct way_status *s)
{
	struct queue_counts counts;

	queue__counts(p->queue, &counts);
	*s = p->status;
	s->dropped += counts.dropped;
	s->dropped_samples += counts.dropped_samples;
	s->waiting = counts.waiting;
	s->wait_size = counts.wait_size;
	if (!*s->error && *p->headers_wrong.text)
		status__say(s, &p->headers_wrong);
}

void push__close(struct push *p)
{
	if (!p)
		return;
	post__close(p->post);
	push_reader__forget(&p->reader);
	queue__close(p->queue);
	push_headers__free(&p->headers);
	buf__free(&p->address);
	buf__free(&p->packed);
	free(p->url);
	free(p);
}
