/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files that `report` is given. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/parse.h"
#include "cmd/report.h"
#include "os/os.h"

#define PROGRESS_NS (NS_PER_S)	      /* before anything is shown */
#define REDRAW_NS   (200 * NS_PER_MS) /* between two lines of progress */
#define TICK_NS	    (100 * NS_PER_MS)
#define STDERR	    2

/* A file that is being read. */
struct source {
	int fd;
	const char *name;
	struct sink to;
	uint64_t size, done;	       /* bytes; size 0: not known */
	uint64_t began, shown, ticked; /* ns */
	bool terminal;
};

static const char *path__name(const char *path)
{
	return strcmp(path, "-") != 0 ? path : "standard input";
}

/* The line of progress, drawn again; @text "": taken away. */
static void source__draw(const char *text)
{
	char line[256] = "\r\033[K"; /* the first column, and erase (ECMA-48) */

	snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s", text);
	log__put(line, strlen(line));
}

static void source__progress(struct source *s, uint64_t now)
{
	char text[200];
	unsigned int columns = os__columns(STDERR);

	if (now - s->began < PROGRESS_NS || now - s->shown < REDRAW_NS)
		return;
	s->shown = now;
	if (s->size)
		snprintf(text, sizeof(text), "%.0f %% of %" PRIu64 " MiB read",
			 100 * (double)s->done / (double)s->size, s->size >> 20);
	else
		snprintf(text, sizeof(text), "%" PRIu64 " MiB read", s->done >> 20);
	if (columns && columns <= strlen(text))
		text[columns - 1] = '\0';
	source__draw(text);
}

static int source__read(void *arg, void *to, size_t size)
{
	struct source *s = arg;
	int n = os__read(s->fd, to, size < INT_MAX ? (unsigned int)size : INT_MAX);
	uint64_t now = os__now();

	if (n > 0)
		s->done += (uint64_t)n;
	if (s->terminal)
		source__progress(s, now);
	if (now - s->ticked >= TICK_NS) {
		s->ticked = now;
		sink__tick(&s->to, now);
	}
	return n;
}

/* Is @path called Rprof.PID.out, or Rprof.PID.NUMBER.out?  Its process. */
static bool path__process(const char *path, struct read_process *process, char key[32])
{
	const char *base = path, *at;
	uint64_t pid, number = 0;

	for (at = path; *at; at++)
		if (*at == '/' || (*at == '\\' && os__is_windows()))
			base = at + 1;
	*process = (struct read_process){0};
	at = base + strlen("Rprof.");
	if (strncmp(base, "Rprof.", strlen("Rprof.")) != 0 || parse__digits(&at, INT_MAX, &pid) ||
	    !pid || *at != '.')
		return false;
	if (parse__digits(&(const char *){at + 1}, UINT32_MAX, &number) == 0) {
		at++;
		parse__digits(&at, UINT32_MAX, &number);
	}
	if (strcmp(at, ".out") != 0 && strcmp(at, ".out.gz") != 0)
		return false;
	snprintf(key, 32, "R-%" PRIu64 ".%" PRIu64, pid, number);
	*process = (struct read_process){.key = key, .pid = (uint32_t)pid, .comm = "R"};
	return true;
}

bool report_read__several(const struct report_input *in)
{
	struct read_process process;
	char first[32] = "", key[32];

	for (size_t i = 0; i < in->n; i++) {
		if (!path__process(in->files[i], &process, key))
			continue;
		if (*first && strcmp(first, key) != 0)
			return true;
		snprintf(first, sizeof(first), "%s", key);
	}
	return false;
}

char *report_read__text(const char *const *files, size_t n)
{
	struct buf b = {0};
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		err = i ? buf__str(&b, " ") : 0;
		err = err ? err : buf__str(&b, path__name(files[i]));
	}
	if (err || buf__add(&b, "", 1)) {
		buf__free(&b);
		return NULL;
	}
	return b.data;
}

/* What was left out of a file. */
static void report_read__notes(const char *name, const struct read_result *result)
{
	if (result->bad)
		log__line("%s: %" PRIu64 " %s left out as unreadable (the first is number "
			  "%" PRIu64 ")",
			  name, result->bad,
			  result->format == READ_PPROF
				  ? count__word(result->bad, "sample was", "samples were")
				  : count__word(result->bad, "line was", "lines were"),
			  result->first);
	if (result->parts > 1)
		log__line("%s: its counts have a decimal point: a sample is one %" PRIu64
			  "th of one",
			  name, result->parts);
	if (result->cut)
		log__line("%s: the last line, number %" PRIu64
			  ", is incomplete and was left out: the file was cut off, or is still "
			  "being written",
			  name, result->cut);
	if (result->dropped)
		log__line("%s: memory is full: the stacks of %" PRIu64
			  " %s are shown as <no-room> (--max-memory)",
			  name, result->dropped, count__word(result->dropped, "sample", "samples"));
	if (result->types_left)
		log__line("%s: %" PRIu64 " of its sample types %s left out: at most %u are kept "
			  "besides time, waiting and memory",
			  name, result->types_left, count__word(result->types_left, "is", "are"),
			  PROFILE_TYPES_MAX - PROFILE_TYPE_EVENTS);
}

