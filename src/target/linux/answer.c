/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/answer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/linux/priority.h"
#include "os/linux/proc_maps.h"
#include "os/linux/rights.h"
#include "os/proc.h"
#include "os/rights.h"
#include "target/ask.h"
#include "target/linux/scan.h"
#include "target/native.h"
#include "target/source.h"

#define RAISED_MS     20	   /* CPU time; to find R takes less */
#define ENVIRON_MAX   (256u << 10) /* bytes that are looked at */
#define ARGUMENTS_MAX 8192u	   /* the same */

_Static_assert(DESCRIBE_TEXT <= ASK_TEXT_MAX, "the description of a process fits into an answer");

/* The arguments with blanks between them; "" when they cannot be read. */
static void answer__arguments(pid_t pid, char text[ASK_TEXT_MAX])
{
	ssize_t n = proc__text(pid, "cmdline", text, ASK_TEXT_MAX);

	while (n > 0 && !text[n - 1])
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n > 0 ? n : 0] = '\0';
}

/* Of the environment, which may hold secrets, nothing stays but what is wanted of it. */
static int answer__describe(const struct label_rules *rules, struct ask *q)
{
	char arguments[ARGUMENTS_MAX], cgroup[4096];
	char *environment = NULL;
	struct describe_from from = {.arguments = arguments, .cgroup = cgroup};
	struct proc p;
	ssize_t n;
	int err;

	if (!rules)
		return -ENOSYS;
	err = proc__read(q->pid, &p);
	if (err)
		return err;
	q->yes = true;
	from.comm = p.comm;
	n = proc__text(q->pid, "cmdline", arguments, sizeof(arguments));
	from.arguments_len = n > 0 ? (size_t)n : 0;
	proc__cgroup(q->pid, cgroup, sizeof(cgroup));
	if (rules->env && rules->env[0]) {
		environment = malloc(ENVIRON_MAX);
		if (!environment)
			return -ENOMEM;
		n = proc__text(q->pid, "environ", environment, ENVIRON_MAX);
		q->yes = n >= 0;
		from.environment = environment;
		from.environment_len = n > 0 ? (size_t)n : 0;
	}
	describe__make(rules, &from, q->text);
	if (environment)
		explicit_bzero(environment, ENVIRON_MAX);
	free(environment);
	/* the pid is still its own, and it runs the same program (or ends, without a stack) */
	q->target.start_time = p.start_time;
	q->target.stack = p.stack;
	return !proc__read(q->pid, &p) && p.start_time == q->target.start_time &&
			       (!p.stack || p.stack == q->target.stack)
		       ? 0
		       : -ESRCH;
}

/*
 * Search R's variables for that of the table of symbols.  They are in the mappings of R's file that
 * have no code, and in the memory right behind them.
 */
static int answer__search(struct ask *q, const struct mem_reader *reader)
{
	const struct target *t = &q->target;
	FILE *maps = proc__fopen(q->pid, "maps");
	struct proc_map map, first = {0};
	uint64_t end = 0, variable;
	int err = -ENOENT;

	if (!maps)
		return -errno;
	while (err && proc_maps__next(maps, &map)) {
		if (map.start < t->load_bias)
			continue;
		if (!end)
			first = map;
		if (map.inode ? map.inode != first.inode : map.path[0] || map.start != end)
			continue;
		end = map.end;
		if (!map.exec)
			err = symbol_table__search(&t->row, reader, map.start, map.end, &variable,
						   &q->target.symbols);
	}
	fclose(maps);
	if (!err)
		q->at = variable - t->load_bias;
	return err;
}

static int answer__labels(struct ask *q)
{
	const struct mem_reader reader = proc__reader(q->pid);
	struct target *t = &q->target;
	int err = 0;

	if (!t->symbols.size &&
	    (!q->at || symbol_table__try(&t->row, &reader, t->load_bias + q->at, &t->symbols)))
		err = answer__search(q, &reader);
	return err ? err : symbol_table__labels(&t->row, &reader, &t->symbols);
}

static void answer__make(struct ask *q, struct programs *known, const struct label_rules *rules)
{
	switch (q->kind) {
	case ASK_SEEMS:
		q->yes = target__seems(q->pid, known);
		q->err = 0;
		break;
	case ASK_PROGRAM:
		q->err = programs__holds_r(known, q->pid);
		q->yes = q->err > 0;
		q->err = q->err < 0 ? q->err : 0;
		break;
	case ASK_LIST:
		q->err = 0;
		q->yes = target__seems(q->pid, known);
		if (!q->yes)
			break;
		q->err = target__find(q->pid, q->want, &q->target, &q->why);
		answer__arguments(q->pid, q->text);
		break;
	case ASK_DESCRIBE:
		q->err = answer__describe(rules, q);
		break;
	case ASK_MAPS:
		q->err = native_maps__make(q->pid, &q->fd);
		break;
	case ASK_MODULE:
		q->err = native_module__make(q->pid, q->at, &q->file, &q->fd);
		break;
	case ASK_LABELS:
		q->err = answer__labels(q);
		break;
	case ASK_SOURCE:
		q->err = source__make(q, &q->fd);
		break;
	case ASK_FIND:
	case ASK_LAYOUT:
	case ASK_HIDDEN:
		ask__answer(q);
		break;
	case ASK_REQUEST:
		/* values are the target's own: members of a group get none (SECURITY.md) */
		q->err = -EPERM;
		if (rights__whose(NULL) != RIGHTS_GROUP)
			ask__answer(q);
		break;
	}
}

static void answer__run(int fd, const void *rules)
{
	struct programs known = {0};
	struct ask q;
	ssize_t n;
	int err = 0;

	while (!err) {
		priority__raise_for(RAISED_MS);
		memset(&q, 0, sizeof(q));
		n = helper__receive(fd, &q, sizeof(q), NULL, 0);
		if (n < (ssize_t)sizeof(q.kind) || n != (ssize_t)ask__question(q.kind))
			break;
		q.fd = -1;
		answer__make(&q, &known, rules);
		err = helper__send(fd, &q, ask__size(q.kind), q.fd, 0);
		if (q.fd >= 0)
			close(q.fd);
	}
	programs__free(&known);
}

const struct helper_job answer__job = {
	.name = "xrprof-worker",
	.flags = HELPER_LIMITED,
	.rights = RIGHTS_TARGET | RIGHTS_PRIORITY,
	.run = answer__run,
};
