/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that a process apart writes: whatever becomes of it, and of the other side. */
#define _GNU_SOURCE
#include "os/files.h"

#include <sys/ioctl.h>

#include "child.h"
#include "tap.h"

static struct files *started(void)
{
	struct files *fs;
	struct errmsg f;

	tap__bail_if(files__start(&fs, FILES_NONE, &f), "%s", f.text);
	return fs;
}

static struct file *opened(struct files *fs, const char *path)
{
	struct file *file;

	tap__bail_if(files__open(fs, &file, path), "no memory");
	return file;
}

static int await_open(struct file *file)
{
	while (!file->opened)
		files__poll(file->files, 100);
	return file->error;
}

static int await_close(struct file *file)
{
	file__close(file);
	while (!file->closed)
		files__poll(file->files, 100);
	return file->error;
}

/* Give all of it; @ends of pieces, or NULL: it is one. */
static void give(struct file *file, const char *text, size_t len, const size_t *ends, size_t nends)
{
	size_t done = file__give(file, text, len, ends ? ends : &len, ends ? nends : 1);

	tap__bail_if(done != len, "only %zu of %zu bytes were taken", done, len);
}

static void await_written(struct file *file, uint64_t n)
{
	while (file->written < n && !file->error)
		files__poll(file->files, 100);
}

static long long size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : (long long)st.st_size;
}

/* The only child there is. */
static pid_t child_of_ours(void)
{
	char path[64];
	const char *line;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	line = tap__read(path, NULL);
	return line ? (pid_t)atoi(line) : 0;
}

/* Does it end?  files__stop() waits for half a second, in which it may not get a CPU. */
static bool ends(pid_t child)
{
	waitpid(child, NULL, 0);
	return kill(child, 0) < 0 && errno == ESRCH;
}

BEFORE()
{
	signal(SIGPIPE, SIG_IGN);
}

TEST(written)
{
	static const size_t ends[] = {4, 9};
	struct files *fs = started();
	struct file *file = opened(fs, tap__path("one")), *other;
	uint64_t news = files__news(fs);

	tap__ok(!await_open(file) && file->regular && files__news(fs) > news, "a file is opened");
	give(file, "one\ntwo2\nhalf", 13, ends, 2);
	await_written(file, 13);
	tap__ok(size_of(file->path) == 13, "what is given is written");
	other = opened(fs, tap__path("none/other"));
	tap__ok(await_open(other) == -ENOENT && !file__give(other, "x", 1, NULL, 0),
		"a file that cannot be opened reports it and takes nothing");
	tap__ok(!await_close(file) && size_of(file->path) == 9,
		"a part of a piece is gone when it is closed");
	file__free(other);
	file__free(file);
	tap__ok(files__directory(fs, tap__folder(), false) == 1 &&
			files__directory(fs, tap__path("one"), false) == 0 &&
			files__directory(fs, tap__path("none/other"), true) == -ENOENT &&
			files__directory(fs, tap__path("made"), true) == 1,
		"directories");
	files__stop(fs);
	files__stop(NULL);
}

/* More than the socket holds, and files beside each other. */
TEST(much)
{
	enum { FILES = 20, BYTES = 3000000 };
	struct files *fs = started();
	struct file *file[FILES];
	char *text = malloc(BYTES), name[32];
	bool all = true;
	size_t end;

	tap__bail_if(!text, "no memory");
	memset(text, 'x', BYTES);
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "much%d", i);
		file[i] = opened(fs, tap__path(name));
	}
	for (size_t done = 0; done < BYTES && !file[0]->error; files__poll(fs, 10)) {
		end = BYTES - done;
		done += file__give(file[0], text + done, BYTES - done, &end, 1);
	}
	for (int i = 0; i < FILES; i++) {
		all = !await_close(file[i]) && all;
		all = size_of(file[i]->path) == (i ? 0 : BYTES) && all;
	}
	tap__ok(all, "as much as the socket holds many times, and twenty files");
	files__stop(fs);
	free(text);
}

