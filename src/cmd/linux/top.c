/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `xrprof-bpf top`: what R processes do, live in a terminal or as plain text: a session whose sink
 * is a model (top_model.h) of which a view (top_view.h) is drawn once a second (top_screen.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/utf8.h"
#include "cmd/cmd.h"
#include "cmd/linux/top_dump.h"
#include "cmd/linux/top_screen.h"
#include "cmd/linux/top_text.h"
#include "cmd/options.h"
#include "os/linux/columns.h"
#include "os/os.h"
#include "os/rights.h"
#include "os/signals.h"
#include "session/session.h"
#include "target/ask.h"

#define POLL_MS		50 /* between two looks at the keyboard and at signals */
#define FLUSH_MS	50
#define WINDOW_DEFAULT	5 /* seconds */
#define BATCH_FUNCTIONS 20u
#define NOTES_MAX	16u /* kept, to be printed when the screen is gone */
#define ROUNDS_MAX	1000000000u
#define INTERVAL_MAX	TOP_WINDOW_MAX

struct top_options {
	struct options o; /* first */
	uint32_t batch;	  /* rounds of plain text; 0: a terminal */
	uint32_t interval, window;
	const char *sample_type; /* that is shown at first; NULL: the first */
};

/* Whose command lines were asked for: those have another asker than the session's. */
struct top {
	const struct top_options *options;
	struct signals *signals;
	struct session *session;
	struct top_model *model;
	struct top_view view;
	struct top_screen *screen; /* NULL: plain text */
	struct asker *asker;
	struct top_dump dump;
	uint32_t dumps; /* that were begun */
	struct stats stats;
	uint32_t rounds;  /* that were printed */
	uint32_t seconds; /* since the last one */
	char *notes[NOTES_MAX];
	uint32_t nnotes, dropped;
	bool told;  /* by a key or a signal, to end */
	bool ended; /* all processes have */
};

/* --- notes --- */

static void on_note(void *arg, enum notes_level level, const char *line)
{
	struct top *t = arg;

	if (level == NOTES_USER ? t->options->o.config.quiet : !t->options->o.config.verbose)
		return;
	if (!t->screen) {
		log__line("%s", line);
		return;
	}
	if (t->nnotes == NOTES_MAX) {
		t->dropped++;
		return;
	}
	t->notes[t->nnotes] = strdup(line);
	if (!t->notes[t->nnotes])
		return;
	utf8__tame(t->notes[t->nnotes++]);
}

static const char *top__note(const struct top *t)
{
	return t->nnotes ? t->notes[t->nnotes - 1] : "";
}

/* The screen is gone: print the messages that waited. */
static void top__say_notes(struct top *t)
{
	for (uint32_t i = 0; i < t->nnotes; i++) {
		log__line("%s", t->notes[i]);
		free(t->notes[i]);
	}
	if (t->dropped)
		log__line("%u more %s", t->dropped, count__word(t->dropped, "note", "notes"));
	t->nnotes = t->dropped = 0;
}

static void top__close_screen(struct top *t)
{
	top_screen__close(t->screen);
	t->screen = NULL;
	top__say_notes(t);
}

/* --- what is shown --- */

static void clock__text(char *text, size_t size)
{
	time_t now = (time_t)(os__real_time() / NS_PER_S);
	struct tm tm;

	*text = '\0';
	if (localtime_r(&now, &tm))
		strftime(text, size, "%H:%M:%S", &tm);
}

/* Ask for the command lines of those that are new, and take what was answered. */
static int top__commands(struct top *t)
{
	struct top_process *list = t->model->processes;
	struct ask q = {0};
	int err = 0;

	for (size_t i = 0; i < t->model->nprocesses && !err; i++) {
		const struct ask question = {
			.kind = ASK_LIST, .pid = (pid_t)list[i].pid, .want = TARGET_ANY_NAME};

		if (list[i].asked)
			continue;
		list[i].asked = true;
		err = asker__ask(t->asker, &question);
	}
	while (!err && asker__busy(t->asker) && asker__take(t->asker, &q, 0)) {
		err = top_model__command(t->model, (uint32_t)q.pid, q.text);
		memset(&q, 0, sizeof(q));
	}
	return err;
}

static int top__draw(struct top *t)
{
	char clock[16];

	clock__text(clock, sizeof(clock));
	return top_screen__draw(t->screen, &t->view, &t->stats, clock, top__note(t));
}

/* The tables as plain text.  A negative errno, also of standard output. */
static int top__print(struct top *t)
{
	struct buf text = {0};
	char clock[16];
	int err;

	clock__text(clock, sizeof(clock));
	err = t->rounds ? buf__str(&text, "\n") : 0;
	err = err ? err : top_text__all(&text, &t->view, &t->stats, clock, BATCH_FUNCTIONS);
	errno = 0;
	if (!err && (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout))) {
		err = errno ? -errno : -EIO;
		clearerr(stdout);
	}
	buf__free(&text);
	t->rounds++;
	return err;
}

