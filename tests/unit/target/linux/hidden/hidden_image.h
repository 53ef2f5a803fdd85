/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of src/target/linux/hidden share: files in memory, commands, a scratch folder. */
#ifndef HIDDEN_IMAGE_H
#define HIDDEN_IMAGE_H

#include <gelf.h>
#include <stdarg.h>

#include "tap.h"
#include "target/linux/hidden/hidden.h"

static const char *scratch; /* a folder */

/* A file in memory, of exactly its size, so that a sanitizer sees what is read behind it. */
struct image {
	char *bytes;
	size_t size;
};

static bool image__read(struct image *im, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	size_t got = 0;

	memset(im, 0, sizeof(*im));
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_size > 0)
		im->bytes = malloc((size_t)st.st_size);
	while (im->bytes && got < (size_t)st.st_size) {
		ssize_t n = read(fd, im->bytes + got, (size_t)st.st_size - got);

		if (n <= 0)
			break;
		got += (size_t)n;
	}
	im->size = got;
	close(fd);
	return im->bytes && got == (size_t)st.st_size;
}

static Elf *image__elf(const struct image *im)
{
	return elf_memory(im->bytes, im->size);
}

static int derive(Elf *elf, struct hidden *out)
{
	GElf_Ehdr header;
	bool arm = elf && gelf_getehdr(elf, &header) && header.e_machine == EM_AARCH64;

	return hidden__run(elf, arm ? 424 : 312, arm ? 432 : 320, out);
}

__attribute__((format(printf, 1, 2))) static bool run(const char *fmt, ...)
{
	char command[2048];
	va_list ap;
	int status;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	status = system(command);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

#endif /* HIDDEN_IMAGE_H */
