/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The format of R's own profiler, byte for byte as R 3.4 to 4.6 write it (src/main/eval.c:
 * R_InitProfiling(), doprof(), lineprof()), so that all that reads Rprof.out reads ours.
 *
 *   line profiling: sample.interval=10101     first "GC profiling: ", then "line profiling: "
 *   #File 1: script.R                         before the line of the sample that first uses it
 *   "<GC>" 1#7 "g" 1#12 "f" 1#20              innermost first, a space after each
 *
 * The location before the names is where the innermost function is; the one after a name is
 * where that function was called from.  A sample about which there is nothing to say (no frames,
 * no mark, no location) has no line.  A sample that stands for n ticks is n lines.  What R would
 * not write: the frames `<truncated>` (outermost) and `<other thread>`, and escapes in hostile
 * names (names.h).  Memory profiling, R's third prefix, cannot be had from outside.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/map.h"
#include "layout.h"
#include "profile/names.h"
#include "output/writer.h"

struct writer {
	struct output *out;
	bool lines, gc;
	struct map files; /* (address of the interned name, 0) to its number, as a pointer */
	struct buf line;
};

static int rprof__open(struct writer **out, struct output *output,
		       const struct writer_config *config)
{
	struct writer *w;
	uint32_t interval;
	int err;

	*out = NULL;
	if (!config->freq)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->out = output;
	w->lines = config->capture & XR_ROW_LINES;
	w->gc = config->capture & XR_ROW_GC;
	/* microseconds, rounded as R rounds; R takes no interval of 0 */
	interval = (uint32_t)(1e6 / config->freq + 0.5);
	err = output__printf(output, "%s%ssample.interval=%u", w->gc ? "GC profiling: " : "",
			     w->lines ? "line profiling: " : "", interval ? interval : 1);
	if (!err)
		err = output__end_line(output);
	if (err)
		free(w);
	else
		*out = w;
	return err;
}

/* Number the file, and announce it if it is new. */
static int rprof__file(struct writer *w, const char *file, unsigned int *number)
{
	struct buf line = {0};
	int err;

	*number = (unsigned int)(uintptr_t)map__get(&w->files, (uintptr_t)file, 0);
	if (*number)
		return 0;
	*number = (unsigned int)w->files.count + 1;
	err = map__put(&w->files, (uintptr_t)file, 0, (void *)(uintptr_t)*number);
	if (!err)
		err = buf__printf(&line, "#File %u: ", *number);
	/* its name goes to the end of the line: quotes do no harm */
	if (!err)
		err = name__escape(&line, file, "");
	if (!err)
		err = output__write(w->out, line.data, line.len);
	if (!err)
		err = output__end_line(w->out);
	buf__free(&line);
	return err;
}

static int rprof__location(struct writer *w, const char *file, uint32_t line)
{
	unsigned int number;
	int err;

	if (!w->lines || !file)
		return 0;
	err = rprof__file(w, file, &number);
	/* an int in R */
	return err ? err : buf__printf(&w->line, "%u#%d ", number, (int32_t)line);
}

static int rprof__frame(struct writer *w, const struct frame *frame)
{
	int err = buf__str(&w->line, "\"");

	if (!err)
		err = name__escape(&w->line, frame->name, "\"");
	if (!err)
		err = buf__str(&w->line, "\" ");
	return err ? err : rprof__location(w, frame->file, frame->line);
}

static int rprof__sample(struct writer *w, const struct profile_process *p, const struct sample *s)
{
	int err = 0;

	(void)p;
	if (s->unit != XR_UNIT_TICKS)
		return -ENOTSUP; /* a line is one interval of the header */
	w->line.len = 0;
	if (w->gc && s->flags & XR_F_GC)
		err = buf__str(&w->line, "\"<GC>\" ");
	if (!err)
		err = rprof__location(w, s->file, s->line);
	for (uint32_t i = 0; i < s->nframes && !err; i++)
		err = rprof__frame(w, &s->frames[i]);
	if (!err && s->flags & XR_F_TRUNCATED)
		err = buf__str(&w->line, "\"<truncated>\" ");
	for (uint64_t n = w->line.len ? s->weight : 0; n && !err; n--) {
		err = output__write(w->out, w->line.data, w->line.len);
		if (!err)
			err = output__end_line(w->out);
	}
	return err;
}

static int rprof__close(struct writer *w)
{
	if (!w)
		return 0;
	map__free(&w->files);
	buf__free(&w->line);
	free(w);
	return 0;
}

const struct writer_ops writer_rprof = {
	.name = "rprof",
	.help = "as R's Rprof() writes it, for summaryRprof(), profvis and the like",
	.per_process = true,
	.open = rprof__open,
	.sample = rprof__sample,
	.close = rprof__close,
};
