/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/hidden/debug_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "os/proc.h"
#include "target/linux/hidden/elf_image.h"

#define NOTES_MAX    1024u
#define SECTIONS_MAX 65536u
#define CRC_MAX	     (32ll << 20) /* bytes of a file that has no build id */

size_t debug_file__build_id(Elf *elf, uint8_t id[DEBUG_FILE_BUILD_ID_MAX])
{
	struct elf_taken taken = {0};
	Elf_Scn *scn = NULL;

	for (unsigned int i = 0; i < SECTIONS_MAX && (scn = elf_nextscn(elf, scn)); i++) {
		size_t at = 0, name, desc;
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Nhdr note;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_NOTE)
			continue;
		data = elf_taken__section(&taken, scn);
		if (!data)
			continue;
		for (unsigned int n = 0;
		     n < NOTES_MAX && (at = gelf_getnote(data, at, &note, &name, &desc)); n++) {
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
			    !note.n_descsz || note.n_descsz > DEBUG_FILE_BUILD_ID_MAX ||
			    memcmp((const uint8_t *)data->d_buf + name, "GNU", 4))
				continue;
			memcpy(id, (const uint8_t *)data->d_buf + desc, note.n_descsz);
			return note.n_descsz;
		}
	}
	return 0;
}

/* The file name in .gnu_debuglink and the CRC behind it; NULL if it is missing. */
static const char *debug__link(Elf *elf, uint32_t *crc)
{
	struct elf_taken taken = {0};
	GElf_Shdr header;
	const Elf_Data *data = elf_taken__named(&taken, elf, ".gnu_debuglink", &header);
	const char *link = data ? data->d_buf : NULL;
	size_t length = data ? strnlen(link, data->d_size) : 0;

	/* the CRC is behind the name and its 0, at the next multiple of 4 */
	if (!length || (length / 4 + 1) * 4 + 4 > data->d_size || memchr(link, '/', length) ||
	    !strcmp(link, ".") || !strcmp(link, ".."))
		return NULL;
	memcpy(crc, link + (length / 4 + 1) * 4, sizeof(*crc));
	return link;
}

/* The CRC of the file, or of its first CRC_MAX bytes: libelf keeps in memory what it has read. */
static uint32_t debug__crc(Elf *elf)
{
	uint32_t crc = 0;
	int64_t at = 0;

	/* not elf_rawfile(), as in elf_image.c; there is no other way to learn the size */
	for (size_t size = 1u << 20; size && at < CRC_MAX;) {
		Elf_Data *data = elf_getdata_rawchunk(elf, at, size, ELF_T_BYTE);

		if (data && data->d_buf) {
			crc = (uint32_t)crc32_z(crc, data->d_buf, size);
			at += (int64_t)size;
		} else {
			size /= 2;
		}
	}
	return crc;
}

int debug_file__same(Elf *elf, Elf *debug)
{
	uint8_t a[DEBUG_FILE_BUILD_ID_MAX], b[DEBUG_FILE_BUILD_ID_MAX];
	size_t n = debug_file__build_id(elf, a);
	uint32_t crc;

	if (n)
		return n == debug_file__build_id(debug, b) && !memcmp(a, b, n) ? 0 : -ESTALE;
	if (!debug__link(elf, &crc))
		return -ESTALE;
	return debug__crc(debug) == crc ? 0 : -ESTALE;
}

int debug_file__name(Elf *elf, const char *dir, unsigned int n, char *buf, size_t size)
{
	static const struct {
		const char *before, *between;
	} places[] = {{"", "/"}, {"", "/.debug/"}, {"/usr/lib/debug", "/"}};
	uint8_t id[DEBUG_FILE_BUILD_ID_MAX];
	size_t length = n ? 0 : debug_file__build_id(elf, id), at;
	const char *link;
	uint32_t crc;

	if (n > sizeof(places) / sizeof(places[0]))
		return -ENOENT;
	if (length > 1) {
		at = (size_t)snprintf(buf, size, "/usr/lib/debug/.build-id/%02x/", id[0]);
		for (size_t i = 1; i < length && at < size; i++)
			at += (size_t)snprintf(buf + at, size - at, "%02x", id[i]);
		if (at < size)
			at += (size_t)snprintf(buf + at, size - at, ".debug");
		return at < size ? 0 : -ENAMETOOLONG;
	}
	if (!n)
		return -ENAMETOOLONG; /* no build id: not this one */
	link = debug__link(elf, &crc);
	if (!link)
		return -ENOENT;
	at = (size_t)snprintf(buf, size, "%s%s%s%s", places[n - 1].before, dir,
			      places[n - 1].between, link);
	return at < size ? 0 : -ENAMETOOLONG;
}

/* A descriptor, or -ENOENT. */
static int debug_file__open(Elf *elf, pid_t pid, const char *path, unsigned int *n)
{
	char dir[512], name[640], *slash;
	int err = 0, fd = -1;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash)
		*slash = '\0';
	while (fd < 0 && err != -ENOENT) {
		err = debug_file__name(elf, dir, (*n)++, name, sizeof(name));
		fd = err ? err : proc__open_in_root(pid, name);
	}
	return fd;
}

static bool debug_file__is_trusted(int of, int fd)
{
	struct stat file, debug;

	return !fstat(of, &file) && !fstat(fd, &debug) &&
	       (!debug.st_uid || debug.st_uid == file.st_uid);
}

Elf *debug_file__next(Elf *elf, int of, pid_t pid, const char *path, unsigned int *n, int *fd)
{
	while ((*fd = debug_file__open(elf, pid, path, n)) >= 0) {
		Elf *debug =
			debug_file__is_trusted(of, *fd) ? elf_begin(*fd, ELF_C_READ, NULL) : NULL;

		if (debug && elf_kind(debug) == ELF_K_ELF && !debug_file__same(elf, debug))
			return debug;
		elf_end(debug);
		close(*fd);
	}
	return NULL;
}
