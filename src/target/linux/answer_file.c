/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "target/linux/answer_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/native.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* --- making one --- */

static int file__write(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int answer_file__make(const struct answer_part *parts, size_t n)
{
	int fd = memfd_create("xrprof", MFD_CLOEXEC | MFD_ALLOW_SEALING), err = 0;

	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < n && !err; i++)
		err = file__write(fd, parts[i].bytes, parts[i].size);
	if (!err && fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int texts__add(struct buf *texts, const char *text, uint32_t *at)
{
	if (texts->len > UINT32_MAX / 2)
		return -ENOMEM;
	*at = (uint32_t)texts->len;
	return buf__add(texts, text, strlen(text) + 1);
}

/* --- taking one --- */

int answer_file__map(int fd, void **mapped, size_t *size)
{
	struct stat st;
	int err = 0;

	*mapped = NULL;
	if (fcntl(fd, F_GET_SEALS) < 0 || (fcntl(fd, F_GET_SEALS) & SEALS) != SEALS ||
	    fstat(fd, &st) || st.st_size <= 0 || st.st_size > (off_t)NATIVE_ANSWER_MAX)
		err = -EBADMSG;
	if (!err) {
		*size = (size_t)st.st_size;
		*mapped = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (*mapped == MAP_FAILED) {
			*mapped = NULL;
			err = -ENOMEM;
		}
	}
	close(fd);
	return err;
}

/*
 * The next @n things of @each bytes from *@at on, if they are there; *@at is behind them then.
 * NULL: they are not, and no more can be taken: *@at is @size + 1.
 */
static const void *take__part(const void *mapped, size_t size, size_t *at, uint64_t n, size_t each)
{
	const size_t begin = *at;

	if (begin > size || n > (size - begin) / each) {
		*at = size + 1;
		return NULL;
	}
	*at += n * each;
	return (const char *)mapped + begin;
}

/* Texts end with a terminator, so any that begins in them does. */
static bool take__text(const char *texts, uint32_t size, uint32_t at)
{
	return at < size && !texts[size - 1];
}

int native_maps__open(struct native_maps *m, int fd)
{
	const struct native_maps_head *head = NULL;
	size_t at = 0;
	int err;

	*m = (struct native_maps){0};
	err = answer_file__map(fd, &m->mapped, &m->size);
	if (err)
		return err;
	head = take__part(m->mapped, m->size, &at, 1, sizeof(*head));
	if (!head || head->magic != NATIVE_MAPS_MAGIC || head->n > XR_MAPPINGS_MAX)
		goto bad;
	m->n = head->n;
	m->cut = head->cut;
	m->maps = take__part(m->mapped, m->size, &at, head->n, sizeof(*m->maps));
	m->texts = take__part(m->mapped, m->size, &at, head->texts, 1);
	if (!m->texts)
		goto bad;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct native_mapped *map = &m->maps[i];

		if (map->start >= map->end || map->kind > NATIVE_VDSO ||
		    !take__text(m->texts, head->texts, map->path) ||
		    (i && map->start < m->maps[i - 1].end))
			goto bad;
	}
	return 0;
bad:
	native_maps__close(m);
	return -EBADMSG;
}

void native_maps__close(struct native_maps *m)
{
	if (m->mapped)
		munmap(m->mapped, m->size);
	*m = (struct native_maps){0};
}

static bool module__holds(const struct native_module *m)
{
	const struct native_module_head *h = m->head;

	for (uint32_t i = 0; i < h->nrows; i++)
		if (m->rows[i].rule >= h->nrules || (i && m->rows[i].pc < m->rows[i - 1].pc))
			return false;
	for (uint32_t i = 0; i < h->nsymbols; i++)
		if (!take__text(m->texts, h->texts, m->symbols[i].name) ||
		    (i && m->symbols[i].pc <= m->symbols[i - 1].pc))
			return false;
	for (uint32_t i = 0; i < h->nbuiltins; i++)
		if (!take__text(m->texts, h->texts, m->builtins[i]))
			return false;
	return true;
}

int native_module__open(struct native_module *m, int fd)
{
	const struct native_module_head *h;
	size_t at = 0;
	int err;

	*m = (struct native_module){0};
	err = answer_file__map(fd, &m->mapped, &m->size);
	if (err)
		return err;
	h = m->head = take__part(m->mapped, m->size, &at, 1, sizeof(*h));
	if (!h || h->magic != NATIVE_MODULE_MAGIC || h->nsegments > NATIVE_SEGMENTS_MAX ||
	    h->build_id_len > NATIVE_BUILD_ID_MAX || h->hash_len > NATIVE_HASH ||
	    h->nbuiltins > NATIVE_BUILTINS_MAX)
		goto bad;
	m->rows = take__part(m->mapped, m->size, &at, h->nrows, sizeof(*m->rows));
	m->rules = take__part(m->mapped, m->size, &at, h->nrules, sizeof(*m->rules));
	m->symbols = take__part(m->mapped, m->size, &at, h->nsymbols, sizeof(*m->symbols));
	m->builtins = take__part(m->mapped, m->size, &at, h->nbuiltins, sizeof(*m->builtins));
	m->texts = take__part(m->mapped, m->size, &at, h->texts, 1);
	if (!m->texts || !module__holds(m))
		goto bad;
	return 0;
bad:
	native_module__close(m);
	return -EBADMSG;
}

void native_module__close(struct native_module *m)
{
	if (m->mapped)
		munmap(m->mapped, m->size);
	*m = (struct native_module){0};
}
