/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Record what a walk reads of a live R, and the stack that R itself gives for that very moment:
 * tools/record-image, docs/internals/recorded-images.md.  The format is that of recorded.h.
 *
 * R's thread is stopped by ptrace, so that nothing of R's memory changes, and is let go when this
 * program ends, however it ends.  The walk reads its memory; then SIGPROF is delivered to it, and
 * R's own profiler (which must be on) writes its line of just this moment: the handler is run until
 * it returns, and not one instruction of the interrupted code.  R before 4.3 writes its lines to a
 * buffer first, so the handler is run again until two portions have come to the file.  In the end
 * the walk is repeated, and must have read the same bytes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <regex.h>
#include <time.h>
#include <unistd.h>

#include "os/os.h"
#include "os/proc.h"
#include "target/hidden_check.h"
#include "target/target.h"

#include "replay/recorded_walk.h"

#include "image.h"
#include "oracle.h"
#include "tracee.h"

#define PROVE_NS 3000000000ull /* for proving hidden variables */
#define MEET_NS	 60000000000ull

static const char usage[] =
	"usage: tools/record-image PID [OPTION...] FILE\n"
	"Record what a walk reads of R in process PID, with R's own stack of that moment, in FILE\n"
	"(docs/internals/recorded-images.md).\n"
	"  --rprof PATH     R's profiler is on and writes to PATH: Rprof(PATH, interval = 0.9, "
	"...).\n"
	"                   Lines and GC marks are as its header says\n"
	"  --filter         it was started with filter.callframes = TRUE\n"
	"  --calls PATH     instead: R stands still where it wrote PATH, of sys.calls()\n"
	"  --count N        so many moments with different stacks (1)\n"
	"  --want REGEX     only moments whose line matches this extended regular expression\n"
	"  --note TEXT      kept in FILE\n";

struct recorder {
	const char *path;
	bool filter;
	long count;
	bool wanted;
	regex_t want;
	struct target target;
	struct tracee tracee;
	struct oracle oracle;
	struct pass first, second, *now;
	struct recorded_walk walk;
	struct image image;
	uint32_t differ;
	char **lines; /* of the moments in the image */
};

static int fail(const char *what, int err)
{
	fprintf(stderr, "record-image: %s%s%s\n", what, err ? ": " : "", err ? strerror(-err) : "");
	return err ? err : -EINVAL;
}

/* The walk's reader. */
static int live__read(void *arg, char kind, uint64_t addr, void *to, uint32_t len)
{
	struct recorder *r = arg;
	int err = proc__memory(r->tracee.pid, addr, to, len);

	if (pass__add(r->now, kind, addr, to, len, err != 0))
		return -ENOMEM;
	return err;
}

/*
 * With filter.callframes what is left out is recorded, too: the engines that read from outside read
 * it, because they know only at the end which frames R writes.
 */
static int recorder__walk(struct recorder *r, struct pass *p)
{
	struct xr_row all = r->target.row;

	p->nreads = p->nbytes = 0;
	r->now = p;
	r->walk.read = live__read;
	r->walk.arg = r;
	if (all.flags & XR_ROW_FILTER) {
		all.flags &= ~XR_ROW_FILTER;
		recorded_walk__forget(&r->walk);
		recorded_walk__run(&r->walk, &all);
	}
	recorded_walk__forget(&r->walk);
	return recorded_walk__run(&r->walk, &r->target.row);
}

static int recorder__compare(struct recorder *r, int result, const char *stack)
{
	struct buf line = {0};
	int inner = -1;
	const char *at = stack;

	if (!r->oracle.profiler)
		inner = (int)strtol(stack, (char **)(uintptr_t)&at, 10);
	recorded_walk__line(&r->walk, r->oracle.files, RECORDED_FILES_MAX, inner, &line);
	if (!line.data)
		return -ENOMEM;
	if (result != WALK_DONE || strcmp(line.data, at + (inner >= 0 && *at == ' '))) {
		r->differ++;
		fprintf(stderr, "record-image: the walk (%d) and R differ:\n  walk %s\n  R    %s\n",
			result, line.data, at);
	}
	buf__free(&line);
	return 0;
}

