/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/hidden/elf_image.h"

#include <errno.h>
#include <string.h>

/*
 * Symbols and relocations looked at in one file, together. libR.so has some 3,500 symbols and
 * 3,300 relocations, and one run asks about a hundred times.
 */
#define LOOK_BUDGET  50000000u
#define SECTIONS_MAX 65536u /* whose names are looked at */
#define STRING_MAX   256u   /* bytes of a name; R's are shorter */
#define PAGE	     4096u

#ifndef SHT_RELR
#define SHT_RELR 19
#endif
#ifndef R_AARCH64_ABS64
#define R_AARCH64_ABS64 257
#endif

Elf_Data *elf_taken__section(struct elf_taken *taken, Elf_Scn *scn)
{
	GElf_Shdr header;
	Elf_Data *data;
	uint32_t i = 0;

	if (!gelf_getshdr(scn, &header) || header.sh_flags & SHF_COMPRESSED ||
	    header.sh_type == SHT_NOBITS)
		return NULL;
	while (i < taken->count && taken->section[i] != elf_ndxscn(scn))
		i++;
	if (i == taken->count) {
		if (taken->count == ELF_TAKEN_SECTIONS ||
		    header.sh_size > ELF_TAKEN_MAX - taken->bytes)
			return NULL;
		taken->section[taken->count++] = elf_ndxscn(scn);
		taken->bytes += header.sh_size;
	}
	data = elf_getdata(scn, NULL);
	return data && data->d_buf ? data : NULL;
}

/*
 * The string at @at of the table in section @number, as elf_taken__section.  A table ends with a
 * terminator: if not, elf_strptr() would search all of it for one, for each symbol.
 */
static const char *elf_taken__string(struct elf_taken *taken, Elf *elf, size_t number, size_t at)
{
	Elf_Scn *scn = elf_getscn(elf, number);
	const Elf_Data *data = scn ? elf_taken__section(taken, scn) : NULL;
	const char *text;

	if (!data || !data->d_size || ((const char *)data->d_buf)[data->d_size - 1])
		return NULL;
	text = elf_strptr(elf, number, at);
	return text && strnlen(text, STRING_MAX) < STRING_MAX ? text : NULL;
}

Elf_Data *elf_taken__named(struct elf_taken *taken, Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	for (unsigned int i = 0; i < SECTIONS_MAX && (scn = elf_nextscn(elf, scn)); i++) {
		const char *have = gelf_getshdr(scn, header)
					   ? elf_taken__string(taken, elf, names, header->sh_name)
					   : NULL;

		if (have && !strcmp(have, name))
			return elf_taken__section(taken, scn);
	}
	return NULL;
}

int elf_image__open(struct elf_image *file, Elf *elf)
{
	size_t n_headers = 0;
	GElf_Ehdr header;
	Elf_Data *data;

	memset(file, 0, sizeof(*file));
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		return -EBADMSG;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOTSUP;
	if (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)
		return -ENOTSUP;
	if (header.e_type != ET_DYN && header.e_type != ET_EXEC)
		return -ENOTSUP;
	file->elf = elf;
	file->machine = header.e_machine;
	file->type = header.e_type;
	file->budget = LOOK_BUDGET;
	if (elf_getphdrnum(elf, &n_headers))
		return -EBADMSG;
	for (size_t i = 0; i < n_headers && i < 1024 && file->n_segments < DERIVE_SEGMENTS; i++) {
		GElf_Phdr *p = &file->segment[file->n_segments];

		if (!gelf_getphdr(elf, (int)i, p))
			return -EBADMSG;
		if (p->p_type == PT_GNU_EH_FRAME)
			file->eh_frame_hdr = p->p_vaddr;
		if (p->p_type != PT_LOAD || !p->p_memsz)
			continue;
		if (p->p_vaddr + p->p_memsz < p->p_vaddr || p->p_filesz > p->p_memsz)
			return -EBADMSG;
		/*
		 * Not elf_rawfile(): with that, libelf forgets to free the sections it has read. A
		 * debug file keeps the program headers, but not all contents.
		 */
		data = NULL;
		if (p->p_filesz && p->p_filesz <= ELF_TAKEN_MAX - file->taken.bytes &&
		    p->p_offset <= INT64_MAX) {
			file->taken.bytes += p->p_filesz;
			data = elf_getdata_rawchunk(elf, (int64_t)p->p_offset, p->p_filesz,
						    ELF_T_BYTE);
		}
		if (!data || !data->d_buf || data->d_size < p->p_filesz)
			p->p_filesz = 0;
		else
			file->contents[file->n_segments] = data->d_buf;
		file->n_segments++;
	}
	return 0;
}

uint64_t elf_image__base(const struct elf_image *file)
{
	uint64_t base = UINT64_MAX;

	for (uint32_t i = 0; i < file->n_segments; i++)
		if (file->segment[i].p_vaddr < base)
			base = file->segment[i].p_vaddr;
	return base & ~(uint64_t)(PAGE - 1);
}

