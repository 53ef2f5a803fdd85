/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/hidden/debug_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "target/linux/hidden/elf_image.h"
#include "target/linux/hidden/hidden.h"

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
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	for (unsigned int i = 0; i < SECTIONS_MAX && (scn = elf_nextscn(elf, scn)); i++) {
		const char *name, *link;
		GElf_Shdr header;
		Elf_Data *data;
		size_t length;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_PROGBITS)
			continue;
		name = elf_taken__string(&taken, elf, names, header.sh_name);
		if (!name || strcmp(name, ".gnu_debuglink"))
			continue;
		data = elf_taken__section(&taken, scn);
		if (!data)
			return NULL;
		link = data->d_buf;
		length = strnlen(link, data->d_size);
		/* the CRC is behind the name and its 0, at the next multiple of 4 */
		if (!length || (length / 4 + 1) * 4 + 4 > data->d_size ||
		    memchr(link, '/', length) || !strcmp(link, ".") || !strcmp(link, ".."))
			return NULL;
		memcpy(crc, link + (length / 4 + 1) * 4, sizeof(*crc));
		return link;
	}
	return NULL;
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
	uint8_t id[DEBUG_FILE_BUILD_ID_MAX];
	size_t length = debug_file__build_id(elf, id);
	const char *link;
	uint32_t crc;
	int written;

	if (n == 0 && length > 1) {
		written = snprintf(buf, size, "/usr/lib/debug/.build-id/%02x/", id[0]);
		for (size_t i = 1; i < length && written >= 0 && (size_t)written < size; i++)
			written += snprintf(buf + written, size - (size_t)written, "%02x", id[i]);
		if (written >= 0 && (size_t)written < size)
			written += snprintf(buf + written, size - (size_t)written, ".debug");
		return written < 0 || (size_t)written >= size ? -ENAMETOOLONG : 0;
	}
	link = debug__link(elf, &crc);
	if (!link)
		return n == 0 ? -ENAMETOOLONG : -ENOENT;
	switch (n) {
	case 0:
		return -ENAMETOOLONG; /* no build id: not this one */
	case 1:
		written = snprintf(buf, size, "%s/%s", dir, link);
		break;
	case 2:
		written = snprintf(buf, size, "%s/.debug/%s", dir, link);
		break;
	case 3:
		written = snprintf(buf, size, "/usr/lib/debug%s/%s", dir, link);
		break;
	default:
		return -ENOENT;
	}
	return written < 0 || (size_t)written >= size ? -ENAMETOOLONG : 0;
}
