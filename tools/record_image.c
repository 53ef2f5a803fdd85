/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Record what a walk reads of a live R, and the stack that R itself gives for that very moment:
 * tools/record-image, docs/recorded-images.md.  The format is that of recorded.h.
 *
 * R's thread is stopped by ptrace, so that nothing of R's memory changes, and is let go when this
 * program ends, however it ends.  The walk reads its memory; then SIGPROF is delivered to it, and
 * R's own profiler (which must be on) writes its line of just this moment: the handler is run until
 * it returns, and not one instruction of the interrupted code.  R before 4.3 writes its lines to a
 * buffer first, so the handler is run again until two portions have come to the file.  At last the
 * walk is taken once more and must have read the same bytes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <linux/ptrace.h>
#include <time.h>
#include <unistd.h>

#include "os/os.h"
#include "os/proc.h"
#include "target/hidden_check.h"
#include "target/target.h"

#include "replay/recorded.h"
#include "replay/recorded_walk.h"

#define STOP_NS	    5000000000ull /* for a stop, or a system call of the handler */
#define PROVE_NS    3000000000ull /* for proving hidden variables */
#define MEET_NS	    60000000000ull
#define HANDLER_MAX 20000 /* runs of the handler until its line is in the file */
#define SIGNALS_MAX 32
#define FILE_MAX    (256l << 20)

static const char usage[] =
	"usage: tools/record-image PID [OPTION...] FILE\n"
	"Record what a walk reads of R in process PID, with R's own stack of that moment, in FILE\n"
	"(docs/recorded-images.md).\n"
	"  --rprof PATH     R's profiler is on and writes to PATH: Rprof(PATH, interval = 0.9, "
	"...).\n"
	"                   Lines and GC marks are as its header says\n"
	"  --filter         it was started with filter.callframes = TRUE\n"
	"  --calls PATH     instead: R stands still where it wrote PATH, of sys.calls()\n"
	"  --count N        so many moments with different stacks (1)\n"
	"  --want REGEX     only moments whose line matches this extended regular expression\n"
	"  --note TEXT      kept in FILE\n";

struct pass {
	struct recorded_read *reads;
	uint32_t nreads, cap_reads;
	uint8_t *bytes;
	uint32_t nbytes, cap_bytes;
};

struct recorder {
	pid_t pid;
	const char *rprof, *calls, *path;
	bool filter;
	long count;
	bool wanted;
	regex_t want;
	struct target target;
	bool attached;
	int signals[SIGNALS_MAX], nsignals; /* that came for R meanwhile */
	struct pass first, second, *now;
	struct recorded_walk walk;
	const char *files[RECORDED_FILES_MAX];
	char *paths[RECORDED_FILES_MAX]; /* the same, to be freed */
	bool told[RECORDED_FILES_MAX];	 /* it is in the image */
	char *oracle;			 /* what was read last of R's file, */
	const char *stack;		 /* the stack in it, */
	char *header;			 /* and its first line */
	long seen;			 /* bytes of it that were read */
	struct map last; /* (address, length) to a copy of its bytes, as written to the image */
	gzFile out;
	uint32_t moments, differ;
	char **lines; /* of these moments */
};

static int fail(const char *what, int err)
{
	fprintf(stderr, "record-image: %s%s%s\n", what, err ? ": " : "", err ? strerror(-err) : "");
	return err ? err : -EINVAL;
}

/* --- the thread --- */

