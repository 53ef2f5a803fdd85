/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ELF_FIXTURE_H
#define ELF_FIXTURE_H

/*
 * A small ELF file with what discovery looks for in R's: three segments, of which the code is
 * loaded at another distance than where it is in the file, a symbol table with R's variables, and
 * the literals that tell a version.
 *
 *	file    0x0000 headers, strings, symbols, literals	loaded at 0x00000, r--
 *	        0x1000 "code"					loaded at 0x11000, r-x
 *	        (nothing) variables				loaded at 0x22000, rw-
 */
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FIXTURE_SIZE	  0x2000u
#define FIXTURE_META	  0x0b00u /* bytes of which each is in use */
#define FIXTURE_CODE	  0x1000u /* offset */
#define FIXTURE_CODE_ADDR 0x11000u
#define FIXTURE_DATA_ADDR 0x22000u
#define FIXTURE_SPAN	  0x23000u /* bytes of address space */

#define FIXTURE_STRINGS	 0x200u
#define FIXTURE_SYMBOLS	 0x500u
#define FIXTURE_LITERALS 0x800u
#define FIXTURE_SECTIONS 0x900u

/* In the order in which the variables lie from FIXTURE_DATA_ADDR on, 8 bytes each. */
static const char *const fixture__names[] = {
	"R_GlobalContext",     "R_NilValue",	    "R_DoubleColonSymbol",
	"R_TripleColonSymbol", "R_DollarSymbol",    "R_Bracket2Symbol",
	"R_SrcfileSymbol",     "R_InBCInterpreter", "R_Srcref",
};
#define FIXTURE_NAMES (sizeof(fixture__names) / sizeof(fixture__names[0]))

/* fixture__head - the header of a file of that type, with @phnum segments right behind it. */
__attribute__((unused)) static void fixture__head(Elf64_Ehdr *head, uint16_t type, uint16_t machine,
						  uint16_t phnum)
{
	*head = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = type,
		.e_machine = machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(*head),
		.e_ehsize = sizeof(*head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = phnum,
		.e_shentsize = sizeof(Elf64_Shdr),
	};
}

/* fixture__load - a segment of @size bytes at @offset, which is loaded at @addr. */
__attribute__((unused)) static Elf64_Phdr
fixture__load(uint32_t flags, uint64_t offset, uint64_t addr, uint64_t size, uint64_t memory)
{
	return (Elf64_Phdr){.p_type = PT_LOAD,
			    .p_flags = flags,
			    .p_offset = offset,
			    .p_vaddr = addr,
			    .p_filesz = size,
			    .p_memsz = memory,
			    .p_align = 0x1000};
}

/*
 * fixture__make - write the file into @to, FIXTURE_SIZE bytes.
 * @minor, @year: of R's version, "2.2" and "2022"
 */
static inline void fixture__make(uint8_t *to, const char *minor, const char *year)
{
	Elf64_Ehdr *head = (Elf64_Ehdr *)to;
	Elf64_Phdr *ph = (Elf64_Phdr *)(to + sizeof(*head));
	Elf64_Shdr *sh = (Elf64_Shdr *)(to + FIXTURE_SECTIONS);
	Elf64_Sym *sym = (Elf64_Sym *)(to + FIXTURE_SYMBOLS);
	char *strings = (char *)to + FIXTURE_STRINGS;
	size_t name = 1;

	memset(to, 0, FIXTURE_SIZE);
#ifdef __aarch64__
	fixture__head(head, ET_DYN, EM_AARCH64, 3);
#else
	fixture__head(head, ET_DYN, EM_X86_64, 3);
#endif
	head->e_shoff = FIXTURE_SECTIONS;
	head->e_shnum = 3;
	ph[0] = fixture__load(PF_R, 0, 0, FIXTURE_CODE, FIXTURE_CODE);
	ph[1] = fixture__load(PF_R | PF_X, FIXTURE_CODE, FIXTURE_CODE_ADDR, 0x1000, 0x1000);
	ph[2] = fixture__load(PF_R | PF_W, FIXTURE_SIZE, FIXTURE_DATA_ADDR, 0, 0x1000);

	for (size_t i = 0; i < FIXTURE_NAMES; i++) {
		strcpy(strings + name, fixture__names[i]);
		sym[i + 1] = (Elf64_Sym){.st_name = (Elf64_Word)name,
					 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
					 .st_shndx = 1,
					 .st_value = FIXTURE_DATA_ADDR + 8 * i,
					 .st_size = 8};
		name += strlen(fixture__names[i]) + 1;
	}
	sh[1] = (Elf64_Shdr){.sh_type = SHT_DYNSYM,
			     .sh_offset = FIXTURE_SYMBOLS,
			     .sh_link = 2,
			     .sh_size = (FIXTURE_NAMES + 1) * sizeof(*sym),
			     .sh_info = 1,
			     .sh_entsize = sizeof(*sym),
			     .sh_addralign = 8};
	sh[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
			     .sh_offset = FIXTURE_STRINGS,
			     .sh_size = name,
			     .sh_addralign = 1};

	/* version.c's literals, the major number merged away */
	snprintf((char *)to + FIXTURE_LITERALS, FIXTURE_SECTIONS - FIXTURE_LITERALS,
		 "status%cmajor%cminor%c%s%cyear%c%s%cmonth", 0, 0, 0, minor, 0, 0, year, 0);
	memset(to + FIXTURE_CODE, 0xc3, 0x1000);
}

