/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

static const char magic[8] = {'x', 'r', 's', 'p', 'o', 'o', 'l', '1'};

static uint32_t sum__of(const struct spool_head *head, const void *name, const void *data)
{
	struct spool_head zero = *head;
	uLong sum;

	zero.sum = 0;
	sum = crc32(0, (const void *)&zero, sizeof(zero));
	/* zlib takes NULL for the beginning of a new sum */
	if (head->name_len)
		sum = crc32(sum, name, head->name_len);
	if (head->size)
		sum = crc32(sum, data, head->size);
	return (uint32_t)sum;
}

int spool_file__head(const void *data, size_t len, uint32_t kind, struct spool_head *head,
		     uint64_t *file_size)
{
	if (len < sizeof(*head))
		return -EBADMSG;
	memcpy(head, data, sizeof(*head));
	if (memcmp(head->magic, magic, sizeof(magic)) != 0 || head->kind != kind ||
	    head->name_len > SPOOL_NAME_MAX || head->size > SPOOL_BODY_MAX)
		return -EBADMSG;
	*file_size = sizeof(*head) + (uint64_t)head->name_len + head->size;
	return 0;
}

int spool_file__parse(void *data, size_t len, uint32_t kind, struct spool_item *item)
{
	char *name = (char *)data + sizeof(struct spool_head);
	struct spool_head head;
	uint64_t size;

	if (spool_file__head(data, len, kind, &head, &size) < 0 || size != len)
		return -EBADMSG;
	if (memchr(name, '\0', head.name_len) ||
	    head.sum != sum__of(&head, name, name + head.name_len))
		return -EBADMSG;
	item->began = head.began;
	item->ended = head.ended;
	item->samples = head.samples;
	item->data = name + head.name_len;
	item->size = head.size;
	/* over the head, which is known */
	memmove(data, name, head.name_len);
	((char *)data)[head.name_len] = '\0';
	item->name = data;
	return 0;
}

static int fd__write(int fd, struct iovec *parts, int n)
{
	ssize_t done;

	while (n) {
		done = writev(fd, parts, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		while (n && (size_t)done >= parts->iov_len) {
			done -= (ssize_t)parts->iov_len;
			parts++;
			n--;
		}
		if (n) {
			parts->iov_base = (char *)parts->iov_base + done;
			parts->iov_len -= (size_t)done;
		}
	}
	return 0;
}

int spool_file__write(int dir, const char *temporary, const char *name, uint32_t kind,
		      const struct spool_item *item)
{
	struct spool_head head = {
		.kind = kind, .began = item->began, .ended = item->ended, .samples = item->samples};
	const char *label = item->name ? item->name : "";
	size_t name_len = strlen(label);
	struct iovec parts[3] = {
		{&head, sizeof(head)},
		{(void *)(uintptr_t)label, name_len},
		{(void *)(uintptr_t)item->data, item->size},
	};
	int fd, err;

	if (name_len > SPOOL_NAME_MAX || item->size > SPOOL_BODY_MAX)
		return -EMSGSIZE;
	memcpy(head.magic, magic, sizeof(magic));
	head.name_len = (uint32_t)name_len;
	head.size = (uint32_t)item->size;
	head.sum = sum__of(&head, label, item->data);
	if (unlinkat(dir, temporary, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = fd__write(fd, parts, 3);
	if (!err && fsync(fd) < 0)
		err = -errno;
	if (close(fd) < 0 && !err)
		err = -errno;
	if (!err && renameat(dir, temporary, dir, name) < 0)
		err = -errno;
	if (err) {
		unlinkat(dir, temporary, 0);
		return err;
	}
	/* the name, too: where a file system cannot sync it, it does what it can */
	fsync(dir);
	return 0;
}

static int fd__read(int fd, void *to, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = read(fd, (char *)to + done, len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EBADMSG;
		done += (size_t)n;
	}
	return 0;
}

int spool_file__open(int dir, const char *name, uint32_t kind, struct spool_head *head)
{
	char text[sizeof(*head)];
	struct stat st;
	uint64_t size;
	int fd, err = 0;

	/* not to wait for who writes into a pipe */
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ELOOP || errno == ENXIO ? -EBADMSG : -errno;
	if (fstat(fd, &st) < 0)
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EBADMSG;
	err = err ? err : fd__read(fd, text, sizeof(text));
	err = err ? err : spool_file__head(text, sizeof(text), kind, head, &size);
	if (!err && (uint64_t)st.st_size != size)
		err = -EBADMSG;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int spool_file__read(int dir, const char *name, uint32_t kind, void **data, struct spool_item *item)
{
	struct spool_head head;
	size_t len;
	char *all;
	int fd, err;

	fd = spool_file__open(dir, name, kind, &head);
	if (fd < 0)
		return fd;
	len = sizeof(head) + head.name_len + head.size;
	all = malloc(len);
	err = all ? 0 : -ENOMEM;
	if (!err) {
		memcpy(all, &head, sizeof(head));
		err = fd__read(fd, all + sizeof(head), len - sizeof(head));
	}
	err = err ? err : spool_file__parse(all, len, kind, item);
	close(fd);
	if (err) {
		free(all);
		return err;
	}
	*data = all;
	return 0;
}
