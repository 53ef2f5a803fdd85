/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "base/version.h"
#include "serve/call_counts.h"

/* What errors.def calls it: the label `outcome` of a tick. */
static const char *const outcomes[] = {
#define ERR(name, counter, text) #name,
#include "errors.def"
#undef ERR
};

/* What is appended to, and the first failure of it. */
struct text {
	struct buf *out;
	int err;
};

__attribute__((format(printf, 2, 3))) static void text__printf(struct text *t, const char *fmt, ...)
{
	va_list ap;

	if (t->err)
		return;
	va_start(ap, fmt);
	t->err = buf__vprintf(t->out, fmt, ap);
	va_end(ap);
}

static void text__head(struct text *t, const char *name, const char *type, const char *help)
{
	text__printf(t, "# HELP xrprof_%s %s\n# TYPE xrprof_%s %s\n", name, help, name, type);
}

/* The value of a label: backslash, quote and newline escaped, bytes that are not UTF-8 replaced. */
static void text__label(struct text *t, const char *value)
{
	for (const char *s = value; *s && !t->err;) {
		size_t len = utf8__length(s);

		if (!len)
			t->err = buf__str(t->out, "?");
		else if (*s == '\n')
			t->err = buf__str(t->out, "\\n");
		else if (*s == '\\' || *s == '"')
			text__printf(t, "\\%c", *s);
		else
			t->err = buf__add(t->out, s, len);
		s += len ? len : 1;
	}
}

/* One sample; @label: NULL, or the name of its label, and @value that of it. */
static void text__name(struct text *t, const char *name, const char *label, const char *value)
{
	text__printf(t, "xrprof_%s", name);
	if (!label)
		return;
	text__printf(t, "{%s=\"", label);
	text__label(t, value);
	text__printf(t, "\"}");
}

static void text__u64(struct text *t, const char *name, const char *label, const char *value,
		      uint64_t n)
{
	text__name(t, name, label, value);
	text__printf(t, " %" PRIu64 "\n", n);
}

/* In units of 1e-9, which are written without the help of the locale. */
static void text__nano(struct text *t, const char *name, const char *label, const char *value,
		       uint64_t nano)
{
	text__name(t, name, label, value);
	text__printf(t, " %" PRIu64 ".%09" PRIu64 "\n", nano / NS_PER_S, nano % NS_PER_S);
}

static uint64_t nano(double value)
{
	if (!(value > 0))
		return 0;
	return value < 1e9 ? (uint64_t)(value * 1e9 + 0.5) : UINT64_C(1000000000) * NS_PER_S;
}

static void text__counter(struct text *t, const char *name, uint64_t n, const char *help)
{
	text__head(t, name, "counter", help);
	text__u64(t, name, NULL, NULL, n);
}

static void text__gauge(struct text *t, const char *name, uint64_t n, const char *help)
{
	text__head(t, name, "gauge", help);
	text__u64(t, name, NULL, NULL, n);
}

static void text__gauge_nano(struct text *t, const char *name, uint64_t n, const char *help)
{
	text__head(t, name, "gauge", help);
	text__nano(t, name, NULL, NULL, n);
}

static void metrics__build(struct text *t, const struct sampler_status *s)
{
	const char *const labels[][2] = {
		{"version", XR_VERSION},
		{"engine", s->engine},
		{"event", s->event},
		{"clock", s->clock},
	};

	text__head(t, "build_info", "gauge", "Version, and how samples are taken.");
	text__printf(t, "xrprof_build_info{");
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		text__printf(t, "%s%s=\"", i ? "," : "", labels[i][0]);
		text__label(t, labels[i][1]);
		text__printf(t, "\"");
	}
	text__printf(t, "} 1\n");
	text__gauge_nano(t, "uptime_seconds", nano(s->uptime), "Since the service started.");
}

