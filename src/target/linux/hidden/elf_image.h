/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few things hidden.c asks of an ELF file: symbols by name, the bytes at a virtual address,
 * what a slot of the global offset table will hold. Every length in the file is checked here.
 */
#ifndef XR_TARGET_LINUX_HIDDEN_ELF_IMAGE_H
#define XR_TARGET_LINUX_HIDDEN_ELF_IMAGE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DERIVE_SEGMENTS 16u /* PT_LOADs that are looked at */

/*
 * What may be taken into memory of one file: libelf keeps each section that was asked for, as large
 * as the file says it is, and sections may overlap.  libR.so has ten that are looked at, of some
 * megabytes in all.
 */
#define ELF_TAKEN_MAX	   (32u << 20) /* bytes */
#define ELF_TAKEN_SECTIONS 32u

struct elf_taken {
	uint64_t bytes;
	uint32_t count;
	size_t section[ELF_TAKEN_SECTIONS]; /* their numbers */
};

/*
 * elf_taken__section - the contents of section @scn, if they are in the file, not compressed
 * (libelf would expand them), and not too much with what was taken before; NULL otherwise.
 */
Elf_Data *elf_taken__section(struct elf_taken *taken, Elf_Scn *scn);

/* elf_taken__named - the contents of the section @name, as elf_taken__section, and its header. */
Elf_Data *elf_taken__named(struct elf_taken *taken, Elf *elf, const char *name, GElf_Shdr *header);

struct elf_image {
	Elf *elf;
	uint16_t machine; /* EM_X86_64, EM_AARCH64 */
	uint16_t type;	  /* ET_DYN, ET_EXEC */
	uint32_t n_segments;
	GElf_Phdr segment[DERIVE_SEGMENTS];
	const uint8_t *contents[DERIVE_SEGMENTS]; /* p_filesz bytes; owned by libelf */
	uint64_t eh_frame_hdr;			  /* virtual address, 0: none */
	uint64_t budget; /* symbols and relocations that may still be looked at */
	struct elf_taken taken;
};

struct elf_symbol {
	uint64_t value;
	uint64_t size;
};

/* elf_image__open - Returns 0; -EBADMSG, -ENOTSUP. Owns nothing: no counterpart to close it. */
int elf_image__open(struct elf_image *file, Elf *elf);

/* elf_image__base - the page of the lowest address of a segment. */
uint64_t elf_image__base(const struct elf_image *file);

/*
 * elf_image__symbol - a defined symbol of @type (STT_FUNC, STT_OBJECT) named @name.
 * @section: SHT_DYNSYM, or SHT_SYMTAB, where compilers also append ".constprop.0" and the like
 *	to the names of local symbols: those count
 *
 * Returns false if there is none, or several with different values.
 */
bool elf_image__symbol(struct elf_image *file, uint32_t section, const char *name, int type,
		       struct elf_symbol *symbol);

/* elf_image__bytes - the @size bytes of the file at @address, NULL if not all are in the file. */
const uint8_t *elf_image__bytes(const struct elf_image *file, uint64_t address, uint64_t size);

/*
 * elf_image__section - the next section of @type after @from (NULL: the first), with its contents
 * unless @data is NULL.  NULL: there is none.
 */
Elf_Scn *elf_image__section(struct elf_image *file, Elf_Scn *from, uint32_t type, GElf_Shdr *header,
			    Elf_Data **data);

/*
 * elf_image__relocated - what relocation @r of a section with that sh_link stores in its slot.
 * False: it is not an address of this file.
 */
bool elf_image__relocated(struct elf_image *file, const GElf_Rela *r, uint32_t link,
			  uint64_t *value);

/* elf_image__code - is @address in an executable segment? How many bytes of it follow? 0: no. */
uint64_t elf_image__code(const struct elf_image *file, uint64_t address);

/* elf_image__writable - do @size bytes at @address lie in a writable segment (.data, .bss)? */
bool elf_image__writable(const struct elf_image *file, uint64_t address, uint64_t size);

/* elf_image__string - is the text at @address exactly @text? */
bool elf_image__string(const struct elf_image *file, uint64_t address, const char *text);

/*
 * elf_image__slot - will the 8 bytes at @address hold an address of this file that the dynamic
 * linker stores at start (or the static linker stored)? Returns false if not, or not known.
 */
bool elf_image__slot(struct elf_image *file, uint64_t address, uint64_t *value);

/*
 * elf_image__function - function number @n, from 0, of the sorted table of .eh_frame_hdr: where it
 * begins, and the address of its entry in .eh_frame.  False: the table has no more.
 */
bool elf_image__function(const struct elf_image *file, uint64_t n, uint64_t *begin,
			 uint64_t *entry);

/*
 * elf_image__extent - the end of the function that begins at @address, by the sorted table of
 * .eh_frame_hdr: the begin of the next one. 0: not the begin of a function.
 */
uint64_t elf_image__extent(const struct elf_image *file, uint64_t address);

/* elf_image__before - by the same table, the begin of the function before that. 0: there is none.
 */
uint64_t elf_image__before(const struct elf_image *file, uint64_t address);

#endif
