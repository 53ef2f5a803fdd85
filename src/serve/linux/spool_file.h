/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One file of a spool (spool.h): a head, a name and a body, with a sum over all of it.  What is
 * read may have been damaged, or made by others.
 */
#ifndef XR_SERVE_LINUX_SPOOL_FILE_H
#define XR_SERVE_LINUX_SPOOL_FILE_H

#include <stddef.h>
#include <stdint.h>

#define SPOOL_NAME_MAX 4096u	  /* bytes of an item's name */
#define SPOOL_BODY_MAX (8u << 20) /* and of its body */

/* What waits; borrowed. */
struct spool_item {
	uint64_t began, ended; /* ns since 1970 */
	uint64_t samples;
	const char *name; /* terminated; never NULL when it was read */
	const void *data;
	size_t size;
};

/* How a file begins, in the machine's own order of bytes; the name and the body follow. */
struct spool_head {
	char magic[8];
	uint32_t kind; /* whose item it is */
	uint32_t sum;  /* CRC-32 of the head with 0 here, the name, and the body */
	uint64_t began, ended;
	uint64_t samples;
	uint32_t name_len;
	uint32_t size; /* of the body */
};

_Static_assert(sizeof(struct spool_head) == 48, "the same in every build");

/*
 * spool_file__head - @file_size of the file whose head is the @len bytes at @data, if it may be one
 * of @kind: then the head is in @head.  -EBADMSG: it is none.  The sum is not looked at.
 */
int spool_file__head(const void *data, size_t len, uint32_t kind, struct spool_head *head,
		     uint64_t *file_size);

/*
 * spool_file__parse - the whole file.  0: @item is filled, and points into @data, which is changed:
 * the name is moved to have a terminator.  -EBADMSG: it is damaged, or not of @kind.
 */
int spool_file__parse(void *data, size_t len, uint32_t kind, struct spool_item *item);

/*
 * spool_file__write - a new file @name in the directory @dir, written as @temporary and synced
 * before it gets its name.  Negative errno: it is not there, nor @temporary.  -EMSGSIZE: the item
 * is above the limits.
 */
int spool_file__write(int dir, const char *temporary, const char *name, uint32_t kind,
		      const struct spool_item *item);

/*
 * spool_file__open - open @name of @dir for reading and fill @head; nothing but a regular file of
 * the size that its head says is opened.  A descriptor, -EBADMSG, or what opening it fails with.
 */
int spool_file__open(int dir, const char *name, uint32_t kind, struct spool_head *head);

/* spool_file__read - the whole of @name, to be freed.  -EBADMSG, -ENOMEM, or of reading it. */
int spool_file__read(int dir, const char *name, uint32_t kind, void **data,
		     struct spool_item *item);

#endif
