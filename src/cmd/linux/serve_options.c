/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/serve_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/parse.h"
#include "cmd/config_file.h"
#include "os/os.h"
#include "profile/attributes.h"
#include "profile/read.h"

#define SERVE_FREQ    19   /* Hz */
#define INTERVAL      60.0 /* seconds */
#define INTERVAL_MAX  86400.0
#define SPOOL_SIZE    (64u << 20)
#define KEEP_SIZE     (UINT64_C(1) << 30)
#define KEEP_AGE      (30 * 86400ULL)
#define MAX_CPU	      0.01
#define PROCESSES_MAX 65536u
#define QUEUE_MINIMUM (8u << 20)

/* --- labels --- */

/* The one of that key, or a new one; NULL: there are too many. */
static struct profile_label *labels__place(struct serve_options *so, const char *key)
{
	struct profile_label *l;

	for (size_t i = 0; i < so->nlabels; i++)
		if (!strcmp(so->labels[i].key, key))
			return &so->labels[i];
	if (so->nlabels == SERVE_LABELS_MAX)
		return NULL;
	l = &so->labels[so->nlabels];
	l->key = strcpy(so->keys[so->nlabels++], key);
	return l;
}

/* Is the user free to set the label @key? */
static int label__may_be(const struct option_row *row, const char *arg, const char *key,
			 struct errmsg *f)
{
	if (!attribute__is_label(key))
		return errmsg__set(f, -EINVAL,
				   "--%s %s: the label %s always exists; use another name",
				   row->name, arg, key);
	if (!strcmp(key, "host"))
		return errmsg__set(f, -EINVAL, "--%s %s: this label is set by --host", row->name,
				   arg);
	return 0;
}

static int parse_label(const struct option_row *row, void *place, const char *arg, struct errmsg *f)
{
	struct serve_options *so = place;
	struct profile_label *l;
	char key[DESCRIBE_KEY];
	struct errmsg why;
	const char *value;
	int err;

	value = label__parse(arg, key, &why);
	if (!value)
		return errmsg__set(f, -EINVAL, "--%s %s", row->name, why.text);
	err = label__may_be(row, arg, key, f);
	if (err)
		return err;
	if (!strcmp(key, "service")) {
		so->service = value;
		return 0;
	}
	l = labels__place(so, key);
	if (!l)
		return errmsg__set(f, -EINVAL, "--%s %s: at most %u are allowed", row->name, arg,
				   SERVE_LABELS_MAX);
	l->value = value;
	return 0;
}

static int parse_label_env(const struct option_row *row, void *place, const char *arg,
			   struct errmsg *f)
{
	struct serve_options *so = place;
	struct label_rule rule;
	struct errmsg why;
	int err;

	if (label_rule__parse(arg, &rule, &why))
		return errmsg__set(f, -EINVAL, "--%s %s", row->name, why.text);
	err = label__may_be(row, arg, rule.label, f);
	if (err)
		return err;
	if (so->nenv == DESCRIBE_LABELS)
		return errmsg__set(f, -EINVAL, "--%s %s: at most %u are allowed", row->name, arg,
				   DESCRIBE_LABELS);
	so->env[so->nenv++] = arg;
	return 0;
}

/* A time from a second to a day: @place is a double, in seconds. */
static int parse_interval(const struct option_row *row, void *place, const char *arg,
			  struct errmsg *f)
{
	double seconds;

	if (parse__seconds(arg, &seconds) || seconds < 1 || seconds > INTERVAL_MAX)
		return errmsg__set(f, -EINVAL,
				   "--%s %s: not a time from 1 second to 24 hours: give seconds, "
				   "or a number with s, m or h",
				   row->name, arg);
	*(double *)place = seconds;
	return 0;
}

/* An age has the letter of a time behind it, and anything else is a size. */
static int keep__parse(struct store_keep *keep, const char *text)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
	const char *at = text;
	uint64_t n;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++, at = text) {
		if (!parse__digits(&at, UINT32_MAX, &n) && at[0] == units[i].unit && !at[1]) {
			keep->age = n * units[i].seconds;
			return n ? 0 : -EINVAL;
		}
	}
	return parse__size(text, &keep->size) || !keep->size ? -EINVAL : 0;
}

