/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "target/linux/elf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/r_version.h"

#define FILE_MAX  (1ULL << 32) /* bytes; an R with debug information has some 10 MiB */
#define TABLE_MAX (16u << 20)  /* bytes of a symbol or string table; libR.so's have 0.2 MiB */
#define PAGE	  4096u	       /* the smallest there is: the largest would reject nothing more */

/* Read exactly @len bytes at @offset. */
static bool file__read(int fd, uint64_t offset, void *to, size_t len)
{
	char *at = to;

	while (len) {
		ssize_t n = pread(fd, at, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

/* Keep the PT_LOADs in e->segment[]. */
static int elf__segments(struct elf_file *e, size_t headers)
{
	for (size_t i = 0; i < headers; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(e->elf, (int)i, &ph))
			return -EBADMSG;
		if (ph.p_type != PT_LOAD)
			continue;
		if (e->segments == TARGET_ELF_SEGMENTS || ph.p_filesz > ph.p_memsz ||
		    ph.p_offset > e->size || ph.p_filesz > e->size - ph.p_offset ||
		    ph.p_vaddr > INT64_MAX || ph.p_memsz > INT64_MAX - ph.p_vaddr)
			return -EBADMSG;
		e->segment[e->segments++] = ph;
	}
	return e->segments ? 0 : -EBADMSG;
}

int elf_file__open(struct elf_file *e, int fd, const char *name, struct errmsg *f)
{
	Elf64_Ehdr head;
	struct stat st;
	int err;

	memset(e, 0, sizeof(*e));
	e->fd = fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return errmsg__set(f, -EBADMSG, "%s is not a regular file", name);
	e->size = (uint64_t)st.st_size;
	if (e->size < sizeof(head) || e->size > FILE_MAX ||
	    !file__read(fd, 0, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG))
		return errmsg__set(f, -EBADMSG, "%s is not an ELF file, or is damaged", name);
	if (head.e_ident[EI_CLASS] != ELFCLASS64)
		return errmsg__set(f, -ENOTSUP,
				   "%s is a 32-bit program: only 64-bit R can be profiled", name);
	if (head.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (head.e_machine != EM_X86_64 && head.e_machine != EM_AARCH64))
		return errmsg__set(f, -ENOTSUP,
				   "%s is for an unsupported machine (ELF machine %u): only x86_64 "
				   "and aarch64 are supported",
				   name, head.e_machine);
	/* extended numbering is for object files of 65,280 sections, and a way to ask for memory */
	if ((head.e_type != ET_DYN && head.e_type != ET_EXEC) ||
	    head.e_phentsize != sizeof(Elf64_Phdr) || !head.e_phnum || head.e_phnum == PN_XNUM ||
	    (head.e_shoff && (!head.e_shnum || head.e_shentsize != sizeof(Elf64_Shdr))))
		goto damaged;
	e->machine = head.e_machine;
	elf_version(EV_CURRENT);
	e->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!e->elf || elf_kind(e->elf) != ELF_K_ELF)
		goto damaged;
	err = elf__segments(e, head.e_phnum);
	if (err)
		goto damaged;
	return 0;
damaged:
	elf_file__close(e);
	return errmsg__set(f, -EBADMSG, "%s is damaged: its ELF headers do not fit the file", name);
}

void elf_file__close(struct elf_file *e)
{
	if (e->elf)
		elf_end(e->elf);
	e->elf = NULL;
}

static bool elf__writable(const struct elf_file *e, uint64_t addr, uint64_t len)
{
	for (uint32_t i = 0; i < e->segments; i++) {
		const GElf_Phdr *ph = &e->segment[i];

		if ((ph->p_flags & PF_W) && addr >= ph->p_vaddr && len <= ph->p_memsz &&
		    addr - ph->p_vaddr <= ph->p_memsz - len)
			return true;
	}
	return false;
}

/* What is missing of @want, from the symbol table in section @scn. */
static int elf__table(struct elf_file *e, Elf_Scn *scn, const GElf_Shdr *sh,
		      struct target_symbol *want, size_t n)
{
	Elf_Data *symbols, *strings;
	Elf_Scn *names = elf_getscn(e->elf, sh->sh_link);
	GElf_Shdr names_sh;
	size_t count;

	if (!names || !gelf_getshdr(names, &names_sh) || names_sh.sh_type != SHT_STRTAB ||
	    names_sh.sh_size > e->size || sh->sh_size > e->size ||
	    sh->sh_entsize != sizeof(Elf64_Sym) ||
	    ((sh->sh_flags | names_sh.sh_flags) & SHF_COMPRESSED))
		return -EBADMSG;
	/* not R's; and it would all be kept in memory */
	if (names_sh.sh_size > TABLE_MAX || sh->sh_size > TABLE_MAX)
		return 0;
	symbols = elf_getdata(scn, NULL);
	strings = elf_getdata(names, NULL);
	if (!symbols || !strings || !symbols->d_buf || !strings->d_buf)
		return -EBADMSG;
	count = symbols->d_size / sizeof(Elf64_Sym);
	for (size_t i = 0; i < count; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(symbols, (int)i, &sym))
			return -EBADMSG;
		if (sym.st_shndx == SHN_UNDEF || GELF_ST_TYPE(sym.st_info) != STT_OBJECT ||
		    sym.st_name >= strings->d_size)
			continue;
		name = (const char *)strings->d_buf + sym.st_name;
		for (size_t w = 0; w < n; w++) {
			size_t len = strlen(want[w].name) + 1;

			if (want[w].value || len > strings->d_size - sym.st_name ||
			    memcmp(name, want[w].name, len) || !elf__writable(e, sym.st_value, 8) ||
			    !sym.st_value)
				continue;
			want[w].value = sym.st_value;
			want[w].size = sym.st_size;
		}
	}
	return 0;
}