/* fixture__make_program - make the file one that can be run: all that it does is to wait. */
static inline void fixture__make_program(uint8_t *to)
{
#ifdef __aarch64__
	/* mov x8, #__NR_ppoll; 1: mov x0..x3, #0; svc #0; b 1b */
	static const uint32_t code[] = {0xd2800928, 0xd2800000, 0xd2800001, 0xd2800002,
					0xd2800003, 0xd4000001, 0x17fffffb};
#else
	/* 1: mov $__NR_pause, %eax; syscall; jmp 1b */
	static const uint8_t code[] = {0xb8, 34, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7};
#endif

	((Elf64_Ehdr *)to)->e_entry = FIXTURE_CODE_ADDR;
	memcpy(to + FIXTURE_CODE, code, sizeof(code));
}

#define FIELD_EHDR(field) offsetof(Elf64_Ehdr, field), sizeof(((Elf64_Ehdr *)0)->field)
#define FIELD_PHDR(i, field)                                                                       \
	sizeof(Elf64_Ehdr) + (i) * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, field),               \
		sizeof(((Elf64_Phdr *)0)->field)
#define FIELD_SHDR(i, field)                                                                       \
	FIXTURE_SECTIONS + (i) * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, field),                 \
		sizeof(((Elf64_Shdr *)0)->field)

/* Each changes one field of the fixture; @err is what looking at it then comes to. */
static const struct {
	int err;
	const char *what;
	size_t at, size;
	uint64_t to;
} fixture_damages[] = {
	{0, "unchanged", 0, 0, 0},
	{-ENOTSUP, "a 32-bit file", EI_CLASS, 1, ELFCLASS32},
	{-ENOTSUP, "the other byte order", EI_DATA, 1, ELFDATA2MSB},
	{-ENOTSUP, "another machine", FIELD_EHDR(e_machine), EM_S390},
	{-EBADMSG, "no ELF file", 0, 1, '#'},
	{-EBADMSG, "an object file", FIELD_EHDR(e_type), ET_REL},
	{-EBADMSG, "too many segments", FIELD_EHDR(e_phnum), 0xffff},
	{-EBADMSG, "no segments", FIELD_EHDR(e_phnum), 0},
	{-EBADMSG, "a segment of 2^64 bytes", FIELD_PHDR(1, p_filesz), UINT64_MAX},
	{-EBADMSG, "a segment outside the file", FIELD_PHDR(1, p_offset), UINT64_MAX - 10},
	{-EBADMSG, "a segment beyond all addresses", FIELD_PHDR(2, p_vaddr), INT64_MAX},
	{-EBADMSG, "a symbol table without strings", FIELD_SHDR(1, sh_link), 1},
	{-EBADMSG, "symbols of 0 bytes", FIELD_SHDR(1, sh_entsize), 0},
	{-EBADMSG, "a symbol table outside the file", FIELD_SHDR(1, sh_offset), UINT64_MAX - 8},
	{-EBADMSG, "a symbol table of 2^50 bytes", FIELD_SHDR(1, sh_size), 1ULL << 50},
	/* the number is in section 0 then */
	{-EBADMSG, "2^40 sections", FIELD_EHDR(e_shnum), 0},
	{0, "a section table beyond the file", FIELD_EHDR(e_shoff), UINT64_MAX - 64},
	{-EBADMSG, "a segment table beyond the file", FIELD_EHDR(e_phoff), UINT64_MAX - 64},
	{-EBADMSG, "a symbol table that is marked as compressed", FIELD_SHDR(1, sh_flags),
	 SHF_COMPRESSED},
	{0, "too many sections", FIELD_EHDR(e_shnum), 0xfeff},
};

static inline void fixture__damage(uint8_t *data, size_t i)
{
	((Elf64_Shdr *)(data + FIXTURE_SECTIONS))->sh_size = 1ULL << 40;
	memcpy(data + fixture_damages[i].at, &fixture_damages[i].to, fixture_damages[i].size);
}

#endif