/* Wait for the next stop of the thread; its status, or a negative errno. */
static int tracee__wait(struct recorder *r)
{
	uint64_t end = os__now() + STOP_NS;
	struct timespec pause = {.tv_nsec = 20000};
	int status;
	pid_t got;

	for (;;) {
		got = waitpid(r->pid, &status, __WALL | WNOHANG);
		if (got < 0)
			return -errno;
		if (got == r->pid)
			return WIFSTOPPED(status) ? status : -ESRCH;
		if (os__now() > end)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
}

/*
 * Go on by @request (with @signal) to the next stop that is not the delivery of another signal than
 * SIGPROF; those are kept until the end.  The status or a negative errno.
 */
static int tracee__go(struct recorder *r, int request, int signal)
{
	int status, sig;

	for (;;) {
		if (ptrace(request, r->pid, NULL, (void *)(uintptr_t)signal))
			return -errno;
		status = tracee__wait(r);
		if (status < 0)
			return status;
		sig = WSTOPSIG(status);
		if (status >> 16 || sig == (SIGTRAP | 0x80) || sig == SIGPROF)
			return status;
		if (r->nsignals == SIGNALS_MAX)
			return -EAGAIN;
		r->signals[r->nsignals++] = sig;
		signal = 0;
	}
}

static int tracee__stop(struct recorder *r)
{
	int status;

	if (ptrace(PTRACE_SEIZE, r->pid, NULL, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD))
		return -errno;
	r->attached = true;
	r->nsignals = 0;
	if (ptrace(PTRACE_INTERRUPT, r->pid, NULL, NULL))
		return -errno;
	status = tracee__wait(r);
	/* a signal that was just being delivered: to be delivered later */
	while (status > 0 && status >> 16 != PTRACE_EVENT_STOP) {
		if (r->nsignals == SIGNALS_MAX)
			return -EAGAIN;
		r->signals[r->nsignals++] = WSTOPSIG(status);
		if (ptrace(PTRACE_CONT, r->pid, NULL, NULL))
			return -errno;
		status = tracee__wait(r);
	}
	return status < 0 ? status : 0;
}

static void tracee__let_go(struct recorder *r)
{
	if (!r->attached)
		return;
	ptrace(PTRACE_DETACH, r->pid, NULL, NULL);
	for (int i = 0; i < r->nsignals; i++)
		syscall(SYS_tgkill, r->pid, r->pid, r->signals[i]);
	r->attached = false;
}

/* The signals that /proc/PID/status shows under @name ("SigBlk"). */
static unsigned long long tracee__signals(const struct recorder *r, const char *name)
{
	FILE *status = proc__fopen(r->pid, "status");
	size_t len = strlen(name);
	unsigned long long mask = 0;
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, name, len) && line[len] == ':')
			mask = strtoull(line + len + 1, NULL, 16);
	if (status)
		fclose(status);
	return mask;
}

/*
 * Is there a handler for SIGPROF, without which it would end the process, and would it be run now?
 * -EAGAIN: not now; -ENODATA: there is none.
 */
static int tracee__check(const struct recorder *r)
{
	unsigned long long bit = 1ull << (SIGPROF - 1);

	if (!(tracee__signals(r, "SigCgt") & bit))
		return -ENODATA;
	return tracee__signals(r, "SigBlk") & bit ? -EAGAIN : 0;
}

/* Run the handler of SIGPROF once, from its first instruction to its return. */
static int tracee__handler(struct recorder *r)
{
	struct ptrace_syscall_info info;
	bool returning = false;
	int status;

	if (syscall(SYS_tgkill, r->pid, r->pid, SIGPROF))
		return -errno;
	status = tracee__go(r, PTRACE_CONT, 0);
	if (status < 0)
		return status;
	if (status >> 16 || WSTOPSIG(status) != SIGPROF)
		return -EPROTO;
	status = tracee__go(r, PTRACE_SYSCALL, SIGPROF);
	while (status > 0) {
		if (status >> 16 || WSTOPSIG(status) != (SIGTRAP | 0x80))
			return -EPROTO; /* another SIGPROF: not of ours */
		if (returning)
			return 0;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, r->pid, (void *)sizeof(info), &info) < 0)
			return -errno;
		returning =
			info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_rt_sigreturn;
		status = tracee__go(r, PTRACE_SYSCALL, 0);
	}
	return status;
}

/* --- the walk --- */

static int pass__add(struct pass *p, char kind, uint64_t addr, const void *bytes, uint32_t len,
		     bool failed)
{
	if (recorded__grow((void **)&p->reads, &p->cap_reads, p->nreads, 1, sizeof(*p->reads)) ||
	    recorded__grow((void **)&p->bytes, &p->cap_bytes, p->nbytes, len, 1))
		return -ENOMEM;
	p->reads[p->nreads++] = (struct recorded_read){
		.addr = addr, .len = len, .at = p->nbytes, .kind = kind, .failed = failed};
	if (!failed) {
		memcpy(p->bytes + p->nbytes, bytes, len);
		p->nbytes += len;
	}
	return 0;
}

/* The walk's reader. */
static int live__read(void *arg, char kind, uint64_t addr, void *to, uint32_t len)
{
	struct recorder *r = arg;
	int err = proc__memory(r->pid, addr, to, len);

	if (pass__add(r->now, kind, addr, to, len, err != 0))
		return -ENOMEM;
	return err;
}

