/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What differs between the servers that profiles are sent to (push.h): the address, the headers,
 * and what an answer says.
 */
#ifndef XR_SERVE_LINUX_PUSH_BODY_H
#define XR_SERVE_LINUX_PUSH_BODY_H

#include "base/buf.h"
#include "serve/linux/post.h"
#include "serve/linux/push.h"
#include "serve/linux/spool_file.h"

/* push_body__pack - append @size bytes at @data as gzip.  -ENOMEM. */
int push_body__pack(struct buf *out, const void *data, size_t size);

/* push_body__address - append where @item goes, terminated.  -ENOMEM. */
int push_body__address(struct buf *out, enum push_kind kind, const char *url,
		       const struct spool_item *item);

/* push_body__headers - into @request, which has none yet. */
void push_body__headers(struct post_request *request, enum push_kind kind);

/* Of profiles that an OTLP server did not take, though it answered 200. */
struct push_rejected {
	uint64_t profiles;
	struct errmsg why;
};

/* push_body__rejected - what the @len bytes of such an answer say; one that is none says nothing.
 */
void push_body__rejected(struct push_rejected *r, const void *body, size_t len);

#endif