/* Where ticks ended: the sum over all outcomes is xrprof_seen_ticks_total. */
static void metrics__ticks(struct text *t, const struct stats *s)
{
	text__counter(t, "seen_ticks_total", s->ticks, "Timer ticks that hit a process of R.");
	text__head(t, "ticks_total", "counter", "The same ticks, by their result.");
	for (unsigned int i = 0; i < XR_ERRORS; i++) {
		uint64_t n = s->rows[i];
		char name[32] = "";

		/* those two are known better by who takes the samples from the ring */
		if (i == XR_WRITTEN)
			n = s->written;
		else if (i == XR_LOST)
			n = s->lost;
		for (size_t k = 0; outcomes[i][k] && k < sizeof(name) - 1; k++) {
			char c = outcomes[i][k];

			name[k] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
		}
		text__u64(t, "ticks_total", "outcome", name, n);
	}
}

static void metrics__samples(struct text *t, const struct stats *s)
{
	text__counter(t, "samples_total", s->written,
		      "Samples that were taken, with waits that are not shown.");
	text__counter(t, "lost_samples_total", s->lost, "Samples that did not fit.");
	text__counter(t, "truncated_samples_total", s->truncated,
		      "Samples without their outer frames.");
	text__counter(t, "over_budget_samples_total", s->over_budget,
		      "Samples that were cut because they took too long.");
	text__counter(t, "overrun_samples_total", s->overrun,
		      "Samples that took more than one and a half times the limit.");
	text__counter(t, "other_thread_samples_total", s->other_thread,
		      "Samples of threads that do not run R.");
	text__counter(t, "incomplete_line_samples_total", s->hidden.lines_incomplete,
		      "Samples without their innermost line.");
	text__counter(t, "stackless_samples_total", s->decoder.stacks_dropped + s->stacks_dropped,
		      "Samples whose stack did not fit.");
	text__counter(t, "partial_samples_total", s->decoder.partial,
		      "Samples that arrived incomplete, those among the lost ones included.");
	text__counter(t, "malformed_records_total", s->decoder.malformed,
		      "Malformed records of the sampler.");
	text__counter(t, "throttled_ticks_total", s->throttled,
		      "Collections skipped by --event gc: they came too soon after another.");
	text__counter(t, "missed_ticks_total", s->missed, "Ticks that were too late.");
	text__counter(t, "nested_ticks_total", s->nested, "Ticks during another sample.");
	text__counter(t, "symbols_total", s->symbols, "Names that the sampler sent.");
	text__counter(t, "unnamed_symbols_total", s->decoder.unnamed,
		      "Frames and labels without a text.");
	text__counter(t, "cut_symbols_total", s->decoder.names_cut,
		      "Names that were cut at the maximum length.");
	text__counter(t, "dropped_symbols_total", s->decoder.names_dropped,
		      "Names that did not fit.");
}

static void metrics__processes(struct text *t, const struct sampler_status *s)
{
	const struct hidden_stats *h = &s->stats.settled;
	static const char lines[] = "innermost_line_processes_total";
	static const char gc[] = "gc_marks_processes_total";
	static const char memory[] = "memory_counts_processes_total";

	text__gauge(t, "processes", s->processes, "Processes of R that are sampled now.");
	text__gauge(t, "processes_limit", s->max_processes, "Limit of these: --max-processes.");
	text__counter(t, "sampled_processes_total", s->stats.processes,
		      "Processes that were sampled.");
	text__counter(t, "refused_processes_total", s->stats.rows_full,
		      "Processes that were not sampled, or only later, because of a limit.");
	text__counter(t, "silent_processes_total", s->stats.silent,
		      "Processes that did not answer in time when they were inspected.");
	text__head(t, lines, "counter", "Processes by how well the innermost line is known.");
	text__u64(t, lines, "known", "proven", h->lines_proven);
	text__u64(t, lines, "known", "unproven", h->lines_unproven);
	text__u64(t, lines, "known", "none", h->lines_none);
	text__head(t, gc, "counter", "Processes by how well R's flag of the collector is known.");
	text__u64(t, gc, "known", "proven", h->gc_proven);
	text__u64(t, gc, "known", "code", h->gc_code);
	text__u64(t, gc, "known", "none", h->gc_none);
	text__head(t, memory, "counter", "Processes by how well R's memory counts are known.");
	text__u64(t, memory, "known", "proven", h->memory_proven);
	text__u64(t, memory, "known", "unproven", h->memory_unproven);
	text__u64(t, memory, "known", "none", h->memory_none);
}

