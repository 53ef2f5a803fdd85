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

static void symbol(uint32_t i, uint32_t name, int type, uint16_t section, uint64_t value)
{
	((Elf64_Sym *)(file + SYMBOLS))[i] = (Elf64_Sym){
		.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, type),
		.st_shndx = section,
		.st_value = value,
		.st_size = 16,
	};
}

static void relocation(uint32_t i, uint32_t slot, uint32_t sym, uint32_t type, int64_t addend)
{
	((Elf64_Rela *)(file + RELA))[i] = (Elf64_Rela){
		.r_offset = BASE + SLOTS + 8 * slot,
		.r_info = ELF64_R_INFO(sym, type),
		.r_addend = addend,
	};
}

static void section(uint32_t i, uint32_t name, uint32_t type, uint32_t at, uint32_t size,
		    uint32_t link, uint32_t entry)
{
	((Elf64_Shdr *)(file + SECTIONS))[i] = (Elf64_Shdr){
		.sh_name = name,
		.sh_type = type,
		.sh_addr = BASE + at,
		.sh_offset = at,
		.sh_size = size,
		.sh_link = link,
		.sh_addralign = type == SHT_STRTAB ? 1 : 8,
		.sh_entsize = entry,
	};
}

/* Names in STRINGS: by offset. */
enum { S_FUNC = 1, S_DATA = 6, S_PART = 11, S_COLD = 28, S_TWICE = 38 };

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
	symbol(1, S_FUNC, STT_FUNC, 1, 0x20000);
	symbol(2, S_DATA, STT_OBJECT, 1, BASE + 0x1700);
	symbol(3, S_PART, STT_FUNC, 1, 0x20020);
	symbol(4, S_COLD, STT_FUNC, 1, 0x20040);
	symbol(5, S_TWICE, STT_FUNC, 1, 0x20050);
	symbol(6, S_TWICE, STT_FUNC, 1, 0x20060);
	symbol(7, S_DATA, STT_FUNC, SHN_UNDEF, 0x20070);
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
	section(DYNSTR, 0, SHT_STRTAB, STRINGS, 0x80, 0, 0);
	section(DYNSYM, 0, SHT_DYNSYM, SYMBOLS, 8 * sizeof(Elf64_Sym), DYNSTR, sizeof(Elf64_Sym));
	section(SYMTAB, 0, SHT_SYMTAB, SYMBOLS, 8 * sizeof(Elf64_Sym), DYNSTR, sizeof(Elf64_Sym));
	section(RELA_DYN, 0, SHT_RELA, RELA, 6 * sizeof(Elf64_Rela), DYNSYM, sizeof(Elf64_Rela));
	section(RELR_DYN, 0, SHT_RELR, RELR, 16, 0, 8);
	section(DOT_GOT, 1, SHT_PROGBITS, GOT, 16, 0, 8);
	section(SHSTRTAB, 0, SHT_STRTAB, NAMES, 16, 0, 0);
}

static Elf *image__open(struct elf_image *image)
{
	Elf *elf = elf_memory((char *)file, SIZE);

	tap__bail_if(!elf || elf_image__open(image, elf), "the file cannot be opened");
	return elf;
}

static bool slot(struct elf_image *image, uint32_t i, uint64_t want)
{
	uint64_t value = 0;

	return elf_image__slot(image, BASE + SLOTS + 8 * i, &value) && value == want;
}

static bool no_slot(struct elf_image *image, uint32_t at)
{
	uint64_t value;

	return !elf_image__slot(image, BASE + at, &value);
}

static void test_slots(uint16_t machine, const char *name)
{
	struct elf_image image;
	Elf *elf;

	file__make(ET_DYN, machine);
	elf = image__open(&image);
	tap__ok(slot(&image, 0, BASE + 0x1700), "%s: a relative relocation", name);
	tap__ok(slot(&image, 1, BASE + 0x1700) && slot(&image, 2, BASE + 0x1708),
		"%s: those of symbols, with what is added", name);
	tap__ok(no_slot(&image, SLOTS + 24), "%s: not of another kind", name);
	tap__ok(no_slot(&image, SLOTS + 32) && no_slot(&image, SLOTS + 40),
		"%s: nor of a symbol that is not defined, or not there", name);
	tap__ok(slot(&image, 10, BASE + 0x170a) && slot(&image, 11, BASE + 0x170b) &&
			slot(&image, 13, BASE + 0x170d),
		"%s: packed relocations", name);
	tap__ok(no_slot(&image, SLOTS + 96) && no_slot(&image, SLOTS + 81) &&
			no_slot(&image, SLOTS + 80 + 64 * 8),
		"%s: not what is between or behind them", name);
	tap__ok(no_slot(&image, GOT),
		"%s: not a slot without relocation in a file that is loaded anywhere", name);
	tap__ok(no_slot(&image, SIZE), "%s: nor one in .bss", name);
	image.budget = 2;
	tap__ok(no_slot(&image, SLOTS + 80) && !image.budget,
		"%s: it gives up when it has looked at too much", name);
	elf_end(elf);
}

BEFORE()
{
	elf_version(EV_CURRENT);
}

