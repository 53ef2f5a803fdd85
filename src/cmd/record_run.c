/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/progress.h"
#include "os/os.h"
#include "os/rights.h"
#include "os/signals.h"
#include "os/workload.h"
#include "output/outputs.h"
#include "profile/slower.h"
#include "session/session.h"
#include "session/stats.h"

#define POLL_MS 100 /* between two looks at signals, the workload and the clock */
#define SUM_NS	(60 * NS_PER_S)
#define STDOUT	1
#define STDERR	2
#define STDIN	0
#define REAP_MS 500 /* for a workload that is ending to have ended */

#define LATE_NS	 (5 * NS_PER_S) /* for R to appear in or below a workload */
#define TWICE_NS NS_PER_S	/* between two Ctrl-C that end the profile */

/* Between two looks at waits that are not over, and what each may take. */
#define WAITS_NS NS_PER_S
#define WAITS_MS 50

struct record {
	const struct config *config;
	struct notes notes; /* what is not of the session */
	struct signals *signals;
	struct session *session;
	struct slower *slower; /* NULL: all samples are written */
	struct outputs *outputs;
	struct files *files; /* which write the profile */
	struct workload workload;
	struct workload_user user; /* as whom it runs */
	struct progress *progress; /* NULL: it is not shown */
	uint64_t started_at;	   /* ns, when the workload was let go; 0: it was not */
	uint64_t looked_at;	   /* ns, since when an R is waited for */
	uint64_t interrupted_at;   /* ns, when it was interrupted last; 0: it was not */
	bool late;		   /* a message has reported that no R has come yet */
	uint64_t summed_at;	   /* ns, when the counts were last printed */
	uint64_t waited_at;	   /* ns, when waits that are not over were last asked for */
	bool ready;		   /* --ready is written */
	bool told;		   /* by a signal, to end */
	bool ends; /* a request, or the end was seen: what was started is ending, too */
};

static void on_note(void *arg, enum notes_level level, const char *line)
{
	const struct record *r = arg;

	if (level == NOTES_USER ? r->config->quiet : !r->config->verbose)
		return;
	progress__clear(r->progress);
	log__line("%s", line);
}

static void on_output(void *record, const char *line)
{
	on_note(record, NOTES_USER, line);
}

/* All is attached: give up what is not needed from here on. */
static void record__keep(const struct record *r)
{
	unsigned int uses = cmd__rights(r->config, false);

	if (r->config->stats || r->config->ready)
		uses |= RIGHTS_FILES;
	if (r->config->command)
		uses |= RIGHTS_SIGNAL;
	rights__keep(uses);
}

/* Write @text, unless making it failed by @err, to the file of @option; @text is freed. */
static int record__file(const struct record *r, const char *option, const char *path,
			struct buf *text, int err, struct errmsg *f)
{
	if (err)
		errmsg__set(f, err, "cannot write --%s: %s", option, os__reason(err));
	else
		err = record_files__write(r->files, option, path, text, f);
	buf__free(text);
	return err;
}

/* Tell who started us that sampling has begun, once it has. */
static int record__ready(struct record *r, struct errmsg *f)
{
	struct buf text = {0};

	if (!r->config->ready || r->ready || (!r->config->command && !session__settled(r->session)))
		return 0;
	r->ready = true;
	return record__file(r, "ready", r->config->ready, &text,
			    buf__printf(&text, "%d\n", (int)getpid()), f);
}

/* The workload is there before the session is, but does not run before all is ready for it. */
static int record__start(struct record *r, struct errmsg *f)
{
	const struct config *c = r->config;
	int err;

	err = session__start(r->session);
	record__keep(r);
	if (!err && c->command) {
		err = workload__go(&r->workload, f);
		if (err)
			return err;
		r->started_at = os__now();
		err = session__add_workload(r->session, r->workload.pid);
	}
	if (err)
		*f = *session__why(r->session);
	return err;
}

/*
 * Is the time of --duration over?  Otherwise shorten @timeout_ms so that it is not overslept.  The
 * time begins when an R is sampled.  With --subprocesses it also limits the wait for one: a process
 * of --pid alone is not waited for long, and a command ends by itself.
 */
static bool record__time_over(const struct record *r, int *timeout_ms)
{
	uint64_t began = session__began(r->session), end, now = os__now(), left;

	if (!began && r->config->follow && !r->config->command && session__settled(r->session))
		began = r->looked_at;
	if (r->config->duration <= 0 || !began)
		return false;
	end = began + (uint64_t)(r->config->duration * (double)NS_PER_S);
	if (now >= end)
		return true;
	left = (end - now + NS_PER_MS - 1) / NS_PER_MS;
	if (left < (uint64_t)*timeout_ms)
		*timeout_ms = (int)left;
	return false;
}