/* Sizes and ages, with commas between them: @place is a struct store_keep. */
static int parse_keep(const struct option_row *row, void *place, const char *arg, struct errmsg *f)
{
	char text[64], *at = text, *end;
	int len = snprintf(text, sizeof(text), "%s", arg);
	int err = len < 0 || (size_t)len >= sizeof(text) ? -EINVAL : 0;

	for (; !err && at; at = end) {
		end = strchr(at, ',');
		if (end)
			*end++ = '\0';
		err = keep__parse(place, at);
	}
	return err ? errmsg__set(f, err,
				 "--%s %s: not a size such as 500M or 10G, an age such as 36h, 7d "
				 "or 4w, or both separated by a comma",
				 row->name, arg)
		   : 0;
}

/* Percent of a CPU: @place is a double, 1 is all of it. */
static int parse_percent(const struct option_row *row, void *place, const char *arg,
			 struct errmsg *f)
{
	char *end;
	double share = strtod(arg, &end);

	if (*end == '%')
		end++;
	if (end == arg || *end || !(share >= 0) || share > 100)
		return errmsg__set(f, -EINVAL,
				   "--%s %s: not a share of a CPU, such as 1%% or 0.5%%", row->name,
				   arg);
	*(double *)place = share / 100;
	return 0;
}

#define AT(member) .at = offsetof(struct serve_options, member)

#undef OPTIONS_FREQ_HELP
#undef OPTIONS_MEMORY_HELP
#define OPTIONS_NO_SLOWER
#define OPTIONS_FREQ_HELP   "19"
#define OPTIONS_MEMORY_HELP "20M"

