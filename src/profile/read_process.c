/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processes that files have samples of. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "profile/read_parts.h"

#define TEXT_KEY 64u /* bytes of a process' name that distinguish it */

/* @text unescaped, cut if it has @size bytes or more (0: not), for the reader's life; NULL: no
 * room. */
static const char *reader__text(struct reader *reader, const struct read_text *text, size_t size)
{
	const struct name *name;
	size_t len;

	reader->name.len = 0;
	if (escape__undo(&reader->name, text->text, text->len))
		return NULL;
	len = reader->name.len;
	name = intern__get(&reader->keys, reader->name.data ? reader->name.data : "",
			   size && len >= size ? size - 1 : len);
	return name ? name->text : NULL;
}

/* A new process, which is not found yet; NULL: there are too many, or no room. */
static struct reader_process *
reader__make_process(struct reader *reader, const struct profile_process *numbers, size_t nlabels)
{
	struct reader_process *p;

	if (reader->processes.count == LIMIT_READ_PROCESSES)
		return NULL;
	p = arena__alloc(&reader->rows, sizeof(*p) + nlabels * sizeof(p->labels[0]));
	if (!p)
		return NULL;
	*p = (struct reader_process){.process = *numbers};
	p->process.serial = (uint32_t)reader->processes.count + 1;
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
	const struct name *name = intern__get(&reader->keys, key, key_len), *called;
	struct reader_process *p = name ? map__get(&reader->processes, (uintptr_t)name, 0) : NULL;

	if (!name || p)
		return p;
	p = reader__make_process(reader, &(struct profile_process){.pid = pid}, 0);
	called = intern__get(&reader->keys, comm, len < XR_COMM_LEN ? len : XR_COMM_LEN - 1);
	if (!p || !called)
		return NULL;
	p->process.comm = len ? called->text : NULL;
	return reader__keep_process(reader, name, p);
}

static int key__add(struct buf *key, char what, const char *text, size_t len)
{
	int err = len ? buf__add(key, &what, 1) : 0;

	return err || !len ? err : buf__add(key, text, len);
}

/* What distinguishes the process from all others. */
static int says__key(const struct read_says *says, struct buf *key)
{
	int err = 0;

	key->len = 0;
	for (const struct attribute *a = attributes; a->kind && !err; a++) {
		const struct read_text *text = &says->texts[a - attributes];
		uint64_t number = attribute__number(a, &says->numbers);

		if (number)
			err = buf__printf(key, "\r%s=%" PRIu64, a->pprof, number);
		else if (text->len)
			err = buf__printf(key, "\r%s", a->pprof);
		err = err ? err
			  : key__add(key, '=', text->text,
				     a->size && text->len > TEXT_KEY ? TEXT_KEY : text->len);
	}
	for (size_t i = 0; i < says->nlabels && !err; i++) {
		const struct read_text *label = &says->labels[i].key;

		err = key__add(key, '\n', label->text, label->len);
		label = &says->labels[i].value;
		err = err ? err : key__add(key, '=', label->text, label->len);
	}
	return err;
}

/* False: no room. */
static bool reader__describe(struct reader *reader, struct reader_process *p,
			     const struct read_says *says)
{
	bool known = true;

	for (const struct attribute *a = attributes; a->kind && known; a++) {
		const struct read_text *text = &says->texts[a - attributes];

		if (text->len) {
			*attribute__place(a, &p->process) = reader__text(reader, text, a->size);
			known = *attribute__place(a, &p->process);
		}
	}
	for (size_t i = 0; i < says->nlabels && known; i++) {
		p->labels[i].key = reader__text(reader, &says->labels[i].key, 0);
		p->labels[i].value = reader__text(reader, &says->labels[i].value, 0);
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

	if (says__key(says, &reader->name))
		return NULL;
	name = intern__get(&reader->keys, reader->name.data, reader->name.len);
	p = name ? map__get(&reader->processes, (uintptr_t)name, 0) : NULL;
	if (!name || p)
		return p;
	p = reader__make_process(reader, &says->numbers, says->nlabels);
	if (!p || !reader__describe(reader, p, says))
		return NULL;
	return reader__keep_process(reader, name, p);
}