static int record__stats(const struct record *r, const struct stats *st, struct errmsg *f)
{
	struct buf text = {0};

	return record__file(r, "stats", r->config->stats, &text, stats__json(st, &text), f);
}

/* Print the counts, as at the end. */
static void record__sum(struct record *r, struct stats *stats)
{
	char line[512];

	stats__summary(stats, line, sizeof(line));
	progress__clear(r->progress);
	log__line("%s", line);
}

/* SIGUSR1: what there is by now. */
static void record__tell(struct record *r)
{
	struct stats stats;
	struct errmsg f;

	if (session__stats(r->session, &stats))
		return;
	record__sum(r, &stats);
	if (r->config->stats && record__stats(r, &stats, &f))
		log__line("%s", f.text);
}

/* SIGHUP: files were moved away, or are to be.  The next poll reports errors. */
static void record__reload(struct record *r)
{
	if (r->config->verbose) {
		progress__clear(r->progress);
		log__line("files are reopened");
	}
	outputs__reopen(r->outputs);
}

/* Ctrl-C is the command's.  Returns whether it came twice: then it ends the profile. */
static bool record__interrupted(struct record *r)
{
	uint64_t now = os__now(), before = r->interrupted_at;

	r->interrupted_at = now;
	if (!before)
		notes__user(&r->notes,
			    "Ctrl-C goes to the command; two within a second end the profile");
	return before && now - before < TWICE_NS;
}

/* Were we told to end?  What was sent to us alone is passed on to the workload. */
static bool record__signalled(struct record *r)
{
	struct signals_event event = signals__take(r->signals);

	while (event.signal && event.request != SIGNALS_END) {
		if (event.request == SIGNALS_REPORT)
			record__tell(r);
		else if (event.request == SIGNALS_RELOAD)
			record__reload(r);
		else if (record__interrupted(r))
			return true;
		event = signals__take(r->signals);
	}
	if (!event.signal)
		return false;
	r->told = true;
	if (r->config->verbose) {
		progress__clear(r->progress);
		log__line("ending: %s", signals__name(event.signal));
	}
	if (r->workload.pid && !workload__ended(&r->workload) && event.sent)
		workload__signal(&r->workload, event.signal);
	return true;
}

static void record__progress(struct record *r)
{
	uint64_t now = os__now();
	struct stats stats;

	if (progress__due(r->progress, now) && !session__stats(r->session, &stats))
		progress__show(r->progress, &stats, now);
	/* if stderr is not a terminal, --verbose leaves a line a minute */
	if (!r->config->verbose || os__columns(STDERR) || now - r->summed_at < SUM_NS)
		return;
	r->summed_at = now;
	if (!session__stats(r->session, &stats))
		record__sum(r, &stats);
}

/*
 * Once a second a streamed format has the waits that are not over: a reader sees a program that
 * only waits, and the profiler notices when the reader is gone.
 */
static void record__waits(struct record *r)
{
	const struct writer_ops *format = r->config->format;
	uint64_t now = os__now();

	if (!(r->config->capture & XR_ROW_OFF_CPU) || !(format->sample || format->row) ||
	    now - r->waited_at < WAITS_NS)
		return;
	session__flush(r->session, WAITS_MS);
	r->waited_at = os__now();
}

/* What starts R for the workload may not be below it. */
#define ELSEWHERE "for an R that a service or a container runs, use --all or -p PID"

static void record__late(struct record *r)
{
	if (!r->workload.pid || r->late || r->workload.ended || session__began(r->session) ||
	    os__now() - r->started_at < LATE_NS)
		return;
	notes__user(&r->notes, "no R process in %s (process %d) or its descendants yet; " ELSEWHERE,
		    r->workload.name, (int)r->workload.pid);
	r->late = true;
}

static int record__loop(struct record *r, struct errmsg *f)
{
	enum session_state state = SESSION_RUNS;

	r->looked_at = r->summed_at = r->waited_at = os__now();
	while (state == SESSION_RUNS) {
		int timeout = POLL_MS, err = record__ready(r, f);

		if (err)
			return err;
		if (record__time_over(r, &timeout))
			return 0;
		state = session__poll(r->session, timeout);
		workload__ended(&r->workload);
		record__late(r);
		if (record__signalled(r) || (r->config->until_eof && os__input_over()))
			break;
		record__waits(r);
		record__progress(r);
	}
	r->ends = state != SESSION_FAILED;
	return 0;
}

/* Nothing was profiled: why not? */
static void record__nothing(struct record *r)
{
	const struct errmsg *why = session__why(r->session);

	if (r->workload.pid && workload__wait(&r->workload, r->ends ? REAP_MS : 0)) {
		log__line("%s ended before R was found in it or its descendants; " ELSEWHERE,
			  r->workload.name);
		notes__debug(&r->notes, "the last look for R: %s",
			     why->text[0] ? why->text : "nothing failed");
	} else {
		log__line("%s", why->text[0] ? why->text : "nothing was profiled");
	}
}