const struct option_row serve_options__rows[] = {
#include "cmd/options_targets.def"
#include "cmd/options_sampling.def"
#include "cmd/options_memory.def"
#include "cmd/options_waits.def"
#include "cmd/options_calls.def"
#include "cmd/options_events.def"
#include "cmd/options_stacks.def"
	OPT_PARSE(0, "max-cpu", AT(max_cpu), "PERCENT", parse_percent,
		  "use at most this share of one CPU, by a lower rate (default: 1%; 0: no limit)",
		  .group = OPTION_HOW,
		  .manual =
			  "The limit is for the time that samples take in the kernel, measured "
			  "there, and the CPU time of all of the profiler's processes. If they "
			  "take more for some seconds, the rate is lowered, and raised again "
			  "later; both are logged. Each interval has one rate, so all counts stay "
			  "right. Events have no such rate: --event needs 0."),
	OPT_NUMBER(0, "max-stacks", AT(max_stacks), "N", 16, 10000000,
		   "different stacks that are kept in an interval (default: as many as fit "
		   "into --max-memory)",
		   .group = OPTION_HOW,
		   .manual = "Samples of other stacks are counted, and shown as <no-room>."),
	OPT_NUMBER(0, "max-processes", AT(max_processes), "N", 16, PROCESSES_MAX,
		   "processes that are profiled at a time (default: 4096)", .group = OPTION_HOW,
		   .manual = "Processes beyond it are counted and logged."),
	OPT_PARSE(0, "interval", AT(interval), "TIME", parse_interval,
		  "length of an interval: 60, 30s, 10m (default: 60)", .group = OPTION_WRITE,
		  .manual = "Intervals begin at whole multiples of it (UTC time). One profile has "
			    "all processes of an interval."),
	OPT_STRING(0, "dir", AT(front.to[WAY_STORE]), "DIR",
		   "write a pprof file for each interval into DIR", .group = OPTION_WRITE,
		   .manual =
			   "The directory is created if it is missing. report --dir DIR reads it."),
	OPT_PARSE(0, "keep", AT(front.keep), "SIZE|AGE", parse_keep,
		  "remove the oldest files of --dir beyond this: 10G, 7d, 10G,7d (default: 1G,30d)",
		  .group = OPTION_WRITE,
		  .manual = "If only one of them is given, the other one keeps its default: with "
			    "90d, files are also removed beyond 1G."),
	OPT_STRING(0, "listen", AT(front.listen), "ADDR",
		   "answer over HTTP on ADDR: 9419, [::1]:9419, unix:/run/xrprof-bpf.sock",
		   .group = OPTION_WRITE,
		   .manual =
			   "It answers /metrics, /healthz and /debug/pprof/profile?seconds=N. "
			   "Without this option it does not listen. A port alone is on 127.0.0.1. "
			   "An address that other machines can reach needs --token-file."),
	OPT_STRING(0, "token-file", AT(front.token), "FILE",
		   "require the token in the first line of FILE", .group = OPTION_WRITE,
		   .manual = "Clients send it as `Authorization: Bearer TOKEN`."),
	OPT_STRING(0, "pyroscope", AT(front.to[WAY_PYROSCOPE]), "URL",
		   "send the profiles of each interval to this Pyroscope server",
		   .group = OPTION_WRITE),
	OPT_STRING(0, "pyroscope-header", AT(front.headers[WAY_PYROSCOPE]), "FILE",
		   "send the headers in FILE, such as tokens, to that server: lines `Name: value`",
		   .group = OPTION_WRITE),
	OPT_STRING(0, "otlp", AT(front.to[WAY_OTLP]), "URL",
		   "send the profiles to this OpenTelemetry collector, by HTTP",
		   .group = OPTION_WRITE, .manual = "OTLP profiles v1development."),
	OPT_STRING(
		0, "otlp-header", AT(front.headers[WAY_OTLP]), "FILE",
		"send the headers in FILE, such as tokens, to that collector: lines `Name: value`",
		.group = OPTION_WRITE),
	OPT_STRING(0, "ca-file", AT(front.ca), "FILE",
		   "certificates to verify servers with (default: the system's)",
		   .group = OPTION_WRITE),
	OPT_STRING(0, "spool", AT(front.spool), "DIR",
		   "keep profiles in DIR while a server is unreachable (default: spool in --dir)",
		   .group = OPTION_WRITE),
	OPT_PARSE(0, "spool-size", AT(front.spool_size), "SIZE", options__size,
		  "keep no more than this waiting, for each server (default: 64M)",
		  .group = OPTION_WRITE, .min = 1 << 20,
		  .manual = "The oldest profiles are dropped and counted."),
	OPT_STRING(0, "service", AT(service), "NAME", "the service that all processes belong to",
		   .group = OPTION_WRITE,
		   .manual =
			   "Otherwise the service of a process is the first of these that exists: "
			   "the variable of --label-env NAME=service, the systemd unit in which it "
			   "runs, the script that R was given, the name of the process."),
	OPT_STRING(0, "host", AT(host), "NAME",
		   "the name of this machine in profiles (default: its host name)",
		   .group = OPTION_WRITE),
	OPT_PARSE(0, "label", .at = 0, "KEY=VALUE", parse_label,
		  "add this label to every sample; repeatable", .group = OPTION_WRITE),
	OPT_PARSE(
		0, "label-env", .at = 0, "NAME[=KEY]", parse_label_env,
		"add the value of this environment variable of the process as a label; repeatable",
		.group = OPTION_WRITE,
		.manual = "The value is that of the start of the process. No other variables are "
			  "read."),
	OPT_STRING(0, "config", AT(config), "FILE",
		   "read options from FILE, lines of NAME = VALUE; again at SIGHUP",
		   .only_command_line = true),
#include "cmd/options_words.def"
	{0},
};

/* --- all of them --- */

void serve_options__init(struct serve_options *so)
{
	*so = (struct serve_options){0};
	options__init(&so->o);
	so->o.config.freq = SERVE_FREQ;
	so->o.config.max_memory = LIMIT_MEMORY_SERVE;
	so->interval = INTERVAL;
	so->front.keep = (struct store_keep){.size = KEEP_SIZE, .age = KEEP_AGE};
	so->front.spool_size = SPOOL_SIZE;
	so->max_cpu = MAX_CPU;
}

/* Only rows of a kind that does not add up may be read twice: start again. */
static int serve_options__line(struct serve_options *so, int argc, char **argv, struct errmsg *f)
{
	struct option_rest rest;
	int err = option_rows__parse(serve_options__rows, so, argc, argv, &rest, f);

	if (err || so->o.help)
		return err;
	if (rest.first < argc)
		return errmsg__set(f, -EINVAL, "unexpected argument: %s", argv[rest.first]);
	return 0;
}

