/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Between the process that samples and the front, which writes and sends: messages over a socket.
 * Neither waits for the other.  What the sampler has no room to send is dropped, and counted; what
 * it sends arrives whole, or not at all when one of them ends.
 */
#ifndef XR_SERVE_LINUX_CHANNEL_H
#define XR_SERVE_LINUX_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#define CHANNEL_SIZE_MAX (64u << 20) /* bytes of a message to the front, */
#define CHANNEL_BACK_MAX (16u << 10) /* and of one to the sampler, which trusts the front less */

enum channel_kind {
	/* to the front */
	CHANNEL_STATUS,	  /* struct sampler_status, and those of struct call_count */
	CHANNEL_INTERVAL, /* a profile, and its part of the index */
	CHANNEL_PROFILE,  /* the answer to request `id`; size 0: it is not available */
	CHANNEL_END,	  /* nothing follows: send, write and end */
	/* to the sampler */
	CHANNEL_WANT_STATUS,
	CHANNEL_WANT_PROFILE, /* `id`, of the next `seconds` */
	CHANNEL_GONE,	      /* no client waits for `id` any more */
	CHANNEL_READY,	      /* all is open */
	CHANNEL_FAILED,	      /* it is not: the bytes say why */
	CHANNEL_FRONT,	      /* struct front_status, as CHANNEL_STATUS was got */
	CHANNEL_SAYS,	      /* a line for people */
	CHANNEL_TAKEN,	      /* the next interval, in their order, is written, or is counted */
	CHANNEL_KINDS
};

/* The beginning of a message; `size` and `index_len` bytes follow. */
struct channel_head {
	uint32_t kind;
	uint32_t id, seconds, unused;
	uint64_t size, index_len;
	uint64_t began, ended; /* ns since 1970 */
	uint64_t samples;
};

/* A message that came; what it points at is valid until the next channel__take. */
struct channel_message {
	struct channel_head head;
	const void *data;
	const char *index;
};

struct channel;

/*
 * channel__pair - both ends.  @max: bytes that may wait to be sent to the front.  -ENOMEM, or what
 * socketpair(2) fails with.
 */
int channel__pair(struct channel **sampler, struct channel **front, size_t max);

/* channel__fd - to be polled for reading, and while channel__waiting for writing. */
int channel__fd(const struct channel *c);
size_t channel__waiting(const struct channel *c); /* bytes that are not sent yet */

/*
 * channel__send - @head's lengths say how much of @data and @index there is.  0; -ENOBUFS:
 * no room, nothing is sent; -EPIPE: the other end is gone; -EMSGSIZE, -ENOMEM.  A head alone has
 * room for longer than what has more to it: a profile that has none can be refused.
 */
int channel__send(struct channel *c, const struct channel_head *head, const void *data,
		  const char *index);

/*
 * channel__taken - CHANNEL_TAKEN came; channel__lost - the intervals that were not taken:
 * lost when it is closed, or when the other end is gone.
 */
struct channel_lost {
	uint64_t intervals, samples;
};

void channel__taken(struct channel *c);
struct channel_lost channel__lost(const struct channel *c);

/* channel__flush - send on what waits, as much as goes now.  0 or -EPIPE. */
int channel__flush(struct channel *c);

/*
 * channel__take - the next message.  1: there is one; 0: not now; -EPIPE: the other end is gone and
 * all that came was taken; -EBADMSG: what came cannot be; -ENOMEM.
 */
int channel__take(struct channel *c, struct channel_message *m);

void channel__close(struct channel *c); /* NULL is allowed */

#endif
