/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/serve_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "cmd/config_file.h"
#include "cmd/linux/serve_parse.h"
#include "os/os.h"
#include "profile/attributes.h"
#include "profile/read.h"

#define SERVE_FREQ    19   /* Hz */
#define INTERVAL      60.0 /* seconds */
#define SPOOL_SIZE    (64u << 20)
#define KEEP_SIZE     (UINT64_C(1) << 30)
#define KEEP_AGE      (30 * 86400ULL)
#define MAX_CPU	      0.01
#define PROCESSES_MAX 65536u

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
	{
		.name = "max-cpu",
		.arg = "PERCENT",
		.help = "take no more than this of one CPU: the rate is lowered (default: 1%; "
			"0: no limit)",
		.manual = "The limit is for the time that samples take in the kernel, "
			  "measured there, and the CPU time of all of the profiler's "
			  "processes. If they take more for some seconds, the rate is "
			  "lowered, and raised again later; both are logged. Each interval "
			  "has one rate, so all counts stay right. Events have no such "
			  "rate: --event needs 0.",
		.type = OPTION_PARSE,
		.parse = serve_parse__percent,
		.group = OPTION_HOW,
		AT(max_cpu),
	},
	{
		.name = "max-stacks",
		.arg = "N",
		.help = "different stacks that are kept in an interval (default: as many as "
			"--max-memory has room for)",
		.manual = "Samples of other stacks are counted, and shown as <no-room>.",
		.type = OPTION_NUMBER,
		.group = OPTION_HOW,
		.min = 16,
		.max = 10000000,
		AT(max_stacks),
	},
	{
		.name = "max-processes",
		.arg = "N",
		.help = "processes that are profiled at a time (default: 4096)",
		.manual = "Processes beyond it are counted and logged.",
		.type = OPTION_NUMBER,
		.group = OPTION_HOW,
		.min = 16,
		.max = PROCESSES_MAX,
		AT(max_processes),
	},
	{
		.name = "interval",
		.arg = "TIME",
		.help = "length of an interval: 60, 30s, 10m (default: 60)",
		.manual = "Intervals begin at whole multiples of it (UTC time). One profile "
			  "has all processes of an interval.",
		.type = OPTION_PARSE,
		.parse = serve_parse__interval,
		.group = OPTION_WRITE,
		AT(interval),
	},
	{
		.name = "dir",
		.arg = "DIR",
		.help = "write a pprof file for each interval into DIR",
		.manual = "The directory is created if it is missing. report --dir DIR reads it.",
		.type = OPTION_STRING,
		.group = OPTION_WRITE,
		AT(dir),
	},
	{
		.name = "keep",
		.arg = "SIZE|AGE",
		.help = "remove the oldest files of --dir beyond this: 10G, 7d, 10G,7d (default: "
			"1G,30d)",
		.type = OPTION_PARSE,
		.parse = serve_parse__keep,
		.group = OPTION_WRITE,
		AT(keep),
	},
	{
		.name = "listen",
		.arg = "ADDR",
		.help = "answer over HTTP on ADDR: 9419, [::1]:9419, "
			"unix:/run/xrprof-bpf.sock",
		.manual = "It answers /metrics, /healthz and "
			  "/debug/pprof/profile?seconds=N. Without this option it does not "
			  "listen. A port alone is on 127.0.0.1. An address that other "
			  "machines can reach needs --token-file.",
		.type = OPTION_STRING,
		.group = OPTION_WRITE,
		AT(listen),
	},
	{
		.name = "token-file",
		.arg = "FILE",
		.help = "require the token in the first line of FILE",
		.manual = "Clients send it as `Authorization: Bearer TOKEN`.",
		.type = OPTION_STRING,
		.group = OPTION_WRITE,
		AT(token),
	},
	{
		.name = "pyroscope",
		.arg = "URL",
		.help = "send the profiles of each interval to this Pyroscope server",
		.type = OPTION_STRING,
		.group = OPTION_WRITE,
		AT(pyroscope),
	},
	{
		.name = "pyroscope-header",
		.arg = "FILE",
		.help = "send the headers in FILE, such as tokens, to that server: lines `Name: "
			"value`",
		.type = OPTION_STRING,
		.group = OPTION_WRITE,
		AT(pyroscope_headers),
	},
	{
		.name = "otlp",
		.arg = "URL",
		.help = "send the profiles to this OpenTelemetry collector, by HTTP",
		.manual = "OTLP profiles v1development.",
		.type = OPTION_STRING,
		.group = OPTION_WRITE,
		AT(otlp),
	},
	{
		.name = "otlp-header",
		.arg = "FILE",
		.help = "send the headers in FILE, such as tokens, to that collector: lines `Name: "
			"value`",
		.type = OPTION_STRING,
		.group = OPTION_WRITE,
		AT(otlp_headers),
	},
	{
		.name = "ca-file",
		.arg = "FILE",
		.help = "certificates to verify servers with (default: the system's)",
		.type = OPTION_STRING,
		.group = OPTION_WRITE,
		AT(ca),
	},
	{
		.name = "spool",
		.arg = "DIR",
		.help = "keep profiles in DIR while a server is unreachable (default: spool in "
			"--dir)",
		.type = OPTION_STRING,
		.group = OPTION_WRITE,
		AT(spool),
	},
	{
		.name = "spool-size",
		.arg = "SIZE",
		.help = "keep no more than this waiting, for each server (default: 64M)",
		.manual = "The oldest profiles are dropped and counted.",
		.type = OPTION_PARSE,
		.parse = options__size,
		.min = 1 << 20,
		.group = OPTION_WRITE,
		AT(spool_size),
	},
	{
		.name = "service",
		.arg = "NAME",
		.help = "the service that all processes belong to",
		.manual = "Otherwise the service of a process is the first of these that "
			  "exists: the variable of --label-env NAME=service, the systemd "
			  "unit in which it runs, the script that R was given, the name of "
			  "the process.",
		.type = OPTION_STRING,
		.group = OPTION_WRITE,
		AT(service),
	},
	{
		.name = "host",
		.arg = "NAME",
		.help = "the name of this machine in profiles (default: its host name)",
		.type = OPTION_STRING,
		.group = OPTION_WRITE,
		AT(host),
	},
	{
		.name = "label",
		.arg = "KEY=VALUE",
		.help = "add this label to every sample; repeatable",
		.type = OPTION_PARSE,
		.parse = parse_label,
		.group = OPTION_WRITE,
		.at = 0,
	},
	{
		.name = "label-env",
		.arg = "NAME[=KEY]",
		.help = "add the value of this environment variable of the process as a "
			"label; repeatable",
		.manual = "The value is that of the start of the process. No other "
			  "variables are read.",
		.type = OPTION_PARSE,
		.parse = parse_label_env,
		.group = OPTION_WRITE,
		.at = 0,
	},
	{
		.name = "config",
		.arg = "FILE",
		.help = "read options from FILE, lines of NAME = VALUE; again at SIGHUP",
		.type = OPTION_STRING,
		.only_command_line = true,
		AT(config),
	},
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
	so->keep = (struct store_keep){.size = KEEP_SIZE, .age = KEEP_AGE};
	so->spool_size = SPOOL_SIZE;
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
	int err, len;

	if (!c->npids)
		c->all = true;
	err = options__targets(c, f);
	err = err ? err : options__events(c, f);
	if (err)
		return err;
	if (c->events.n && so->max_cpu > 0)
		return errmsg__set(f, -EINVAL,
				   "--event has no rate that --max-cpu could lower; give --max-cpu "
				   "0 (no limit)");
	if (!so->dir && !so->listen && !so->pyroscope && !so->otlp)
		return errmsg__set(
			f, -EINVAL,
			"no output: give --dir DIR, --listen ADDR, --pyroscope URL or --otlp URL");
	if ((so->pyroscope || so->otlp) && !so->dir && !so->spool)
		return errmsg__set(f, -EINVAL,
				   "no directory for profiles that a server does not accept: give "
				   "--spool DIR, or --dir DIR");
	if (!so->spool && so->dir) {
		len = snprintf(so->spool_path, sizeof(so->spool_path), "%s/spool", so->dir);
		if (len < 0 || (size_t)len >= sizeof(so->spool_path))
			return errmsg__set(f, -EINVAL, "--dir: the name is too long");
		so->spool = so->spool_path;
	}
	if (so->pyroscope_headers && !so->pyroscope)
		return errmsg__set(f, -EINVAL, "--pyroscope-header without --pyroscope");
	if (so->otlp_headers && !so->otlp)
		return errmsg__set(f, -EINVAL, "--otlp-header without --otlp");
	if (so->token && !so->listen)
		return errmsg__set(f, -EINVAL, "--token-file without --listen");
	return 0;
}

static void serve_options__complete(struct serve_options *so)
{
	struct config *c = &so->o.config;

	options__waits(c);
	c->asked = c->capture;
	options__calls(c);
	c->capture |= formats__find("pprof")->capture;
	if (c->no_packages)
		c->capture &= ~XR_ROW_PACKAGES;
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
	if (!so->pyroscope || len <= READ_SERIES_LEN)
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