static const GElf_Phdr *elf_image__segment(const struct elf_image *file, uint64_t address)
{
	for (uint32_t i = 0; i < file->n_segments; i++) {
		const GElf_Phdr *p = &file->segment[i];

		if (address >= p->p_vaddr && address - p->p_vaddr < p->p_memsz)
			return p;
	}
	return NULL;
}

const uint8_t *elf_image__bytes(const struct elf_image *file, uint64_t address, uint64_t size)
{
	const GElf_Phdr *p = elf_image__segment(file, address);
	uint64_t at;

	if (!p)
		return NULL;
	at = address - p->p_vaddr;
	if (at >= p->p_filesz || size > p->p_filesz - at)
		return NULL;
	return file->contents[p - file->segment] + at;
}

uint64_t elf_image__code(const struct elf_image *file, uint64_t address)
{
	const GElf_Phdr *p = elf_image__segment(file, address);

	if (!p || !(p->p_flags & PF_X) || address - p->p_vaddr >= p->p_filesz)
		return 0;
	return p->p_filesz - (address - p->p_vaddr);
}

bool elf_image__writable(const struct elf_image *file, uint64_t address, uint64_t size)
{
	const GElf_Phdr *p = elf_image__segment(file, address);

	return p && p->p_flags & PF_W && !(p->p_flags & PF_X) &&
	       size <= p->p_memsz - (address - p->p_vaddr);
}

bool elf_image__string(const struct elf_image *file, uint64_t address, const char *text)
{
	size_t size = strlen(text) + 1;
	const uint8_t *bytes = elf_image__bytes(file, address, size);

	return bytes && !memcmp(bytes, text, size);
}

static bool elf_image__spend(struct elf_image *file)
{
	if (!file->budget)
		return false;
	file->budget--;
	return true;
}

Elf_Scn *elf_image__section(struct elf_image *file, Elf_Scn *from, uint32_t type, GElf_Shdr *header,
			    Elf_Data **data)
{
	Elf_Scn *section = from;

	while ((section = elf_nextscn(file->elf, section)) && elf_image__spend(file)) {
		if (!gelf_getshdr(section, header) || header->sh_type != type)
			continue;
		if (!data)
			return section;
		*data = elf_taken__section(&file->taken, section);
		if (*data)
			return section;
	}
	return NULL;
}

static bool name__matches(const char *have, const char *want, uint32_t section)
{
	size_t n = strlen(want);

	if (strncmp(have, want, n))
		return false;
	if (!have[n])
		return true;
	/* parts that the compiler moved out of line are not the function */
	return section == SHT_SYMTAB && have[n] == '.' && !strstr(have + n, ".cold");
}

bool elf_image__symbol(struct elf_image *file, uint32_t section, const char *name, int type,
		       struct elf_symbol *symbol)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	bool found = false;

	while ((scn = elf_image__section(file, scn, section, &header, &data))) {
		size_t n = data->d_size / sizeof(Elf64_Sym);

		for (size_t i = 0; i < n && i < INT32_MAX && elf_image__spend(file); i++) {
			const char *have;
			GElf_Sym s;

			if (!gelf_getsym(data, (int)i, &s) || s.st_shndx == SHN_UNDEF ||
			    !s.st_value || GELF_ST_TYPE(s.st_info) != type)
				continue;
			have = elf_taken__string(&file->taken, file->elf, header.sh_link,
						 s.st_name);
			if (!have || !name__matches(have, name, section))
				continue;
			if (found && s.st_value != symbol->value)
				return false;
			found = true;
			symbol->value = s.st_value;
			symbol->size = s.st_size;
		}
	}
	return found;
}

bool elf_image__relocated(struct elf_image *file, const GElf_Rela *r, uint32_t link,
			  uint64_t *value)
{
	bool x86 = file->machine == EM_X86_64;
	uint32_t type = GELF_R_TYPE(r->r_info);
	Elf_Scn *scn;
	Elf_Data *data;
	GElf_Sym s;

	if (type == (x86 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE)) {
		*value = (uint64_t)r->r_addend;
		return true;
	}
	if (type != (x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT) &&
	    type != (x86 ? R_X86_64_64 : R_AARCH64_ABS64))
		return false;
	scn = elf_getscn(file->elf, link);
	data = scn ? elf_taken__section(&file->taken, scn) : NULL;
	if (!data || GELF_R_SYM(r->r_info) > INT32_MAX ||
	    !gelf_getsym(data, (int)GELF_R_SYM(r->r_info), &s) || s.st_shndx == SHN_UNDEF ||
	    !s.st_value)
		return false;
	*value = s.st_value + (uint64_t)r->r_addend;
	return true;
}

/* Is @address among the packed relative relocations of @data (the format of SHT_RELR)? */
static bool elf_image__packed(struct elf_image *file, const Elf_Data *data, uint64_t address)
{
	const uint8_t *at = data->d_buf;
	uint64_t base = 0;

	for (size_t i = 0; i + 8 <= data->d_size && elf_image__spend(file); i += 8) {
		uint64_t entry;

		memcpy(&entry, at + i, sizeof(entry));
		if (!(entry & 1)) {
			if (entry == address)
				return true;
			base = entry + 8;
			continue;
		}
		if (address >= base && address - base < UINT64_C(63) * 8 &&
		    !((address - base) & 7) && entry >> (1 + (address - base) / 8) & 1)
			return true;
		base += UINT64_C(63) * 8;
	}
	return false;
}

