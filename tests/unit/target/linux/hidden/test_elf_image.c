/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few things that hidden.c asks of an ELF file, on one that is made here: one segment, symbols,
 * each kind of relocation, a .got, a table of functions.
 */
#include "target/linux/hidden/elf_image.h"

#include "elf_fixture.h"
#include "tap.h"

#ifndef SHT_RELR
#define SHT_RELR 19
#endif

#define BASE	 0x10000u /* address of the file's first byte */
#define SIZE	 0x1000u
#define MEMORY	 0x1800u /* of which behind the file: .bss */
#define STRINGS	 0x200u
#define SYMBOLS	 0x300u
#define RELA	 0x400u
#define RELR	 0x500u
#define GOT	 0x600u
#define FRAMES	 0x700u /* .eh_frame_hdr */
#define SLOTS	 0x800u
#define NAMES	 0xa00u
#define SECTIONS 0xb00u
#define LONG	 0xd00u

enum { NONE, DYNSTR, DYNSYM, SYMTAB, RELA_DYN, RELR_DYN, DOT_GOT, SHSTRTAB, NSECTIONS };

static _Alignas(8) uint8_t file[SIZE];

static void word(uint32_t at, uint64_t value)
{
	memcpy(file + at, &value, sizeof(value));
}

static void half(uint32_t at, uint32_t value)
{
	memcpy(file + at, &value, sizeof(value));
}

static void relocation(uint32_t i, uint32_t slot, uint32_t sym, uint32_t type, int64_t addend)
{
	((Elf64_Rela *)(file + RELA))[i] = (Elf64_Rela){
		.r_offset = BASE + SLOTS + 8 * slot,
		.r_info = ELF64_R_INFO(sym, type),
		.r_addend = addend,
	};
}

/* Names in STRINGS: by offset. */
enum { S_FUNC = 1, S_DATA = 6, S_PART = 11, S_COLD = 28, S_TWICE = 38 };

#define FUNC   ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define OBJECT ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)

static const Elf64_Sym file_symbols[] = {
	{.st_name = 0},
	{S_FUNC, FUNC, 0, 1, 0x20000, 16},
	{S_DATA, OBJECT, 0, 1, BASE + 0x1700, 16},
	{S_PART, FUNC, 0, 1, 0x20020, 16},
	{S_COLD, FUNC, 0, 1, 0x20040, 16},
	{S_TWICE, FUNC, 0, 1, 0x20050, 16},
	{S_TWICE, FUNC, 0, 1, 0x20060, 16},
	{S_DATA, FUNC, 0, SHN_UNDEF, 0x20070, 16},
};

/* Where it is in the file, and so in memory. */
#define AT(at) BASE + (at), (at)

static const Elf64_Shdr file_sections[NSECTIONS] = {
	[DYNSTR] = {0, SHT_STRTAB, 0, AT(STRINGS), 0x80, 0, 0, 1, 0},
	[DYNSYM] = {0, SHT_DYNSYM, 0, AT(SYMBOLS), sizeof(file_symbols), DYNSTR, 0, 8,
		    sizeof(Elf64_Sym)},
	[SYMTAB] = {0, SHT_SYMTAB, 0, AT(SYMBOLS), sizeof(file_symbols), DYNSTR, 0, 8,
		    sizeof(Elf64_Sym)},
	[RELA_DYN] = {0, SHT_RELA, 0, AT(RELA), 6 * sizeof(Elf64_Rela), DYNSYM, 0, 8,
		      sizeof(Elf64_Rela)},
	[RELR_DYN] = {0, SHT_RELR, 0, AT(RELR), 16, 0, 0, 8, 8},
	[DOT_GOT] = {1, SHT_PROGBITS, 0, AT(GOT), 16, 0, 0, 8, 0},
	[SHSTRTAB] = {0, SHT_STRTAB, 0, AT(NAMES), 16, 0, 0, 1, 0},
};