/*
 * With filter.callframes what is left out is recorded, too: the engines that read from outside read
 * it, because which frames are told they know only at the end.
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

/*
 * Did both passes read the same?  R's handler looks at attributes, and getAttrib() marks what it
 * gives out as not to be modified: the reference count in an object's header (bits 32 to 47).
 */
static bool pass__same(const struct pass *a, const struct pass *b)
{
	if (a->nreads != b->nreads)
		return false;
	for (uint32_t i = 0; i < a->nreads; i++) {
		const struct recorded_read *x = &a->reads[i], *y = &b->reads[i];
		uint32_t skip = x->kind == 'o' && x->len == R_CELL_BYTES ? 6 : 0;

		if (x->addr != y->addr || x->len != y->len || x->failed != y->failed)
			return false;
		if (x->failed)
			continue;
		if (memcmp(a->bytes + x->at, b->bytes + y->at, skip ? 4 : 0) ||
		    memcmp(a->bytes + x->at + skip, b->bytes + y->at + skip, x->len - skip))
			return false;
	}
	return true;
}

/* --- what R says --- */

static long file__size(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : (long)st.st_size;
}

/* The file from byte @from on, terminated, to be freed; NULL: not to be had. */
static char *file__text(const char *path, long from)
{
	long size = file__size(path) - from;
	FILE *file = size >= 0 && size <= FILE_MAX ? fopen(path, "rb") : NULL;
	char *text = file ? malloc((size_t)size + 1) : NULL;

	if (text && fseek(file, from, SEEK_SET)) {
		free(text);
		text = NULL;
	}
	if (text)
		text[fread(text, 1, (size_t)size, file)] = '\0';
	if (file)
		fclose(file);
	return text;
}

/* A line that announces a file: remember its path. */
static int oracle__file(struct recorder *r, const char *line)
{
	char *path;
	unsigned long number = strtoul(line, &path, 10);

	if (number >= RECORDED_FILES_MAX || strncmp(path, ": ", 2) || r->files[number])
		return 0;
	r->files[number] = r->paths[number] = strdup(path + 2);
	return r->files[number] ? 0 : -ENOMEM;
}

/*
 * Read what is new in R's file: the header, files, and the last whole line, which is the stack.
 * -ENODATA: there is no stack.
 */
static int oracle__read(struct recorder *r, const char *path)
{
	char *at, *end;
	int err = 0;

	free(r->oracle);
	r->stack = NULL;
	r->oracle = file__text(path, r->seen);
	if (!r->oracle)
		return -ENODATA;
	for (at = r->oracle; !err && (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		if (!strncmp(at, "#File ", 6))
			err = oracle__file(r, at + 6);
		else if (r->rprof && !r->header)
			r->header = strdup(at);
		else
			r->stack = at;
	}
	r->seen += at - r->oracle;
	if (r->rprof && !r->header)
		return -ENODATA;
	return err ? err : r->stack ? 0 : -ENODATA;
}

/* Have R's profiler write its line of this moment. */
static int oracle__run(struct recorder *r)
{
	long size = file__size(r->rprof), now;
	int grew = 0, err;

	err = tracee__check(r);
	if (err)
		return err;
	for (int i = 0; i < HANDLER_MAX && grew < 2; i++) {
		err = tracee__handler(r);
		if (err)
			return err;
		now = file__size(r->rprof);
		grew += now != size;
		size = now;
	}
	if (grew < 2)
		return -ENODATA;
	return oracle__read(r, r->rprof);
}

/* --- the image --- */

static void image__fields(gzFile out, const char *what, const struct recorded_field *fields,
			  size_t count, const void *from, bool hex)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = 0;

		memcpy(&value, (const char *)from + fields[i].at, fields[i].size);
		if (value && hex)
			gzprintf(out, "%s %s %llx\n", what, fields[i].name,
				 (unsigned long long)value);
		else if (value)
			gzprintf(out, "%s %s %llu\n", what, fields[i].name,
				 (unsigned long long)value);
	}
}

