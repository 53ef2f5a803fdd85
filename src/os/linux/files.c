/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "os/files.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "os/linux/files_process.h"
#include "os/linux/helper.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/rights.h"

#define ANSWER_MS 5000 /* for an answer that cannot be done without */
#define STEP_MS	  100
#define LEAVE_MS  500 /* for the process to end; one that hangs is left alone then */

struct files {
	struct helper helper;
	int error;	    /* the process has gone, or does not understand: all files fail */
	struct file *first; /* all that are not freed */
	uint32_t nids;
	uint64_t news;
	struct files_answer place; /* the last to FILES_DIRECTORY, FILES_MAKE, FILES_IDENTIFY */
	bool placed;
	struct os_identity *written; /* regular files that were opened */
	size_t nwritten, cap;
};

enum files_given files__given(const char *path)
{
	if (!strcmp(path, "-"))
		return FILES_STDOUT;
	return !strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6) ? FILES_ANY : FILES_NONE;
}

int files__start(struct files **out, enum files_given given, struct errmsg *f)
{
	static const unsigned int flags[] = {
		[FILES_NONE] = 0, [FILES_STDOUT] = HELPER_STDOUT, [FILES_ANY] = HELPER_GIVEN};
	const struct helper_job job = {
		.name = "xrprof-files",
		.flags = HELPER_OUTLIVES | HELPER_SESSION | flags[given],
		.rights = RIGHTS_FILES,
		.run = files_process__run,
	};
	struct files *fs = calloc(1, sizeof(*fs));
	int err;

	*out = fs;
	if (!fs)
		return errmsg__set(f, -ENOMEM, "out of memory");
	err = helper__start(&fs->helper, &job, NULL);
	if (!err)
		return 0;
	free(fs);
	*out = NULL;
	return errmsg__set(f, err, "cannot start the process that writes files: %s",
			   strerror(-err));
}

static void files__fail(struct files *fs, int err)
{
	if (fs->error)
		return;
	fs->error = err;
	fs->news++;
	for (struct file *file = fs->first; file; file = file->next) {
		file->opened = true;
		file->closed = file->closed || file->closing;
		file->error = file->error ? file->error : err;
	}
}

/* Send what is at @parts, behind @head; false: not now. */
static bool files__send(struct files *fs, struct files_request *head, struct iovec *parts, size_t n)
{
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = n};

	parts[0] = (struct iovec){head, sizeof(*head)};
	if (fs->error)
		return false;
	if (sendmsg(fs->helper.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return true;
	if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS && errno != ENOMEM)
		files__fail(fs, -EIO);
	return false;
}

static bool files__send_path(struct files *fs, enum files_type type, uint32_t id, const char *path,
			     size_t at)
{
	size_t len = strlen(path) + 1;
	struct files_request head = {
		.type = type, .id = id, .len = (uint32_t)len, .at = (uint32_t)at};
	struct iovec parts[2];

	parts[1] = (struct iovec){(void *)(uintptr_t)path, len};
	return files__send(fs, &head, parts, 2);
}

static struct file *files__find(struct files *fs, uint32_t id)
{
	struct file *file = fs->first;

	while (file && file->id != id)
		file = file->next;
	return file;
}

/* It is called by another name than it was asked for by. */
static void file__number(struct file *file, uint32_t number)
{
	char name[FILES_PATH];
	char *path;

	if (!number || !files__numbered(name, sizeof(name), file->path, file->at, number))
		return;
	path = strdup(name);
	if (!path)
		return;
	free(file->path);
	file->path = path;
	file->number = number;
}

#define WRITTEN_MAX 1024u /* files that are remembered */

/* A file that does not fit is not known later. */
static void files__remember(struct files *fs, const struct os_identity *id)
{

	if (fs->nwritten == WRITTEN_MAX ||
	    array__room(&fs->written, fs->nwritten, &fs->cap, sizeof(*fs->written)))
		return;
	fs->written[fs->nwritten++] = *id;
}

static void file__delete(struct file *file)
{
	struct file **link;

	for (link = &file->files->first; *link != file; link = &(*link)->next)
		;
	*link = file->next;
	free(file->path);
	free(file);
}

static void files__answered(struct files *fs, const struct files_answer *answer)
{
	struct file *file = files__find(fs, answer->id);

	fs->news++;
	if (answer->type == FILES_DIRECTORY || answer->type == FILES_MAKE ||
	    answer->type == FILES_IDENTIFY) {
		fs->place = *answer;
		fs->placed = true;
		return;
	}
	if (!file)
		return;
	if (answer->type == FILES_OPEN) {
		file->regular = answer->identity.regular;
		file__number(file, answer->number);
		if (file->regular)
			files__remember(fs, &answer->identity);
	}
	file->opened = true;
	file->written += answer->written;
	file->closed |= answer->type == FILES_CLOSE;
	if (!file->error)
		file->error = answer->error;
	if (file->abandoned && file->closed)
		file__delete(file);
}

/* What could not be sent when it was asked for. */
static void files__catch_up(struct files *fs)
{
	struct files_request head = {.type = FILES_CLOSE};
	struct iovec parts[1];

	for (struct file *file = fs->first; file; file = file->next) {
		head.id = file->id;
		if (!file->told_open)
			file->told_open =
				files__send_path(fs, FILES_OPEN, file->id, file->path, file->at);
		if (file->told_open && file->closing && !file->told_close)
			file->told_close = files__send(fs, &head, parts, 1);
	}
}

