/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of names and functions in ELF files: what packages register for R to call, R_FunTab. */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "native/linux/symbols.h"

#define RELOCS_MAX    (1u << 20)
#define NAME_BYTES    256u /* bytes of a routine's name, the terminator included */
#define ARGUMENTS_MAX 65   /* R's .Call and .External take as many (Rdynload.h, dotcode.c) */

/* A word that will hold an address of this file. */
struct pointer {
	uint64_t at, value;
};

struct pointers {
	struct pointer *pointers;
	size_t count, cap;
};

static int pointer__compare(const void *a, const void *b)
{
	const struct pointer *p = a, *q = b;

	return p->at < q->at ? -1 : p->at > q->at;
}

/* All words of @file that relocations fill with addresses of it, by their place.  -ENOMEM. */
static int pointers__of(struct pointers *p, struct elf_image *file)
{
	const uint32_t got = file->machine == EM_X86_64 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	Elf_Data *data;

	while ((scn = elf_image__section(file, scn, SHT_RELA, &header, &data))) {
		const size_t n =
			header.sh_flags & SHF_ALLOC ? data->d_size / sizeof(Elf64_Rela) : 0;

		for (size_t i = 0; i < n && p->count < RELOCS_MAX; i++) {
			struct pointer one;
			GElf_Rela r;

			if (!gelf_getrela(data, (int)i, &r) || GELF_R_TYPE(r.r_info) == got ||
			    !elf_image__relocated(file, &r, header.sh_link, &one.value))
				continue;
			one.at = r.r_offset;
			if (array__room(&p->pointers, p->count, &p->cap, sizeof(one)))
				return -ENOMEM;
			p->pointers[p->count++] = one;
		}
	}
	if (p->count)
		qsort(p->pointers, p->count, sizeof(*p->pointers), pointer__compare);
	return 0;
}

/* A text that can be a routine's name; NULL. */
static const char *routine__name(const struct elf_image *file, uint64_t address)
{
	const char *text = NULL;
	uint64_t size = NAME_BYTES;

	/* the end of the segment may be near */
	while (size && !text) {
		text = (const char *)elf_image__bytes(file, address, size);
		if (!text)
			size /= 2;
	}
	if (!text || !memchr(text, '\0', size) || !*text)
		return NULL;
	for (const char *c = text; *c; c++)
		if ((*c < 'a' || *c > 'z') && (*c < 'A' || *c > 'Z') && (*c < '0' || *c > '9') &&
		    *c != '_' && *c != '.')
			return NULL;
	return text;
}

/* An entry of a table: a name, code, a number of arguments. */
static int routines__entry(struct symbols *s, struct elf_image *file, const struct pointer *name,
			   const struct pointer *code)
{
	const uint8_t *bytes = elf_image__bytes(file, name->at + 16, 4);
	const char *text;
	int32_t arguments;

	if (code->at != name->at + 8 || !bytes || !elf_image__code(file, code->value) ||
	    elf_image__code(file, name->value))
		return 0;
	memcpy(&arguments, bytes, sizeof(arguments));
	text = routine__name(file, name->value);
	if (!text || arguments < -1 || arguments > ARGUMENTS_MAX)
		return 0;
	return symbols__add_routine(s, code->value, text);
}

int symbols__of_routines(struct symbols *s, struct elf_image *file)
{
	struct pointers p = {0};
	int err = pointers__of(&p, file);

	for (size_t i = 0; !err && i + 1 < p.count; i++)
		err = routines__entry(s, file, &p.pointers[i], &p.pointers[i + 1]);
	free(p.pointers);
	return err;
}

int fun_tab__of_elf(struct elf_image *file, struct fun_tab_entry **out)
{
	struct fun_tab_entry *entries;
	struct elf_symbol table;
	struct pointers p = {0};
	const uint8_t *bytes;
	uint32_t n, have = 0;
	int err;

	if (!elf_image__symbol(file, SHT_DYNSYM, "R_FunTab", STT_OBJECT, &table))
		return -ENOENT;
	n = table.size / FUN_TAB_ENTRY > FUN_TAB_MAX ? FUN_TAB_MAX
						     : (uint32_t)(table.size / FUN_TAB_ENTRY);
	bytes = elf_image__bytes(file, table.value, (uint64_t)n * FUN_TAB_ENTRY);
	if (!n || !bytes)
		return -EBADMSG;
	entries = calloc(n, sizeof(*entries));
	err = entries ? pointers__of(&p, file) : -ENOMEM;
	for (uint32_t i = 0; i < n && !err; i++)
		memcpy(&entries[i], bytes + (size_t)i * FUN_TAB_ENTRY, sizeof(*entries));
	for (size_t i = 0; i < p.count && !err; i++) {
		const uint64_t off = p.pointers[i].at - table.value;

		if (p.pointers[i].at < table.value || off / FUN_TAB_ENTRY >= n)
			continue;
		if (off % FUN_TAB_ENTRY == 0)
			entries[off / FUN_TAB_ENTRY].name = p.pointers[i].value;
		else if (off % FUN_TAB_ENTRY == 8)
			entries[off / FUN_TAB_ENTRY].cfun = p.pointers[i].value;
	}
	free(p.pointers);
	if (err) {
		free(entries);
		return err;
	}
	while (have < n && entries[have].name)
		have++;
	*out = entries;
	return (int)have;
}

const char *fun_tab__name(const struct elf_image *file, uint64_t address)
{
	const char *text = (const char *)elf_image__bytes(file, address, 1);
	size_t len = 0;

	while (text && len < FUN_TAB_NAME) {
		const char *c = (const char *)elf_image__bytes(file, address + len, 1);

		if (!c)
			return NULL;
		if (!*c)
			return text;
		len++;
	}
	return NULL;
}
