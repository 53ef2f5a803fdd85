/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The format of R's own profiler, byte for byte as R 3.4 to 4.6 write it (src/main/eval.c:
 * R_InitProfiling(), doprof(), lineprof()), so that all that reads Rprof.out reads ours.
 *
 *   line profiling: sample.interval=10101     "memory profiling: ", then "GC profiling: ", then
 *                                             "line profiling: "
 *   #File 1: script.R                         before the line of the sample that first uses it
 *   "<GC>" 1#7 "g" 1#12 "f" 1#20              innermost first, a space after each
 *
 * With memory profiling, `:small:large:nodes:duplications:` before all that: rprof_memory.h.
 *
 * The location before the names is where the innermost function is; the one after a name is
 * where that function was called from.  A sample about which there is nothing to say (no frames,
 * no mark, no location) has no line.  A sample that stands for n ticks is n lines.  What R would
 * not write: the frames `<truncated>` (outermost) and `<other-thread>`, and escapes in hostile
 * names (escape.h).  A line has a
 * limit (limits.h): what is further out is cut.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/map.h"
#include "layout.h"
#include "output/rprof_memory.h"
#include "output/writer.h"
#include "profile/names.h"

/* A file that was announced.  Those of all processes: their names do not live as long as this. */
struct rprof_file {
	uint64_t hash;
	unsigned int number;
	uint32_t len;
	char name[];
};

struct writer {
	struct output *out;
	bool lines, gc, memory;
	struct rprof_memory counts; /* with `memory` */
	struct budget budget;
	struct table files; /* struct rprof_file */
	struct arena arena; /* of them */
	unsigned int last;  /* the highest number given */
	uint64_t *cut;	    /* NULL: lines that were cut are not counted */
	struct buf heads;   /* lines of files that go before this sample's line */
	struct buf line;
};

static int rprof__open(struct writer **out, struct output *output,
		       const struct writer_config *config)
{
	uint64_t interval = about__interval(&config->about);
	struct writer *w;
	int err;

	*out = NULL;
	if (!interval)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->out = output;
	w->cut = config->cut;
	w->lines = config->capture & XR_ROW_LINES;
	w->gc = config->capture & XR_ROW_GC;
	w->memory = config->capture & XR_ROW_MEMORY;
	w->budget = (struct budget){.whole = config->files, .max = LIMIT_FILES_ONE(LIMIT_MEMORY)};
	w->files.budget = w->arena.budget = &w->budget;
	w->counts = (struct rprof_memory){.out = output, .budget = &w->budget};
	/* microseconds, rounded as R rounds; R takes no interval of 0 */
	interval = (interval + NS_PER_US / 2) / NS_PER_US;
	err = output__printf(output, "%s%s%ssample.interval=%" PRIu64 "\n",
			     w->memory ? "memory profiling: " : "", w->gc ? "GC profiling: " : "",
			     w->lines ? "line profiling: " : "", interval ? interval : 1);
	if (!err)
		err = output__commit(output, 0);
	if (err < 0)
		free(w);
	else
		*out = w;
	return err;
}

/* A file as R names it. */
struct rprof_name {
	const char *text;
	size_t len;
	uint64_t hash;
};

static bool file__same(const void *record, const void *arg)
{
	const struct rprof_file *file = record;
	const struct rprof_name *name = arg;

	return file->len == name->len && !memcmp(file->name, name->text, name->len);
}

static struct rprof_file *rprof__new_file(struct writer *w, const struct rprof_name *name)
{
	struct rprof_file *file = arena__alloc(&w->arena, sizeof(*file) + name->len);

	if (!file)
		return NULL;
	*file = (struct rprof_file){
		.hash = name->hash, .number = w->last + 1, .len = (uint32_t)name->len};
	memcpy(file->name, name->text, name->len);
	return table__add(&w->files, file) ? NULL : file;
}

static void rprof__forget_files(struct writer *w)
{
	table__free(&w->files);
	arena__free(&w->arena);
}

