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
#include "base/utf8.h"
#include "os/os.h"
#include "serve/linux/post.h"
#include "serve/linux/push_body.h"
#include "serve/linux/push_headers.h"
#include "serve/linux/spool.h"

#define TIMEOUT_MS	10000u
#define BACK_OFF_MS	1000u
#define BACK_OFF_MAX_MS 300000u
#define RETRY_AFTER_MAX 3600u /* seconds */
#define SAID_MAX	80u   /* bytes of what a server said */

struct push {
	struct push_config config;
	char *url; /* without a slash at its end */
	struct post *post;
	struct spool *spool;
	struct push_headers headers;
	struct errmsg headers_wrong; /* "": their file could be read when it was last */
	struct buf address;	     /* of the request that is out */
	uint64_t size;		     /* and the bytes of its body */
	uint64_t not_before;
	uint32_t back_off_ms; /* the next */
	uint32_t tries;	      /* of the first that waits, by answers that may be about it */
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

/* Which of the URLs that were given is meant is said, too. */
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
	if (!p->config.timeout_ms)
		p->config.timeout_ms = TIMEOUT_MS;
	if (!p->config.back_off_ms)
		p->config.back_off_ms = BACK_OFF_MS;
	if (!p->config.back_off_max_ms)
		p->config.back_off_max_ms = BACK_OFF_MAX_MS;
	p->back_off_ms = p->config.back_off_ms;
	err = push__url(p, f);
	if (!err && config->headers)
		err = push_headers__read(&p->headers, config->headers, f);
	if (err >= 0)
		err = post__open(&p->post, config->ca, p->config.timeout_ms, f);
	if (!err)
		err = spool__open(&p->spool, config->spool, (uint32_t)config->kind + 1,
				  config->spool_size, f);
	if (err) {
		push__close(p);
		return err;
	}
	*out = p;
	return 0;
}