/* --- the loop --- */

/* A second is over. */
static int top__second(struct top *t)
{
	int err = top_view__update(&t->view);

	if (session__stats(t->session, &t->stats))
		t->stats = (struct stats){0};
	if (err || t->screen)
		return err ? err : top__draw(t);
	if (++t->seconds < t->options->interval)
		return 0;
	t->seconds = 0;
	return top__print(t);
}

/* What was typed.  1: to end. */
static int top__keys(struct top *t)
{
	bool any = false;
	int key, err = 0;

	while (!err && (key = top_screen__key(t->screen)) >= 0) {
		any = true;
		if (key != TOP_SCREEN_CHANGED)
			err = top_view__key(&t->view, key);
	}
	return any && !err ? top__draw(t) : err;
}

/* The dump that was asked for: begin it, and take what came of it. */
static int top__dump(struct top *t)
{
	int err = 0;

	if (t->dumps != t->view.dumps) {
		t->dumps = t->view.dumps;
		err = top_dump__start(&t->dump, t->view.dump_pid);
	}
	err = err ? err : top_dump__poll(&t->dump);
	if (err <= 0)
		return err;
	top_view__dump(&t->view, &t->dump.text);
	return top__draw(t);
}

static bool top__done(const struct top *t)
{
	return t->told || (t->options->batch && t->rounds >= t->options->batch);
}

/* Until a key or a signal ends it, or it has nothing more to do.  0, or a negative errno. */
static int top__loop(struct top *t)
{
	enum session_state state = SESSION_RUNS;
	uint64_t now;
	int err = t->screen ? top__draw(t) : 0;

	while (!err && state == SESSION_RUNS && !top__done(t)) {
		state = session__poll(t->session,
				      (int)top_model__due(t->model, os__now(), POLL_MS));
		now = os__now();
		if (!top_model__due(t->model, now, POLL_MS))
			session__flush(t->session, FLUSH_MS); /* what waits is in each second */
		err = top__commands(t);
		if (!err && top_model__advance(t->model, now))
			err = top__second(t);
		if (!err && t->screen)
			err = top__keys(t);
		if (!err && t->screen)
			err = top__dump(t);
		t->told = err == 1 || signals__take(t->signals).signal;
		err = err == 1 ? 0 : err;
	}
	t->ended = state == SESSION_OVER;
	return err;
}

/* --- the end --- */

/* All have ended: what they did, that the terminal no longer shows.  @t->screen is closed. */
static int top__last(struct top *t)
{
	int err;

	t->view.scope = (struct top_scope){
		.since = true, .fold = t->view.scope.fold, .type = t->view.scope.type};
	t->view.paused = false;
	t->view.filter[0] = '\0';
	t->view.pane = TOP_FUNCTIONS;
	top_model__close(t->model, os__now());
	err = top_view__update(&t->view);
	if (!err && t->view.samples)
		err = top__print(t);
	return err;
}

static enum cmd_status top__report(struct top *t, int err, int session_err)
{
	const struct config *c = &t->options->o.config;

