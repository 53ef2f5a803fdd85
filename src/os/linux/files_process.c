/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The helper that opens and writes files.  It may hang in any call.  It has only those files open,
 * so a reader of other files does not wait for it.
 */
#define _GNU_SOURCE
#include "os/linux/files_process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/array.h"
#include "os/os.h"

struct written_file {
	int fd; /* -1: not open */
	int error;
	bool regular;
	uint64_t size;	/* bytes written */
	uint64_t whole; /* of those, up to the end of the last piece */
};

struct process {
	int socket;
	struct written_file *files; /* by id */
	size_t nfiles;
	struct {
		struct files_request head;
		char bytes[FILES_ENDS * sizeof(uint32_t) + FILES_BYTES];
	} request;
};

/*
 * The program has ended, or abandons us: calls that wait end with EINTR, and so do those that begin
 * to wait just now.
 */
static void interrupt(int signal)
{
	const struct itimerval again = {.it_interval = {0, 10000}, .it_value = {0, 10000}};
	int err = errno;

	if (signal != SIGALRM)
		setitimer(ITIMER_REAL, &again, NULL);
	errno = err;
}

static bool given_up(const struct process *p)
{
	struct pollfd socket = {.fd = p->socket};

	return poll(&socket, 1, 0) > 0;
}

/*
 * Take what came after @whole bytes back out of a regular file.  Only if it is still at the file's
 * end: standard output may be shared.
 */
static void file__trim(struct written_file *file, uint64_t whole)
{
	off_t tail = (off_t)(file->size - whole), end;
	struct stat st;

	if (file->fd < 0 || !file->regular || !tail)
		return;
	end = lseek(file->fd, 0, SEEK_CUR);
	if (end < tail || fstat(file->fd, &st) || st.st_size != end)
		return;
	if (!ftruncate(file->fd, end - tail))
		lseek(file->fd, end - tail, SEEK_SET);
	file->size = whole;
}

__attribute__((noreturn)) static void process__end(struct process *p)
{
	for (uint32_t i = 0; i < p->nfiles; i++)
		file__trim(&p->files[i], p->files[i].whole);
	_exit(0);
}

/* The file of @id, NULL: no memory. */
static struct written_file *process__file(struct process *p, uint32_t id)
{
	size_t before = p->nfiles;

	if (array__room(&p->files, id, &p->nfiles, sizeof(*p->files)))
		return NULL;
	for (; before < p->nfiles; before++)
		p->files[before] = (struct written_file){.fd = -1};
	return &p->files[id];
}

/* The first name that is not taken; @number: the number in it. */
static int process__create(const char *path, size_t at, uint32_t *number)
{
	char name[FILES_PATH];
	int fd = -EEXIST;

	if (!at)
		return os__create(path);
	for (*number = 0; fd == -EEXIST && *number <= FILES_NUMBERS; ++*number) {
		if (!files__numbered(name, sizeof(name), path, at, *number))
			return -ENAMETOOLONG;
		fd = os__create_new(name);
	}
	*number = fd < 0 ? 0 : *number - 1;
	return fd == -EEXIST ? -OS_NAMES_TAKEN : fd;
}

static void process__open(struct process *p, const char *path, struct files_answer *answer)
{
	struct written_file *file = process__file(p, answer->id);
	struct stat st = {0};
	int fd;

	answer->error = -ENOMEM;
	if (!file)
		return;
	do {
		fd = strcmp(path, "-") ? process__create(path, p->request.head.at, &answer->number)
				       : os__standard_output();
	} while (fd == -EINTR && !given_up(p));
	*file = (struct written_file){.fd = fd < 0 ? -1 : fd};
	answer->error = fd < 0 ? fd : fstat(fd, &st) ? -errno : 0;
	file->error = answer->error;
	file->regular = !answer->error && S_ISREG(st.st_mode);
	answer->identity = (struct os_identity){st.st_dev, st.st_ino, 0, file->regular};
}

/* Write @len bytes: how many went; *@error. */
static uint32_t process__bytes(struct process *p, const struct written_file *file, const char *data,
			       uint32_t len, int *error)
{
	uint32_t done = 0;

	while (done < len) {
		int n = os__write(file->fd, data + done, len - done);

		if (n == -EAGAIN) /* another process made the pipe or terminal non-blocking */
			os__wait_writable(file->fd);
		if (n > 0) {
			done += (uint32_t)n;
		} else if (n != -EINTR && n != -EAGAIN) {
			*error = n ? n : -EIO;
			break;
		} else if (given_up(p)) {
			process__end(p);
		}
	}
	return done;
}

static void process__write(struct process *p, struct files_answer *answer)
{
	struct written_file *file = process__file(p, answer->id);
	const uint32_t *ends = (const uint32_t *)p->request.bytes;
	uint32_t n = p->request.head.nends, done;
	uint64_t whole;

	answer->error = !file ? -ENOMEM : file->error;
	if (answer->error)
		return;
	done = process__bytes(p, file, p->request.bytes + n * sizeof(*ends), p->request.head.len,
			      &answer->error);
	while (n && ends[n - 1] > done)
		n--;
	whole = n ? file->size + ends[n - 1] : file->whole;
	file->size += done;
	file->error = answer->error;
	answer->written = done;
	if (answer->error) /* a part of a piece is removed */
		file__trim(file, whole);
	else if (given_up(p))
		process__end(p); /* no answer will arrive */
	file->whole = whole;
}

static void process__close(struct process *p, struct files_answer *answer)
{
	struct written_file *file = process__file(p, answer->id);

	if (!file || file->fd < 0)
		return;
	file__trim(file, file->whole);
	if (file->fd != STDOUT_FILENO && close(file->fd) && errno != EINTR)
		answer->error = -errno;
	file->fd = -1;
}

/* One request, which is whole. */
static void process__do(struct process *p, struct files_answer *answer)
{
	char *path = p->request.bytes;

	switch (answer->type) {
	case FILES_MAKE:
		answer->error = os__mkdir(path);
		if (answer->error && answer->error != -EEXIST)
			break;
		/* fall through */
	case FILES_DIRECTORY:
		answer->error = os__is_directory(path);
		break;
	case FILES_IDENTIFY:
		answer->error = os__identify(path, &answer->identity);
		break;
	case FILES_OPEN:
		process__open(p, path, answer);
		break;
	case FILES_WRITE:
		process__write(p, answer);
		break;
	case FILES_CLOSE:
		process__close(p, answer);
		break;
	default:
		answer->error = -EINVAL;
	}
}

void files_process__run(int fd, const void *arg)
{
	struct sigaction act = {.sa_handler = interrupt};
	struct process *p = calloc(1, sizeof(*p));

	(void)arg;
	if (!p)
		return;
	sigfillset(&act.sa_mask);
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	os__many_files();
	p->socket = fd;
	for (;;) {
		ssize_t n = recv(fd, &p->request, sizeof(p->request), 0);
		struct files_answer answer = {.type = p->request.head.type,
					      .id = p->request.head.id};

		if (n < 0 && errno == EINTR && !given_up(p))
			continue;
		if (n < (ssize_t)sizeof(p->request.head) || given_up(p))
			process__end(p);
		process__do(p, &answer);
		if (send(fd, &answer, sizeof(answer), 0) < 0)
			process__end(p);
	}
}
