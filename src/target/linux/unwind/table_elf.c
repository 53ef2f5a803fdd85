/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where .eh_frame is in an ELF file. */
#include <errno.h>
#include <gelf.h>
#include <string.h>

#include "target/linux/hidden/elf_image.h"
#include "target/linux/unwind/cursor.h"
#include "target/linux/unwind/dwarf_numbers.h"
#include "target/linux/unwind/leaf.h"
#include "target/linux/unwind/table.h"

#define SECTIONS_MAX 4096u /* that are looked at */
#define PAGE	     4096u
#define LEAF_SYMBOLS 256u   /* likewise, where there is no .eh_frame, */
#define LEAF_BYTES   16384u /* and of how much code each */

/* The section that is called @wanted.  -ENOENT: there is none. */
static int elf__section(struct elf_image *file, const char *wanted, const uint8_t **bytes,
			size_t *size, uint64_t *address)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return -ENOENT;
	for (unsigned int i = 0; i < SECTIONS_MAX && (scn = elf_nextscn(file->elf, scn)); i++) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC) ||
		    shdr.sh_type == SHT_NOBITS)
			continue;
		name = elf_taken__string(&file->taken, file->elf, names, shdr.sh_name);
		if (!name || strcmp(name, wanted))
			continue;
		*bytes = elf_image__bytes(file, shdr.sh_addr, shdr.sh_size);
		*size = shdr.sh_size;
		*address = shdr.sh_addr;
		return *bytes ? 0 : -EBADMSG;
	}
	return -ENOENT;
}

/* The bytes of the segment from @address on; 0: it is in none. */
static uint64_t elf__rest(const struct elf_image *file, uint64_t address)
{
	for (uint32_t i = 0; i < file->n_segments; i++) {
		const GElf_Phdr *s = &file->segment[i];

		if (address >= s->p_vaddr && address - s->p_vaddr < s->p_filesz)
			return s->p_filesz - (address - s->p_vaddr);
	}
	return 0;
}

/* By the table for searching, which says where it begins; it ends by itself. */
static int elf__by_header(struct elf_image *file, struct cfi_input *in)
{
	const uint8_t *head = elf_image__bytes(file, file->eh_frame_hdr, 12);
	struct cursor c;
	uint8_t encoding;

	if (!file->eh_frame_hdr)
		return -ENOENT;
	if (!head || head[0] != 1)
		return -EBADMSG;
	encoding = head[1];
	c = (struct cursor){head + 4, head + 12, false};
	if (encoding == (DW_EH_PE_pcrel | DW_EH_PE_sdata4))
		in->address = file->eh_frame_hdr + 4 + (uint64_t)(int32_t)cursor__fixed(&c, 4);
	else if (encoding == (DW_EH_PE_pcrel | DW_EH_PE_udata4))
		in->address = file->eh_frame_hdr + 4 + cursor__fixed(&c, 4);
	else
		return -EBADMSG;
	in->size = elf__rest(file, in->address);
	in->bytes = elf_image__bytes(file, in->address, in->size);
	return in->bytes && in->size ? 0 : -EBADMSG;
}

/* The exported functions that have no frame. */
static void elf__leaves(struct elf_image *file, struct cfi_input *in)
{
	const uint8_t *symbols;
	uint64_t address;
	size_t size;

	in->size = 0;
	if (elf__section(file, ".dynsym", &symbols, &size, &address))
		return;
	if (size > LEAF_SYMBOLS * sizeof(Elf64_Sym))
		size = LEAF_SYMBOLS * sizeof(Elf64_Sym);
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= size && in->nleaves < CFI_LEAVES;
	     at += sizeof(Elf64_Sym)) {
		const uint8_t *code;
		Elf64_Sym s;

		memcpy(&s, symbols + at, sizeof(s));
		if (ELF64_ST_TYPE(s.st_info) != STT_FUNC || s.st_shndx == SHN_UNDEF ||
		    s.st_size > LEAF_BYTES || s.st_size > elf_image__code(file, s.st_value))
			continue;
		code = elf_image__bytes(file, s.st_value, s.st_size);
		if (code && leaf__is(code, s.st_size))
			in->leaf[in->nleaves++] =
				(struct cfi_leaf){s.st_value, s.st_value + s.st_size};
	}
}

static int elf__table(struct unwind_table **out, Elf *elf, struct errmsg *f)
{
	struct cfi_input in = {0};
	uint64_t base = UINT64_MAX;
	struct elf_image file;
	int err;

	*out = NULL;
	err = elf ? elf_image__open(&file, elf) : -EBADMSG;
	if (err)
		return errmsg__set(f, err, "not a readable ELF file");
	in.machine = file.machine;
	for (uint32_t i = 0; i < file.n_segments; i++)
		if (file.segment[i].p_vaddr < base)
			base = file.segment[i].p_vaddr;
	err = elf__section(&file, ".eh_frame", &in.bytes, &in.size, &in.address);
	if (in.machine == EM_AARCH64 &&
	    elf__section(&file, ".plt", &in.plt, &in.plt_size, &in.plt_address))
		in.plt = NULL;
	if (err)
		err = elf__by_header(&file, &in);
	if (err == -ENOENT && in.machine == EM_AARCH64)
		elf__leaves(&file, &in);
	if (in.nleaves)
		err = 0;
	if (err == -ENOENT)
		return errmsg__set(f, err, "it has no .eh_frame");
	if (!err)
		err = unwind_table__make(out, &in, base & ~(uint64_t)(PAGE - 1));
	if (err)
		return errmsg__set(f, err, "its .eh_frame cannot be used: %s", strerror(-err));
	return 0;
}

int unwind_table__of_elf(struct unwind_table **out, int fd, struct errmsg *f)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	int err = elf__table(out, elf, f);

	elf_end(elf);
	return err;
}

int unwind_table__of_image(struct unwind_table **out, const void *image, size_t size,
			   struct errmsg *f)
{
	Elf *elf = elf_memory((char *)image, size);
	int err = elf__table(out, elf, f);

	elf_end(elf);
	return err;
}