int elf_file__symbols(struct elf_file *e, struct target_symbol *want, size_t n, bool all)
{
	static const GElf_Word kinds[] = {SHT_DYNSYM, SHT_SYMTAB};
	int found = 0;

	for (size_t k = 0; k < (all ? 2 : 1); k++) {
		Elf_Scn *scn = NULL;

		while ((scn = elf_nextscn(e->elf, scn))) {
			GElf_Shdr sh;
			int err;

			if (!gelf_getshdr(scn, &sh))
				return -EBADMSG;
			if (sh.sh_type != kinds[k])
				continue;
			err = elf__table(e, scn, &sh, want, n);
			if (err)
				return err;
			break; /* there is one of a kind (System V ABI, sections) */
		}
	}
	for (size_t w = 0; w < n; w++)
		found += want[w].value != 0;
	return found;
}

int elf_file__bias(const struct elf_file *e, uint64_t start, uint64_t offset, uint64_t *bias)
{
	for (uint32_t i = 0; i < e->segments; i++) {
		const GElf_Phdr *ph = &e->segment[i];
		uint64_t from = ph->p_offset & ~(uint64_t)(PAGE - 1);

		if (!(ph->p_flags & PF_X) || offset < from || offset >= ph->p_offset + ph->p_filesz)
			continue;
		*bias = start - offset + ph->p_offset - ph->p_vaddr;
		return *bias % PAGE ? -EBADMSG : 0;
	}
	return -EBADMSG;
}

static int elf__read(void *elf, uint64_t offset, void *to, size_t len)
{
	return file__read(((const struct elf_file *)elf)->fd, offset, to, len) ? 0 : -EFAULT;
}

int elf_file__version(const struct elf_file *e, char version[16])
{
	const struct mem_reader file = {.read = elf__read, .arg = (void *)e};
	int err = -ENOENT;

	version[0] = '\0';
	for (uint32_t i = 0; err == -ENOENT && i < e->segments; i++)
		if (!(e->segment[i].p_flags & PF_W))
			err = r_version__scan(&file, e->segment[i].p_offset, e->segment[i].p_filesz,
					      r_version__parse, version);
	return err;
}