/* What only all options together can tell. */
static int serve_options__check(struct serve_options *so, struct errmsg *f)
{
	struct config *c = &so->o.config;
	struct front_config *w = &so->front;
	int err, len;

	if (!c->npids)
		c->all = true;
	err = options__targets(c, f);
	err = err ? err : options__idle(c, f);
	err = err ? err : options__events(c, f);
	if (err)
		return err;
	if (c->events.n && so->max_cpu > 0)
		return errmsg__set(f, -EINVAL,
				   "--event has no rate that --max-cpu could lower; give --max-cpu "
				   "0 (no limit)");
	if (!w->to[WAY_STORE] && !w->listen && !front_config__sends(w))
		return errmsg__set(
			f, -EINVAL,
			"no output: give --dir DIR, --listen ADDR, --pyroscope URL or --otlp URL");
	if (front_config__sends(w) && !w->to[WAY_STORE] && !w->spool)
		return errmsg__set(f, -EINVAL,
				   "no directory for profiles that a server does not accept: give "
				   "--spool DIR, or --dir DIR");
	if (!w->spool && w->to[WAY_STORE]) {
		len = snprintf(so->spool_path, sizeof(so->spool_path), "%s/spool",
			       w->to[WAY_STORE]);
		if (len < 0 || (size_t)len >= sizeof(so->spool_path))
			return errmsg__set(f, -EINVAL, "--dir: the name is too long");
		w->spool = so->spool_path;
	}
	for (size_t i = 0; i < WAYS; i++)
		if (w->headers[i] && !w->to[i])
			return errmsg__set(f, -EINVAL, "--%s-header without --%s", way__name(i),
					   way__name(i));
	if (w->token && !w->listen)
		return errmsg__set(f, -EINVAL, "--token-file without --listen");
	return 0;
}

static void serve_options__complete(struct serve_options *so)
{
	struct config *c = &so->o.config;
	const size_t queue = LIMIT_QUEUE(c->max_memory);

	so->front.memory = (size_t)c->max_memory * 2;
	so->front.queue = queue > QUEUE_MINIMUM ? queue : QUEUE_MINIMUM;
	options__waits(c);
	c->asked = c->capture;
	c->capture |= formats__find("pprof")->capture;
	if (c->no_packages)
		c->capture &= ~XR_ROW_PACKAGES;
	options__calls(c); /* which need packages */
	options__capture(c, NATIVE_OFF);
	if (!so->host) {
		os__host(so->host_name, sizeof(so->host_name));
		so->host = so->host_name;
	}
	if (*so->host)
		so->labels[so->nlabels++] = (struct profile_label){"host", so->host};
}

/* Can a profile be sent by its name, which has all labels?  With any service: that is cut. */
static int serve_options__name(const struct serve_options *so, struct errmsg *f)
{
	size_t len = DESCRIBE_VALUE;

	for (size_t i = 0; i < so->nlabels; i++) /* ",key=value" */
		len += strlen(so->labels[i].key) + strlen(so->labels[i].value) + 2;
	if (!so->front.to[WAY_PYROSCOPE] || len <= READ_SERIES_LEN)
		return 0;
	return errmsg__set(f, -EINVAL,
			   "--label and --host are too long for --pyroscope: together with the "
			   "service at most %u bytes",
			   READ_SERIES_LEN);
}

int serve_options__parse(struct serve_options *so, int argc, char **argv, struct errmsg *f)
{
	const char *path;
	char *text;
	int err;

	serve_options__init(so);
	err = serve_options__line(so, argc, argv, f);
	if (!err && so->config && !so->o.help) {
		/* the file first, and over it the command line */
		path = so->config;
		err = config_file__read(&text, path, f);
		if (err)
			return err;
		serve_options__free(so);
		serve_options__init(so);
		so->text = text;
		err = config_file__apply(serve_options__rows, so, text, path, f);
		if (!err)
			err = serve_options__line(so, argc, argv, f);
	}
	if (!err && !so->o.help)
		err = serve_options__check(so, f);
	if (err || so->o.help)
		return err;
	serve_options__complete(so);
	return serve_options__name(so, f);
}

void serve_options__free(struct serve_options *so)
{
	options__free(&so->o);
	free(so->text);
	so->text = NULL;
}