static void metrics__budget(struct text *t, const struct sampler_status *s)
{
	text__gauge(t, "asked_rate_hertz", s->freq_asked, "Requested samples a second.");
	text__gauge(t, "rate_hertz", s->freq_now, "Current samples a second.");
	text__counter(t, "rate_lowered_total", s->lowered,
		      "Times that --max-cpu lowered the rate.");
	text__head(t, "sampling_cpu_seconds_total", "counter",
		   "CPU time that samples took inside the kernel.");
	text__nano(t, "sampling_cpu_seconds_total", NULL, NULL, s->kernel_ns);
	text__gauge_nano(t, "sampling_cpu_ratio", nano(s->cpu_samples),
			 "Recent share of one CPU used by samples.");
	if (s->max_cpu > 0)
		text__gauge_nano(t, "sampling_cpu_limit_ratio", nano(s->max_cpu),
				 "Limit of the share: --max-cpu.");
	text__gauge_nano(t, "longest_sample_seconds", nano(s->stats.longest_us / 1e6),
			 "The longest time of a sample.");
	text__gauge(t, "largest_sample_reads", s->stats.most_work, "The most reads of a sample.");
	text__gauge(t, "stacks", s->stacks, "Different stacks in the current interval.");
	text__gauge(t, "stacks_limit", s->max_stacks, "Limit of these: --max-stacks.");
	text__gauge(t, "memory_bytes", s->names, "Memory used by names and stacks.");
	text__gauge(t, "memory_limit_bytes", s->max_memory, "Limit of this memory.");
}

static void metrics__service(struct text *t, const struct sampler_status *s,
			     const struct front_status *front)
{
	static const char cpu[] = "process_cpu_seconds_total";
	static const char resident[] = "process_resident_memory_bytes";

	text__counter(t, "intervals_total", s->intervals, "Intervals that ended.");
	text__counter(t, "dropped_intervals_total", s->intervals_dropped,
		      "Intervals that could not be passed on for writing and sending.");
	text__counter(t, "dropped_interval_samples_total", s->samples_dropped,
		      "Samples that were in them.");
	text__counter(t, "unwritten_samples_total", s->samples_dropped,
		      "The same as dropped_interval_samples_total.");
	text__counter(t, "reloads_total", s->reloads, "Times that the configuration was read.");
	text__counter(t, "reload_failures_total", s->reload_failures,
		      "Times that the configuration was invalid and was not changed.");
	text__counter(t, "front_restarts_total", s->front_restarts,
		      "Times that the process that writes and sends was restarted.");
	text__counter(t, "http_requests_total", front->requests, "HTTP requests received.");
	text__counter(t, "http_refused_requests_total", front->refused,
		      "HTTP requests refused or malformed.");
	text__head(t, cpu, "counter", "CPU time of the profiler's processes.");
	text__nano(t, cpu, "process", "sampler", s->cpu_ns);
	text__nano(t, cpu, "process", "workers", s->workers_ns);
	text__nano(t, cpu, "process", "front", front->cpu_ns);
	text__head(t, resident, "gauge", "Memory of the profiler's processes.");
	text__u64(t, resident, "process", "sampler", s->resident);
	text__u64(t, resident, "process", "front", front->resident);
}

/* What is counted of each way out. */
struct way_row {
	const char *name, *type, *help;
	size_t field; /* of struct way_status */
	enum { OF_ALL, OF_STORE, OF_SERVERS } of;
};

#define FIELD(name) offsetof(struct way_status, name)