static void file__make(uint16_t type, uint16_t machine)
{
	Elf64_Ehdr *head = (Elf64_Ehdr *)file;
	Elf64_Phdr *ph = (Elf64_Phdr *)(file + sizeof(*head));
	const bool x86 = machine == EM_X86_64;
	const uint32_t global = x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT;

	memset(file, 0, sizeof(file));
	fixture__head(head, type, machine, 3);
	head->e_shoff = SECTIONS;
	head->e_shnum = NSECTIONS;
	head->e_shstrndx = SHSTRTAB;
	ph[0] = fixture__load(PF_R | PF_W, 0, BASE, SIZE, MEMORY);
	ph[1] = fixture__load(PF_R | PF_X, 0, BASE + 0x10000, 0x100, 0x100);
	ph[2] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME, .p_vaddr = BASE + FRAMES};
	memcpy(file + STRINGS, "\0func\0data\0part.constprop.0\0func.cold\0twice", 44);
	memcpy(file + SYMBOLS, file_symbols, sizeof(file_symbols));
	memcpy(file + SECTIONS, file_sections, sizeof(file_sections));
	relocation(0, 0, 0, x86 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE, BASE + 0x1700);
	relocation(1, 1, 2, global, 0);
	relocation(2, 2, 2, x86 ? R_X86_64_64 : R_AARCH64_ABS64, 8);
	relocation(3, 3, 2, x86 ? R_X86_64_COPY : R_AARCH64_COPY, 0);
	relocation(4, 4, 7, global, 0);
	relocation(5, 5, 4000, global, 0);
	/* packed: slot 10 by itself; of the 63 behind it the first and the third */
	word(RELR, BASE + SLOTS + 80);
	word(RELR + 8, 1 | 1u << 1 | 1u << 3);
	for (uint32_t i = 10; i < 14; i++)
		word(SLOTS + 8 * i, BASE + 0x1700 + i);
	word(GOT, BASE + 0x1710);
	/* version, encodings, count; then functions at 0x20000, 0x20020 and 0x20040 */
	memcpy(file + FRAMES, "\x01\x1b\x03\x3b", 4);
	half(FRAMES + 8, 3);
	for (uint32_t i = 0; i < 3; i++)
		half(FRAMES + 12 + 8 * i, 0x20000 + 0x20 * i - (BASE + FRAMES));
	memcpy(file + NAMES, "\0.got\0.other", 13);
}

static struct elf_image image;
static Elf *elf;

/* Open the file as it is now. */
static int reopen(void)
{
	elf_end(elf);
	elf = elf_memory((char *)file, SIZE);
	return elf_image__open(&image, elf);
}

static void image__make(uint16_t type, uint16_t machine)
{
	file__make(type, machine);
	tap__bail_if(reopen(), "the file cannot be opened");
}

BEFORE()
{
	elf_version(EV_CURRENT);
	image__make(ET_DYN, EM_X86_64);
}

#define UNKNOWN UINT64_MAX

/* What the slot at BASE + @at holds once the file is loaded. */
static uint64_t held(uint32_t at)
{
	uint64_t value;

	return elf_image__slot(&image, BASE + at, &value) ? value : UNKNOWN;
}

static uint64_t slot(uint32_t i)
{
	return held(SLOTS + 8 * i);
}

static void test_slots(uint16_t machine, const char *name)
{
	image__make(ET_DYN, machine);
	tap__ok(slot(0) == BASE + 0x1700, "%s: a relative relocation", name);
	tap__ok(slot(1) == BASE + 0x1700 && slot(2) == BASE + 0x1708,
		"%s: those of symbols, with what is added", name);
	tap__ok(slot(3) == UNKNOWN, "%s: not of another kind", name);
	tap__ok(slot(4) == UNKNOWN && slot(5) == UNKNOWN,
		"%s: nor of a symbol that is not defined, or not there", name);
	tap__ok(slot(10) == BASE + 0x170a && slot(11) == BASE + 0x170b && slot(13) == BASE + 0x170d,
		"%s: packed relocations", name);
	tap__ok(slot(12) == UNKNOWN && held(SLOTS + 81) == UNKNOWN && slot(10 + 64) == UNKNOWN,
		"%s: not what is between or behind them", name);
	tap__ok(held(GOT) == UNKNOWN,
		"%s: not a slot without relocation in a file that is loaded anywhere", name);
	tap__ok(held(SIZE) == UNKNOWN, "%s: nor one in .bss", name);
	image.budget = 2;
	tap__ok(slot(10) == UNKNOWN && !image.budget,
		"%s: it gives up when it has looked at too much", name);
}

TEST(slots)
{
	test_slots(EM_X86_64, "x86_64");
	test_slots(EM_AARCH64, "aarch64");
}

TEST(fixed)
{
	image__make(ET_EXEC, EM_X86_64);
	tap__ok(held(GOT) == BASE + 0x1710,
		"the .got of a program at a fixed address holds addresses");
	tap__ok(held(GOT + 8) == UNKNOWN, "not where it is empty");
	tap__ok(held(GOT + 16) == UNKNOWN, "nor behind it");
	((Elf64_Shdr *)(file + SECTIONS))[DOT_GOT].sh_name = 6;
	tap__ok(!reopen() && held(GOT) == UNKNOWN, "nor a section of another name");
}

/* Where the symbol is that is found, of 16 bytes; 0: none is. */
static uint64_t found(uint32_t table, const char *name, int type)
{
	struct elf_symbol s = {0};

	return elf_image__symbol(&image, table, name, type, &s) && s.size == 16 ? s.value : 0;
}

