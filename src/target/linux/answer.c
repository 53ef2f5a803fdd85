/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "os/linux/priority.h"
#include "os/proc.h"
#include "os/rights.h"
#include "target/ask.h"
#include "target/linux/program.h"
#include "target/linux/scan.h"

#define RAISED_MS 20 /* CPU time; to find R takes less */

/* The arguments with blanks between them; "" when they cannot be read. */
static void answer__arguments(pid_t pid, char text[ASK_TEXT_MAX])
{
	FILE *in = proc__fopen(pid, "cmdline");
	size_t n = 0;

	if (in) {
		n = fread(text, 1, ASK_TEXT_MAX - 1, in);
		fclose(in);
	}
	while (n && !text[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n] = '\0';
}

static void answer__make(struct ask *q, struct programs *known)
{
	switch (q->kind) {
	case ASK_SEEMS:
		q->yes = target__seems(q->pid, known);
		q->err = 0;
		break;
	case ASK_PROGRAM:
		q->err = program__holds_r(q->pid);
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
	case ASK_FIND:
	case ASK_LAYOUT:
	case ASK_HIDDEN:
		ask__answer(q);
		break;
	}
}

void answer__serve(int fd)
{
	struct programs known = {0};
	struct ask q;
	ssize_t n;

	rights__keep(RIGHTS_TARGET | RIGHTS_PRIORITY);
	for (;;) {
		priority__raise_for(RAISED_MS);
		memset(&q, 0, sizeof(q));
		do {
			n = recv(fd, &q, sizeof(q), 0);
		} while (n < 0 && errno == EINTR);
		if (n < (ssize_t)sizeof(q.kind) || n != (ssize_t)ask__question(q.kind))
			break;
		answer__make(&q, &known);
		if (send(fd, &q, ask__size(q.kind), MSG_NOSIGNAL) < 0)
			break;
	}
	programs__free(&known);
}