/* What the session counted, as far as people should know. */
static void record__counts(struct record *r, const struct stats *st)
{
	if (r->config->verbose && (st->sent != st->written || st->decoder.malformed || st->partial))
		log__line("samples sent: %llu, received: %llu, incomplete: %llu; malformed "
			  "records: %llu",
			  (unsigned long long)st->sent, (unsigned long long)st->written,
			  (unsigned long long)st->partial,
			  (unsigned long long)st->decoder.malformed);
	if (r->config->verbose && !stats__conserved(st))
		log__line("the counters do not add up: ticks are missing or counted twice (%llu "
			  "ticks)",
			  (unsigned long long)st->ticks);
	if (st->rows_full)
		notes__user(&r->notes, "%llu %s not profiled: too many at once",
			    (unsigned long long)st->rows_full,
			    count__word(st->rows_full, "process was", "processes were"));
}

/* Programs that a format does not tell apart are in one file. */
static void record__together(struct record *r, const struct stats *st)
{
	const struct config *c = r->config;
	const char *how = c->format->per_process ? "-o DIR/ writes one file for each"
			  : c->format->row	 ? "-s puts the stacks of each below its process"
						 : NULL;

	if (st->programs < 2 || !how || config__several(c) || outputs__per_process(r->outputs))
		return;
	notes__user(&r->notes, "%llu R programs are in one profile; %s",
		    (unsigned long long)st->programs, how);
}

/*
 * The profile is complete, and the command goes on: a shell that came back now would read the
 * terminal together with it.
 */
static void record__await(struct record *r)
{
	struct signals_event event;

	if (!r->started_at || r->told || !os__foreground(STDIN) ||
	    workload__wait(&r->workload, r->ends ? REAP_MS : 0))
		return;
	notes__user(&r->notes, "waiting for %s (process %d), which uses the terminal",
		    r->workload.name, (int)r->workload.pid);
	while (!workload__wait(&r->workload, POLL_MS)) {
		event = signals__take(r->signals);
		if (!event.signal || event.request != SIGNALS_END)
			continue;
		r->told = true;
		if (event.sent)
			workload__signal(&r->workload, event.signal);
		return;
	}
}

/* What became of the workload. */
static void record__workload(struct record *r)
{
	char text[256];

	if (!r->workload.pid)
		return;
	if (!workload__wait(&r->workload, r->ends ? REAP_MS : 0))
		notes__user(&r->notes, "%s (process %d) is still running", r->workload.name,
			    (int)r->workload.pid);
	else if (workload__result(&r->workload, text, sizeof(text)))
		notes__user(&r->notes, "%s %s", r->workload.name, text);
}

/* The status of a command that ended by itself is ours, as of time(1), if there is a profile. */
static int record__status(const struct record *r, int status)
{
	bool ended = r->workload.pid && r->workload.ended;

	return status == CMD_OK && ended && !r->told ? workload__status(&r->workload) : status;
}

/* The end of it, for people: returns the exit status.  @err: the session's. */
static int record__report(struct record *r, int err, const struct stats *st)
{
	enum cmd_status status = CMD_OK;
	struct errmsg fault;
	char line[512];

	if (err && err != -EPIPE) {
		log__line("%s", session__why(r->session)->text);
		status = CMD_FAILED;
	} else if (!st->processes && (!r->config->all || st->rows_full)) {
		record__nothing(r);
		status = CMD_FAILED;
	} else if (cmd__none_profiled(r->config, st)) {
		status = CMD_FAILED;
	} else if (st->unwritten) {
		log__line("%llu %s not written", (unsigned long long)st->unwritten,
			  count__word(st->unwritten, "sample was", "samples were"));
		status = CMD_FAILED;
	}
	if (st->processes || (st->engine && r->config->all)) {
		stats__summary(st, line, sizeof(line));
		notes__user(&r->notes, "%s", line);
	}
	record__together(r, st);
	record__counts(r, st);
	if (r->config->stats && record__stats(r, st, &fault)) {
		log__line("%s", fault.text);
		status = CMD_FAILED;
	}
	record__await(r);
	record__workload(r);
	return record__status(r, status);
}

/* The session is open: all that happens with it.  Returns the exit status. */
static int record__session(struct record *r)
{
	struct errmsg f = {""};
	struct stats stats;
	int err;

	err = record__start(r, &f);
	if (!err)
		err = record__loop(r, &f);
	if (err) {
		session__stop(r->session, &stats);
		log__line("%s", f.text);
		record__await(r);
		return CMD_FAILED;
	}
	progress__clear(r->progress);
	err = session__stop(r->session, &stats);
	return record__report(r, err, &stats);
}

