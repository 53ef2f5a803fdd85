/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/post.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/version.h"
#include "os/os.h"
#include "serve/linux/libraries.h"

#define EVENTS 8

struct post {
	const char *ca; /* borrowed */
	uint32_t timeout_ms;
	CURLM *multi;
	CURL *easy;
	bool stale; /* `easy` is to be made again: the server did not answer */
	struct curl_slist *headers;
	int epoll;
	bool busy;
	bool timed;	  /* libcurl wants to be called */
	uint64_t wake;	  /* at this time */
	bool complete;	  /* the headers of the answer came */
	size_t head_size; /* bytes of them */
	struct buf body;
	char error[CURL_ERROR_SIZE];
};

static int post__on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket)
{
	struct post *p = arg;
	struct epoll_event e = {.data.fd = fd};

	(void)easy;
	(void)socket;
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(p->epoll, EPOLL_CTL_DEL, fd, NULL);
		return 0;
	}
	e.events = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) |
		   (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
	if (epoll_ctl(p->epoll, EPOLL_CTL_MOD, fd, &e) == 0)
		return 0;
	return epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -1 : 0;
}

static int post__on_timer(CURLM *multi, long ms, void *arg)
{
	struct post *p = arg;

	(void)multi;
	p->timed = ms >= 0;
	if (p->timed)
		p->wake = os__now() + (uint64_t)ms * NS_PER_MS;
	return 0;
}

static size_t post__on_header(char *data, size_t size, size_t n, void *arg)
{
	struct post *p = arg;
	size_t len = size * n;

	if (len >= 5 && !memcmp(data, "HTTP/", 5))
		p->complete = false;
	p->head_size += len;
	if (p->head_size > POST_ANSWER_MAX)
		return 0;
	if (len <= 2 && (*data == '\r' || *data == '\n'))
		p->complete = true;
	return len;
}

static size_t post__on_body(char *data, size_t size, size_t n, void *arg)
{
	struct post *p = arg;
	size_t len = size * n;

	if (len > POST_ANSWER_MAX - p->body.len || buf__add(&p->body, data, len) < 0)
		return 0;
	return len;
}

/* The library that is loaded may be older than the header that this was compiled with. */
static CURLcode post__protocols(CURL *e)
{
	CURLcode err = CURLE_UNKNOWN_OPTION;

#if LIBCURL_VERSION_NUM >= 0x075500
	err = curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	if (err == CURLE_UNKNOWN_OPTION)
		err = curl_easy_setopt(e, CURLOPT_PROTOCOLS,
				       (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#pragma GCC diagnostic pop
	return err;
}

/*
 * The certificates that this system trusts, for CURLOPT_CAINFO: the first of the files in which
 * distributions keep them that can be read.  NULL: what libcurl has built in counts, that of a
 * shared library being the distribution's own; of the static program there is none, and a server
 * over TLS needs a file that the caller names.
 */
static const char *certificates__file(void)
{
#ifdef XR_STATIC
	static const char *const files[] = {
		"/etc/ssl/certs/ca-certificates.crt",		     /* Debian, Arch, Gentoo */
		"/etc/pki/tls/certs/ca-bundle.crt",		     /* Fedora, Red Hat */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Red Hat from 7 on */
		"/etc/ssl/ca-bundle.pem",			     /* SUSE */
		"/etc/ssl/cert.pem",				     /* Alpine */
	};
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!access(files[i], R_OK))
			return files[i];
#endif
	return NULL;
}

/* What is the same for all requests. */
static CURLcode post__set(struct post *p, CURL *e)
{
	const char *ca = p->ca ? p->ca : certificates__file();
	CURLcode err = CURLE_OK;

#define SET(option, value)                                                                         \
	do {                                                                                       \
		if (!err)                                                                          \
			err = curl_easy_setopt(e, option, value);                                  \
	} while (0)
	SET(CURLOPT_USERAGENT, XR_PROGRAM "/" XR_VERSION);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_ERRORBUFFER, p->error);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)p->timeout_ms);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_HEADERFUNCTION, post__on_header);
	SET(CURLOPT_HEADERDATA, p);
	SET(CURLOPT_WRITEFUNCTION, post__on_body);
	SET(CURLOPT_WRITEDATA, p);
	SET(CURLOPT_POST, 1L);
	if (ca)
		SET(CURLOPT_CAINFO, ca);