void files__poll(struct files *fs, int timeout_ms)
{
	struct pollfd socket = {.fd = fs->helper.fd, .events = POLLIN};
	struct files_answer answer;
	ssize_t n;

	files__catch_up(fs);
	if (timeout_ms && !fs->error)
		poll(&socket, 1, timeout_ms);
	while (!fs->error) {
		n = helper__receive(fs->helper.fd, &answer, sizeof(answer), NULL, MSG_DONTWAIT);
		if (n == -EAGAIN)
			break;
		if (n == (ssize_t)sizeof(answer))
			files__answered(fs, &answer);
		else
			files__fail(fs, -EIO);
	}
	files__catch_up(fs);
}

uint64_t files__news(const struct files *fs)
{
	return fs->news;
}

int files__error(const struct files *fs)
{
	return fs->error;
}

bool files__waits_for_cpu(const struct files *fs)
{
	struct proc p;

	return !fs->error && !proc__read(fs->helper.pid, &p) && p.state == 'R';
}

/*
 * Ask, and wait for the answer: its error.  Only the time counts in which the process could have
 * answered: not while it waits for a CPU, nor while the whole machine stands still.
 */
static int files__ask(struct files *fs, enum files_type type, const char *path)
{
	uint64_t waited = 0;

	fs->placed = false;
	if (!files__send_path(fs, type, 0, path, 0))
		return fs->error ? fs->error : -ETIMEDOUT;
	while (!fs->placed && !fs->error && waited < ANSWER_MS * NS_PER_MS) {
		uint64_t since = os__now(), passed;

		files__poll(fs, STEP_MS);
		passed = os__now() - since;
		if (!files__waits_for_cpu(fs))
			waited += passed < STEP_MS * NS_PER_MS ? passed : STEP_MS * NS_PER_MS;
	}
	if (fs->error)
		return fs->error;
	return fs->placed ? fs->place.error : -ETIMEDOUT;
}

int files__directory(struct files *fs, const char *path, bool make)
{
	return files__ask(fs, make ? FILES_MAKE : FILES_DIRECTORY, path);
}

int files__identify(struct files *fs, const char *path, struct os_identity *id)
{
	int err = files__ask(fs, FILES_IDENTIFY, path);

	if (!err)
		*id = fs->place.identity;
	return err;
}

bool files__has_written(const struct files *fs, const struct os_identity *id)
{
	for (size_t i = 0; i < fs->nwritten; i++)
		if (os__same_file(&fs->written[i], id))
			return true;
	return false;
}

static int files__add(struct files *fs, struct file **out, const char *path, size_t at)
{
	struct file *file = calloc(1, sizeof(*file));

	*out = file;
	if (!file)
		return -ENOMEM;
	file->files = fs;
	file->at = at;
	file->path = strdup(path);
	if (!file->path) {
		free(file);
		*out = NULL;
		return -ENOMEM;
	}
	/* the lowest that is free; files that are open are few, or are opened seldom */
	while (files__find(fs, file->id))
		file->id++;
	file->error = fs->error;
	file->opened = fs->error != 0;
	file->next = fs->first;
	fs->first = file;
	files__catch_up(fs);
	return 0;
}

int files__open(struct files *fs, struct file **out, const char *path)
{
	return files__add(fs, out, path, 0);
}

int files__open_new(struct files *fs, struct file **out, const char *path, size_t at)
{
	return files__add(fs, out, path, at);
}

size_t file__give(struct file *file, const char *data, size_t len, const size_t *ends, size_t nends)
{
	struct files_request head = {.type = FILES_WRITE, .id = file->id};
	uint32_t piece[FILES_ENDS];
	struct iovec parts[3];
	size_t done = 0;

	files__catch_up(file->files);
	while (done < len && file->told_open && !file->error && !file->closing) {
		size_t n = len - done < FILES_BYTES ? len - done : FILES_BYTES;

		while (nends && *ends <= done) {
			ends++;
			nends--;
		}
		head.nends = 0;
		while (head.nends < nends && head.nends < FILES_ENDS &&
		       ends[head.nends] <= done + n) {
			piece[head.nends] = (uint32_t)(ends[head.nends] - done);
			head.nends++;
		}
		if (head.nends == FILES_ENDS)
			n = piece[FILES_ENDS - 1];
		head.len = (uint32_t)n;
		parts[1] = (struct iovec){piece, head.nends * sizeof(*piece)};
		parts[2] = (struct iovec){(void *)(uintptr_t)(data + done), n};
		if (!files__send(file->files, &head, parts, 3))
			break;
		done += n;
	}
	file->given += done;
	return done;
}

void file__close(struct file *file)
{
	if (file->closing)
		return;
	file->closing = true;
	file->closed = file->files->error != 0;
	files__catch_up(file->files);
}

/* What is not answered yet would be taken for answers about the next file with its id. */
void file__free(struct file *file)
{
	if (!file)
		return;
	if (file->told_open)
		file__close(file);
	file->abandoned = file->told_open && !file->closed;
	if (!file->abandoned)
		file__delete(file);
}

void files__stop(struct files *fs)
{
	uint64_t end = os__now() + LEAVE_MS * NS_PER_MS;
	bool hangs;

	if (!fs)
		return;
	hangs = fs->first;
	while (fs->first)
		file__delete(fs->first);
	close(fs->helper.fd);
	while (!helper__ended(&fs->helper)) {
		/* ends a call that can be interrupted */
		if (hangs)
			kill(fs->helper.pid, SIGUSR1);
		if (os__now() >= end)
			break;
		usleep(1000);
	}
	free(fs->written);
	free(fs);
}
