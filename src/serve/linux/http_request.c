/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "os/os.h"
#include "serve/linux/http_parts.h"
#include "serve/linux/http_rules.h"

#define SENDING_MS  120000u /* for an answer, however slowly it is taken */
#define ANSWER_MS   5000u   /* for the sampler, */
#define PROFILE_MS  20000u  /* and beyond the seconds of a profile */
#define ATTACHMENT  "attachment; filename=\"profile.pb.gz\""
#define CHALLENGE   "Bearer realm=\"xrprof-bpf\""
#define NOT_HEALTHY "unhealthy (details require the token)\n"

static struct client *client__of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

void *http_request__begun(void *arg, const char *uri, struct MHD_Connection *connection)
{
	struct client *c = client__of(connection);

	(void)arg;
	if (c) {
		c->begun = true;
		c->malformed = !http_rules__target(uri);
	}
	return NULL;
}

void http_request__completed(void *arg, struct MHD_Connection *connection, void **context,
			     enum MHD_RequestTerminationCode code)
{
	struct client *c = client__of(connection);

	(void)arg;
	(void)context;
	(void)code;
	if (!c)
		return;
	if (c->response)
		MHD_destroy_response(c->response);
	c->response = NULL;
	c->profile = false;
	client__is(c, CLIENT_READING, READING_MS);
}

/* What every answer has.  NULL: no memory. */
static struct MHD_Response *response__new(const char *type, const void *data, size_t size)
{
	/* MHD copies it, and does not write to it */
	struct MHD_Response *r = MHD_create_response_from_buffer(size, (void *)(uintptr_t)data,
								 MHD_RESPMEM_MUST_COPY);

	if (!r)
		return NULL;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type ? type : HTTP_TYPE_TEXT);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	return r;
}

/* Seconds until a profile that is being taken is over. */
static unsigned int http_request__retry_after(const struct http *h)
{
	uint64_t now = os__now(), first = NS_PER_S;

	for (size_t i = 0; i < HTTP_CLIENTS_MAX; i++) {
		const struct client *c = &h->clients[i];
		uint64_t until = c->until - PROFILE_MS * NS_PER_MS;

		if (c->state == CLIENT_ASKED && c->profile && until > now &&
		    (first == NS_PER_S || until - now < first))
			first = until - now;
	}
	return (unsigned int)((first + NS_PER_S - 1) / NS_PER_S);
}

static bool http_request__profiles_full(const struct http *h)
{
	size_t n = 0;

	for (size_t i = 0; i < HTTP_CLIENTS_MAX; i++)
		n += h->clients[i].profile;
	return n >= HTTP_PROFILES_MAX;
}

/* What is answered without asking. */
static enum MHD_Result http_request__refuse(struct http *h, struct client *c,
					    const struct http_verdict *v)
{
	struct MHD_Response *r = response__new(NULL, v->line, strlen(v->line));
	enum MHD_Result queued;
	char after[16];

	h->refused += v->status >= 400;
	if (!r)
		return MHD_NO;
	if (v->allow)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, v->allow);
	if (v->status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, CHALLENGE);
	if (v->status == MHD_HTTP_SERVICE_UNAVAILABLE) {
		snprintf(after, sizeof(after), "%u", http_request__retry_after(h));
		MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, after);
	}
	client__is(c, CLIENT_SENDING, SENDING_MS);
	queued = MHD_queue_response(c->connection, v->status, r);
	MHD_destroy_response(r);
	return queued;
}

/* Let it wait, and ask.  The answer may come at once. */
static enum MHD_Result http_request__ask(struct http *h, struct client *c,
					 const struct http_verdict *v)
{
	/*
	 * MHD does not look at a client that waits: that it went away is seen here.  One that sends
	 * nothing more may still read its answer; over TCP it looks like one that went away, for
	 * which no profile should be taken.
	 */
	const bool goes = v->want == HTTP_PROFILE && h->browsers;
	struct epoll_event event = {.events = goes ? EPOLLRDHUP : 0, .data.ptr = c};

	if (epoll_ctl(h->epoll, EPOLL_CTL_ADD, c->fd, &event))
		return MHD_NO;
	do
		h->last_id += HTTP_CLIENTS_MAX;
	while (!h->last_id);
	c->request = (struct http_request){
		.id = h->last_id + (uint32_t)(c - h->clients),
		.want = v->want,
		.seconds = v->seconds,
		.trusted = v->trusted,
	};
	c->profile = v->want == HTTP_PROFILE;
	client__is(c, CLIENT_ASKED, c->profile ? v->seconds * 1000u + PROFILE_MS : ANSWER_MS);
	MHD_suspend_connection(c->connection);
	h->config.ask(h->config.arg, &c->request);
	return MHD_YES;
}