#undef SET
#if LIBCURL_VERSION_NUM >= 0x075700
	/* its thread that looks a name up is not waited for; an older library does wait */
	curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L);
#endif
	return err ? err : post__protocols(e);
}

/* c-ares reads /etc/resolv.conf when a handle is made, and it may have changed. */
static void post__renew(struct post *p)
{
	CURL *fresh = curl_easy_init();

	if (!fresh || post__set(p, fresh)) {
		curl_easy_cleanup(fresh);
		return; /* the old one goes on, and this is tried again */
	}
	curl_easy_cleanup(p->easy);
	p->easy = fresh;
	p->stale = false;
}

int post__open(struct post **out, const char *ca, uint32_t timeout_ms, struct errmsg *f)
{
	struct post *p = calloc(1, sizeof(*p));
	CURLcode code;
	int err;

	if (!p)
		return errmsg__set(f, -ENOMEM, "out of memory for sending");
	p->epoll = -1;
	p->ca = ca;
	p->timeout_ms = timeout_ms;
	if (ca && access(ca, R_OK) < 0) {
		free(p);
		return errmsg__set(f, -errno, "%s: the certificates: %s", ca, strerror(errno));
	}
	err = libraries__curl(f);
	if (err) {
		free(p);
		return err;
	}
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(p);
		return errmsg__set(f, -ENOMEM, "libcurl does not start");
	}
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	p->multi = curl_multi_init();
	p->easy = curl_easy_init();
	code = p->epoll >= 0 && p->multi && p->easy ? post__set(p, p->easy) : CURLE_OUT_OF_MEMORY;
	if (code) {
		post__close(p);
		return errmsg__set(f, -ENOMEM, "libcurl: %s", curl_easy_strerror(code));
	}
	curl_multi_setopt(p->multi, CURLMOPT_SOCKETFUNCTION, post__on_socket);
	curl_multi_setopt(p->multi, CURLMOPT_SOCKETDATA, p);
	curl_multi_setopt(p->multi, CURLMOPT_TIMERFUNCTION, post__on_timer);
	curl_multi_setopt(p->multi, CURLMOPT_TIMERDATA, p);
	*out = p;
	return 0;
}

static int post__headers(struct post *p, const struct post_request *request)
{
	struct curl_slist *more;

	curl_slist_free_all(p->headers);
	/* do not wait for leave to send the body */
	p->headers = curl_slist_append(NULL, "Expect:");
	for (size_t i = 0; p->headers && i < request->nheaders; i++) {
		more = curl_slist_append(p->headers, request->headers[i]);
		if (!more)
			curl_slist_free_all(p->headers);
		p->headers = more;
	}
	return p->headers ? 0 : -ENOMEM;
}

int post__start(struct post *p, const struct post_request *request)
{
	const long ms = (long)(p->timeout_ms + request->size / POST_SLOWEST);

	if (p->stale)
		post__renew(p);
	if (post__headers(p, request) < 0 || curl_easy_setopt(p->easy, CURLOPT_URL, request->url) ||
	    curl_easy_setopt(p->easy, CURLOPT_HTTPHEADER, p->headers) ||
	    curl_easy_setopt(p->easy, CURLOPT_TIMEOUT_MS, ms) ||
	    curl_easy_setopt(p->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->size) ||
	    curl_easy_setopt(p->easy, CURLOPT_POSTFIELDS, request->data))
		return -ENOMEM;
	p->complete = false;
	p->head_size = p->body.len = 0;
	*p->error = '\0';
	if (curl_multi_add_handle(p->multi, p->easy))
		return -ENOMEM;
	p->busy = true;
	return 0;
}

bool post__busy(const struct post *p)
{
	return p->busy;
}

struct poll_until post__wait(const struct post *p)
{
	struct poll_until w = {.fd = p->epoll, .ms = -1};
	uint64_t now = os__now();

	if (p->timed)
		w.ms = p->wake > now ? (int)((p->wake - now + NS_PER_MS - 1) / NS_PER_MS) : 0;
	return w;
}