/* Does a file of @c go to standard output?  Then what the command prints does not. */
static bool record__prints(const struct config *c)
{
	return !strcmp(c->output, "-") || (c->stats && !strcmp(c->stats, "-")) ||
	       (c->ready && !strcmp(c->ready, "-"));
}

/* Start the command behind the gate: as the caller of sudo, or as this user. */
static int record__command(struct record *r, struct errmsg *f)
{
	const struct config *c = r->config;
	bool other = !c->as_root && workload__caller(&r->user);
	int err;

	err = signals__command(r->signals);
	if (err)
		return errmsg__set(f, err, "cannot wait for signals: %s", strerror(-err));
	err = workload__start(&r->workload, c->command, !record__prints(c), other ? &r->user : NULL,
			      r->signals, f);
	if (!err && other)
		notes__user(&r->notes,
			    "%s runs as %s (uid %u), who called sudo; --as-root runs it as root",
			    c->command[0], r->user.name, (unsigned int)r->user.uid);
	return err;
}

/* Show the progress on a terminal, unless the profile or a command's output is on that terminal. */
static int record__show_progress(struct record *r, struct sink *sink, struct errmsg *f)
{
	const struct config *c = r->config;

	if (c->quiet || c->command || !os__columns(STDERR) ||
	    (!strcmp(c->output, "-") && os__columns(STDOUT)))
		return 0;
	if (progress__new(&r->progress, *sink))
		return errmsg__set(f, -ENOMEM, "out of memory");
	*sink = progress__sink(r->progress);
	return 0;
}

/* With --slower other samples do not reach the output. */
static int record__slower(struct record *r, struct sink *sink, struct errmsg *f)
{
	const struct config *c = r->config;

	if (c->slower <= 0)
		return 0;
	if (slower__new(&r->slower, (uint64_t)(c->slower * (double)NS_PER_S),
			LIMIT_SLOWER(c->max_memory), *sink))
		return errmsg__set(f, -ENOMEM, "out of memory");
	*sink = slower__sink(r->slower);
	return 0;
}

int record__run(const struct config *c, struct signals *signals)
{
	char host[256];
	struct notes_limit limit = {0};
	static const struct label_rules labels;
	const struct engine_ops *one[2];
	struct session_config session = cmd__session(c, one);
	struct outputs_config to = {
		.format = c->format,
		.writer =
			{
				.capture = c->capture,
				.roots = config__several(c),
				.about = {.command = c->line, .host = host},
			},
		.path = c->output,
		.several = c->npids > 1 || c->all,
		.index = true,
		.least = c->min_samples,
		.memory = c->max_memory,
		.max_file = c->max_file,
		.note = on_output,
	};
	struct record r = {
		.config = c,
		.notes = {.line = on_note, .arg = &r, .lowest = NOTES_USER},
		.signals = signals,
		.workload = {.gate = -1, .report = -1},
	};
	struct sink sink = {0};
	int err, status = CMD_FAILED;
	struct errmsg f = {""};

	session.notes = (struct notes){
		.line = on_note,
		.arg = &r,
		.lowest = c->verbose ? NOTES_DEBUG : NOTES_USER,
		.limit = &limit,
	};
	session.labels_first = true; /* the duration begins with the first sample */
	if (record_files__check(c, &f) == -EINVAL)
		return cmd__usage_error(&cmd_record, &f);
	err = cmd__btf(c->btf, &f);
	if (!err && c->format->binary && !strcmp(c->output, "-") && os__columns(STDOUT))
		err = errmsg__set(
			&f, -EINVAL,
			"format %s cannot be written to a terminal: give -o FILE%s, or a pipe",
			c->format->name, c->format->suffix);
	/* before anything is open that would be kept open by it */
	if (!err)
		err = files__start(&to.files, files__given(c->output), &f);
	r.files = to.files;
	os__host(host, sizeof(host));
	to.note_arg = &r;
	if (!err && outputs__new(&r.outputs, &to))
		err = errmsg__set(&f, -ENOMEM, "out of memory");
	if (!err) {
		sink = outputs__sink(r.outputs);
		err = record__slower(&r, &sink, &f);
	}
	if (!err) {
		if (outputs__per_process(r.outputs))
			session.labels = &labels; /* for the index */
		err = record__show_progress(&r, &sink, &f);
	}
	if (!err)
		err = session__open(&r.session, &session, sink, &f);
	if (!err && c->command)
		err = record__command(&r, &f);
	if (err)
		log__line("%s", f.text);
	else
		status = record__session(&r);
	session__free(r.session);
	workload__close(&r.workload);
	slower__free(r.slower);
	outputs__free(r.outputs);
	progress__free(r.progress);
	files__stop(to.files);
	return status;
}
