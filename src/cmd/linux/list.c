/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `xrprof-bpf list`: the processes with R in them, and why one that looks like R cannot be
 * profiled.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "cmd/cmd.h"
#include "cmd/value_text.h"
#include "base/json.h"
#include "base/log.h"
#include "target/ask.h"
#include "target/linux/scan.h"
#include "target/target.h"
#include "os/linux/columns.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/rights.h"
#include "os/linux/users.h"

#define COMMAND_LEAST 30u /* columns, of a terminal */
#define COMMAND_MAX   4096u
#define CELL_MAX      80u
#define LOOK_MS	      250 /* at least, between two looks at CPU time, which /proc has in 10 ms */
#define STDOUT	      1
#define DAY	      (24 * 60 * 60)

/* Columns of the table: all but the last are as wide as what is in them. */
enum {
	COL_PID,
	COL_PPID,
	COL_USER,
	COL_CPU,
	COL_START,
	COL_R,
	COL_LOADED,
	COL_THREADS,
	COL_CONTAINER,
	COLS
};

static const char *const titles[COLS] = {
	[COL_PID] = "PID",	 [COL_PPID] = "PPID",	    [COL_USER] = "USER",
	[COL_CPU] = "CPU%",	 [COL_START] = "START",	    [COL_R] = "R",
	[COL_LOADED] = "LOADED", [COL_THREADS] = "THREADS", [COL_CONTAINER] = "CONTAINER",
};

/* One process. */
struct item {
	struct proc proc;
	struct target target;
	pid_t pid;
	uint64_t looked; /* ns, when `proc` was read */
	double cpu;	 /* of one CPU, from then on; less than 0: not known */
	uint64_t start;	 /* seconds since 1970 */
	char user[33];
	char cgroup[512];
	char container[65]; /* "": none that is known */
	char command[COMMAND_MAX];
	int err; /* of target__find */
	struct errmsg why;
};

struct list {
	struct item *items;
	size_t n, room;
};

static void item__user(struct item *it)
{
	const struct passwd *user = users__by_id(it->proc.uid);

	if (user)
		snprintf(it->user, sizeof(it->user), "%s", user->pw_name);
	else
		snprintf(it->user, sizeof(it->user), "%u", (unsigned int)it->proc.uid);
}

/* One that has R in it, or may have: the answer @q is about it. */
static int list__add(struct list *l, const struct ask *q)
{
	struct item *it;

	if (array__room(&l->items, l->n, &l->room, sizeof(*l->items)))
		return -ENOMEM;
	it = &l->items[l->n];
	*it = (struct item){.pid = q->pid, .err = q->err, .why = q->why};
	if (proc__read(q->pid, &it->proc))
		return 0;
	it->looked = os__now();
	it->start = proc__began(it->proc.start_time) / NS_PER_S;
	if (q->yes)
		it->target = q->target;
	snprintf(it->command, sizeof(it->command), "%s", q->text);
	if (!it->command[0])
		snprintf(it->command, sizeof(it->command), "[%s]", it->proc.comm);
	item__user(it);
	proc__cgroup(q->pid, it->cgroup, sizeof(it->cgroup));
	if (!proc__container(it->cgroup, it->container))
		proc__isolated(q->pid, it->container);
	l->n++;
	return 0;
}

static int on_process(void *arg, pid_t pid)
{
	const struct ask q = {.kind = ASK_LIST, .pid = pid, .want = TARGET_ANY_NAME};

	return asker__ask(arg, &q);
}

/* Ask of all processes.  Some answers come late, or not at all. */
static int list__fill(struct list *l, struct errmsg *f)
{
	struct ask q = {0};
	struct asker *a;
	int err = asker__open(&a, NULL, f);

	if (err)
		return err;
	err = target__each(on_process, a);
	while (!err && asker__busy(a)) {
		if (!asker__take(a, &q, ASK_DEADLINE_MS))
			continue;
		/* a program that is only called R, or one that ended just now */
		if (q.err ? q.err != -ENOEXEC && q.err != -ESRCH : q.yes)
			err = list__add(l, &q);
		memset(&q, 0, sizeof(q));
	}
	asker__close(a);
	return err ? errmsg__set(f, err, "cannot list processes: %s", strerror(-err)) : 0;
}

/*
 * What each uses of a CPU, from a second look at all of them, a while after the first.  If one has
 * ended, that is not a failure.
 */
