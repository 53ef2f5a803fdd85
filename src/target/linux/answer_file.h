/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How answers of target/native.h are made. */
#ifndef XR_TARGET_LINUX_ANSWER_FILE_H
#define XR_TARGET_LINUX_ANSWER_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* A run of bytes. */
struct answer_part {
	const void *bytes;
	size_t size;
};

/*
 * answer_file__make - a sealed file in memory of @n parts, one behind the other: a descriptor, or a
 * negative errno.
 */
int answer_file__make(const struct answer_part *parts, size_t n);

/* answer_file__map - map the whole of @fd, which must be sealed, and close it.  -EBADMSG; -ENOMEM.
 */
int answer_file__map(int fd, void **mapped, size_t *size);

/* texts__add - @text and its terminator; *@at is where it begins.  -ENOMEM. */
int texts__add(struct buf *texts, const char *text, uint32_t *at);

#endif
