/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folded stacks, what flamegraph.pl, speedscope and many others read: one line a stack, frames
 * joined by `;`, outermost first, then a space and how often it was seen.
 *
 *   R-4711;main (script.R:20);work (script.R:12);<GC> 17
 *
 * Root: `comm-pid` when several processes share the output.  `<toplevel>` stands for a stack
 * without R functions, `<GC>` is innermost while the collector runs, `<truncated>` outermost
 * where frames were cut.
 *
 * With packages, a function of a namespace is `package::function`, and what R calls `FUN` or
 * `<Anonymous>` has ` {file:line}` behind it, where it was defined (names.h, frame__label).
 *
 * With lines, `(file:line)` is the place being executed in that frame: of the innermost, the
 * place of the sample; of any other, the place where it called the next one in.  (Rprof() puts the
 * place of the call after the name of the one called; its reader has to shift them as is done
 * here.)  Where a frame's place is not known it stands alone.  A function whose own name has ` (`
 * or ` {` in it, which backquotes allow, reads as if its place began there.
 *
 * A line has a limit (limits.h): what is further out is cut, and counted.
 *
 * In a file equal stacks are one line, written at the end; if there are more stacks than the
 * aggregate has room for, and in a pipe, where they come once a second, so that `| tee` follows
 * along, a stack may have several: readers of the format add them up.  A `;` in a name becomes
 * \x3b; the rest is escaped as in the rprof format, so that the two agree.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "layout.h"
#include "output/encode.h"

struct writer {
	struct output *out;
	bool lines, gc, roots;
	uint64_t *cut; /* NULL: lines that were cut are not counted */
	struct buf line;
};

static int folded__open(struct writer **out, struct output *output,
			const struct writer_config *config)
{
	struct writer *w = calloc(1, sizeof(*w));

	*out = w;
	if (!w)
		return -ENOMEM;
	w->out = output;
	w->lines = config->capture & XR_ROW_LINES;
	w->gc = config->capture & XR_ROW_GC;
	w->roots = config->roots;
	w->cut = config->cut;
	return 0;
}

/* Begin another frame of the line. */
static int folded__next(struct writer *w)
{
	return w->line.len ? buf__add(&w->line, ";", 1) : 0;
}

static int folded__place(struct writer *w, struct place place)
{
	return w->lines ? place__text(&w->line, place, NAME_FIELD) : 0;
}

/* Bytes of @frame in a line, at most. */
static size_t folded__size(const struct writer *w, const struct frame *frame)
{
	size_t place = w->lines && frame->place.file ? frame->place.file->field_len : 0;

	return frame__label_size(frame, NAME_FIELD) + place + strlen("; (:-1234567890)");
}

/* How many of the frames of @stack, from the innermost on, the line has room for. */
static uint32_t folded__room(const struct writer *w, const struct stack *stack)
{
	size_t left = LIMIT_LINE - w->line.len - strlen("<truncated>; 12345678901234567890\n");
	uint32_t n = 0;

	for (; n < stack->nframes; n++) {
		size_t size = folded__size(w, stack->frames[n]);

		if (size > left)
			break;
		left -= size;
	}
	return n;
}

static int folded__frame(struct writer *w, const struct frame *frame)
{
	int err;

	if (frame->function == mark_gc.function && !w->gc)
		return 0;
	err = folded__next(w);
	if (!err)
		err = frame__label(&w->line, frame, NAME_FIELD);
	return err ? err : folded__place(w, frame->place);
}

static int folded__root(struct writer *w, const struct profile_process *p)
{
	char name[XR_COMM_LEN + 16];
	int err = folded__next(w);

	snprintf(name, sizeof(name), "%s-%" PRIu32, *p->comm ? p->comm : "unknown", p->pid);
	return err ? err : escape__text(&w->line, name, "\";", LIMIT_NAME);
}

static int folded__row(struct writer *w, const struct aggregate *a, const struct aggregate_row *row)
{
	const struct stack *stack = row->stack;
	uint32_t n;
	int err = 0;

	if (row->type)
		return -ENOTSUP; /* a line has one number */
	w->line.len = 0;
	if (w->roots)
		err = folded__root(w, aggregate__process(a, row->process));
	if (!err && stack__is_toplevel(stack)) {
		err = folded__next(w);
		if (!err)
			err = buf__str(&w->line, mark_toplevel.function->text);
		if (!err)
			err = folded__place(w, stack->top);
	}
	n = folded__room(w, stack);
	if (n < stack->nframes) {
		err = err ? err : folded__frame(w, &mark_truncated);
		if (w->cut)
			*w->cut += row__samples(row);
	}
	for (uint32_t i = n; i > 0 && !err; i--)
		err = folded__frame(w, stack->frames[i - 1]);
	if (!err)
		err = buf__printf(&w->line, " %" PRIu64 "\n", row->value);
	if (!err)
		err = output__write(w->out, w->line.data, w->line.len);
	return err ? err : output__commit(w->out, row__samples(row));
}

static int folded__close(struct writer *w)
{
	if (!w)
		return 0;
	buf__free(&w->line);
	free(w);
	return 0;
}

const struct writer_ops writer_folded = {
	.name = "folded",
	.suffix = ".folded",
	.help = "one line per stack, `outer;inner count`, for flamegraph.pl and the like",
	.capture = XR_ROW_GC | XR_ROW_PACKAGES,
	.open = folded__open,
	.row = folded__row,
	.close = folded__close,
};