static const struct way_row way_rows[] = {
	{"sent_profiles_total", "counter", "Profiles delivered, or parts of one.", FIELD(sent),
	 OF_ALL},
	{"sent_bytes_total", "counter", "Bytes of delivered profiles.", FIELD(size), OF_ALL},
	{"send_failures_total", "counter",
	 "Attempts that failed, and files that could not be removed.", FIELD(failed), OF_ALL},
	{"dropped_profiles_total", "counter", "Profiles that were dropped, at least in part.",
	 FIELD(dropped), OF_ALL},
	{"dropped_samples_total", "counter", "Samples that were in them.", FIELD(dropped_samples),
	 OF_ALL},
	{"spool_profiles", "gauge", "Profiles that wait to be sent.", FIELD(waiting), OF_SERVERS},
	{"spool_bytes", "gauge", "Bytes of profiles that wait to be sent.", FIELD(wait_size),
	 OF_SERVERS},
	{"directory_files", "gauge", "Files in the directory.", FIELD(kept), OF_STORE},
	{"directory_bytes", "gauge", "Bytes of the files in the directory.", FIELD(kept_size),
	 OF_STORE},
	{"directory_removed_files_total", "counter", "Files removed for --keep.", FIELD(removed),
	 OF_STORE},
};

/* The label `destination` is the name of the way. */
static void metrics__ways(struct text *t, const struct front_status *front,
			  const struct metrics_ways *ways)
{
	static const char last[] = "last_sent_timestamp_seconds";
	bool any = false;

	for (size_t i = 0; i < sizeof(way_rows) / sizeof(way_rows[0]); i++) {
		const struct way_row *row = &way_rows[i];
		bool said = false;

		for (size_t w = 0; w < WAYS; w++) {
			if (!ways->has[w] ||
			    (row->of != OF_ALL && (w == WAY_STORE) != (row->of == OF_STORE)))
				continue;
			if (!said)
				text__head(t, row->name, row->type, row->help);
			said = any = true;
			text__u64(t, row->name, row->of == OF_STORE ? NULL : "destination",
				  way__name(w),
				  *(const uint64_t *)((const char *)&front->ways[w] + row->field));
		}
	}
	if (any)
		text__head(t, last, "gauge", "When the last profile was delivered; 0: never.");
	for (size_t w = 0; w < WAYS; w++)
		if (ways->has[w])
			text__nano(t, last, "destination", way__name(w), front->ways[w].last);
}

/* A sample of the histogram of calls; @le: its bucket, NULL: it has none. */
static void calls__name(struct text *t, const struct call_count *c, const char *what,
			const char *le)
{
	text__printf(t, "xrprof_call_seconds_%s{function=\"", what);
	text__label(t, c->function);
	text__printf(t, "\",service=\"");
	text__label(t, c->service);
	text__printf(t, le ? "\",le=\"%s\"} " : "\"} ", le);
}

static void metrics__calls(struct text *t, const void *calls, size_t n)
{
	struct call_count c;

	if (n)
		text__head(t, "call_seconds", "histogram",
			   "Duration of calls of the functions of --calls.");
	for (size_t i = 0; i < n && !t->err; i++) {
		uint64_t sum = 0;

		memcpy(&c, (const char *)calls + i * sizeof(c), sizeof(c));
		for (uint32_t k = 0; k <= CALL_BUCKETS; k++) {
			sum += c.calls[k];
			calls__name(t, &c, "bucket", k < CALL_BUCKETS ? call_buckets[k] : "+Inf");
			text__printf(t, "%" PRIu64 "\n", sum);
		}
		calls__name(t, &c, "sum", NULL);
		text__printf(t, "%" PRIu64 ".%09" PRIu64 "\n", c.sum / NS_PER_S, c.sum % NS_PER_S);
		calls__name(t, &c, "count", NULL);
		text__printf(t, "%" PRIu64 "\n", sum);
	}
}

int metrics__text(struct buf *out, const struct sampler_status *s, const struct front_status *front,
		  struct metrics_ways ways)
{
	struct text t = {out, 0};

	metrics__build(&t, s);
	metrics__ticks(&t, &s->stats);
	metrics__samples(&t, &s->stats);
	metrics__processes(&t, s);
	metrics__budget(&t, s);
	metrics__service(&t, s, front);
	metrics__ways(&t, front, &ways);
	metrics__calls(&t, ways.calls, ways.ncalls);
	return t.err;
}