static int report_read__one(struct reader *reader, const char *path, bool store, struct sink to,
			    struct read_result *result, struct errmsg *f)
{
	struct source s = {.name = path__name(path), .to = to, .began = os__now()};
	const struct read_input in = {
		.read = source__read, .reason = os__reason, .arg = &s, .name = s.name};
	struct read_process process;
	char key[32];
	int err;

	*result = (struct read_result){0};
	s.fd = os__open(path, store ? OS_ENTRY : OS_STREAM);
	if (s.fd < 0)
		return errmsg__set(f, s.fd, "cannot read %s: %s%s", s.name, os__reason(s.fd),
				   s.fd == -EISDIR ? "; use --dir DIR for files of `serve`, "
						     "DIR/Rprof.* for files of `-o DIR/`"
						   : "");
	s.size = os__size(s.fd);
	s.terminal = os__columns(STDERR) != 0;
	path__process(path, &process, key);
	err = reader__file(reader, &in, &process, result, f);
	os__close(s.fd);
	if (s.shown)
		source__draw("");
	return err;
}

/*
 * A call that goes on in the next interval is longer there: which are slow is known when all files
 * were read.  A damaged one is reported when it is read again.
 */
static int report_read__slow(const struct report *r, const struct report_input *in,
			     struct report_filter *filter, struct errmsg *f)
{
	struct read_types types = {.about = {.freq = 0}};
	const struct reader_config config = {
		.to = report_filter__slow(filter),
		.memory = r->max_memory,
		.types = &types,
	};
	struct read_result result;
	struct reader *reader;
	struct errmsg why;
	int err = reader__new(&reader, &config);

	for (size_t i = 0; i < in->n && !err; i++)
		if (report_read__one(reader, in->files[i], true, config.to, &result, &why) ==
		    -ENOMEM)
			err = -ENOMEM;
	reader__free(reader);
	return err ? errmsg__set(f, err, "out of memory; raise --max-memory") : 0;
}

void report_no_room(uint64_t samples)
{
	if (samples)
		log__line("memory is full: the stacks of %" PRIu64
			  " %s are shown as <no-room> (--max-memory)",
			  samples, count__word(samples, "sample", "samples"));
}

void report_left_out(const struct aggregate *a)
{
	const uint64_t uncalled = aggregate__uncalled(a);

	if (aggregate__unlabelled(a))
		log__line("there are too many different labels (option xrprof.labels): samples "
			  "with further ones are shown without");
	if (uncalled)
		log__line("memory is full of calls: %" PRIu64
			  " %s shown without their call (--max-memory)",
			  uncalled, count__word(uncalled, "sample is", "samples are"));
}

/* Has the sink failed, or is there no memory?  Else it is the file that is not what it should be.
 */
static bool read__is_over(int err, struct sink to)
{
	return err == -ENOMEM || err == -EPIPE || sink__why(&to)->text[0];
}

/* A file of a directory that cannot be read is left out, the others count. */
static void read__damaged(const struct report_input *in, size_t i, const struct read_result *result,
			  const struct errmsg *f)
{
	if (result->samples)
		log__line("%s: everything after its first %" PRIu64 " %s is left out", f->text,
			  result->samples, count__word(result->samples, "sample", "samples"));
	else
		log__line("%s: it is left out", *f->text ? f->text : in->files[i]);
}

/* No sample is left. */
static int report_read__none(const struct report_filter *filter, struct errmsg *f)
{
	if (!filter->calls)
		return errmsg__set(f, -ESRCH,
				   "--slower: no sample is of a single call: record with --calls "
				   "NAME, in pprof");
	return errmsg__set(f, -ESRCH, "no call lasted as long as --slower");
}

