/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages between two processes: whole, in order, never waited for. */
#include "serve/linux/channel.h"

#include <sys/socket.h>

#include "tap.h"

#define QUEUE 100000

static struct channel *a, *b;

static void pair(size_t max)
{
	channel__close(a);
	channel__close(b);
	tap__bail_if(channel__pair(&a, &b, max), "no socket");
}

BEFORE()
{
	pair(0);
}

TEST(parts)
{
	const struct channel_head head = {
		.kind = CHANNEL_INTERVAL,
		.id = 7,
		.size = 5,
		.index_len = 3,
		.began = 11,
		.ended = 12,
		.samples = 13,
	};
	struct channel_message m;

	tap__ok(!channel__take(b, &m), "nothing at first");
	tap__ok(!channel__send(a, &head, "bytes", "abc") &&
			!channel__send(a, &(struct channel_head){.kind = CHANNEL_END}, NULL, NULL),
		"two are sent");
	tap__ok(channel__take(b, &m) == 1 && !memcmp(&m.head, &head, sizeof(head)),
		"the first comes");
	tap__ok(!memcmp(m.data, "bytes", 5) && !memcmp(m.index, "abc", 3), "all of it");
	tap__ok(channel__take(b, &m) == 1 && m.head.kind == CHANNEL_END, "then the second");
	tap__ok(!channel__take(b, &m) && !channel__waiting(a), "and nothing more");
}

/* More than a socket holds. */
TEST(large)
{
	struct channel_head head = {.kind = CHANNEL_INTERVAL, .size = 3 << 20};
	char *data = malloc((size_t)head.size);
	struct channel_message m = {0};
	int got = 0, rounds = 0;

	tap__bail_if(!data, "no memory");
	for (size_t i = 0; i < head.size; i++)
		data[i] = (char)(i * 7 + i / 251);
	tap__ok(!channel__send(a, &head, data, NULL) && channel__waiting(a),
		"what does not go at once waits");
	while (!got && rounds++ < 10000) {
		channel__flush(a);
		got = channel__take(b, &m);
	}
	tap__ok(got == 1 && m.head.size == head.size && !memcmp(m.data, data, (size_t)head.size),
		"all of it comes");
	tap__ok(!channel__waiting(a), "nothing waits then");
	free(data);
}

TEST(full)
{
	struct channel_head head = {.kind = CHANNEL_INTERVAL, .size = 60000};
	const struct channel_head none = {.kind = CHANNEL_PROFILE};
	char data[60000] = {0};
	struct channel_message m;
	unsigned int sent = 0, came = 0, heads = 0;
	int err = 0;

	pair(QUEUE);
	while (sent < 1000 && !(err = channel__send(a, &head, data, NULL)))
		sent++;
	tap__ok(err == -ENOBUFS && sent > 1, "after %u there is no room", sent);
	tap__ok(channel__waiting(a) <= QUEUE, "no more waits than may");
	tap__ok(!channel__send(a, &none, NULL, NULL), "a head alone has room");
	for (err = 0; !err && heads < 100000; heads++)
		err = channel__send(a, &none, NULL, NULL);
	tap__ok(err == -ENOBUFS && heads < 10000, "but the number of heads is limited");
	while (channel__take(b, &m) == 1 || channel__waiting(a)) {
		came += m.head.size == sizeof(data);
		m.head.size = 0;
		channel__flush(a);
	}
	tap__ok(came == sent, "%u came", came);
	tap__ok(!channel__send(a, &head, data, NULL), "then there is room again");
	head.size = CHANNEL_SIZE_MAX;
	head.index_len = 1;
	tap__ok(channel__send(a, &head, data, data) == -EMSGSIZE, "a message has a limit");
}

TEST(ends)
{
	const struct channel_head head = {.kind = CHANNEL_SAYS, .size = 2};
	struct channel_message m;

	channel__send(a, &head, "hi", NULL);
	channel__close(a);
	a = NULL;
	tap__ok(channel__take(b, &m) == 1 && !memcmp(m.data, "hi", 2), "what was sent still comes");
	tap__ok(channel__take(b, &m) == -EPIPE, "then -EPIPE: the other end is gone");
	tap__ok(channel__send(b, &head, "hi", NULL) == -EPIPE && channel__flush(b) == -EPIPE &&
			!channel__waiting(b),
		"nothing can be sent to it");
}

static int send_interval(uint64_t samples)
{
	static char data[3000];
	const struct channel_head head = {
		.kind = CHANNEL_INTERVAL, .size = sizeof(data), .samples = samples};

	return channel__send(a, &head, data, NULL);
}

static bool lost_is(uint64_t intervals, uint64_t samples)
{
	const struct channel_lost lost = channel__lost(a);

	return lost.intervals == intervals && lost.samples == samples;
}

/* Intervals that were not taken when the other end is gone. */
TEST(lost)
{
	send_interval(10);
	channel__send(a, &(struct channel_head){.kind = CHANNEL_STATUS}, NULL, NULL);
	send_interval(20);
	send_interval(5);
	tap__ok(lost_is(3, 35), "three intervals are on their way");
	channel__taken(a);
	tap__ok(lost_is(2, 25), "the one that was taken does not count");
	channel__close(b);
	b = NULL;
	tap__ok(send_interval(1) == -EPIPE && lost_is(2, 25) && !channel__waiting(a),
		"the rest is lost when the other end is gone");
	pair(0);
	for (int i = 0; i < 1000; i++) {
		send_interval(10);
		if (i > 2)
			channel__taken(a);
	}
	tap__ok(lost_is(3, 30), "the last of many");
	for (int i = 0; i < 4; i++)
		channel__taken(a);
	tap__ok(lost_is(0, 0), "no interval is taken that was not sent");
}

/* The front is trusted less, and may say less at a time. */
TEST(back)
{
	struct channel_head head = {.kind = CHANNEL_SAYS, .size = CHANNEL_BACK_MAX + 1};
	static char data[CHANNEL_BACK_MAX + 1];
	struct channel_message m;

	tap__ok(channel__send(b, &head, data, NULL) == -EMSGSIZE,
		"the front does not send a large message");
	send(channel__fd(b), &head, sizeof(head), 0);
	tap__ok(channel__take(a, &m) == -EBADMSG, "and it is not taken");
	pair(0);
	head.size = CHANNEL_BACK_MAX;
	tap__ok(!channel__send(b, &head, data, NULL) && channel__take(a, &m) == 1 &&
			m.head.size == head.size,
		"a small one is");
}

/* A part of a message, and then no more; a head that cannot be. */
TEST(damaged)
{
	struct channel_head head = {.kind = CHANNEL_INTERVAL, .size = 100};
	struct channel_message m;

	send(channel__fd(a), &head, sizeof(head), 0);
	tap__ok(!channel__take(b, &m), "a part is not a message");
	channel__close(a);
	a = NULL;
	tap__ok(channel__take(b, &m) == -EPIPE, "it never becomes one");
	for (int i = 0; i < 2; i++) {
		head = (struct channel_head){.kind = CHANNEL_INTERVAL};
		head.kind = i ? head.kind : CHANNEL_KINDS;
		head.size = i ? CHANNEL_SIZE_MAX + 1ULL : 0;
		pair(0);
		send(channel__fd(a), &head, sizeof(head), 0);
		tap__ok(channel__take(b, &m) == -EBADMSG, "damaged head %d", i);
	}
}