static void post__answer(struct post *p, CURLcode result, struct post_answer *a)
{
	curl_off_t seconds = 0;
	long status = 0, sent = 0;

	*a = (struct post_answer){.whole = !result, .body = p->body.data, .body_len = p->body.len};
	if (p->complete)
		curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
	a->begun = !curl_easy_getinfo(p->easy, CURLINFO_REQUEST_SIZE, &sent) && sent > 0;
	/* 1xx: another answer was to come */
	a->status = status >= 200 && status <= 999 ? (unsigned int)status : 0;
	if (result || !a->status)
		a->error = *p->error ? p->error : result ? curl_easy_strerror(result) : "no answer";
	if (a->status && !curl_easy_getinfo(p->easy, CURLINFO_RETRY_AFTER, &seconds) && seconds > 0)
		a->retry_after = seconds < INT32_MAX ? (uint32_t)seconds : INT32_MAX;
}

bool post__run(struct post *p, struct post_answer *answer)
{
	struct epoll_event events[EVENTS];
	int running, left, n = epoll_wait(p->epoll, events, EVENTS, 0);
	const CURLMsg *m;
	bool over = false;

	for (int i = 0; i < n; i++)
		curl_multi_socket_action(
			p->multi, events[i].data.fd,
			(events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
				(events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
				(events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0),
			&running);
	if (p->timed && p->wake <= os__now()) {
		p->timed = false;
		curl_multi_socket_action(p->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	while ((m = curl_multi_info_read(p->multi, &left)))
		if (m->msg == CURLMSG_DONE) {
			post__answer(p, m->data.result, answer);
			p->stale = !answer->status;
			over = true;
		}
	if (over) {
		curl_multi_remove_handle(p->multi, p->easy);
		p->busy = false;
	}
	return over;
}

void post__close(struct post *p)
{
	if (!p)
		return;
	if (p->busy)
		curl_multi_remove_handle(p->multi, p->easy);
	curl_easy_cleanup(p->easy);
	if (p->multi)
		curl_multi_cleanup(p->multi);
	curl_slist_free_all(p->headers);
	curl_global_cleanup();
	if (p->epoll >= 0)
		close(p->epoll);
	buf__free(&p->body);
	free(p);
}

static bool url__is_http(CURLU *u, const char *url)
{
	char *scheme = NULL;
	bool is = !curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) &&
		  !curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) &&
		  (!strcmp(scheme, "http") || !strcmp(scheme, "https"));

	curl_free(scheme);
	return is;
}

/* What else is wrong with it; NULL: nothing. */
static const char *url__wrong(CURLU *u)
{
	static const struct {
		CURLUPart part;
		const char *wrong;
	} none[] = {
		{CURLUPART_USER, "contains a user, which others can see: use a file of headers"},
		{CURLUPART_PASSWORD,
		 "contains a password, which others can see: use a file of headers"},
		{CURLUPART_QUERY, "has a query: give only the server's address"},
		{CURLUPART_FRAGMENT, "has a fragment: give only the server's address"},
	};
	const char *wrong = NULL;
	char *part;

	for (size_t i = 0; i < sizeof(none) / sizeof(*none) && !wrong; i++) {
		part = NULL;
		if (!curl_url_get(u, none[i].part, &part, 0))
			wrong = none[i].wrong;
		curl_free(part);
	}
	return wrong;
}

/* May a line repeat it?  Not what may have a password or a token in it, or is not one line. */
static bool url__may_be_said(const char *url)
{
	for (const char *at = url; *at; at++)
		if (*at <= ' ' || *at > '~' || strchr("@?#'", *at))
			return false;
	return true;
}

int post__url(char **out, const char *url, struct errmsg *f)
{
	bool is_http, say;
	const char *wrong;
	size_t len;
	CURLU *u;
	int err;

	err = libraries__curl(f);
	if (err)
		return err;
	u = curl_url();
	if (!u)
		return errmsg__set(f, -ENOMEM, "out of memory for a URL");
	is_http = url__is_http(u, url);
	wrong = is_http ? url__wrong(u) : NULL;
	curl_url_cleanup(u);
	if (!is_http) {
		say = url__may_be_said(url);
		return errmsg__set(f, -EINVAL,
				   "not an http or https URL%s%.100s%s; write http://HOST:PORT or "
				   "https://HOST:PORT",
				   say ? ": '" : "", say ? url : "", say ? "'" : "");
	}
	if (wrong)
		return errmsg__set(f, -EINVAL, "the URL %s", wrong);
	len = strlen(url);
	while (len && url[len - 1] == '/')
		len--;
	*out = strndup(url, len);
	return *out ? 0 : errmsg__set(f, -ENOMEM, "out of memory for a URL");
}
