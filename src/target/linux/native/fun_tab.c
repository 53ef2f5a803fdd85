/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/native/fun_tab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECTIONS_MAX 256u

/* What relocation @r of @section makes of the word it is for; false: not an address of this file.
 */
static bool reloc__value(struct elf_image *file, const GElf_Shdr *section, const GElf_Rela *r,
			 uint64_t *value)
{
	const uint64_t type = GELF_R_TYPE(r->r_info);
	Elf_Data *symbols;
	GElf_Sym symbol;
	Elf_Scn *scn;

	if (type == (file->machine == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE)) {
		*value = (uint64_t)r->r_addend;
		return true;
	}
	if (type != (file->machine == EM_X86_64 ? R_X86_64_64 : R_AARCH64_ABS64))
		return false;
	scn = elf_getscn(file->elf, section->sh_link);
	symbols = scn ? elf_taken__section(&file->taken, scn) : NULL;
	if (!symbols || !gelf_getsym(symbols, (int)GELF_R_SYM(r->r_info), &symbol) ||
	    symbol.st_shndx == SHN_UNDEF)
		return false;
	*value = symbol.st_value + (uint64_t)r->r_addend;
	return true;
}

/* The words of the table at @at that relocations fill; else they are what the file has there. */
static void entries__relocate(struct elf_image *file, struct fun_tab_entry *entries, uint32_t n,
			      uint64_t at)
{
	Elf_Scn *scn = NULL;

	for (uint32_t k = 0; k < SECTIONS_MAX && (scn = elf_nextscn(file->elf, scn)); k++) {
		Elf_Data *data;
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_RELA ||
		    !(shdr.sh_flags & SHF_ALLOC))
			continue;
		data = elf_taken__section(&file->taken, scn);
		for (size_t i = 0; data && i < data->d_size / sizeof(Elf64_Rela); i++) {
			GElf_Rela r;
			uint64_t word, off, entry;

			if (!gelf_getrela(data, (int)i, &r) || r.r_offset < at)
				continue;
			entry = (r.r_offset - at) / FUN_TAB_ENTRY;
			off = (r.r_offset - at) % FUN_TAB_ENTRY;
			if (entry >= n || off > 8 || off % 8 ||
			    !reloc__value(file, &shdr, &r, &word))
				continue;
			*(off ? &entries[entry].cfun : &entries[entry].name) = word;
		}
	}
}

int fun_tab__of_elf(struct elf_image *file, struct fun_tab_entry **out)
{
	struct fun_tab_entry *entries;
	struct elf_symbol table;
	const uint8_t *bytes;
	uint32_t n, have = 0;

	if (!elf_image__symbol(file, SHT_DYNSYM, "R_FunTab", STT_OBJECT, &table))
		return -ENOENT;
	n = table.size / FUN_TAB_ENTRY > FUN_TAB_MAX ? FUN_TAB_MAX
						     : (uint32_t)(table.size / FUN_TAB_ENTRY);
	bytes = elf_image__bytes(file, table.value, (uint64_t)n * FUN_TAB_ENTRY);
	if (!n || !bytes)
		return -EBADMSG;
	entries = calloc(n, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		memcpy(&entries[i], bytes + (size_t)i * FUN_TAB_ENTRY, sizeof(*entries));
	entries__relocate(file, entries, n, table.value);
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