int push__add(struct push *p, const struct push_item *item)
{
	struct spool_item entry = {
		.began = item->began,
		.ended = item->ended,
		.samples = item->samples,
		.name = item->name,
		.data = item->data,
		.size = item->size,
	};
	struct buf packed = {0};
	struct errmsg f;
	int err = item->size > PUSH_SIZE_MAX ? -EMSGSIZE : 0;

	/* once, and not each time it is tried */
	if (!err && p->config.kind == PUSH_OTLP) {
		err = push_body__pack(&packed, item->data, item->size);
		entry.data = packed.data;
		entry.size = packed.len;
	}
	if (err) {
		p->status.dropped++;
		p->status.dropped_samples += item->samples;
	} else {
		err = spool__add(p->spool, &entry); /* which counts */
	}
	buf__free(&packed);
	if (err) {
		errmsg__set(&f, err, "cannot keep a profile of %zu bytes for later: %s", item->size,
			    strerror(-err));
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
	uint64_t wait = jitter_ns(p->back_off_ms);

	if (retry_after > RETRY_AFTER_MAX)
		retry_after = RETRY_AFTER_MAX;
	if (retry_after) /* never before that */
		wait += retry_after * NS_PER_S;
	p->not_before = os__now() + wait;
	p->back_off_ms = p->back_off_ms < p->config.back_off_max_ms / 2 ? p->back_off_ms * 2
									: p->config.back_off_max_ms;
}

static void push__start(struct push *p)
{
	struct post_request request = {0};
	struct spool_item item;
	struct errmsg f;
	int err;

	/* what was changed and cannot be read now was good before; to send does not mend it */
	if (p->config.headers &&
	    push_headers__read(&p->headers, p->config.headers, &p->headers_wrong) >= 0)
		*p->headers_wrong.text = '\0';
	err = spool__first(p->spool, &item);
	if (!err)
		return;
	if (err > 0) {
		p->address.len = 0;
		err = push_body__address(&p->address, p->config.kind, p->url, &item);
	}
	if (!err) {
		request.url = p->address.data;
		request.data = item.data;
		request.size = p->size = item.size;
		push_body__headers(&request, p->config.kind);
		for (size_t i = 0; i < p->headers.n && request.nheaders < POST_HEADERS_MAX; i++)
			request.headers[request.nheaders++] = p->headers.line[i];
		err = post__start(p->post, &request);
	}
	if (err) {
		errmsg__set(&f, err, "cannot send a profile from the spool: %s", strerror(-err));
		push__say(p, &f);
		p->status.failed++;
		spool__later(p->spool);
		push__later(p, 0);
	}
}

/* What is to be done after an answer. */
enum verdict { SENT, LATER, GIVE_UP };

static enum verdict push__verdict(struct push *p, const struct post_answer *a)
{
	if (a->status >= 200 && a->status < 300)
		return SENT;
	switch (a->status) {
	case 0:
	case 401:
	case 403:
	case 407:
	case 429:
	case 502:
	case 503:
	case 504:
		return LATER;
	case 408:
	case 422:
	case 500:
		if (p->config.kind == PUSH_PYROSCOPE && ++p->tries < PUSH_TRIES)
			return LATER;
		return GIVE_UP;
	default:
		return GIVE_UP;
	}
}

/* What went wrong, with the beginning of what the server said of it. */
static void push__complain(struct push *p, const struct post_answer *a, enum verdict verdict)
{
	const char *then = verdict == GIVE_UP ? ": the profile is dropped" : "";
	struct errmsg f;
	int len = 0;

	while (len < (int)SAID_MAX && (size_t)len < a->body_len &&
	       ((const char *)a->body)[len] != '\n')
		len++;
	if (!a->status)
		errmsg__set(&f, 0, "%s", a->error);
	else if (a->status >= 300 && a->status < 400)
		errmsg__set(&f, 0, "HTTP %u is a redirect, and redirects are not followed%s",
			    a->status, then);
	else
		errmsg__set(&f, 0, "HTTP %u%s%s%.*s", a->status, then, len ? ": " : "", len,
			    len ? (const char *)a->body : "");
	push__say(p, &f);
}

static void push__sent(struct push *p, const struct post_answer *a)
{
	struct push_rejected rejected = {0};

	if (p->config.kind == PUSH_OTLP && a->whole)
		push_body__rejected(&rejected, a->body, a->body_len);
	if (rejected.profiles) {
		/* some of it or all: nobody says which samples */
		push__say(p, &rejected.why);
		spool__drop(p->spool);
	} else {
		p->status.sent++;
		p->status.size += p->size;
		p->status.last = os__real_time();
		*p->status.error = '\0';
		spool__done(p->spool);
	}
	p->back_off_ms = p->config.back_off_ms;
	p->not_before = 0;
}

static void push__answered(struct push *p, const struct post_answer *a)
{
	enum verdict verdict = push__verdict(p, a);

	if (verdict == SENT) {
		push__sent(p, a);
	} else {
		p->status.failed++;
		push__complain(p, a, verdict);
		push__later(p, a->retry_after);
	}
	if (verdict == GIVE_UP)
		spool__drop(p->spool);
	else if (verdict == LATER)
		spool__later(p->spool);
	if (verdict != LATER)
		p->tries = 0;
}

static bool push__something(const struct push *p)
{
	struct spool_counts counts;

	spool__counts(p->spool, &counts);
	return counts.waiting > 0;
}

struct part_wait push__wait(const struct push *p)
{
	struct part_wait w = post__wait(p->post);
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
	uint64_t failed = p->status.failed;
	struct part_wait w;
	struct pollfd fd;

	p->not_before = 0; /* once, whatever was before */
	while (push__something(p) && p->status.failed == failed && (now = os__now()) < end) {
		push__run(p);
		w = push__wait(p);
		ms = (int)((end - now) / NS_PER_MS) + 1;
		fd = (struct pollfd){.fd = w.fd, .events = POLLIN};
		if (push__something(p) && p->status.failed == failed)
			poll(&fd, 1, w.ms >= 0 && w.ms < ms ? w.ms : ms);
	}
}

void push__status(const struct push *p, struct way_status *s)
{
	struct spool_counts counts;

	spool__counts(p->spool, &counts);
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
	spool__close(p->spool);
	push_headers__free(&p->headers);
	buf__free(&p->address);
	free(p->url);
	free(p);
}
