/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The answer to ASK_SOURCE: made by the process that looked, and taken. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/proc.h"
#include "target/linux/answer_file.h"
#include "target/source.h"

#define SOURCE_MAGIC 0x78727372u

struct source_head {
	uint32_t magic;
	uint32_t name, directory, text; /* bytes */
	uint32_t has_text, pad;
	double time;
};

int source__make(const struct ask *q, int *fd)
{
	const struct mem_reader m = proc__reader(q->pid);
	struct source_found s = {0};
	struct source_head head;
	int err = source__read(&s, &q->target.row, &m, q->at, SOURCE_TEXT_MAX);

	if (!err) {
		head = (struct source_head){
			.magic = SOURCE_MAGIC,
			.name = (uint32_t)s.name.len,
			.directory = (uint32_t)s.directory.len,
			.text = (uint32_t)s.text.len,
			.has_text = s.has_text,
			.time = s.time,
		};
		const struct answer_part parts[] = {{&head, sizeof(head)},
						    {s.name.data, s.name.len},
						    {s.directory.data, s.directory.len},
						    {s.text.data, s.text.len}};

		*fd = answer_file__make(parts, sizeof(parts) / sizeof(parts[0]));
		err = *fd < 0 ? *fd : 0;
	}
	source__free(&s);
	return err;
}

/* The next @len bytes of @fd, at *@at, if @max allows that. */
static int source__part(int fd, off_t *at, struct buf *to, uint32_t len, uint32_t max)
{
	char some[4096];
	int err = len > max ? -EBADMSG : 0;

	while (len && !err) {
		size_t want = len < sizeof(some) ? len : sizeof(some);
		ssize_t n = pread(fd, some, want, *at);

		if (n <= 0)
			return -EBADMSG;
		err = buf__add(to, some, (size_t)n);
		*at += n;
		len -= (uint32_t)n;
	}
	return err;
}

int source__take(struct source_found *s, int fd)
{
	struct source_head head;
	off_t at = sizeof(head);
	int err = -EBADMSG;

	if (pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	    head.magic == SOURCE_MAGIC) {
		err = source__part(fd, &at, &s->name, head.name, SOURCE_NAME_MAX);
		err = err ? err
			  : source__part(fd, &at, &s->directory, head.directory, SOURCE_NAME_MAX);
		err = err ? err : source__part(fd, &at, &s->text, head.text, SOURCE_TEXT_MAX);
		s->has_text = head.has_text;
		s->time = head.time;
	}
	close(fd);
	return err;
}