TEST(fixed)
{
	struct elf_image image;
	uint64_t value = 0;
	Elf *elf;

	file__make(ET_EXEC, EM_X86_64);
	elf = image__open(&image);
	tap__ok(elf_image__slot(&image, BASE + GOT, &value) && value == BASE + 0x1710,
		"the .got of a program at a fixed address holds addresses");
	tap__ok(no_slot(&image, GOT + 8), "not where it is empty");
	tap__ok(no_slot(&image, GOT + 16), "nor behind it");
	elf_end(elf);
	file__make(ET_EXEC, EM_X86_64);
	((Elf64_Shdr *)(file + SECTIONS))[DOT_GOT].sh_name = 6;
	elf = image__open(&image);
	tap__ok(no_slot(&image, GOT), "nor a section of another name");
	elf_end(elf);
}

TEST(symbols)
{
	struct elf_image image;
	struct elf_symbol s = {0};
	Elf *elf;

	file__make(ET_DYN, EM_X86_64);
	elf = image__open(&image);
	tap__ok(elf_image__symbol(&image, SHT_DYNSYM, "func", STT_FUNC, &s) && s.value == 0x20000 &&
			s.size == 16,
		"a function");
	tap__ok(elf_image__symbol(&image, SHT_DYNSYM, "data", STT_OBJECT, &s) &&
			s.value == BASE + 0x1700 &&
			!elf_image__symbol(&image, SHT_DYNSYM, "data", STT_FUNC, &s),
		"a variable is not a function");
	tap__ok(elf_image__symbol(&image, SHT_SYMTAB, "part", STT_FUNC, &s) && s.value == 0x20020 &&
			!elf_image__symbol(&image, SHT_DYNSYM, "part", STT_FUNC, &s),
		"what compilers append counts in .symtab only");
	tap__ok(elf_image__symbol(&image, SHT_SYMTAB, "func", STT_FUNC, &s) && s.value == 0x20000,
		"but not the cold part of a function");
	tap__ok(!elf_image__symbol(&image, SHT_DYNSYM, "twice", STT_FUNC, &s),
		"a name with two symbols is not found");
	tap__ok(!elf_image__symbol(&image, SHT_DYNSYM, "no", STT_FUNC, &s),
		"one that is not there");
	elf_end(elf);
	symbol(3, LONG - STRINGS, STT_FUNC, 1, 0x20020);
	memcpy(file + LONG, "part.", 5);
	memset(file + LONG + 5, 'x', 300);
	((Elf64_Shdr *)(file + SECTIONS))[DYNSTR].sh_size = SIZE - STRINGS;
	elf = image__open(&image);
	tap__ok(elf_image__symbol(&image, SHT_SYMTAB, "func", STT_FUNC, &s) &&
			!elf_image__symbol(&image, SHT_SYMTAB, "part", STT_FUNC, &s),
		"a long name is not read to its end");
	elf_end(elf);
	((Elf64_Shdr *)(file + SECTIONS))[DYNSTR].sh_size = S_TWICE + 5;
	elf = image__open(&image);
	tap__ok(!elf_image__symbol(&image, SHT_SYMTAB, "func", STT_FUNC, &s),
		"a table without an end is not searched for one");
	elf_end(elf);
}

TEST(bytes)
{
	struct elf_image image;
	Elf *elf;

	file__make(ET_DYN, EM_X86_64);
	elf = image__open(&image);
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
	elf_end(elf);
}

TEST(extent)
{
	struct elf_image image;
	Elf *elf;

	file__make(ET_DYN, EM_X86_64);
	elf = image__open(&image);
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
	elf_end(elf);
	half(FRAMES + 8, 0xffffffff);
	elf = image__open(&image);
	tap__ok(!elf_image__extent(&image, 0x20000) && !elf_image__before(&image, 0x20020),
		"a count beyond the file");
	elf_end(elf);
	file[FRAMES] = 2;
	elf = image__open(&image);
	tap__ok(!elf_image__extent(&image, 0x20000), "another version of the table");
	elf_end(elf);
}

/* With one byte changed: @err. */
static void refused(uint32_t at, uint8_t to, int err, const char *name)
{
	struct elf_image image;
	Elf *elf;
	int got;

	file__make(ET_DYN, EM_X86_64);
	file[at] = to;
	elf = elf_memory((char *)file, SIZE);
	got = elf_image__open(&image, elf);
	tap__ok(got == err, "refused: %s: %d", name, got);
	elf_end(elf);
}

TEST(refused)
{
	refused(EI_MAG1, 'x', -EBADMSG, "no ELF file");
	refused(EI_DATA, ELFDATA2MSB, -ENOTSUP, "big-endian");
	refused(offsetof(Elf64_Ehdr, e_machine), EM_386, -ENOTSUP, "another machine");
	refused(offsetof(Elf64_Ehdr, e_type), ET_REL, -ENOTSUP, "an object file");
	refused(sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_memsz) + 1, 1, -EBADMSG,
		"a segment with more in the file than in memory");
	refused(sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_memsz) + 7, 0xff, 0,
		"not a large one in itself");
}

TEST(slots)
{
	test_slots(EM_X86_64, "x86_64");
	test_slots(EM_AARCH64, "aarch64");
}