static void list__look(struct list *l)
{
	uint64_t newest = 0, now, used;

	for (size_t i = 0; i < l->n; i++)
		newest = l->items[i].looked > newest ? l->items[i].looked : newest;
	now = os__now();
	if (l->n && now < newest + LOOK_MS * NS_PER_MS)
		usleep((useconds_t)((newest + LOOK_MS * NS_PER_MS - now) / NS_PER_US));
	for (size_t i = 0; i < l->n; i++) {
		struct item *it = &l->items[i];

		it->cpu = -1;
		if (proc__use(it->pid, &used, NULL) || used < it->proc.cpu_ns)
			continue;
		it->cpu = (double)(used - it->proc.cpu_ns) / (double)(os__now() - it->looked);
	}
}

static bool item__found(const struct item *it)
{
	return !it->err || it->target.version[0];
}

/* libR.so, or R in the program itself; NULL: not known. */
static const char *item__load(const struct item *it)
{
	if (it->err && !it->target.path[0])
		return NULL;
	return it->target.load == TARGET_LIBR ? "libR.so" : "program";
}

/* The time of today, or the day, as ps(1) has it. */
static void item__start(const struct item *it, char *cell)
{
	time_t start = (time_t)it->start, now = (time_t)(os__real_time() / NS_PER_S);
	struct tm tm;

	snprintf(cell, CELL_MAX, "?");
	if (localtime_r(&start, &tm))
		strftime(cell, CELL_MAX, now - start < DAY ? "%H:%M" : "%Y-%m-%d", &tm);
}

static void item__cell(const struct item *it, int column, char *cell)
{
	const char *load = item__load(it);

	switch (column) {
	case COL_PID:
		snprintf(cell, CELL_MAX, "%d", (int)it->pid);
		break;
	case COL_PPID:
		snprintf(cell, CELL_MAX, "%d", (int)it->proc.ppid);
		break;
	case COL_USER:
		snprintf(cell, CELL_MAX, "%s", it->user);
		break;
	case COL_CPU:
		snprintf(cell, CELL_MAX, it->cpu < 0 ? "?" : "%.0f", 100 * it->cpu);
		break;
	case COL_START:
		item__start(it, cell);
		break;
	case COL_R:
		snprintf(cell, CELL_MAX, "%s%s", it->target.version[0] ? it->target.version : "?",
			 item__found(it) && !it->target.version_known ? "*" : "");
		break;
	case COL_LOADED:
		snprintf(cell, CELL_MAX, "%s", load ? load : "?");
		break;
	case COL_THREADS:
		snprintf(cell, CELL_MAX, "%u", it->proc.threads);
		break;
	case COL_CONTAINER:
		snprintf(cell, CELL_MAX, "%.*s", (int)container__shown(it->container),
			 it->container);
		if (!*cell)
			snprintf(cell, CELL_MAX, "-");
		break;
	}
}

/*
 * Print what is in @line, in one line: on a terminal of @columns as much of it as fits, elsewhere
 * (0) all of it.
 */
static int line__print(struct buf *line, unsigned int columns)
{
	struct buf cut = {0};
	int err = buf__add(line, "", 1);

	if (!err && columns)
		err = columns__fit(&cut, line->data, columns, false);
	if (!err)
		printf("%.*s\n", columns ? (int)cut.len : (int)line->len - 1,
		       columns ? cut.data : line->data);
	buf__free(&cut);
	line->len = 0;
	return err;
}

/* Names come from strangers: nothing in them may act on the terminal. */
static int item__print(const struct item *it, const int width[COLS], struct buf *line,
		       unsigned int columns)
{
	char cell[CELL_MAX];
	int err = 0;

	for (int c = 0; c < COLS && !err; c++) {
		item__cell(it, c, cell);
		if (width[c])
			err = buf__printf(line, "%-*s ", width[c], cell);
	}
	if (!err)
		err = escape__text(line, it->command, "", LIMIT_NAME);
	err = err < 0 ? err : line__print(line, columns);
	if (!err && it->err)
		printf("    cannot be profiled: %s\n", it->why.text);
	return err;
}

/* A terminal that is too narrow for all columns loses some, so that commands can be told apart. */
static void list__narrow(int width[COLS], unsigned int columns)
{
	static const int dispensable[] = {COL_CONTAINER, COL_THREADS, COL_LOADED, COL_PPID,
					  COL_R,	 COL_START,   COL_USER};
	unsigned int all = 0;

	for (int c = 0; c < COLS; c++)
		all += (unsigned int)width[c] + 1;
	for (size_t i = 0; i < sizeof(dispensable) / sizeof(dispensable[0]); i++) {
		int c = dispensable[i];

		if (!columns || all + COMMAND_LEAST <= columns)
			return;
		all -= (unsigned int)width[c] + 1;
		width[c] = 0;
	}
}