/* A pipe without a reader, and a pipe whose reader does not read. */
TEST(stuck)
{
	static char big[200000];
	struct files *fs = started();
	pid_t child = child_of_ours();
	struct file *file;
	size_t given = 0, n;

	mkfifo(tap__path("fifo"), 0600);
	file = opened(fs, tap__path("fifo"));
	files__poll(fs, 50);
	tap__ok(!file->opened, "a pipe without a reader is not open yet");
	files__stop(fs);
	tap__ok(ends(child), "who waits to open it is ended");

	tap__bail_if(open(tap__path("fifo"), O_RDWR | O_CLOEXEC) < 0, "no reader");
	fs = started();
	child = child_of_ours();
	file = opened(fs, tap__path("fifo"));
	tap__ok(!await_open(file) && !file->regular, "one that somebody has open is");
	while ((n = file__give(file, big, sizeof(big), NULL, 0)))
		given += n;
	tap__ok(given > 0, "it takes some, %zu bytes, and then does not wait", given);
	file__close(file);
	files__poll(fs, 0);
	tap__ok(!file->closed && !file->error, "nor does closing it");
	files__stop(fs);
	tap__ok(ends(child), "who waits to write is ended");
}

/* Standard output is such a pipe, and another process made it non-blocking. */
TEST(stuck_nonblocking)
{
	static char big[100000];
	int sides[2], out = dup(STDOUT_FILENO), held = 0;
	struct file *file;
	struct files *fs;
	struct errmsg f;
	pid_t child;

	fflush(stdout);
	tap__bail_if(pipe2(sides, O_CLOEXEC | O_NONBLOCK) || dup2(sides[1], STDOUT_FILENO) < 0 ||
			     files__start(&fs, FILES_STDOUT, &f) || dup2(out, STDOUT_FILENO) < 0,
		     "no pipe");
	child = child_of_ours();
	file = opened(fs, "-");
	await_open(file);
	/* the pipe is full in the middle of what is written */
	give(file, big, 100, NULL, 0);
	give(file, big, sizeof(big), NULL, 0);
	while (!ioctl(sides[0], FIONREAD, &held) && held < fcntl(sides[0], F_GETPIPE_SZ) - 4096)
		usleep(1000);
	files__stop(fs);
	tap__ok(ends(child), "who waits to write is ended");
}

TEST(abandoned)
{
	static char big[40000];
	struct files *fs = started();
	struct file *file, *next;
	int reader;

	mkfifo(tap__path("slow"), 0600);
	reader = open(tap__path("slow"), O_RDWR | O_CLOEXEC);
	file = opened(fs, tap__path("slow"));
	await_open(file);
	for (int i = 0; i < 2; i++)
		give(file, big, sizeof(big), NULL, 0);
	file__free(file);
	next = opened(fs, tap__path("next"));
	for (size_t n = 0; n < 2 * sizeof(big);) {
		ssize_t got = read(reader, big, sizeof(big));

		tap__bail_if(got <= 0, "the pipe cannot be read");
		n += (size_t)got;
	}
	while (!next->opened && !next->written)
		files__poll(fs, 100);
	tap__ok(next->opened && !next->error && !next->written && !size_of(next->path),
		"the next file has none of its answers");
	tap__ok(!await_close(next), "and is closed");
	files__stop(fs);
}

/* A part of a piece is written. */
static void writes(int ready, void *arg)
{
	static const size_t ends[] = {4};
	struct file *file = opened(started(), tap__path("killed"));

	await_open(file);
	give(file, "one\nha", 6, ends, 1);
	await_written(file, 6);
	if (size_of(file->path) == 6)
		child__wait(ready);
}

