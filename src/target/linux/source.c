/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The answer to ASK_SOURCE: made by the process that looked, and taken. */
#include <errno.h>
#include <sys/mman.h>

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

int source__take(struct source_found *s, int fd)
{
	const struct source_head *head;
	const char *name, *directory;
	void *mapped;
	size_t size;
	int err = answer_file__map(fd, &mapped, &size);

	if (err)
		return err;
	head = mapped;
	name = (const char *)(head + 1);
	if (size < sizeof(*head) || head->magic != SOURCE_MAGIC || head->name > SOURCE_NAME_MAX ||
	    head->directory > SOURCE_NAME_MAX || head->text > SOURCE_TEXT_MAX ||
	    size != sizeof(*head) + head->name + head->directory + head->text) {
		err = -EBADMSG;
	} else {
		directory = name + head->name;
		err = buf__add(&s->name, name, head->name);
		err = err ? err : buf__add(&s->directory, directory, head->directory);
		err = err ? err : buf__add(&s->text, directory + head->directory, head->text);
		s->has_text = head->has_text;
		s->time = head->time;
	}
	munmap(mapped, size);
	return err;
}
