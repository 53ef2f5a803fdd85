/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What differs between the servers that profiles are sent to (push.h): the address, the headers,
 * and what an answer says.
 */
#ifndef XR_SERVE_LINUX_PUSH_BODY_H
#define XR_SERVE_LINUX_PUSH_BODY_H

#include "base/buf.h"
#include "profile/profile.h"
#include "serve/linux/post.h"
#include "serve/linux/push.h"

/*
 * push_body__labels - append the @labels of the run as Pyroscope has them in names,
 * "{host=a,dc=b}", and a terminator.  `service` is not among them.  -ENOMEM.
 */
int push_body__labels(struct buf *out, const struct profile_label *labels, size_t n);

/*
 * push_body__address - append where a request is sent, terminated.  @service: PUSH_PYROSCOPE; with
 * @labels it is the name of a profile of the time of @file.  -ENOMEM.
 */
int push_body__address(struct buf *out, enum push_kind kind, const char *url, const char *service,
		       const char *labels, const struct interval_name *file);

/* push_body__headers - into @request, which has none yet. */
void push_body__headers(struct post_request *request, enum push_kind kind);

enum push_verdict { PUSH_SENT, PUSH_LATER, PUSH_GIVE_UP };

/*
 * push_body__verdict - what is to be done after this answer (push.h).  @tries: those of this
 * request, counted here if the answer may be about it.
 */
enum push_verdict push_body__verdict(enum push_kind kind, const struct post_answer *a,
				     uint32_t *tries);

/* push_body__wrong - what went wrong, with the beginning of what the server said of it. */
void push_body__wrong(struct errmsg *f, const struct post_answer *a, bool dropped);

/* Of profiles that an OTLP server did not take, though it answered 200. */
struct push_rejected {
	uint64_t profiles;
	struct errmsg why;
};

/* push_body__rejected - what the @len bytes of such an answer say; other answers say nothing.
 */
void push_body__rejected(struct push_rejected *r, const void *body, size_t len);

#endif
