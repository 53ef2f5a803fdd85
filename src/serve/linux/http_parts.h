/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of http.h share: the server, and those who are connected to it.
 */
#ifndef XR_SERVE_LINUX_HTTP_PARTS_H
#define XR_SERVE_LINUX_HTTP_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <microhttpd.h>

#include "serve/linux/http.h"
#include "serve/linux/listen.h"
#include "serve/linux/token.h"

#define READING_MS 30000u /* for a request from its first byte on, and between requests */
#define HTTP_ENDS  "the profiler is ending or restarting; try again\n"

enum client_state {
	CLIENT_FREE,	 /* no client */
	CLIENT_READING,	 /* no whole request is here */
	CLIENT_ASKED,	 /* it waits for an answer, and MHD does nothing about it */
	CLIENT_ANSWERED, /* `response` is to be sent */
	CLIENT_GONE,	 /* it went away while it waited */
	CLIENT_SENDING,	 /* it is being sent */
};

struct client {
	enum client_state state;
	int fd;				   /* MHD's */
	struct MHD_Connection *connection; /* MHD's */
	unsigned char peer[16];		   /* address; zeros: of this machine */
	uint64_t since;			   /* ns: when this state began, */
	uint64_t until;			   /* and ends at the latest */
	bool begun;			   /* of a request: its first line came, no more */
	bool malformed;			   /* of it: http_rules__target() refuses its target */
	bool doomed;			   /* shut down; MHD will see it */
	/* of the request: */
	struct http_request request;
	bool profile;		       /* until it is sent */
	struct MHD_Response *response; /* owned */
	unsigned int status;
};

struct http {
	struct http_config config;
	struct token token;
	struct listen_socket listen;
	bool browsers; /* they can get here */
	bool again;    /* MHD has more to do, and does not report it */
	bool closing;  /* nothing is asked any more */
	struct MHD_Daemon *daemon;
	int epoll; /* of MHD's descriptor, and clients that wait for an answer */
	struct client clients[HTTP_CLIENTS_MAX];
	uint32_t last_id; /* less the slot of its client */
	uint64_t requests, refused;
};

/* --- http_clients.c: who is connected --- */

/* client__is - have it be in @state, for at most @ms. */
void client__is(struct client *c, enum client_state state, uint64_t ms);

/* http_clients__allow - MHD asks whether a client with this address may connect. */
enum MHD_Result http_clients__allow(void *arg, const struct sockaddr *from, socklen_t size);

/*
 * http_clients__make_room - if all places are taken, drop the client that has had the most time to
 * send a request, and did not.
 */
void http_clients__make_room(struct http *h);

/* http_clients__notify - told by MHD of each connection's beginning and end. */
void http_clients__notify(void *arg, struct MHD_Connection *connection, void **socket_context,
			  enum MHD_ConnectionNotificationCode code);

/* http_clients__late - end what takes too long, and answer who waited in vain. */
void http_clients__late(struct http *h);

/* http_clients__ms - until the next of them is late; -1: never. */
int http_clients__ms(const struct http *h);

/* --- http_request.c: what they ask --- */

/* http_request__handle, __begun, __completed - told by MHD of each request. */
enum MHD_Result http_request__handle(void *arg, struct MHD_Connection *connection, const char *url,
				     const char *method, const char *version, const char *data,
				     size_t *size, void **context);
void *http_request__begun(void *arg, const char *uri, struct MHD_Connection *connection);
void http_request__completed(void *arg, struct MHD_Connection *connection, void **context,
			     enum MHD_RequestTerminationCode code);

/* http_request__answer - to a client that is CLIENT_ASKED.  NULL type: text. */
void http_request__answer(struct http *h, struct client *c, unsigned int status, const char *type,
			  const void *data, size_t size);

/* http_request__gone - the same if it went away. */
void http_request__gone(struct http *h, struct client *c);

/* http_request__unanswered - it waited in vain. */
void http_request__unanswered(struct http *h, struct client *c);

#endif
