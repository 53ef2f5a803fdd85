/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The front as a separate process: its messages, and how long it takes to end. */
#include "serve/linux/front.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/os.h"
#include "output/encode_scene.h"
#include "serve/linux/libraries.h"
#include "serve/linux/push.h"

#define WAIT_MS 60000
#define DRAIN_S 4u

static struct channel *channel;
static struct buf profile; /* a file */
static pid_t pid;

/* The next line that it says, or what a message of another kind is called; "": it has ended. */
static const char *next(void)
{
	static char line[1024];
	struct channel_message m = {.data = NULL};
	int got;

	while (!(got = channel__take(channel, &m)) || m.head.kind == CHANNEL_TAKEN) {
		struct pollfd fd = {.fd = channel__fd(channel), .events = POLLIN};

		if (got < 0)
			break;
		if (got)
			channel__taken(channel);
		else if (poll(&fd, 1, WAIT_MS) <= 0)
			tap__bail("it says nothing");
	}
	*line = '\0';
	if (got > 0 && m.head.kind == CHANNEL_READY)
		strcpy(line, "ready");
	else if (got > 0 && m.head.kind == CHANNEL_FRONT)
		strcpy(line, "counts");
	else if (got > 0)
		snprintf(line, sizeof(line), "%.*s", (int)m.head.size, (const char *)m.data);
	return line;
}

static void start(const struct front_config *config)
{
	struct channel *theirs;

	tap__bail_if(channel__pair(&channel, &theirs, 1 << 20), "no socket");
	pid = fork();
	if (!pid) {
		channel__close(channel);
		front__serve(theirs, config);
		_exit(0);
	}
	channel__close(theirs);
	tap__is(next(), "ready", "all is open");
}

static void end(void)
{
	channel__close(channel);
	waitpid(pid, NULL, 0);
}

static void send_interval(void)
{
	static const char index[] = "\"pid\":1}\n";
	const struct channel_head head = {.kind = CHANNEL_INTERVAL,
					  .size = profile.len,
					  .index_len = strlen(index),
					  .began = NS_PER_S,
					  .ended = 2 * NS_PER_S,
					  .samples = 3};

	tap__bail_if(channel__send(channel, &head, profile.data, index), "it takes nothing");
}

BEFORE()
{
	struct aggregate *a = AGGREGATE(.max = 1 << 20);
	const struct writer_config config = {.about = {.freq = 19}, .described = true};
	const struct profile_process process = {.pid = 1, .comm = "R"};
	struct errmsg f;

	scene__add(a, &process, stack__one("f"), 3);
	tap__bail_if(encode__profile(&profile, formats__find("pprof"), &config, a, NULL),
		     "not encoded");
	aggregate__free(a);
	tap__bail_if(libraries__microhttpd(&f) || libraries__curl(&f), "%s", f.text);
	signal(SIGPIPE, SIG_IGN);
}

/* Have it say how it is; what it has to say before comes first. */
static void ask_status(void)
{
	channel__send(channel,
		      &(struct channel_head){.kind = CHANNEL_STATUS,
					     .size = sizeof(struct sampler_status)},
		      &(struct sampler_status){.uptime = 1}, NULL);
}

/* For @n profiles the directory is a file. */
static void fail_for(int n, const char *said)
{
	const char *moved = tap__path("moved"), *profiles = tap__path("profiles"), *line;

	tap__bail_if(rename(profiles, moved), "%s", profiles);
	tap__write(profiles, "", 0);
	for (int i = 0; i < n; i++)
		send_interval();
	line = next();
	tap__ok(strstr(line, "directory") && strstr(line, "dropped"), "it fails: %s", line);
	/* all are through when it says how it is */
	ask_status();
	tap__ok(!strcmp(next(), "counts"), "%d of them", n);
	tap__bail_if(unlink(profiles) || rename(moved, profiles), "%s", profiles);
	send_interval();
	line = next();
	tap__ok(strstr(line, said), "it works again: %s", line);
}

TEST(given_up)
{
	const struct front_config config = {.to[WAY_STORE] = tap__path("profiles"),
					    .keep = {.size = 1 << 20}};

	start(&config);
	fail_for(3, "works again; 3 profiles were dropped");
	fail_for(2, "works again; 2 profiles were dropped");
	tap__ok(!channel__lost(channel).intervals, "all were taken, or counted");
	end();
}

/* A profile that is there, and not in the index. */
TEST(said_once)
{
	const struct front_config config = {.to[WAY_STORE] = tap__path("indexes")};
	char path[512];
	const char *line;

	start(&config);
	for (int i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "%s/index-19700101.%d.jsonl.gz", config.to[WAY_STORE],
			 i);
		if (!i) /* the first has no number */
			strcpy(strstr(path, ".0.jsonl"), ".jsonl.gz");
		tap__bail_if(mkdir(path, 0700), "%s", path);
	}
	send_interval();
	line = next();
	tap__ok(strstr(line, "is missing in the index"), "it says: %s", line);
	ask_status();
	tap__is(next(), "counts", "once");
	end();
}

/* A server that takes connections and answers nothing; its URL. */
static int listens(char url[64])
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	tap__bail_if(fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 8) ||
			     getsockname(fd, (struct sockaddr *)&at, &size),
		     "no socket");
	snprintf(url, 64, "http://127.0.0.1:%u", ntohs(at.sin_port));
	return fd;
}