/* --- one moment --- */

static bool recorder__new_line(struct recorder *r, const char *stack)
{
	for (uint32_t i = 0; i < r->image.moments; i++)
		if (!strcmp(r->lines[i], stack))
			return false;
	return !r->wanted || !regexec(&r->want, stack, 0, NULL, 0);
}

/* 1: nothing was recorded; try again at another moment. */
static int recorder__moment(struct recorder *r)
{
	int err, result, again = 0;

	err = tracee__stop(&r->tracee);
	if (err) {
		tracee__let_go(&r->tracee);
		return fail("the process cannot be stopped", err);
	}
	result = recorder__walk(r, &r->first);
	err = oracle__ask(&r->oracle, &r->tracee);
	if (!err)
		again = recorder__walk(r, &r->second);
	tracee__let_go(&r->tracee);
	if (err == -EAGAIN)
		return 1;
	if (err)
		return fail("R wrote no stack: is Rprof() on, and is it this file?", err);
	if (again != result || !pass__same(&r->first, &r->second))
		return fail("R's memory changed while its thread stood still", 0);
	if (!recorder__new_line(r, r->oracle.stack))
		return 1;
	r->lines[r->image.moments] = strdup(r->oracle.stack);
	if (!r->lines[r->image.moments])
		return -ENOMEM;
	err = recorder__compare(r, result, r->oracle.stack);
	return err ? err : image__moment(&r->image, &r->oracle, &r->first);
}

/* Are R's hidden variables where they are believed to be?  The process must run for this. */
static void recorder__prove(struct recorder *r)
{
	struct xr_row *row = &r->target.row;
	struct mem_reader memory = proc__reader(r->tracee.pid);
	struct timespec ms = {.tv_nsec = 1000000};
	struct hidden_check check = {0};
	uint64_t end = os__now() + PROVE_NS;

	while (hidden_check__open(&check, row) && os__now() < end) {
		if (hidden_check__look(&check, row, &memory))
			return;
		nanosleep(&ms, NULL);
	}
	if (check.bc == HIDDEN_PROVEN)
		row->flags |= XR_ROW_BC;
	else if (row->flags & XR_ROW_LINES && r->oracle.profiler)
		fprintf(stderr,
			"record-image: R_BCbody and R_BCpc were not proven: innermost lines "
			"will be missing\n");
	/* the flag of a collector that ran all the time proves nothing, and R tells if it is wrong
	 */
	if (check.count == HIDDEN_REFUTED)
		row->gc_count_at = 0;
}

/*
 * What R was asked for is in the header of its file, which R before 4.3 has perhaps not written
 * yet: then a first line makes it.
 */
static int recorder__learn(struct recorder *r, uint32_t *flags)
{
	int err, tries = 0;

	*flags = XR_ROW_LINES;
	if (!r->oracle.profiler)
		return 0;
	*flags = r->filter ? XR_ROW_FILTER : 0;
	if (access(r->oracle.path, R_OK))
		return fail(r->oracle.path, -errno);
	do {
		err = tracee__stop(&r->tracee);
		if (!err)
			err = oracle__ask(&r->oracle, &r->tracee);
		tracee__let_go(&r->tracee);
		usleep(1000);
	} while (err == -EAGAIN && ++tries < 1000);
	if (err)
		return fail("R's profiler writes nothing: is Rprof() on, and is it this file?",
			    err);
	if (strstr(r->oracle.header, "memory profiling: "))
		return fail("Rprof() was started with memory.profiling", 0);
	if (strstr(r->oracle.header, "line profiling: "))
		*flags |= XR_ROW_LINES;
	if (strstr(r->oracle.header, "GC profiling: "))
		*flags |= XR_ROW_GC;
	return 0;
}

static int recorder__open(struct recorder *r, const char *note)
{
	struct errmsg why;
	uint32_t flags;
	int err;

	if (target__find(r->tracee.pid, XR_ROW_LINES | XR_ROW_GC, &r->target, &why)) {
		fprintf(stderr, "record-image: %s\n", why.text);
		return -ENOEXEC;
	}
	err = recorder__learn(r, &flags);
	if (err)
		return err;
	r->target.row.flags = flags;
	r->target.row.serial = 1;
	recorder__prove(r);
	err = image__new(&r->image, r->path, &r->target, note);
	return err ? fail(r->path, err) : 0;
}

