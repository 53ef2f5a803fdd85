/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What packages register for R to call. */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "target/linux/native/symbols.h"

#define SECTIONS_MAX  256u
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

static int pointers__add_section(struct pointers *p, struct elf_image *file, Elf_Scn *scn,
				 const GElf_Shdr *shdr)
{
	const uint64_t relative =
		file->machine == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;
	const uint64_t absolute = file->machine == EM_X86_64 ? R_X86_64_64 : R_AARCH64_ABS64;
	Elf_Data *data = elf_taken__section(&file->taken, scn), *symbols = NULL;
	Elf_Scn *link = elf_getscn(file->elf, shdr->sh_link);
	int err = 0;

	if (link)
		symbols = elf_taken__section(&file->taken, link);
	for (size_t i = 0; data && i < data->d_size / sizeof(Elf64_Rela) && !err; i++) {
		struct pointer one;
		GElf_Rela r;
		GElf_Sym sym;

		if (p->count == RELOCS_MAX || !gelf_getrela(data, (int)i, &r))
			break;
		one = (struct pointer){r.r_offset, (uint64_t)r.r_addend};
		if (GELF_R_TYPE(r.r_info) == absolute && symbols &&
		    gelf_getsym(symbols, (int)GELF_R_SYM(r.r_info), &sym) &&
		    sym.st_shndx != SHN_UNDEF)
			one.value += sym.st_value;
		else if (GELF_R_TYPE(r.r_info) != relative)
			continue;
		err = array__room(&p->pointers, p->count, &p->cap, sizeof(*p->pointers));
		if (!err)
			p->pointers[p->count++] = one;
	}
	return err;
}

static int pointer__compare(const void *a, const void *b)
{
	const struct pointer *p = a, *q = b;

	return p->at < q->at ? -1 : p->at > q->at;
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
	Elf_Scn *scn = NULL;
	int err = 0;

	for (uint32_t i = 0; i < SECTIONS_MAX && !err && (scn = elf_nextscn(file->elf, scn)); i++) {
		GElf_Shdr shdr;

		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == SHT_RELA &&
		    shdr.sh_flags & SHF_ALLOC)
			err = pointers__add_section(&p, file, scn, &shdr);
	}
	if (!err && p.count)
		qsort(p.pointers, p.count, sizeof(*p.pointers), pointer__compare);
	for (size_t i = 0; !err && i + 1 < p.count; i++)
		err = routines__entry(s, file, &p.pointers[i], &p.pointers[i + 1]);
	free(p.pointers);
	return err;
}
