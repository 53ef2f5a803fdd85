/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The front: a process without any rights but its user's that writes the directory, sends to
 * servers and listens, so that nothing of that holds up or endangers the one that samples.
 *
 *	err = front__start(&front, &config, &f);
 *	... channel__send(front.channel, ...), channel__take(front.channel, ...) ...
 *	front__stop(&front, ...);
 *
 * It lives a little longer than the sampler if that is killed: intervals that arrived are still
 * written, and those that cannot be sent wait in the directory.
 *
 * The directory is the queue: each interval is written into it once, and each server has links to
 * the files that wait for it (queue.h).
 */
#ifndef XR_SERVE_LINUX_FRONT_H
#define XR_SERVE_LINUX_FRONT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "serve/linux/channel.h"
#include "serve/linux/store.h"
#include "serve/status.h"

/* Strings are borrowed, and NULL where that is not asked for. */
struct front_config {
	const char *to[WAYS]; /* the directory, and URLs */
	struct store_keep keep;
	size_t memory; /* bytes that a profile that is read again may take (base/limits.h) */
	const char *headers[WAYS]; /* files */
	const char *ca;
	const char *spool;   /* a directory, which gets one for each server */
	uint64_t spool_size; /* bytes of profiles that wait for each */
	const char *listen, *token;
	size_t queue; /* bytes that may wait to be sent to it */
};

/* front_config__sends - to a server? */
static inline bool front_config__sends(const struct front_config *c)
{
	return c->to[WAY_PYROSCOPE] || c->to[WAY_OTLP];
}

struct front {
	pid_t pid; /* 0: none */
	struct channel *channel;
};

/*
 * front__start - fork it, and wait until it has opened all.  To be called while there are no
 * descriptors and threads that it must not have.  Negative errno, @f filled.
 */
int front__start(struct front *front, const struct front_config *config, struct errmsg *f);

/* front__fork - the same without waiting: CHANNEL_READY or CHANNEL_FAILED comes. */
int front__fork(struct front *front, const struct front_config *config, struct errmsg *f);

/*
 * front__stop - have it finish, and give it up after @ms.  @drain_seconds: for how long it goes on
 * sending what waits; what is left stays in the spool.  @on: called with each message that comes
 * meanwhile; NULL is allowed.  What waited for it and did not get there.
 */
struct channel_lost front__stop(struct front *front, int ms, unsigned int drain_seconds,
				void (*on)(void *arg, const struct channel_message *m), void *arg);

/* front__serve - the process itself, until the channel ends.  For front__start. */
void front__serve(struct channel *channel, const struct front_config *config);

#endif