static int recorder__run(struct recorder *r)
{
	struct timespec pause = {0};
	uint64_t end = os__now() + MEET_NS;
	int err = 0;

	r->lines = calloc((size_t)r->count, sizeof(*r->lines));
	if (!r->lines)
		return -ENOMEM;
	for (long tries = 0; err >= 0 && r->image.moments < r->count; tries++) {
		if (os__now() > end)
			return fail("no more moments as wanted were met in a minute", 0);
		err = recorder__moment(r);
		pause.tv_nsec = 1000000 + (tries * 7919 + 13) % 9000000;
		nanosleep(&pause, NULL);
	}
	if (err < 0)
		return err;
	image__end(&r->image);
	return 0;
}

static int recorder__options(struct recorder *r, int argc, char **argv, const char **note)
{
	static const struct option options[] = {
		{"rprof", required_argument, NULL, 'r'}, {"calls", required_argument, NULL, 'c'},
		{"filter", no_argument, NULL, 'f'},	 {"count", required_argument, NULL, 'n'},
		{"want", required_argument, NULL, 'w'},	 {"note", required_argument, NULL, 't'},
		{"help", no_argument, NULL, 'h'},	 {NULL, 0, NULL, 0},
	};
	const char *rprof = NULL, *calls = NULL;
	char *end;
	long pid;
	int c;

	r->count = 1;
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'r':
			rprof = optarg;
			break;
		case 'c':
			calls = optarg;
			break;
		case 'f':
			r->filter = true;
			break;
		case 'n':
			r->count = strtol(optarg, &end, 10);
			if (*end || r->count < 1 || r->count > 1000)
				return fail("--count: from 1 to 1000", 0);
			break;
		case 'w':
			if (regcomp(&r->want, optarg, REG_EXTENDED | REG_NOSUB))
				return fail("--want: not a regular expression", 0);
			r->wanted = true;
			break;
		case 't':
			*note = optarg;
			break;
		default:
			fputs(usage, c == 'h' ? stdout : stderr);
			return c == 'h' ? 1 : -EINVAL;
		}
	}
	if (argc - optind != 2 || !rprof == !calls || (calls && r->count > 1)) {
		fputs(usage, stderr);
		return -EINVAL;
	}
	pid = strtol(argv[optind], &end, 10);
	if (*end || pid < 1 || pid > INT_MAX)
		return fail("not a process id", 0);
	r->tracee.pid = (pid_t)pid;
	r->path = argv[optind + 1];
	r->oracle.path = rprof ? rprof : calls;
	r->oracle.profiler = rprof != NULL;
	return 0;
}

static void recorder__free(struct recorder *r)
{
	tracee__let_go(&r->tracee);
	recorded_walk__free(&r->walk);
	image__close(&r->image);
	for (uint32_t i = 0; r->lines && i < r->image.moments; i++)
		free(r->lines[i]);
	free(r->lines);
	free(r->first.reads);
	free(r->first.bytes);
	free(r->second.reads);
	free(r->second.bytes);
	oracle__free(&r->oracle);
	if (r->wanted)
		regfree(&r->want);
}

int main(int argc, char **argv)
{
	static struct recorder r;
	const char *note = NULL;
	bool opened;
	int err = recorder__options(&r, argc, argv, &note);

	if (!err)
		err = recorder__open(&r, note);
	else if (err > 0)
		return 0;
	if (!err)
		err = recorder__run(&r);
	opened = r.image.out != NULL;
	if (image__close(&r.image) && !err)
		err = fail(r.path, -EIO);
	if (opened && err < 0)
		unlink(r.path);
	if (!err)
		fprintf(stderr, "record-image: %s: %u moments of R %s, of which %u differ\n",
			r.path, r.image.moments, r.target.version, r.differ);
	recorder__free(&r);
	return err ? 1 : r.differ != 0;
}
