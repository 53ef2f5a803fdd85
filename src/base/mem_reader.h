/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading the memory of something: of a live process (proc__reader, os/proc.h), or of one that a
 * test makes up.
 */
#ifndef XR_BASE_MEM_READER_H
#define XR_BASE_MEM_READER_H

#include <stddef.h>
#include <stdint.h>

#define MEM_SPANS_MAX 512u /* spans read at once, at most */

/* Copy @len bytes at @addr of what is read to @to. */
struct mem_span {
	uint64_t addr;
	void *to;
	uint32_t len;
};

/* One of the two functions may be NULL: then the other does its work. */
struct mem_reader {
	/* As mem_reader__read. */
	int (*read)(void *arg, uint64_t addr, void *to, size_t len);
	/* As mem_reader__read_spans, with fewer calls of the system. */
	int (*read_spans)(void *arg, const struct mem_span *spans, uint32_t n);
	void *arg;
};

/*
 * mem_reader__read - exactly @len bytes at @addr to @to.  0; -EFAULT: not all of them can be read;
 * another negative errno when nothing can: -ESRCH the process is gone, -EPERM or -EACCES.
 */
int mem_reader__read(const struct mem_reader *m, uint64_t addr, void *to, size_t len);

/*
 * mem_reader__read_spans - read @n spans, at most MEM_SPANS_MAX, each after the one before it.
 * Returns how many were read whole before the first that cannot be read, or a negative errno when
 * nothing can.
 */
int mem_reader__read_spans(const struct mem_reader *m, const struct mem_span *spans, uint32_t n);

#endif