static void image__head(struct recorder *r, const char *note)
{
	const struct xr_row *row = &r->target.row;
	struct utsname machine;

	uname(&machine);
	gzprintf(r->out, "xrprof-image 1\nr %s\nmachine %s\n", r->target.version, machine.machine);
	gzprintf(r->out, "note %s\n",
		 r->target.load == TARGET_LIBR ? "R in libR.so" : "R in its program");
	if (r->target.how_lines)
		gzprintf(r->out, "note R_BCbody, R_BCpc by %s\n", r->target.how_lines);
	if (note)
		gzprintf(r->out, "note %s\n", note);
	image__fields(r->out, "row", recorded_row, RECORDED_COUNT(recorded_row), row, true);
	image__fields(r->out, "layout", recorded_layout, RECORDED_COUNT(recorded_layout),
		      &row->layout, false);
	gzprintf(r->out, "flags");
	for (size_t i = 0; i < RECORDED_COUNT(recorded_flags); i++)
		if (row->flags & recorded_flags[i].flag)
			gzprintf(r->out, " %s", recorded_flags[i].name);
	gzprintf(r->out, "\n");
}

static int image__read(struct recorder *r, const struct recorded_read *read)
{
	const uint8_t *bytes = r->first.bytes + read->at;
	uint8_t *copy = map__get(&r->last, read->addr, read->len);

	if (read->failed || (copy && !memcmp(copy, bytes, read->len))) {
		gzprintf(r->out, "%s %c %llx %u\n", read->failed ? "fail" : "same", read->kind,
			 (unsigned long long)read->addr, read->len);
		return 0;
	}
	gzprintf(r->out, "read %c %llx ", read->kind, (unsigned long long)read->addr);
	for (uint32_t i = 0; i < read->len; i++)
		gzprintf(r->out, "%02x", bytes[i]);
	gzputs(r->out, "\n");
	if (!copy) {
		copy = malloc(read->len);
		if (!copy || map__put(&r->last, read->addr, read->len, copy))
			return -ENOMEM;
	}
	memcpy(copy, bytes, read->len);
	return 0;
}

static int image__moment(struct recorder *r, const char *stack)
{
	int err = 0;

	for (uint32_t i = 0; i < RECORDED_FILES_MAX; i++)
		if (r->files[i] && !r->told[i]) {
			gzprintf(r->out, "file %u %s\n", i, r->files[i]);
			r->told[i] = true;
		}
	gzputs(r->out, r->calls ? "moment\ncalls " : "moment\nline ");
	gzputs(r->out, stack);
	gzputs(r->out, "\n");
	for (uint32_t i = 0; i < r->first.nreads && !err; i++)
		err = image__read(r, &r->first.reads[i]);
	r->moments++;
	return err;
}

static int recorder__compare(struct recorder *r, int result, const char *stack)
{
	struct buf line = {0};
	int inner = -1;
	const char *at = stack;

	if (r->calls)
		inner = (int)strtol(stack, (char **)(uintptr_t)&at, 10);
	recorded_walk__line(&r->walk, r->files, RECORDED_FILES_MAX, inner, &line);
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
	for (uint32_t i = 0; i < r->moments; i++)
		if (!strcmp(r->lines[i], stack))
			return false;
	return !r->wanted || !regexec(&r->want, stack, 0, NULL, 0);
}

/* 1: nothing was recorded; try again at another moment. */
static int recorder__moment(struct recorder *r)
{
	int err, result, again = 0;

	err = tracee__stop(r);
	if (err) {
		tracee__let_go(r);
		return fail("the process cannot be stopped", err);
	}
	result = recorder__walk(r, &r->first);
	err = r->rprof ? oracle__run(r) : oracle__read(r, r->calls);
	if (!err)
		again = recorder__walk(r, &r->second);
	tracee__let_go(r);
	if (err == -EAGAIN)
		return 1;
	if (err)
		return fail("R wrote no stack: is Rprof() on, and is it this file?", err);
	if (again != result || !pass__same(&r->first, &r->second))
		return fail("R's memory changed while its thread stood still", 0);
	if (!recorder__new_line(r, r->stack))
		return 1;
	r->lines[r->moments] = strdup(r->stack);
	if (!r->lines[r->moments])
		return -ENOMEM;
	err = recorder__compare(r, result, r->stack);
	return err ? err : image__moment(r, r->stack);
}

