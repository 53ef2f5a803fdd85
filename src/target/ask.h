/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Questions about processes, whose answers may never come: the memory of a process, and the files
 * that it has mapped, can lie where no file system responds.  On Linux separate processes answer
 * (linux/ask.c).  The asker gives up on those that do not answer within ASK_DEADLINE_MS, and they
 * may crash.  On Windows the caller answers.
 *
 *	asker__ask(a, &question);
 *	... poll asker__fd(a), at most for asker__due(a) ...
 *	while (asker__take(a, &answer, 0))
 *		act on answer.tag
 */
#ifndef XR_TARGET_ASK_H
#define XR_TARGET_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"
#include "target/describe.h"
#include "target/hidden_check.h"
#include "target/layout_check.h"
#include "target/target.h"

#define ASK_DEADLINE_MS 2000  /* for one answer */
#define ASK_USER_MAX	8u    /* processes of one user that did not answer, at a time */
#define ASK_ALL_MAX	32u   /* of all users */
#define ASK_TEXT_MAX	4096u /* bytes */

enum ask_kind {
	ASK_SEEMS,   /* target__seems(): `yes` */
	ASK_PROGRAM, /* does the program that it runs have R's variables?  `yes` */
	ASK_FIND,    /* target__find() with `want`; `target` is what was found before, or zero */
	ASK_LAYOUT,  /* layout_check__process() of `target.row` */
	ASK_HIDDEN,  /* `looks` of hidden_check__look() at what `target.row` supposes */
	ASK_LIST,    /* ASK_SEEMS, and if so target__find() and its arguments, in `text` */
	/*
	 * describe__make() by the rules of asker__open: `text`.  `text` lacks what cannot be
	 * read; not `yes`: the environment could not be read.  `target.start_time` and
	 * `target.stack`: of whom it is.  -ENOSYS: there are no rules, or it is Windows.
	 */
	ASK_DESCRIBE,
	/* native_maps__make(), native_module__make() of `file`, mapped `at`: `fd`, the taker's */
	ASK_MAPS,
	ASK_MODULE,
	/*
	 * symbol_table__labels() of `target.row`.  `at` is where the variable of R's table of
	 * symbols is supposed to be, from `target.load_bias` on (0: nowhere), and then where it is.
	 * -ENOENT: it is nowhere, or it is Windows.
	 */
	ASK_LABELS,
	/* request__read() (values/request.h) of the call whose environment is `at`: `text` */
	ASK_REQUEST,
	/* source__read() of what `target.row` has `at`: `fd` (source.h) */
	ASK_SOURCE,
};

/*
 * A question, and in the same place its answer.  The parts from `target` on are there for those who
 * use them only.
 */
struct ask {
	enum ask_kind kind;
	pid_t pid;
	uint64_t tag;	/* the caller's */
	uint64_t turn;	/* the asker's own: which answer is to which question */
	uint32_t want;	/* as of target__find() */
	uint32_t looks; /* at most this number */
	uint64_t at;
	struct target_file file;
	int fd; /* of an answer; -1: there is none */
	bool yes;
	bool quiet; /* the same was answered before, and is not worth a line any more */
	/*
	 * As of the function that was asked for, and: -ETIMEDOUT no answer came in time; -EBUSY too
	 * many of this user do not answer: ask again later; -EIO the process that looked ended;
	 * -EMFILE, -ENFILE, -ENOMEM, ... it could not be made.
	 */
	int err;
	struct errmsg why;
	struct target target;
	struct hidden_check check;
	struct layout_found found;
	char text[ASK_TEXT_MAX];
};

struct asker;
struct helper_pool;

/*
 * asker__open - to be called early: what the program is then is what looks at processes.  @rules:
 * for ASK_DESCRIBE; may be NULL, and may go after it.
 */
int asker__open(struct asker **out, const struct label_rules *rules, struct errmsg *f);

/*
 * asker__ask - @q is copied; it will be answered, whatever happens.  Questions are answered in any
 * order.  -ENOMEM.
 */
int asker__ask(struct asker *a, const struct ask *q);

/*
 * asker__take - the next answer, if there is one within @wait_ms.  Returns whether there is; with
 * nothing asked at once.  Of @answer, what its kind has no use for is not touched.
 */
bool asker__take(struct asker *a, struct ask *answer, int wait_ms);

/* asker__busy - was something asked that was not taken yet? */
bool asker__busy(const struct asker *a);

/* asker__fd - becomes readable when there may be something to take; -1: there is none. */
int asker__fd(const struct asker *a);

/* asker__due - ms until asker__take should be called even so, at most @max. */
int asker__due(const struct asker *a, int max);

/* asker__cpu - ns on a CPU so far of the processes that answer, if these are others. */
uint64_t asker__cpu(const struct asker *a);

/* asker__pool - what forks them (os/linux/helper.h); NULL: on Windows. */
struct helper_pool *asker__pool(struct asker *a);

/* asker__silent - processes that did not answer so far. */
uint64_t asker__silent(const struct asker *a);

void asker__close(struct asker *a); /* NULL is allowed */

/* ask__question, ask__size - the bytes of a struct ask that are a question, and an answer, of
 * @kind.
 */
size_t ask__question(enum ask_kind kind);
size_t ask__size(enum ask_kind kind);

/* ask__answer - answer @q here and now, as far as it is the same on every system. */
void ask__answer(struct ask *q);

#endif
