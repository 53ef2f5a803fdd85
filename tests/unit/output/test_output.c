/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The output: whole pieces only, whatever becomes of the other side. */
#include <sys/resource.h>

#include "output/output.h"
#include "clock.h"
#include "tap.h"

static const char *path;
static struct files *files;
static struct files
	*volatile of_parent; /* in a child: stays reachable, so that no leak is reported */

static int open_at(struct output **o, const char *where, struct errmsg *f)
{
	return output__open(
		o, &(struct output_config){.files = files, .path = where, .wait_ms = 60000}, f);
}

/* A process that writes, of one's own: with what holds for this one from here on. */
static void start_files(void)
{
	struct errmsg f;

	of_parent = files;
	tap__bail_if(files__start(&files, true, &f), "%s", f.text);
}

/* Hand on all that was committed, and wait until it was written. */
static int flush(struct output *o)
{
	while (!output__flush(o) && output__waiting(o))
		files__poll(files, 100);
	return output__error(o);
}

static int finish(struct output *o)
{
	int err = output__finish(o), other = output__close(o, NULL);

	return err ? err : other;
}

static bool holds_bytes(const void *want, size_t size)
{
	size_t len;
	const char *text = tap__read(path, &len);

	return text && len == size && !memcmp(text, want, size);
}

static bool holds(const char *want)
{
	return holds_bytes(want, strlen(want));
}

static struct output *open_path(void)
{
	struct output *o;
	struct errmsg f;

	tap__bail_if(open_at(&o, path, &f), "%s", f.text);
	return o;
}

static int end_line(struct output *o)
{
	int err = output__write(o, "\n", 1);

	return err ? err : output__commit(o, 1);
}

BEFORE()
{
	path = tap__path("profile");
	start_files();
	clock__run(CLOCK_SLOW); /* no output gives up on it, or on its reader */
}

AFTER()
{
	files__stop(files);
}

TEST(lines)
{
	struct output *o = open_path();
	struct stat st;

	tap__ok(holds(""), "a new file is empty");
	output__write(o, "one", 3);
	output__printf(o, " %d", 1);
	flush(o);
	tap__ok(holds(""), "half a line stays back, flushed or not");
	end_line(o);
	tap__ok(holds(""), "a line waits for the flush");
	output__write(o, "two", 3);
	tap__ok(!flush(o) && holds("one 1\n"), "the whole line went out, not the half one");
	end_line(o);
	output__write(o, "half", 4);
	tap__ok(!finish(o) && holds("one 1\ntwo\n"), "close writes the rest, whole lines only");

	o = open_path();
	tap__ok(holds(""), "an old file is truncated");
	for (int i = 0; i < 100000; i++) {
		output__printf(o, "line %d", i);
		end_line(o);
	}
	while (output__waiting(o) > 100000)
		files__poll(files, 100);
	tap__ok(!output__error(o) && !stat(path, &st) && st.st_size > 500000,
		"much is not kept back: %lld bytes are out unasked", (long long)st.st_size);
	finish(o);
	tap__ok(!output__close(NULL, NULL), "closing nothing");
}

TEST(open)
{
	struct output *o;
	struct errmsg f;
	char bad[160];

	snprintf(bad, sizeof(bad), "%s/none/file", tap__folder());
	tap__ok(open_at(&o, bad, &f) == -ENOENT && !o && strstr(f.text, bad),
		"no such directory: %s", f.text);
	tap__ok(open_at(&o, tap__folder(), &f) == -EISDIR && strstr(f.text, tap__folder()),
		"a directory: %s", f.text);
}

#define LINE "0123456789abcdef\n"

/* Run @work in a child, with standard output to @fd, unless that is -1. */
static pid_t start_child(int fd, int (*work)(const char *where, int arg), const char *where,
			 int arg)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child)
		_exit(fd >= 0 && dup2(fd, STDOUT_FILENO) < 0 ? 1 : work(where, arg));
	if (fd >= 0)
		close(fd);
	return child;
}

/* The number of the first check of its work that failed, 0: none. */
static int end_child(pid_t child)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Write ten lines of 17 bytes, @lines in a piece, where no file may be longer than 100 bytes, which
 * cuts a write short as a full disk does.
 */
static int write_ten(const char *where, int lines)
{
	struct rlimit limit;
	struct output *o;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 100;
	if (setrlimit(RLIMIT_FSIZE, &limit))
		return 1;
	start_files();
	if (open_at(&o, where, NULL))
		return 1;
	for (int i = 0; i < 10; i++) {
		output__write(o, LINE, strlen(LINE));
		if ((i + 1) % lines == 0)
			output__commit(o, 1);
	}
	if (flush(o) != -EFBIG)
		return 2;
	/* from now on it takes nothing */
	if (output__write(o, "x", 1) != -EFBIG || output__printf(o, "x") != -EFBIG ||
	    output__commit(o, 1) != -EFBIG || flush(o) != -EFBIG)
		return 3;
	return finish(o) == -EFBIG ? 0 : 4;
}