int report_read__all(const struct report *r, const struct report_input *in, bool ordered,
		     struct sink to, struct report_seen *seen, struct errmsg *f)
{
	struct report_chosen chosen = {0};
	struct report_rates *rates = &seen->rates;
	struct report_filter filter = {
		.processes = &r->processes,
		.chosen = &chosen,
		.slower_ns = (uint64_t)(r->slower * NS_PER_S),
		.to = report_rates__sink(rates),
	};
	const bool filters = r->processes.n || filter.slower_ns;
	struct reader_config config = {
		.to = filters ? report_filter__sink(&filter) : filter.to,
		.memory = r->max_memory,
		.ordered = ordered,
		.fold = r->fold,
		/* a table counts each function of a stack once, and those between its calls */
		.merge = r->recursion && r->format,
		.interval_ns = r->freq ? (NS_PER_S + r->freq / 2) / r->freq : 0,
		.types = seen->types,
		.syscall = os__syscall_detail,
	};
	struct read_result result, *into = &seen->first;
	uint64_t crowded = 0;
	struct reader *reader = NULL;
	size_t damaged = 0;
	int err;

	rates->to = to;
	seen->names = strdup(in->text);
	config.command = seen->names;
	err = seen->names ? reader__new(&reader, &config) : -ENOMEM;
	if (err)
		errmsg__set(f, err, "out of memory");
	err = err ? err : report_filter__choose(r, in, &chosen, f);
	if (!err && filter.slower_ns && in->store && in->n > 1)
		err = report_read__slow(r, in, &filter, f);
	for (size_t i = 0; i < in->n && !err; i++) {
		uint64_t before = filter.samples, samples;

		rates->reading = into;
		err = report_read__one(reader, in->files[i], in->store, config.to, into, f);
		report_read__notes(path__name(in->files[i]), into);
		crowded += into->crowded;
		if (into->memory && r->format && r->format->memory)
			log__line("%s: its memory counts are not kept", in->files[i]);
		if (err && in->store && !read__is_over(err, config.to)) {
			read__damaged(in, i, into, f);
			damaged++;
			err = 0;
			if (!into->samples)
				continue;
		}
		samples = filters ? filter.samples - before : into->samples;
		seen->samples += samples;
		seen->filled += into->samples != 0;
		for (uint32_t k = 0; k < PROFILE_TYPES_MAX && !filters; k++)
			seen->values[k] += into->values[k];
		seen->lines_dropped |=
			(into->lines && !seen->first.lines) || (into->gc && !seen->first.gc);
		into = &result;
	}
	if (filters)
		memcpy(seen->values, filter.values, sizeof(seen->values));
	seen->seconds = rates->unknown ? 0 : rates->seconds;
	if (!err && damaged && damaged == in->n)
		err = errmsg__set(f, -EINVAL, "none of %" PRIu64 " %s can be read", (uint64_t)in->n,
				  count__word(in->n, "profile", "profiles"));
	else if (!err && damaged)
		log__line("%" PRIu64 " of %" PRIu64 " %s cannot be read, or not completely",
			  (uint64_t)damaged, (uint64_t)in->n,
			  count__word(in->n, "profile", "profiles"));
	if (!err && filter.slower_ns && filter.processed && !seen->samples)
		err = report_read__none(&filter, f);
	else if (!err && r->processes.n && !seen->samples)
		err = errmsg__set(f, -ESRCH, "no sample is of a process that matches --process%s",
				  in->store ? "; --list shows the processes" : "");
	if (crowded)
		log__line("%" PRIu64 " %s of processes that did not fit into memory", crowded,
			  count__word(crowded, "sample is", "samples are"));
	if (!err && rates->unknown && rates->known)
		log__line("some files do not contain the sampling rate: one sample each %u ms is "
			  "assumed (--freq)",
			  (unsigned int)(report_rate__interval(0) / NS_PER_MS));
	if (!err && rates->differ)
		log__line("the samples were taken at different rates: each is weighted by its "
			  "period");
	map__free(&rates->owed);
	report_chosen__free(&chosen);
	map__free(&filter.slow);
	reader__free(reader);
	return err;
}

int report_read__sum(const struct report *r, const struct report_input *in,
		     const struct aggregate_config *config, struct read_types *types,
		     struct report_sum *sum, struct errmsg *f)
{
	struct aggregate_config with = *config;
	int err;

	with.max = LIMIT_AGGREGATE(r->max_memory);
	err = aggregate__new(&sum->aggregate, &with);
	if (err)
		return errmsg__set(f, err, "out of memory");
	sum->seen.types = types;
	sum->seen.rates.adding = sum->aggregate;
	err = report_read__all(r, in, false, aggregate__sink(sum->aggregate), &sum->seen, f);
	free(sum->seen.names);
	sum->seen.names = NULL;
	if (!err)
		report_left_out(sum->aggregate);
	return err;
}