/* Does something follow the headers? */
static bool has_body(struct MHD_Connection *connection)
{
	const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length && strspn(length, "0") != strlen(length)) ||
	       MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					   MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static enum MHD_Result on_header(void *hosts, enum MHD_ValueKind kind, const char *name,
				 const char *value)
{
	(void)kind;
	(void)value;
	*(unsigned int *)hosts += !strcasecmp(name, MHD_HTTP_HEADER_HOST);
	return MHD_YES;
}

static struct http_verdict http_request__judge(struct http *h, struct client *c, const char *method,
					       const char *url)
{
	struct MHD_Connection *connection = c->connection;
	struct http_said said = {
		.method = method,
		.path = url,
		.malformed = c->malformed,
		.body = has_body(connection),
	};
	const struct {
		const char **to, *name;
	} headers[] = {
		{&said.host, MHD_HTTP_HEADER_HOST},
		{&said.origin, "Origin"},
		{&said.fetch_site, "Sec-Fetch-Site"},
		{&said.authorization, MHD_HTTP_HEADER_AUTHORIZATION},
	};
	struct http_verdict v;
	size_t len = 0;

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		*headers[i].to =
			MHD_lookup_connection_value(connection, MHD_HEADER_KIND, headers[i].name);
	MHD_get_connection_values(connection, MHD_HEADER_KIND, on_header, &said.hosts);
	/* without a value, or with a NUL in it, it is not valid */
	if (MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, "seconds", 7,
					  &said.seconds, &len) == MHD_YES &&
	    (!said.seconds || strlen(said.seconds) != len))
		said.seconds = "";
	v = http_rules__judge(&said, &h->token, h->browsers);
	if (!v.status && v.want == HTTP_PROFILE && http_request__profiles_full(h)) {
		v.status = MHD_HTTP_SERVICE_UNAVAILABLE;
		v.line = "too many profiles are being taken; try again\n";
	}
	return v;
}

enum MHD_Result http_request__handle(void *arg, struct MHD_Connection *connection, const char *url,
				     const char *method, const char *version, const char *data,
				     size_t *size, void **context)
{
	const struct http_verdict ends = {.status = MHD_HTTP_SERVICE_UNAVAILABLE,
					  .line = HTTP_ENDS};
	struct http *h = arg;
	struct client *c = client__of(connection);
	struct http_verdict v;
	enum MHD_Result queued;

	(void)version;
	(void)data;
	if (!c || *size || c->state == CLIENT_GONE)
		return MHD_NO;
	if (c->state == CLIENT_ANSWERED) {
		if (!c->response)
			return MHD_NO;
		client__is(c, CLIENT_SENDING, SENDING_MS);
		queued = MHD_queue_response(connection, c->status, c->response);
		MHD_destroy_response(c->response);
		c->response = NULL;
		return queued;
	}
	/* first with the headers alone: a body is refused before it comes */
	if (!*context) {
		*context = c;
		c->begun = false;
		h->requests++;
		if (!has_body(connection))
			return MHD_YES;
	}
	/*
	 * the sampler would not answer, and MHD ends the program if it is stopped while a client
	 * waits
	 */
	v = h->closing ? ends : http_request__judge(h, c, method, url);
	return v.status ? http_request__refuse(h, c, &v) : http_request__ask(h, c, &v);
}

/* MHD goes on with it: it calls the handler again. */
static void http_request__resume(struct http *h, struct client *c, enum client_state state)
{
	epoll_ctl(h->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	client__is(c, state, SENDING_MS);
	h->again = true;
	MHD_resume_connection(c->connection);
}

void http_request__answer(struct http *h, struct client *c, unsigned int status, const char *type,
			  const void *data, size_t size)
{
	if (c->request.want == HTTP_HEALTH && !c->request.trusted && status != MHD_HTTP_OK) {
		data = NOT_HEALTHY;
		size = sizeof(NOT_HEALTHY) - 1;
		type = NULL;
	}
	c->status = status;
	c->response = response__new(type, data, size);
	if (c->response && c->request.want == HTTP_PROFILE && status == MHD_HTTP_OK)
		MHD_add_response_header(c->response, MHD_HTTP_HEADER_CONTENT_DISPOSITION,
					ATTACHMENT);
	http_request__resume(h, c, CLIENT_ANSWERED);
}

void http_request__gone(struct http *h, struct client *c)
{
	struct http_request gone = {.id = c->request.id, .want = HTTP_GONE};

	http_request__resume(h, c, CLIENT_GONE);
	h->config.ask(h->config.arg, &gone);
}

void http_request__unanswered(struct http *h, struct client *c)
{
	static const char line[] = "the sampler does not respond\n";
	struct http_request gone = {.id = c->request.id, .want = HTTP_GONE};

	http_request__answer(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, line, sizeof(line) - 1);
	h->config.ask(h->config.arg, &gone);
}