/* Either process is killed. */
TEST(killed)
{
	struct files *fs = started();
	struct file *file = opened(fs, tap__path("killed"));
	pid_t child;

	await_open(file);
	kill(child_of_ours(), SIGKILL);
	while (!file->error)
		files__poll(fs, 100);
	tap__ok(file->error == -EIO, "that the process was killed is an error");
	file__close(file);
	tap__ok(file->closed && !file__give(file, "x", 1, NULL, 0), "and nothing waits for it");
	files__stop(fs);

	child = child__start(writes, NULL);
	tap__bail_if(child < 0, "the child did not write");
	child__end(child);
	for (int i = 0; i < 60000 && size_of(tap__path("killed")) != 4; i++)
		usleep(1000);
	tap__ok(size_of(tap__path("killed")) == 4,
		"when the one that gave it is killed, the file ends where a piece does");
}

/* A descriptor that the program was started with, by its name: a shell's >(...). */
TEST(given)
{
	struct files *fs;
	struct file *file;
	struct errmsg f;
	char name[32], text[8] = "";
	int ours[2], theirs[2];

	tap__bail_if(pipe2(ours, O_CLOEXEC) || pipe(theirs), "no pipe");
	snprintf(name, sizeof(name), "/dev/fd/%d", theirs[1]);
	tap__ok(files__given("-") == FILES_STDOUT && files__given(name) == FILES_ANY &&
			files__given("file") == FILES_NONE,
		"what a path may be");
	tap__bail_if(files__start(&fs, files__given(name), &f), "%s", f.text);
	file = opened(fs, name);
	tap__ok(!await_open(file), "a descriptor that is given is opened by its name");
	give(file, "text", 4, NULL, 0);
	tap__ok(!await_close(file) && read(theirs[0], text, 4) == 4 && !strcmp(text, "text"),
		"and written to");
	snprintf(name, sizeof(name), "/dev/fd/%d", ours[1]);
	file = opened(fs, name);
	tap__ok(await_open(file), "one of the program's own is not there");
	files__stop(fs);
}

TEST(new)
{
	struct files *fs = started();
	struct file *file[3];
	char path[256], name[16] = "new.pb.gz";
	size_t at;

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s", tap__path("new.pb.gz"));
		at = strlen(path) - strlen(".pb.gz");
		tap__bail_if(files__open_new(fs, &file[i], path, at), "no memory");
		memset(path, 'x', sizeof(path)); /* the path changes meanwhile */
		if (i)
			snprintf(name, sizeof(name), "new.%d.pb.gz", i);
		tap__bail_if(await_open(file[i]), "not opened");
		tap__ok(!strcmp(file[i]->path, tap__path(name)) && file[i]->number == (uint32_t)i &&
				!access(tap__path(name), F_OK),
			"the name that is not taken: %s", file[i]->path);
	}
	for (int i = 0; i < 3; i++)
		file__close(file[i]);
	files__stop(fs);
}

/* The path is relative, so that the search is short. */
TEST(taken)
{
	static const char path[] = "full.out";
	struct files *fs;
	struct file *file;
	char name[64];

	if (chdir(tap__folder()))
		tap__bail("no folder");
	fs = started();
	tap__write("one", "", 0);
	for (uint32_t i = 0; i <= FILES_NUMBERS; i++)
		if (!files__numbered(name, sizeof(name), path, 4, i) || link("one", name))
			tap__bail("cannot take %s", name);
	if (files__open_new(fs, &file, path, 4))
		tap__bail("no memory");
	tap__ok(await_open(file) == -OS_NAMES_TAKEN && !file->number, "all names are taken");
	file__free(file);
	files__stop(fs);
}

/* The signals that @pid ignores, one bit each. */
static unsigned long long ignored_by(pid_t pid)
{
	char path[64];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	line = tap__read(path, NULL);
	line = line ? strstr(line, "SigIgn:") : NULL;
	return line ? strtoull(line + strlen("SigIgn:"), NULL, 16) : 0;
}

TEST(job)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};
	struct files *fs = started();
	struct file *file = opened(fs, tap__path("job"));
	unsigned long long mask;

	await_open(file);
	mask = ignored_by(child_of_ours());
	for (size_t i = 0; i < COUNT(signals); i++)
		tap__ok(mask >> (signals[i] - 1) & 1, "signal %d is ignored", signals[i]);
	file__close(file);
	files__stop(fs);
}
