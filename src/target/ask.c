/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/ask.h"

#include <errno.h>
#include <stdio.h>

#include "os/proc.h"
#include "target/variables.h"
#include "values/request.h"

size_t ask__size(enum ask_kind kind)
{
	switch (kind) {
	case ASK_SEEMS:
	case ASK_PROGRAM:
	case ASK_MAPS:
	case ASK_MODULE:
		return offsetof(struct ask, why);
	case ASK_FIND:
	case ASK_LABELS:
	case ASK_SOURCE:
		return offsetof(struct ask, check);
	case ASK_HIDDEN:
		return offsetof(struct ask, found);
	case ASK_LAYOUT:
		return offsetof(struct ask, text);
	case ASK_LIST:
	case ASK_DESCRIBE:
	case ASK_REQUEST:
		break;
	}
	return sizeof(struct ask);
}

size_t ask__question(enum ask_kind kind)
{
	size_t answer = ask__size(kind);
	size_t brief = offsetof(struct ask, why);

	if (kind == ASK_LIST || kind == ASK_DESCRIBE)
		return brief;
	return answer < offsetof(struct ask, found) ? answer : offsetof(struct ask, found);
}

/*
 * An R that was mapped when last looked for, and still has not begun: its R_GlobalContext is NULL.
 * A way to know without looking for it again.
 */
static bool target__starting(const struct target *t, pid_t pid)
{
	uint64_t context;

	return t->row.head_at && !proc__memory(pid, t->row.head_at, &context, sizeof(context)) &&
	       !context;
}

static int ask__request(struct ask *q)
{
	struct mem_reader m = proc__reader(q->pid);
	struct buf text = {0};
	struct heap h;
	int err;

	heap__init(&h, &m, &q->target.row, REQUEST_READS);
	err = request__read(&h, q->at, &text);
	if (!err)
		snprintf(q->text, sizeof(q->text), "%.*s", (int)text.len, text.data);
	buf__free(&text);
	return err;
}

static int ask__hidden(struct ask *q)
{
	struct mem_reader m = proc__reader(q->pid);

	return hidden_check__run(&q->check, &q->target.row, &m, q->looks);
}

void ask__answer(struct ask *q)
{
	q->err = 0;
	switch (q->kind) {
	case ASK_FIND:
		q->yes = target__starting(&q->target, q->pid);
		q->err = q->yes ? target__not_begun(&q->target, &q->why)
				: target__find(q->pid, q->want, &q->target, &q->why);
		break;
	case ASK_LAYOUT:
		q->err = layout_check__process(&q->target.row, &q->found, &q->why);
		break;
	case ASK_HIDDEN:
		q->err = ask__hidden(q);
		break;
	case ASK_REQUEST:
		q->err = ask__request(q);
		break;
	case ASK_SEEMS:
	case ASK_PROGRAM:
	case ASK_LIST:
	case ASK_DESCRIBE:
	case ASK_MAPS:
	case ASK_MODULE:
	case ASK_SOURCE:
		q->fd = -1;
		q->err = -ENOSYS;
		break;
	case ASK_LABELS:
		q->err = -ENOENT;
		break;
	}
}