/* Is @address in the .got of a program at a fixed address, which has no relocations? */
static bool elf_image__fixed_got(struct elf_image *file, uint64_t address)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t names;

	if (file->type != ET_EXEC || elf_getshdrstrndx(file->elf, &names))
		return false;
	while ((scn = elf_image__section(file, scn, SHT_PROGBITS, &header, NULL))) {
		const char *name =
			elf_taken__string(&file->taken, file->elf, names, header.sh_name);

		if (name && !strcmp(name, ".got") && address >= header.sh_addr &&
		    address - header.sh_addr < header.sh_size)
			return true;
	}
	return false;
}

bool elf_image__slot(struct elf_image *file, uint64_t address, uint64_t *value)
{
	const uint8_t *bytes = elf_image__bytes(file, address, 8);
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	Elf_Data *data;

	/* the slots have contents in the file; the variables looked for are in .bss */
	if (!bytes)
		return false;
	while ((scn = elf_image__section(file, scn, SHT_RELA, &header, &data))) {
		size_t n = data->d_size / sizeof(Elf64_Rela);

		for (size_t i = 0; i < n && i < INT32_MAX && elf_image__spend(file); i++) {
			GElf_Rela r;

			if (gelf_getrela(data, (int)i, &r) && r.r_offset == address)
				return elf_image__relocated(file, &r, header.sh_link, value);
		}
	}
	while ((scn = elf_image__section(file, scn, SHT_RELR, &header, &data))) {
		if (elf_image__packed(file, data, address)) {
			memcpy(value, bytes, sizeof(*value));
			return true;
		}
	}
	if (!elf_image__fixed_got(file, address))
		return false;
	memcpy(value, bytes, sizeof(*value));
	return *value != 0;
}

/*
 * Layout of .eh_frame_hdr (Linux Standard Base, "Exception Frame Header"): version 1, three
 * encodings, the encoded address of .eh_frame, the count, then pairs of signed 32-bit offsets
 * from the header's own address, sorted by function. Other encodings are not used by GNU ld,
 * gold or lld for 64-bit files.
 */
struct elf_functions {
	const uint8_t *table; /* in the file, which need not be aligned */
	uint64_t base;
	uint64_t count;
};

static bool elf_image__functions(const struct elf_image *file, struct elf_functions *f)
{
	const uint8_t *head = elf_image__bytes(file, file->eh_frame_hdr, 12);
	uint32_t count;

	if (!file->eh_frame_hdr || !head || head[0] != 1 || head[1] != 0x1b || head[2] != 0x03 ||
	    head[3] != 0x3b)
		return false;
	memcpy(&count, head + 8, sizeof(count));
	f->table = elf_image__bytes(file, file->eh_frame_hdr + 12, (uint64_t)count * 8);
	f->base = file->eh_frame_hdr;
	f->count = count;
	return f->table;
}

static uint64_t elf_functions__begin(const struct elf_functions *f, uint64_t n)
{
	int32_t begin;

	memcpy(&begin, f->table + n * 8, sizeof(begin));
	return f->base + (uint64_t)(int64_t)begin;
}

bool elf_image__function(const struct elf_image *file, uint64_t n, uint64_t *begin, uint64_t *entry)
{
	struct elf_functions f;
	int32_t at;

	if (!elf_image__functions(file, &f) || n >= f.count)
		return false;
	memcpy(&at, f.table + n * 8 + 4, sizeof(at));
	*begin = elf_functions__begin(&f, n);
	*entry = f.base + (uint64_t)(int64_t)at;
	return true;
}

/* Which function begins at @address? f->count: none. */
static uint64_t elf_functions__number(const struct elf_functions *f, uint64_t address)
{
	uint64_t low = 0, high = f->count;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		uint64_t begin = elf_functions__begin(f, middle);

		if (begin == address)
			return middle;
		if (begin < address)
			low = middle + 1;
		else
			high = middle;
	}
	return f->count;
}

uint64_t elf_image__extent(const struct elf_image *file, uint64_t address)
{
	struct elf_functions f;
	uint64_t n, end;

	if (!elf_image__functions(file, &f))
		return 0;
	n = elf_functions__number(&f, address);
	if (n + 1 >= f.count)
		return 0;
	end = elf_functions__begin(&f, n + 1);
	return end > address ? end : 0;
}

uint64_t elf_image__before(const struct elf_image *file, uint64_t address)
{
	struct elf_functions f;
	uint64_t n, begin;

	if (!elf_image__functions(file, &f))
		return 0;
	n = elf_functions__number(&f, address);
	if (!n || n == f.count)
		return 0;
	begin = elf_functions__begin(&f, n - 1);
	return begin < address ? begin : 0;
}