TEST(symbols)
{
	static const struct {
		uint32_t table;
		int type;
		const char *name;
		uint64_t want;
		const char *what;
	} rows[] = {
		{SHT_DYNSYM, STT_FUNC, "func", 0x20000, "a function"},
		{SHT_DYNSYM, STT_OBJECT, "data", BASE + 0x1700, "a variable"},
		{SHT_DYNSYM, STT_FUNC, "data", 0, "a variable is not a function"},
		{SHT_SYMTAB, STT_FUNC, "part", 0x20020, "what compilers append counts in .symtab"},
		{SHT_DYNSYM, STT_FUNC, "part", 0, "and only there"},
		{SHT_SYMTAB, STT_FUNC, "func", 0x20000, "but not the cold part of a function"},
		{SHT_DYNSYM, STT_FUNC, "twice", 0, "a name with two symbols is not found"},
		{SHT_DYNSYM, STT_FUNC, "no", 0, "one that is not there"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		tap__ok(found(rows[i].table, rows[i].name, rows[i].type) == rows[i].want, "%s",
			rows[i].what);
	((Elf64_Sym *)(file + SYMBOLS))[3].st_name = LONG - STRINGS;
	memcpy(file + LONG, "part.", 5);
	memset(file + LONG + 5, 'x', 300);
	((Elf64_Shdr *)(file + SECTIONS))[DYNSTR].sh_size = SIZE - STRINGS;
	tap__ok(!reopen() && found(SHT_SYMTAB, "func", STT_FUNC) &&
			!found(SHT_SYMTAB, "part", STT_FUNC),
		"a long name is not read to its end");
	((Elf64_Shdr *)(file + SECTIONS))[DYNSTR].sh_size = S_TWICE + 5;
	tap__ok(!reopen() && !found(SHT_SYMTAB, "func", STT_FUNC),
		"a table without an end is not searched for one");
}

TEST(bytes)
{
	tap__ok(elf_image__bytes(&image, BASE + GOT, 8) &&
			!memcmp(elf_image__bytes(&image, BASE + GOT, 8), file + GOT, 8) &&
			elf_image__bytes(&image, BASE + SIZE - 8, 8),
		"bytes of the file");
	tap__ok(!elf_image__bytes(&image, BASE + SIZE - 8, 9) &&
			!elf_image__bytes(&image, BASE + SIZE, 1) &&
			!elf_image__bytes(&image, BASE - 1, 1) &&
			!elf_image__bytes(&image, BASE + GOT, UINT64_MAX),
		"not those outside of it");
	tap__ok(elf_image__string(&image, BASE + STRINGS + S_FUNC, "func") &&
			!elf_image__string(&image, BASE + STRINGS + S_FUNC, "fun"),
		"texts");
	tap__ok(elf_image__code(&image, 0x20010) == 0xf0 && !elf_image__code(&image, 0x20100) &&
			!elf_image__code(&image, BASE),
		"code");
	tap__ok(elf_image__writable(&image, BASE + 0x17f8, 8) &&
			!elf_image__writable(&image, BASE + 0x17f8, 9) &&
			!elf_image__writable(&image, 0x20000, 8),
		"what can be written to");
}

TEST(extent)
{
	tap__ok(elf_image__extent(&image, 0x20000) == 0x20020 &&
			elf_image__extent(&image, 0x20020) == 0x20040,
		"a function ends where the next begins");
	tap__ok(!elf_image__extent(&image, 0x20040) && !elf_image__extent(&image, 0x20010) &&
			!elf_image__extent(&image, 0),
		"not known of the last one, nor elsewhere");
	tap__ok(elf_image__before(&image, 0x20020) == 0x20000 &&
			elf_image__before(&image, 0x20040) == 0x20020,
		"the function before one");
	tap__ok(!elf_image__before(&image, 0x20000) && !elf_image__before(&image, 0x20010) &&
			!elf_image__before(&image, 0),
		"there is none before the first one, nor elsewhere");
	half(FRAMES + 8, 0xffffffff);
	tap__ok(!reopen() && !elf_image__extent(&image, 0x20000) &&
			!elf_image__before(&image, 0x20020),
		"a count beyond the file");
	half(FRAMES + 8, 3);
	file[FRAMES] = 2;
	tap__ok(!reopen() && !elf_image__extent(&image, 0x20000), "another version of the table");
}

#define PHDR_MEMSZ (sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_memsz))

/* With one byte changed. */
TEST(refused)
{
	static const struct {
		size_t at;
		uint8_t to;
		int err;
		const char *what;
	} rows[] = {
		{EI_MAG1, 'x', -EBADMSG, "no ELF file"},
		{EI_DATA, ELFDATA2MSB, -ENOTSUP, "big-endian"},
		{offsetof(Elf64_Ehdr, e_machine), EM_386, -ENOTSUP, "another machine"},
		{offsetof(Elf64_Ehdr, e_type), ET_REL, -ENOTSUP, "an object file"},
		{PHDR_MEMSZ + 1, 1, -EBADMSG, "a segment with more in the file than in memory"},
		{PHDR_MEMSZ + 7, 0xff, 0, "not a large one in itself"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int err;

		file__make(ET_DYN, EM_X86_64);
		file[rows[i].at] = rows[i].to;
		err = reopen();
		tap__ok(err == rows[i].err, "refused: %s: %d", rows[i].what, err);
	}
}
