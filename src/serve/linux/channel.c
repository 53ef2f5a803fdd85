/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "serve/linux/channel.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"

#define READ_BYTES  (64u << 10)	 /* at a time */
#define SPARE_BYTES (256u << 10) /* a buffer that is empty may keep so much */
#define HEADS_BYTES (64u << 10)	 /* beyond what may wait, for messages that are a head alone */

struct channel {
	int fd;
	size_t max;		   /* bytes that may wait; 0: no limit but that of a message */
	size_t send_max, take_max; /* of a message */
	bool gone;
	struct buf out, in;
	size_t sent, taken; /* of them */
	/* samples of the intervals sent that the other end has not taken yet: from `first` on */
	uint64_t *intervals;
	size_t first, end, cap;
};

/* A message with all that follows its head. */
static size_t head__all(const struct channel_head *head)
{
	return sizeof(*head) + (size_t)head->size + (size_t)head->index_len;
}

static bool head__fits(const struct channel_head *head, size_t max)
{
	return head->size <= max && head->index_len <= max - head->size;
}

static struct channel *channel__new(int fd, size_t max)
{
	struct channel *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = fd;
	c->max = max;
	return c;
}

int channel__pair(struct channel **sampler, struct channel **front, size_t max)
{
	int ends[2];

	*sampler = *front = NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return -errno;
	*sampler = channel__new(ends[0], max);
	*front = channel__new(ends[1], 0);
	if (*sampler && *front) {
		(*sampler)->send_max = (*front)->take_max = CHANNEL_SIZE_MAX;
		(*front)->send_max = (*sampler)->take_max = CHANNEL_BACK_MAX;
		return 0;
	}
	if (!*sampler)
		close(ends[0]);
	if (!*front)
		close(ends[1]);
	channel__close(*sampler);
	channel__close(*front);
	*sampler = *front = NULL;
	return -ENOMEM;
}

int channel__fd(const struct channel *c)
{
	return c->fd;
}

size_t channel__waiting(const struct channel *c)
{
	return c->out.len - c->sent;
}

/* What was handed on of @b, @done bytes, need not be kept. */
static void buf__shift(struct buf *b, size_t *done)
{
	if (!b->len || (*done < b->len && *done < SPARE_BYTES))
		return;
	memmove(b->data, b->data + *done, b->len - *done);
	b->len -= *done;
	*done = 0;
	if (!b->len && b->cap > SPARE_BYTES)
		buf__free(b);
}

/* Room to remember one more that is on its way. */
static int channel__room(struct channel *c)
{
	if (c->first && (c->first == c->end || c->end == c->cap)) {
		memmove(c->intervals, c->intervals + c->first,
			(c->end - c->first) * sizeof(*c->intervals));
		c->end -= c->first;
		c->first = 0;
	}
	return array__room(&c->intervals, c->end, &c->cap, sizeof(*c->intervals));
}

void channel__taken(struct channel *c)
{
	if (c->first < c->end)
		c->first++;
}

struct channel_lost channel__lost(const struct channel *c)
{
	struct channel_lost lost = {.intervals = c->end - c->first};

	for (size_t i = c->first; i < c->end; i++)
		lost.samples += c->intervals[i];
	return lost;
}

int channel__flush(struct channel *c)
{
	while (!c->gone && c->sent < c->out.len) {
		ssize_t n = send(c->fd, c->out.data + c->sent, c->out.len - c->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n < 0)
			c->gone = true;
		else
			c->sent += (size_t)n;
	}
	if (c->gone)
		c->sent = c->out.len;
	buf__shift(&c->out, &c->sent);
	return c->gone ? -EPIPE : 0;
}

int channel__send(struct channel *c, const struct channel_head *head, const void *data,
		  const char *index)
{
	const bool interval = head->kind == CHANNEL_INTERVAL;
	size_t before, all, max;
	int err;

	if (!head__fits(head, c->send_max))
		return -EMSGSIZE;
	err = channel__flush(c);
	if (err)
		return err;
	all = head__all(head);
	max = all > sizeof(*head) ? c->max : c->max + HEADS_BYTES;
	if (c->max && channel__waiting(c) && channel__waiting(c) + all > max)
		return -ENOBUFS;
	before = c->out.len;
	err = interval ? channel__room(c) : 0;
	err = err ? err : buf__add(&c->out, head, sizeof(*head));
	err = err ? err : buf__add(&c->out, data, (size_t)head->size);
	err = err ? err : buf__add(&c->out, index, (size_t)head->index_len);
	if (err) {
		c->out.len = before;
		return err;
	}
	err = channel__flush(c);
	if (!err && interval)
		c->intervals[c->end++] = head->samples;
	return err;
}

/* Is there a whole message?  Its length with all, 0: not yet; -EBADMSG. */
static ssize_t channel__whole(const struct channel *c, struct channel_head *head)
{
	size_t have = c->in.len - c->taken, all;

	if (have < sizeof(*head))
		return 0;
	memcpy(head, c->in.data + c->taken, sizeof(*head));
	if (head->kind >= CHANNEL_KINDS || !head__fits(head, c->take_max))
		return -EBADMSG;
	all = head__all(head);
	return have < all ? 0 : (ssize_t)all;
}

/* What has come, as much as is there now; -EAGAIN, -EPIPE, -ENOMEM. */
static int channel__read(struct channel *c)
{
	char more[READ_BYTES];
	ssize_t n;

	do
		n = recv(c->fd, more, sizeof(more), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return -EAGAIN;
	if (n <= 0)
		return -EPIPE;
	return buf__add(&c->in, more, (size_t)n);
}

int channel__take(struct channel *c, struct channel_message *m)
{
	ssize_t n;
	int err;

	buf__shift(&c->in, &c->taken);
	while (!(n = channel__whole(c, &m->head))) {
		err = channel__read(c);
		if (err)
			return err == -EAGAIN ? 0 : err;
	}
	if (n < 0)
		return (int)n;
	m->data = c->in.data + c->taken + sizeof(m->head);
	m->index = (const char *)m->data + m->head.size;
	c->taken += (size_t)n;
	return 1;
}

void channel__close(struct channel *c)
{
	if (!c)
		return;
	close(c->fd);
	buf__free(&c->out);
	buf__free(&c->in);
	free(c->intervals);
	free(c);
}