static int list__text(const struct list *l)
{
	unsigned int columns = os__columns(STDOUT);
	struct buf line = {0};
	int width[COLS], len, err = 0;
	bool guessed = false;
	char cell[CELL_MAX];

	for (int c = 0; c < COLS; c++)
		width[c] = (int)strlen(titles[c]);
	for (size_t i = 0; i < l->n; i++) {
		for (int c = 0; c < COLS; c++) {
			item__cell(&l->items[i], c, cell);
			len = (int)strlen(cell);
			if (len > width[c])
				width[c] = len;
		}
	}
	list__narrow(width, columns);
	for (int c = 0; c < COLS && !err; c++)
		if (width[c])
			err = buf__printf(&line, "%-*s ", width[c], titles[c]);
	err = err ? err : buf__str(&line, "COMMAND");
	err = err ? err : line__print(&line, columns);
	for (size_t i = 0; i < l->n && !err; i++) {
		const struct item *it = &l->items[i];

		err = item__print(it, width, &line, columns);
		guessed = guessed || (item__found(it) && !it->target.version_known);
	}
	buf__free(&line);
	if (guessed)
		printf("* unknown version: its layout is checked when it is profiled\n");
	return err;
}

static int list__json(const struct list *l)
{
	struct json j;

	json__begin(&j);
	json__object(&j, NULL);
	json__array(&j, "processes");
	for (size_t i = 0; i < l->n; i++) {
		const struct item *it = &l->items[i];
		const struct target *t = &it->target;

		json__object(&j, NULL);
		json__u64(&j, "pid", (uint64_t)it->pid);
		json__u64(&j, "parent", (uint64_t)it->proc.ppid);
		json__u64(&j, "uid", it->proc.uid);
		json__str(&j, "user", it->user);
		json__str(&j, "comm", it->proc.comm);
		json__str(&j, "version", t->version[0] ? t->version : NULL);
		json__bool(&j, "version_known", t->version_known);
		json__str(&j, "load", item__load(it));
		json__str(&j, "path", t->path[0] ? t->path : NULL);
		json__u64(&j, "threads", it->proc.threads);
		json__double(&j, "cpu", it->cpu < 0 ? NAN : it->cpu);
		json__double(&j, "cpu_seconds", (double)it->proc.cpu_ns / (double)NS_PER_S);
		json__u64(&j, "started", it->start);
		json__str(&j, "container", it->container[0] ? it->container : NULL);
		json__str(&j, "cgroup", it->cgroup[0] ? it->cgroup : NULL);
		json__str(&j, "command", it->command);
		json__bool(&j, "profilable", !it->err);
		json__str(&j, "reason", it->err ? it->why.text : NULL);
		json__close(&j);
	}
	json__close(&j);
	json__close(&j);
	return json__print(&j, stdout);
}

/* The busiest first. */
static int item__compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->cpu < y->cpu || x->cpu > y->cpu)
		return x->cpu < y->cpu ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

struct list_options {
	bool help, json;
};

static const struct option_row rows[] = {
	OPT_FLAG('j', "json", .at = offsetof(struct list_options, json), "print one JSON object"),
	OPT_HELP(.at = offsetof(struct list_options, help)),
	{0},
};

static int list__main(int argc, char **argv)
{
	struct list_options o = {0};
	struct list l = {0};
	struct errmsg f = {""};
	int err;

	if (!cmd__options(&cmd_list, &o, argc, argv, &err))
		return err;
	columns__locale();
	rights__keep(RIGHTS_TARGET | RIGHTS_PRIORITY);
	err = list__fill(&l, &f);
	if (!err) {
		list__look(&l);
		if (l.n)
			qsort(l.items, l.n, sizeof(*l.items), item__compare);
		err = o.json ? list__json(&l) : list__text(&l);
		if (err)
			errmsg__set(&f, err, "cannot list processes: %s", strerror(-err));
	}
	if (err)
		log__line("%s", f.text);
	free(l.items);
	return err ? CMD_FAILED : CMD_OK;
}

const struct subcommand cmd_list = {
	.name = "list",
	.help = "list the R processes",
	.usage = {"list [--json]"},
	.about = "The processes with R in them, the busiest first: pid, parent, user, "
		 "use of a CPU right now, start, R's version, how R is loaded (libR.so "
		 "or in the program itself), threads, container (ns:N if only its "
		 "namespace N shows that it is in one), command line. A process that "
		 "looks like R but cannot be profiled is followed by the reason.",
	.examples = {{"Which R processes there are", "xrprof-bpf list"}},
	.options = rows,
	.run = list__main,
};