TEST(cut_short)
{
	static const char five[] = LINE LINE LINE LINE LINE;
	const struct {
		int lines;
		const char *want;
	} rows[] = {{1, five}, {5, five}, {10, ""}};
	char appended[256];
	int failed, fd;

	for (size_t i = 0; i < COUNT(rows); i++) {
		failed = end_child(start_child(-1, write_ten, path, rows[i].lines));
		tap__ok(!failed && holds(rows[i].want),
			"a write past the limit fails, and all after it (%d): the file ends after "
			"its last whole piece of %d lines",
			failed, rows[i].lines);
	}

	/* the same when stdout is a file that is appended to */
	fd = open(path, O_WRONLY | O_TRUNC | O_APPEND | O_CLOEXEC);
	tap__bail_if(fd < 0 || write(fd, "before\n", 7) != 7, "cannot write %s", path);
	failed = end_child(start_child(fd, write_ten, "-", 1));
	snprintf(appended, sizeof(appended), "before\n%s", five);
	tap__ok(!failed && holds(appended),
		"appending past the limit fails (%d): the file keeps what was there", failed);
}

/* Pieces that are committed before the file is open: it has as many as fit, the others count. */
TEST(max)
{
	static const struct {
		uint64_t max;
		const char *want;
		uint64_t unwritten;
	} rows[] = {{29, "line 0\nline 1\nline 2\nline 3\n", 2},
		    {6, "", 6},
		    {100, "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\n", 0}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct output_config config = {
			.files = files, .path = path, .max = rows[i].max};
		uint64_t unwritten = 0;
		struct output *o;
		struct errmsg f;

		tap__bail_if(output__open(&o, &config, &f), "%s", f.text);
		tap__ok(!output__regular(o), "max: the file is not open yet");
		for (int n = 0; n < 6; n++) {
			output__printf(o, "line %d\n", n);
			if (n == 5)
				output__flush(o); /* what is not committed stays */
			output__commit(o, 1);
		}
		tap__ok(!output__finish(o) && !output__close(o, &unwritten) &&
				unwritten == rows[i].unwritten && holds(rows[i].want),
			"max: of %llu bytes, %llu lines are not written",
			(unsigned long long)rows[i].max, (unsigned long long)rows[i].unwritten);
	}
}

/* Pieces that are not lines: any bytes, and cuts only between pieces. */
TEST(bytes)
{
	static const char piece[] = "\x1f\x8b\0\n\n\0binary";
	struct output *o = open_path();

	output__commit(o, 1);
	output__write(o, piece, sizeof(piece) - 1);
	flush(o);
	tap__ok(holds(""), "a line break does not commit");
	tap__ok(!output__commit(o, 1) && !output__commit(o, 1) && !output__write(o, "rest\n", 5) &&
			!finish(o) && holds_bytes(piece, sizeof(piece) - 1),
		"committed bytes survive the close, and no others");
}

#define BIG 300000

/* A line of @size bytes: the error that flush and finish agree on; finish alone has it BIG. */
static int write_line(const char *where, int size)
{
	static char line[BIG];
	struct output *o;
	int err;

	memset(line, 'x', sizeof(line));
	start_files();
	if (open_at(&o, where, NULL) || output__write(o, line, (size_t)size) || end_line(o))
		return 255;
	err = size < BIG ? flush(o) : 0;
	return finish(o) == err ? -err : 255;
}

TEST(pipe)
{
	static char part[4096];
	int ends[2], failed;
	size_t got = 0;
	ssize_t n;
	pid_t child;

	signal(SIGPIPE, SIG_IGN);
	/* a slow reader of a non-blocking pipe gets all of it */
	tap__bail_if(pipe(ends) || fcntl(ends[1], F_SETFL, O_NONBLOCK), "pipe");
	child = start_child(ends[1], write_line, "-", BIG);
	while ((n = read(ends[0], part, sizeof(part))) > 0)
		got += (size_t)n;
	failed = end_child(child);
	tap__ok(got == BIG + 1 && !failed, "a non-blocking pipe gets all, %zu bytes", got);

	tap__bail_if(pipe(ends), "pipe");
	close(ends[0]);
	failed = end_child(start_child(ends[1], write_line, "-", 4));
	tap__ok(failed == EPIPE, "a reader that went away is -EPIPE (%d)", failed);
}

TEST(memory)
{
	static struct buf to;
	struct output *o;

	buf__str(&to, "was there;");
	tap__bail_if(output__memory(&o, &to, 12), "no memory");
	tap__ok(!output__write(o, "one ", 4) && !output__printf(o, "%s", "two") &&
			!output__commit(o, 1) && output__room(o, 5) && !output__room(o, 6) &&
			!output__regular(o) && !output__flush(o) && !output__waiting(o),
		"memory takes what a file takes");
	tap__ok(!output__write(o, "lost", 4) && !output__finish(o) && output__done(o) &&
			!output__close(o, NULL) && to.len == 17 &&
			!memcmp(to.data, "was there;one two", 17),
		"it is appended; what was not committed is gone");
	to.len = 0;
	tap__bail_if(output__memory(&o, &to, 4), "no memory");
	tap__ok(!output__write(o, "1234", 4) && !output__commit(o, 1) &&
			output__write(o, "5", 1) == -EMSGSIZE &&
			output__commit(o, 1) == -EMSGSIZE && output__error(o) == -EMSGSIZE &&
			output__close(o, NULL) == -EMSGSIZE && to.len == 4,
		"no more than was allowed");
	to.len = 0;
	tap__bail_if(output__memory(&o, &to, 4), "no memory");
	tap__ok(output__printf(o, "%d", 12345) == -EMSGSIZE && output__flush(o) == -EMSGSIZE &&
			output__close(o, NULL) == -EMSGSIZE && !to.len,
		"nor by printf");
}
