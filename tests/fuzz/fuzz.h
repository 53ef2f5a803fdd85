/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the fuzz targets share: taking an input apart, files in memory, memory of a target whose
 * bytes the input gives, and what must hold of text that goes out.
 *
 * A target is a function LLVMFuzzerTestOneInput() in tests/fuzz/NAME.c.  It leaves nothing behind:
 * the next run finds all as the first one did.  What does not hold ends the program by
 * fuzz__fail().
 */
#ifndef XR_FUZZ_H
#define XR_FUZZ_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/utf8.h"

/* Many callbacks of targets use few of their arguments. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define FUZZ_FN static inline __attribute__((unused))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

__attribute__((format(printf, 1, 2), noreturn, unused)) static void fuzz__fail(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "fuzz: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	abort();
}

/* What is left of an input. */
struct input {
	const uint8_t *at;
	size_t left;
};

/* input__take - the next @len bytes, or what is left of them and then zeros. */
FUZZ_FN void input__take(struct input *in, void *to, size_t len)
{
	size_t n = len < in->left ? len : in->left;

	memset(to, 0, len);
	if (n)
		memcpy(to, in->at, n);
	in->at += n;
	in->left -= n;
}

FUZZ_FN uint8_t input__u8(struct input *in)
{
	uint8_t value;

	input__take(in, &value, sizeof(value));
	return value;
}

FUZZ_FN uint16_t input__u16(struct input *in)
{
	uint16_t value;

	input__take(in, &value, sizeof(value));
	return value;
}

/* input__part - the next part: its length in two bytes, then that much of it, at most what is left.
 */
FUZZ_FN struct input input__part(struct input *in)
{
	size_t len = input__u16(in);
	struct input part = {in->at, len < in->left ? len : in->left};

	in->at += part.left;
	in->left -= part.left;
	return part;
}

/* fuzz__copy - return a copy that ends where its bytes do, so that a look behind them is seen. */
FUZZ_FN char *fuzz__copy(const void *from, size_t len)
{
	char *copy = malloc(len ? len : 1);

	if (!copy)
		fuzz__fail("out of memory");
	if (len)
		memcpy(copy, from, len);
	return copy;
}

/* input__text - return a copy of @part with a NUL behind it; free() it. */
FUZZ_FN char *input__text(struct input part)
{
	char *text = malloc(part.left + 1);

	if (!text)
		fuzz__fail("out of memory");
	if (part.left)
		memcpy(text, part.at, part.left);
	text[part.left] = '\0';
	return text;
}

/* fuzz__file - a file in memory with these bytes; the caller closes it. */
FUZZ_FN int fuzz__file(const void *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size) || lseek(fd, 0, SEEK_SET))
		fuzz__fail("no file in memory: %s", strerror(errno));
	return fd;
}

/*
 * fuzz__arguments - of a system call, for those who stand in the place of syscall(2): six, as the C
 * library takes them, of which those that were not given are whatever lies there.
 */
__attribute__((unused, noinline, no_sanitize("address"))) static void fuzz__arguments(long a[6],
										      va_list ap)
{
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
}

/*
 * Memory of a target.  In the order in which it is read it has the bytes of the input
 * (FUZZ_STREAM), until these are used up; or each address has the byte that is that far into the
 * input, over and over.  The upper half of the addresses is the kernel's.
 */
#define FUZZ_STREAM	  0x01u
#define FUZZ_CHANGES	  0x02u /* not FUZZ_STREAM: some bytes are others each time they are read */
#define FUZZ_READS_MAX	  8000u /* then nothing can be read any more: a run is to be short */
#define FUZZ_KERNEL(addr) ((uint64_t)(addr) >> 47)

struct fuzz_memory {
	struct input in;
	uint32_t how; /* FUZZ_STREAM, FUZZ_CHANGES */
	uint64_t reads;
};

/* fuzz_memory__read - of a struct mem_reader on a struct fuzz_memory; -EFAULT: not mapped. */
FUZZ_FN int fuzz_memory__read(void *memory, uint64_t addr, void *to, size_t len)
{
	struct fuzz_memory *m = memory;
	uint8_t *bytes = to;

	if (++m->reads > FUZZ_READS_MAX || !len || FUZZ_KERNEL(addr) || FUZZ_KERNEL(addr + len) ||
	    !m->in.left)
		return -EFAULT;
	if (m->how & FUZZ_STREAM) {
		if (len > m->in.left)
			return -EFAULT;
		input__take(&m->in, to, len);
		return 0;
	}
	for (size_t i = 0; i < len; i++)
		bytes[i] = m->in.at[(addr + i) % m->in.left];
	if ((m->how & FUZZ_CHANGES) && !(m->reads % 7))
		bytes[m->reads / 7 % len] ^= (uint8_t)(1u << m->reads / 49 % 8);
	return 0;
}

/*
 * fuzz__plain - does text that was written hold nothing that acts on a terminal, and only UTF-8? At
 * the first byte for which that is not so it fails.
 */
FUZZ_FN void fuzz__plain(const char *text, size_t len, bool lines)
{
	const uint8_t *s = (const uint8_t *)text;

	for (size_t i = 0, n; i < len; i += n) {
		n = s[i] < 0x80	  ? 1
		    : s[i] < 0xc2 ? 0
		    : s[i] < 0xe0 ? 2
		    : s[i] < 0xf0 ? 3
		    : s[i] < 0xf5 ? 4
				  : 0;
		if (!n || n > len - i)
			fuzz__fail("byte %zu, %02x, is not UTF-8", i, s[i]);
		for (size_t k = 1; k < n; k++)
			if ((s[i + k] & 0xc0) != 0x80)
				fuzz__fail("byte %zu, %02x, is not UTF-8", i + k, s[i + k]);
		if (utf8__acts(text + i, n) && !(lines && s[i] == '\n'))
			fuzz__fail("byte %zu, %02x, begins a character that acts", i, s[i]);
	}
	if (lines && len && text[len - 1] != '\n')
		fuzz__fail("the last line is not whole");
}

#endif
