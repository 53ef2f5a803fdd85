/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sparse file of a gigabyte, whose headers claim that it is full of code, notes, symbols and
 * names.  Reading it takes no more memory than reading R's file.
 */
#define _GNU_SOURCE
#include <sys/resource.h>

#include "child.h"
#include "target/linux/elf.h"
#include "target/linux/hidden/elf_image.h"
#include "target/linux/hidden/debug_file.h"
#include "target/linux/hidden/hidden.h"

#define SIZE	 (1ULL << 30)
#define SECTIONS 200u
#define TAKEN_KB (3 * (long)(ELF_TAKEN_MAX >> 10)) /* .dynsym and .symtab, the code, the notes */

/* As large as the file can hold, from @offset on. */
static void bomb__make(int fd, uint64_t size, uint32_t flags)
{
	static const uint32_t types[] = {SHT_NOTE, SHT_SYMTAB, SHT_RELA, SHT_PROGBITS, SHT_DYNSYM};
	static struct {
		Elf64_Ehdr head;
		Elf64_Phdr code;
		Elf64_Shdr sections[SECTIONS];
	} file;

	fixture__head(&file.head, ET_EXEC, EM_X86_64, 1);
	file.head.e_shoff = offsetof(typeof(file), sections);
	file.head.e_shnum = SECTIONS;
	file.head.e_shstrndx = 1;
	file.code = fixture__load(PF_R | PF_X, 0x10000, 0x10000, size, size);
	for (uint32_t i = 1; i < SECTIONS; i++)
		file.sections[i] = (Elf64_Shdr){.sh_type = i < 3 ? SHT_STRTAB : types[i % 5],
						.sh_flags = flags,
						.sh_offset = 0x10000,
						.sh_size = size,
						.sh_link = 1 + i % 2,
						.sh_addralign = 8,
						.sh_entsize = i % 5 == 2 ? sizeof(Elf64_Rela)
									 : sizeof(Elf64_Sym)};
	tap__bail_if(ftruncate(fd, (off_t)SIZE) ||
			     pwrite(fd, &file, sizeof(file), 0) != sizeof(file),
		     "cannot write a file in memory");
}

static long peak_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static int bomb; /* the file */

/* In a separate process: does what discovery reads stay within TAKEN_KB? */
static bool look(void)
{
	struct target_symbol want = {.name = "R_GlobalContext"};
	long before = peak_kb(), grown;
	struct hidden d = {0};
	struct elf_file e;
	char path[256];
	Elf *elf;

	if (!elf_file__open(&e, bomb, "bomb", NULL)) {
		elf_file__symbols(&e, &want, 1, true);
		elf_file__close(&e);
	}
	elf = elf_begin(bomb, ELF_C_READ, NULL);
	if (elf) {
		hidden__run(elf, 312, 320, &d);
		for (unsigned int n = 0; n < 8; n++)
			debug_file__name(elf, "/lib", n, path, sizeof(path));
		debug_file__same(elf, elf);
		hidden__from_debug(elf, &d);
	}
	elf_end(elf);
	grown = peak_kb() - before;
	if (grown > TAKEN_KB)
		tap__diag("%ld KiB", grown);
	return grown <= TAKEN_KB;
}

static void test_bomb(uint64_t size, uint32_t flags, const char *what)
{
	bomb = memfd_create("bomb", MFD_CLOEXEC);
	tap__bail_if(bomb < 0, "memfd_create failed");
	bomb__make(bomb, size, flags);
	tap__ok(child__holds(look), "%s: at most %ld MiB", what, TAKEN_KB >> 10);
	close(bomb);
}

TEST(elf_image_bomb)
{
	elf_version(EV_CURRENT);
	test_bomb(SIZE - 0x10000, 0, "a gigabyte, 199 times over");
	test_bomb(ELF_TAKEN_MAX / 2, 0, "16 MiB, 199 times over");
	test_bomb(64 << 10, SHF_COMPRESSED, "marked as compressed");
}
