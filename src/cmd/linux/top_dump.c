/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "cmd/linux/top_dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/linux/dump_run.h"
#include "os/rights.h"

#define PIECE	 16384u
#define TEXT_MAX (1u << 20) /* bytes that are shown */

/* In the helper: what `dump -p PID` prints. */
static void dump__print(pid_t *pid)
{
	struct dump_options o = {0};
	struct errmsg f = {""};

	options__init(&o.o);
	o.o.config.engine = &engine_vmread;
	o.o.config.capture = XR_ROW_LINES | XR_ROW_GC | XR_ROW_PACKAGES;
	o.o.config.pids = pid;
	o.o.config.npids = 1;
	if (dump_run(&o, &f) && f.text[0])
		log__line("%s", f.text);
	fflush(stdout);
}

static void dump__help(int fd, const void *arg)
{
	pid_t pid = (pid_t) * (const uint32_t *)arg;
	int file = memfd_create("dump", MFD_CLOEXEC);
	char piece[PIECE];
	off_t at = 0;
	ssize_t n;

	/* the screen's bytes are the program's to write */
	__fpurge(stdout);
	if (file < 0 || dup2(file, STDOUT_FILENO) < 0 || dup2(file, STDERR_FILENO) < 0)
		return;
	dump__print(&pid);
	while (at < TEXT_MAX && (n = pread(file, piece, sizeof(piece), at)) > 0 &&
	       !helper__send(fd, piece, (size_t)n, -1, 0))
		at += n;
}

int top_dump__start(struct top_dump *d, uint32_t pid)
{
	static const struct helper_job job = {
		.name = "xrprof-dump",
		.flags = HELPER_LIMITED,
		.rights = RIGHTS_TARGET | RIGHTS_PRIORITY,
		.run = dump__help,
	};
	int err;

	helper__end(&d->helper, 0);
	d->text.len = 0;
	err = helper__start(&d->helper, &job, &pid);
	if (err) /* no process, no descriptor: what is shown goes on */
		err = buf__printf(&d->text, "cannot start a process that reads the stack: %s\n",
				  strerror(-err))
			      ?: 1;
	return err;
}

int top_dump__poll(struct top_dump *d)
{
	char piece[PIECE];
	ssize_t n;
	int more = 0;

	while (d->helper.fd >= 0) {
		n = helper__receive(d->helper.fd, piece, sizeof(piece), NULL, MSG_DONTWAIT);
		if (n == -EAGAIN || n == -EINTR)
			break;
		if (n <= 0)
			helper__end(&d->helper, 0);
		else if (buf__add(&d->text, piece, (size_t)n))
			return -ENOMEM;
		more = 1;
	}
	return more;
}

void top_dump__free(struct top_dump *d)
{
	helper__end(&d->helper, 0);
	buf__free(&d->text);
}