/* Are R's hidden variables where they are believed to be?  The process must run for this. */
static void recorder__prove(struct recorder *r)
{
	struct xr_row *row = &r->target.row;
	struct mem_reader memory = proc__reader(r->pid);
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
	else if (row->flags & XR_ROW_LINES && r->rprof)
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
	if (r->calls)
		return 0;
	*flags = r->filter ? XR_ROW_FILTER : 0;
	if (file__size(r->rprof) < 0)
		return fail(r->rprof, -ENOENT);
	do {
		err = tracee__stop(r);
		if (!err)
			err = oracle__run(r);
		tracee__let_go(r);
		usleep(1000);
	} while (err == -EAGAIN && ++tries < 1000);
	if (err)
		return fail("R's profiler writes nothing: is Rprof() on, and is it this file?",
			    err);
	if (strstr(r->header, "memory profiling: "))
		return fail("Rprof() was started with memory.profiling", 0);
	if (strstr(r->header, "line profiling: "))
		*flags |= XR_ROW_LINES;
	if (strstr(r->header, "GC profiling: "))
		*flags |= XR_ROW_GC;
	return 0;
}

static int recorder__open(struct recorder *r, const char *note)
{
	struct errmsg why;
	uint32_t flags;
	int err;

	if (target__find(r->pid, XR_ROW_LINES | XR_ROW_GC, &r->target, &why)) {
		fprintf(stderr, "record-image: %s\n", why.text);
		return -ENOEXEC;
	}
	err = recorder__learn(r, &flags);
	if (err)
		return err;
	r->target.row.flags = flags;
	r->target.row.serial = 1;
	recorder__prove(r);
	r->out = gzopen(r->path, "wb9");
	if (!r->out)
		return fail(r->path, -errno);
	image__head(r, note);
	return 0;
}

static int recorder__run(struct recorder *r)
{
	struct timespec pause = {0};
	uint64_t end = os__now() + MEET_NS;
	int err = 0;

	r->lines = calloc((size_t)r->count, sizeof(*r->lines));
	if (!r->lines)
		return -ENOMEM;
	for (long tries = 0; err >= 0 && r->moments < r->count; tries++) {
		if (os__now() > end)
			return fail("no more moments as wanted were met in a minute", 0);
		err = recorder__moment(r);
		pause.tv_nsec = 1000000 + (tries * 7919 + 13) % 9000000;
		nanosleep(&pause, NULL);
	}
	if (err < 0)
		return err;
	gzprintf(r->out, "end %u\n", r->moments);
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
	char *end;
	long pid;
	int c;

	r->count = 1;
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'r':
			r->rprof = optarg;
			break;
		case 'c':
			r->calls = optarg;
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
	if (argc - optind != 2 || !r->rprof == !r->calls || (r->calls && r->count > 1)) {
		fputs(usage, stderr);
		return -EINVAL;
	}
	pid = strtol(argv[optind], &end, 10);
	if (*end || pid < 1 || pid > INT_MAX)
		return fail("not a process id", 0);
	r->pid = (pid_t)pid;
	r->path = argv[optind + 1];
	return 0;
}

static void recorder__free(struct recorder *r)
{
	tracee__let_go(r);
	recorded_walk__free(&r->walk);
	for (size_t i = 0; i < r->last.cap; i++)
		free(r->last.entries[i].value);
	map__free(&r->last);
	for (uint32_t i = 0; r->lines && i < r->moments; i++)
		free(r->lines[i]);
	free(r->lines);
	free(r->first.reads);
	free(r->first.bytes);
	free(r->second.reads);
	free(r->second.bytes);
	free(r->oracle);
	free(r->header);
	for (uint32_t i = 0; i < RECORDED_FILES_MAX; i++)
		free(r->paths[i]);
	if (r->wanted)
		regfree(&r->want);
}

int main(int argc, char **argv)
{
	static struct recorder r;
	const char *note = NULL;
	int err = recorder__options(&r, argc, argv, &note);

	if (!err)
		err = recorder__open(&r, note);
	else if (err > 0)
		return 0;
	if (!err)
		err = recorder__run(&r);
	if (r.out && gzclose(r.out) != Z_OK && !err)
		err = fail(r.path, -EIO);
	if (r.out && err < 0)
		unlink(r.path);
	if (!err)
		fprintf(stderr, "record-image: %s: %u moments of R %s, of which %u differ\n",
			r.path, r.moments, r.target.version, r.differ);
	recorder__free(&r);
	return err ? 1 : r.differ != 0;
}