/* Number the file, and announce it if it is new. */
static int rprof__file(struct writer *w, const struct name *named, unsigned int *number)
{
	const size_t len = code_name__r(named->text, named->len);
	const struct rprof_name name = {named->text, len, map__hash_text(named->text, len)};
	struct rprof_file *file = table__find(&w->files, name.hash, file__same, &name);
	int err;

	if (file) {
		*number = file->number;
		return 0;
	}
	file = rprof__new_file(w, &name);
	if (!file) { /* too many to be remembered: a file may have two numbers */
		rprof__forget_files(w);
		file = rprof__new_file(w, &name);
	}
	if (!file)
		return -ENOMEM;
	*number = ++w->last;
	err = buf__printf(&w->heads, "#File %u: ", *number);
	if (err)
		return err;
	/* its name goes to the end of the line: quotes do no harm */
	err = escape__text(&w->heads, named->text, "", LIMIT_NAME);
	if (!err)
		w->heads.len -= named->len - len; /* <text>, of <text>#2 */
	return err < 0 ? err : buf__str(&w->heads, "\n");
}

static int rprof__place(struct writer *w, struct place place)
{
	unsigned int number;
	int err;

	if (!w->lines || !place.file)
		return 0;
	err = rprof__file(w, place.file, &number);
	/* an int in R */
	return err ? err : buf__printf(&w->line, "%u#%d ", number, (int32_t)place.line);
}

static int rprof__frame(struct writer *w, const struct frame *frame)
{
	int err = buf__add(&w->line, "\"", 1);

	if (!err)
		err = frame__name(&w->line, frame, NAME_SAFE);
	return err ? err : buf__add(&w->line, "\" ", 2);
}

/* Is the line too full for @frame and a mark in place of the frames further out? */
static bool rprof__full(const struct writer *w, const struct frame *frame)
{
	return w->line.len + w->heads.len + (w->memory ? RPROF_MEMORY_LEN : 0) +
		       frame__name_size(frame, NAME_SAFE) +
		       strlen("\"<truncated>\" \"\" 1234567890#-1234567890 \n") >
	       LIMIT_LINE;
}

/* The line is made: as often as @s weighs. */
static int rprof__write(struct writer *w, const struct sample *s)
{
	int err = 0;

	if (!w->line.len)
		return 0;
	if (w->memory)
		err = rprof_memory__line(&w->counts, s, &w->heads, &w->line);
	for (uint64_t n = w->memory ? 0 : s->weight, lines; n; n -= lines) {
		lines = output__error(w->out) ? n : 1;
		output__write(w->out, w->heads.data, w->heads.len);
		output__write(w->out, w->line.data, w->line.len);
		err = output__commit(w->out, lines);
		if (!err)
			w->heads.len = 0;
	}
	if (w->heads.len) /* they were dropped with all lines */
		rprof__forget_files(w);
	return err;
}

static int rprof__sample(struct writer *w, const struct profile_process *p, const struct sample *s)
{
	const struct stack *stack = s->stack;
	bool cut = false;
	int err = 0;

	(void)p;
	if (s->type)
		return -ENOTSUP; /* a line is one interval of the header */
	w->line.len = w->heads.len = 0;
	/* R has the place where a function is called from after its name */
	for (uint32_t i = 0; i < stack->nframes && !err; i++) {
		const struct frame *frame = stack->frames[i];

		if (frame->function == mark_gc.function && !w->gc)
			continue;
		if (rprof__full(w, frame)) {
			err = rprof__frame(w, &mark_truncated);
			cut = true;
			break;
		}
		err = rprof__place(w, frame->place);
		if (!err)
			err = rprof__frame(w, frame);
	}
	if (cut && w->cut)
		++*w->cut;
	if (!err && !cut)
		err = rprof__place(w, stack->top);
	if (!err && w->line.len)
		err = buf__add(&w->line, "\n", 1);
	return err ? err : rprof__write(w, s);
}

static int rprof__close(struct writer *w)
{
	int err;

	if (!w)
		return 0;
	err = rprof_memory__close(&w->counts);
	rprof__forget_files(w);
	buf__free(&w->heads);
	buf__free(&w->line);
	free(w);
	return err < 0 ? err : 0;
}

const struct writer_ops writer_rprof = {
	.name = "rprof",
	.suffix = ".out",
	.help = "as R's Rprof() writes it, for summaryRprof(), profvis and the like",
	.per_process = true,
	.memory = true,
	.open = rprof__open,
	.sample = rprof__sample,
	.close = rprof__close,
};