	if (session_err) {
		log__line("%s", session__why(t->session)->text);
		return CMD_FAILED;
	}
	if (!err && t->ended && t->stats.processes)
		err = top__last(t);
	if (err == -EPIPE)
		return CMD_OK;
	if (err) {
		log__line("cannot show what was sampled: %s", strerror(-err));
		return CMD_FAILED;
	}
	if (!t->stats.processes && !c->all) {
		const char *why = session__why(t->session)->text;

		log__line("%s", *why ? why : "nothing was profiled");
		return CMD_FAILED;
	}
	if (cmd__none_profiled(c, &t->stats))
		return CMD_FAILED;
	if (t->ended && !c->quiet)
		log__line("%s",
			  c->npids == 1 ? "the process has ended" : "all processes have ended");
	return CMD_OK;
}

/* The session began, so what there is to be seen is known.  -EINVAL: not what was asked for. */
static int top__type(struct top *t, struct errmsg *f)
{
	const struct profile_about *about = &t->model->about;
	struct top_scope *scope = &t->view.scope;
	const char *name = t->options->sample_type;
	struct buf names = {0};
	int err = 0;

	scope->type = top_model__next_type(t->model, PROFILE_TYPES_MAX - 1);
	if (name)
		scope->type = top_model__find_type(t->model, name);
	if (scope->type < PROFILE_TYPES_MAX)
		return 0;
	scope->type = PROFILE_TYPE_TICKS;
	for (uint32_t i = 0; i < PROFILE_TYPES_MAX && !err; i++)
		if (about__type(about, i).name)
			err = buf__printf(&names, "%s%s", names.len ? ", " : "",
					  about__type(about, i).name);
	err = errmsg__set(
		f, -EINVAL,
		"--sample-type %s: the profile has no such samples; it has: %.*s (off_cpu needs "
		"--off-cpu, alloc_space needs --memory, events need --event)",
		name, (int)names.len, names.data ? names.data : "");
	buf__free(&names);
	return err;
}

/* The session is open. */
static enum cmd_status top__session(struct top *t)
{
	struct errmsg f = {""};
	int err, stopped;

	err = session__start(t->session);
	rights__keep(cmd__rights(&t->options->o.config, false));
	if (err)
		f = *session__why(t->session);
	else if (top__type(t, &f)) {
		session__stop(t->session, &t->stats);
		return cmd__usage_error(&cmd_top, &f);
	}
	if (!err && !t->options->batch)
		err = top_screen__open(&t->screen, &f);
	if (err) {
		session__stop(t->session, &t->stats);
		log__line("%s", f.text);
		return CMD_FAILED;
	}
	err = top__loop(t);
	/* first of all: what follows may say something, or take its time */
	top__close_screen(t);
	stopped = session__stop(t->session, &t->stats);
	return top__report(t, err, stopped);
}

static enum cmd_status top__run(struct top *t)
{
	const struct config *c = &t->options->o.config;
	const struct engine_ops *one[2];
	struct session_config config = cmd__session(c, one);
	enum cmd_status status = CMD_FAILED;
	struct errmsg f = {""};
	int err;

	config.capture =
		XR_ROW_GC | XR_ROW_PACKAGES |
		(c->capture & (XR_ROW_OFF_CPU | XR_ROW_IDLE | XR_ROW_MEMORY | XR_ROW_CALLS)) |
		event_list__capture(&c->events);
	config.asked = 0;
	config.notes = (struct notes){
		.line = on_note,
		.arg = t,
		.lowest = c->verbose ? NOTES_DEBUG : NOTES_USER,
	};
	err = cmd__btf(c->btf, &f);
	if (!err)
		err = asker__open(&t->asker, NULL, &f);
	if (!err && top_model__new(&t->model, c->max_memory, t->options->window))
		err = errmsg__set(&f, -ENOMEM, "out of memory");
	if (!err)
		err = session__open(&t->session, &config, top_model__sink(t->model), &f);
	if (err) {
		log__line("%s", f.text);
	} else {
		top_view__init(&t->view, t->model);
		t->view.calls = config.calls;
		status = top__session(t);
	}
	session__free(t->session);
	top_dump__free(&t->dump);
	top_view__free(&t->view);
	top_model__free(t->model);
	asker__close(t->asker);
	return status;
}

