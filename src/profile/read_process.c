/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processes that files tell of. */
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "profile/read_parts.h"

#define COMM_KEY 64 /* bytes of a process' name that tell it from others */

/* A new one, which nobody finds yet; NULL: there are too many. */
static struct reader_process *reader__make_process(struct reader *reader, uint32_t pid,
						   const struct read_text *comm, size_t nlabels)
{
	struct reader_process *p;

	if (reader->processes.count == LIMIT_READ_PROCESSES)
		return NULL;
	p = arena__alloc(&reader->rows, sizeof(*p) + nlabels * sizeof(p->labels[0]));
	if (!p)
		return NULL;
	*p = (struct reader_process){.process.pid = pid};
	p->process.serial = (uint32_t)reader->processes.count + 1;
	if (comm->len) {
		memcpy(p->comm, comm->text, comm->len < XR_COMM_LEN ? comm->len : XR_COMM_LEN - 1);
		p->process.comm = p->comm;
	}
	return p;
}

/* It is found as @name from now on; NULL: there is no room. */
static struct reader_process *reader__keep_process(struct reader *reader, const struct name *name,
						   struct reader_process *p)
{
	return p && !map__put(&reader->processes, (uintptr_t)name, 0, p) ? p : NULL;
}

struct reader_process *reading__process(struct reading *r, const char *key, size_t key_len,
					uint32_t pid, const char *comm, size_t len)
{
	struct reader *reader = r->reader;
	const struct name *name = intern__get(&reader->keys, key, key_len);
	struct reader_process *p = name ? map__get(&reader->processes, (uintptr_t)name, 0) : NULL;

	if (!name || p)
		return p;
	p = reader__make_process(reader, pid, &(struct read_text){comm, len}, 0);
	return reader__keep_process(reader, name, p);
}

static int key__add(struct buf *key, char what, const struct read_text *text)
{
	int err = text->len ? buf__add(key, &what, 1) : 0;

	return err || !text->len ? err : buf__add(key, text->text, text->len);
}

/* What tells the process from all others. */
static int says__key(const struct read_says *says, struct buf *key)
{
	size_t len = says->comm.len < COMM_KEY ? says->comm.len : COMM_KEY;
	int err;

	key->len = 0;
	err = buf__printf(key, "%.*s-%u", (int)len, len ? says->comm.text : "", says->pid);
	if (!err && says->started)
		err = buf__printf(key, "\n@%llu", (unsigned long long)says->started);
	err = err ? err : key__add(key, '\n', &says->container);
	err = err ? err : key__add(key, '\r', &says->r_version);
	for (size_t i = 0; i < says->nlabels && !err; i++) {
		err = key__add(key, '\n', &says->labels[i].key);
		err = err ? err : key__add(key, '=', &says->labels[i].value);
	}
	return err;
}

/* What @text stands for, terminated, as long as the reader is; NULL: no room. */
static const char *reader__text(struct reader *reader, const struct read_text *text)
{
	const struct name *name;

	reader->name.len = 0;
	if (escape__undo(&reader->name, text->text, text->len))
		return NULL;
	name = intern__get(&reader->keys, reader->name.data ? reader->name.data : "",
			   reader->name.len);
	return name ? name->text : NULL;
}

/* False: no room. */
static bool reader__describe(struct reader *reader, struct reader_process *p,
			     const struct read_says *says)
{
	bool known = true;

	p->process.started = says->started;
	if (says->container.len) {
		p->process.container = reader__text(reader, &says->container);
		known = p->process.container;
	}
	if (says->r_version.len && known) {
		p->process.r_version = reader__text(reader, &says->r_version);
		known = p->process.r_version;
	}
	for (size_t i = 0; i < says->nlabels && known; i++) {
		p->labels[i].key = reader__text(reader, &says->labels[i].key);
		p->labels[i].value = reader__text(reader, &says->labels[i].value);
		known = p->labels[i].key && p->labels[i].value;
	}
	p->process.labels = p->labels;
	p->process.nlabels = known ? says->nlabels : 0;
	return known;
}

struct reader_process *reading__described(struct reading *r, const struct read_says *says)
{
	struct reader *reader = r->reader;
	const struct name *name;
	struct reader_process *p;
	struct read_text comm;

	if (says__key(says, &reader->name))
		return NULL;
	name = intern__get(&reader->keys, reader->name.data, reader->name.len);
	p = name ? map__get(&reader->processes, (uintptr_t)name, 0) : NULL;
	if (!name || p)
		return p;
	reader->name.len = 0;
	if (escape__undo(&reader->name, says->comm.text, says->comm.len))
		return NULL;
	comm = (struct read_text){reader->name.data, reader->name.len};
	p = reader__make_process(reader, says->pid, &comm, says->nlabels);
	if (!p || !reader__describe(reader, p, says))
		return NULL;
	return reader__keep_process(reader, name, p);
}