/* Two servers that do not answer share the time that there is at the end. */
TEST(drain)
{
	const struct channel_head over = {.kind = CHANNEL_END, .seconds = DRAIN_S};
	struct front_config config = {.spool = tap__path("spool"), .spool_size = 1 << 20};
	char pyroscope[64], otlp[64];
	uint64_t began;

	listens(pyroscope);
	listens(otlp);
	config.to[WAY_PYROSCOPE] = pyroscope;
	config.to[WAY_OTLP] = otlp;
	start(&config);
	send_interval();
	began = os__now();
	channel__send(channel, &over, NULL, NULL);
	while (*next())
		;
	began = os__now() - began;
	/* a machine that halts makes it longer */
	tap__ok(!tap__all() || began < 2 * DRAIN_S * NS_PER_S, "both have one time: %.1f s",
		(double)began / (double)NS_PER_S);
	end();
}

/* At SIGHUP servers get no time: what would be cut off, and sent again, is not begun. */
TEST(no_time)
{
	const struct channel_head over = {.kind = CHANNEL_END};
	struct front_config config = {.spool = tap__path("later"), .spool_size = 1 << 20};
	struct pollfd server = {.events = POLLIN};
	char pyroscope[64];

	server.fd = listens(pyroscope);
	config.to[WAY_PYROSCOPE] = pyroscope;
	start(&config);
	kill(pid, SIGSTOP); /* it finds both messages */
	send_interval();
	channel__send(channel, &over, NULL, NULL);
	kill(pid, SIGCONT);
	tap__is(next(), "counts", "it says how it was");
	end();
	tap__ok(!poll(&server, 1, 0), "the server was not connected to");
}

TEST(retry_after)
{
	static const char answer[] = "HTTP/1.1 429 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
				     "Connection: close\r\n\r\n";
	const struct queue_entry e = {.name = interval_name__of(NS_PER_S, 2 * NS_PER_S),
				      .samples = 3,
				      .size = profile.len,
				      .data = profile.data};
	struct push_config config = {.spool = tap__path("asked"),
				     .spool_size = 1 << 20,
				     .back_off_ms = 60000,
				     .back_off_max_ms = 60000};
	struct way_status s = {0};
	struct errmsg f = {""};
	struct push *p = NULL;
	char url[64], data[4096];
	int fd = listens(url);

	pid = fork();
	if (!pid) {
		fd = accept(fd, NULL, NULL);
		if (write(fd, answer, strlen(answer)) > 0)
			while (read(fd, data, sizeof(data)) > 0)
				;
		_exit(0);
	}
	config.url = url;
	tap__bail_if(push__open(&p, &config, &f) || push__add(p, &e, NULL), "%s", f.text);
	for (; !s.failed; push__status(p, &s)) {
		struct poll_until w = push__wait(p);

		poll(&(struct pollfd){.fd = w.fd, .events = POLLIN}, 1, w.ms);
		push__run(p);
	}
	tap__ok(strstr(s.error, "429") && push__wait(p).ms <= 2000,
		"Retry-After takes the place of the back-off: %s, %d ms", s.error,
		push__wait(p).ms);
	push__close(p);
	waitpid(pid, NULL, 0);
}

/* What is answered to this request if the sampler answers @want with @kind and these bytes. */
static const char *get(const char *listen, const char *request, enum channel_kind want,
		       enum channel_kind kind, const void *data, size_t size)
{
	static char answer[1024];
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct channel_message m = {.data = NULL};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ssize_t n, len = 0;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", listen + strlen("unix:"));
	tap__bail_if(fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) ||
			     write(fd, request, strlen(request)) != (ssize_t)strlen(request),
		     "nothing listens");
	while (channel__take(channel, &m) != 1 || m.head.kind != want)
		usleep(1000);
	tap__bail_if(
		channel__send(channel,
			      &(struct channel_head){.kind = kind, .id = m.head.id, .size = size},
			      data, NULL),
		"it takes no answer");
	while ((n = read(fd, answer + len, sizeof(answer) - 1 - (size_t)len)) > 0)
		len += n;
	answer[len] = '\0';
	close(fd);
	return answer;
}

static const char *health(const char *listen, const struct sampler_status *status)
{
	return get(listen, "GET /healthz HTTP/1.0\r\n\r\n", CHANNEL_WANT_STATUS, CHANNEL_STATUS,
		   status, sizeof(*status));
}

TEST(health)
{
	char path[128];
	const struct front_config config = {.listen = path};
	const char *text;

	snprintf(path, sizeof(path), "unix:%s", tap__path("socket"));
	start(&config);
	text = health(path, &(struct sampler_status){.uptime = 1});
	tap__ok(strstr(text, " 200 ") && strstr(text, "ok\n"), "healthy: %.15s", text);
	text = health(path, &(struct sampler_status){.starved = "no memory"});
	tap__ok(strstr(text, " 503 ") && strstr(text, "no sample could be taken: no memory"),
		"no R that was found can be sampled: %.15s", text);
	text = get(path, "GET /debug/pprof/profile HTTP/1.0\r\n\r\n", CHANNEL_WANT_PROFILE,
		   CHANNEL_PROFILE, NULL, 0);
	tap__ok(strstr(text, " 503 ") && strstr(text, "--max-memory"),
		"the only profile does not fit: %.15s", text);
	end();
}