/* --- the command line --- */

#define AT(member) .at = offsetof(struct top_options, member)

#define OPTIONS_NO_SLOWER

static const struct option_row rows[] = {
#include "cmd/options_targets.def"
#include "cmd/options_sampling.def"
#include "cmd/options_memory.def"
#include "cmd/options_waits.def"
#include "cmd/options_calls.def"
#include "cmd/options_events.def"
	OPT_STRING(0, "sample-type", AT(sample_type), "NAME",
		   "show this type first: cpu or wall, off_cpu (--off-cpu), alloc_space "
		   "(--memory) or an event",
		   .group = OPTION_WRITE,
		   .manual = "The default is the first of these that exists. Events have the names "
			     "of --event. Beside them there is no cpu; the event cpu-clock "
			     "replaces it. In a terminal the key v shows the next one."),
	OPT_NUMBER('b', "batch", AT(batch), "N", 1, ROUNDS_MAX,
		   "print plain text N times, and exit", .group = OPTION_WRITE),
	OPT_NUMBER(0, "interval", AT(interval), "SECONDS", 1, INTERVAL_MAX,
		   "with --batch: seconds between two tables (default: 1)", .group = OPTION_WRITE),
	OPT_NUMBER(0, "window", AT(window), "SECONDS", 1, TOP_WINDOW_MAX,
		   "seconds that a table covers (default: 5, with --batch the interval)",
		   .group = OPTION_WRITE),
#include "cmd/options_words.def"
	{0},
};

static int top__main(int argc, char **argv)
{
	struct top_options o = {.interval = 1};
	struct top t = {.options = &o, .dump = TOP_DUMP_NONE};
	struct errmsg f = {""};
	int status;

	options__init(&o.o);
	if (!cmd__options(&cmd_top, &o, argc, argv, &status))
		goto cleanup;
	if (options__targets(&o.o.config, &f) || options__idle(&o.o.config, &f) ||
	    options__events(&o.o.config, &f)) {
		status = cmd__usage_error(&cmd_top, &f);
		goto cleanup;
	}
	options__calls(&o.o.config);
	options__waits(&o.o.config);
	if (!o.window)
		o.window = o.batch ? o.interval : WINDOW_DEFAULT;
	columns__locale();
	if (signals__open(&t.signals, &f)) {
		log__line("%s", f.text);
		status = CMD_FAILED;
		goto cleanup;
	}
	status = top__run(&t);
	signals__close(t.signals);
cleanup:
	options__free(&o.o);
	return status;
}

const struct subcommand cmd_top = {
	.name = "top",
	.help = "show live what R processes do",
	.usage = {"top (-p PID[,PID...] | -a) [options]",
		  "top (-p PID[,PID...] | -a) --batch N [options]"},
	.about = "The processes with their use of a CPU, and the functions in which they "
		 "spend their time, over the last seconds and since the start. With --calls "
		 "also the calls in progress, and the slowest of the last minute. top runs "
		 "in a terminal until q; the key h lists the keys, and d shows the stack of "
		 "a process as it is now. With --batch it "
		 "prints plain text, for files and pipes.",
	.examples =
		{
			{"What an R process does now", "xrprof-bpf top -p 4711"},
			{"What it waits for; the key v shows CPU time",
			 "xrprof-bpf top -p 4711 --off-cpu --sample-type off_cpu"},
			{"Who allocates, in bytes; the key v shows page faults",
			 "xrprof-bpf top -p 4711 --event gc --event page-faults"},
			{"Which HTTP requests are in progress, and the slowest ones",
			 "xrprof-bpf top -p 4711 --calls http"},
			{"What all R processes do in the next ten seconds, as text",
			 "xrprof-bpf top -a --batch 1 --interval 10"},
		},
	.options = rows,
	.run = top__main,
};
