/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/push_body.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/version.h"
#include "otlp.pb-c.h"

#define SAID_MAX 80u /* bytes of what a server said */

/* Append @text so that it stands for itself in a query. */
static int query__add(struct buf *out, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-._~";
	int err = 0;

	for (; *text && !err; text++)
		err = strchr(plain, *text) ? buf__add(out, text, 1)
					   : buf__printf(out, "%%%02X", (unsigned char)*text);
	return err;
}

/* Append @word as one of a name: what has a meaning there is replaced. */
static int name__word(struct buf *out, const char *word)
{
	int err = 0;

	for (; *word && !err; word++)
		err = buf__add(out,
			       strchr("{}=,\"", *word) || (unsigned char)*word <= ' ' ? "_" : word,
			       1);
	return err;
}

int push_body__labels(struct buf *out, const struct profile_label *labels, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (!strcmp(labels[i].key, "service"))
			continue;
		err = buf__str(out, out->len ? "," : "{");
		err = err ? err : name__word(out, labels[i].key);
		err = err ? err : buf__str(out, "=");
		err = err ? err : name__word(out, labels[i].value);
	}
	if (!err && out->len)
		err = buf__str(out, "}");
	return err ? err : buf__add(out, "", 1);
}

static int address__name(struct buf *out, const char *service, const char *labels)
{
	struct buf name = {0};
	int err = name__word(&name, service);

	err = err ? err : buf__add(&name, labels, strlen(labels) + 1);
	err = err ? err : query__add(out, name.data);
	buf__free(&name);
	return err;
}

int push_body__address(struct buf *out, enum push_kind kind, const char *url, const char *service,
		       const char *labels, const struct interval_name *file)
{
	int err = buf__str(out, url);

	if (kind == PUSH_OTLP) {
		err = err ? err : buf__str(out, "/v1development/profiles");
	} else {
		err = err ? err : buf__str(out, "/ingest?name=");
		err = err ? err : address__name(out, service, labels);
		/* of the servers that take it none has a spy of our name, and so none renames */
		err = err ? err
			  : buf__printf(out,
					"&from=%" PRIu64 "&until=%" PRIu64
					"&format=pprof&spyName=" XR_PROGRAM,
					file->began, interval_name__end(file));
	}
	return err ? err : buf__add(out, "", 1);
}

void push_body__headers(struct post_request *request, enum push_kind kind)
{
	if (kind == PUSH_OTLP) {
		request->headers[request->nheaders++] = "Content-Type: application/x-protobuf";
		request->headers[request->nheaders++] = "Content-Encoding: gzip";
	} else {
		/* its gzip is part of the format */
		request->headers[request->nheaders++] = "Content-Type: application/octet-stream";
	}
}

enum push_verdict push_body__verdict(enum push_kind kind, const struct post_answer *a,
				     uint32_t *tries)
{
	if (a->status >= 200 && a->status < 300)
		return PUSH_SENT;
	switch (a->status) {
	case 0:
	case 401:
	case 403:
	case 407:
	case 429:
	case 502:
	case 503:
	case 504:
		return PUSH_LATER;
	case 408:
	case 422:
	case 500:
		return kind == PUSH_PYROSCOPE && ++*tries < PUSH_TRIES ? PUSH_LATER : PUSH_GIVE_UP;
	default:
		return PUSH_GIVE_UP;
	}
}

void push_body__wrong(struct errmsg *f, const struct post_answer *a, bool dropped)
{
	const char *then = dropped ? ": the profile is dropped" : "", *body = a->body;
	int len = 0;

	while (len < (int)SAID_MAX && (size_t)len < a->body_len && body[len] != '\n')
		len++;
	if (!a->status)
		errmsg__set(f, 0, "%s", a->error);
	else if (a->status >= 300 && a->status < 400)
		errmsg__set(f, 0, "HTTP %u is a redirect, and redirects are not followed%s",
			    a->status, then);
	else
		errmsg__set(f, 0, "HTTP %u%s%s%.*s", a->status, then, len ? ": " : "", len,
			    len ? body : "");
}

void push_body__rejected(struct push_rejected *r, const void *body, size_t len)
{
	Otlp__ExportProfilesServiceResponse *answer;
	const Otlp__ExportProfilesPartialSuccess *partial;

	if (!len)
		return;
	answer = otlp__export_profiles_service_response__unpack(NULL, len, body);
	if (!answer)
		return;
	partial = answer->partial_success;
	if (partial && partial->rejected_profiles > 0) {
		r->profiles = (uint64_t)partial->rejected_profiles;
		errmsg__set(&r->why, 0,
			    "the server accepted the request and refused %" PRIu64
			    " of its profiles: %.*s",
			    r->profiles, (int)partial->error_message.len,
			    partial->error_message.data ? (const char *)partial->error_message.data
							: "");
	}
	otlp__export_profiles_service_response__free_unpacked(answer, NULL);
}
