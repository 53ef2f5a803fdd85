/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "target/linux/mapped_file.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "os/proc.h"

#define IMAGE_MAX    (64ULL << 20) /* bytes of one file; libR.so has some 4 MiB */
#define CHUNK	     65536u
#define PAGE	     4096u /* the smallest there is */
#define HEADERS_MAX  64u   /* program headers */
#define DYNAMIC_MAX  1024u /* entries */
#define SYMBOLS_MAX  (1u << 20)
#define NOTES_MAX    4u
#define SECTIONS_MAX (5 + NOTES_MAX)

/* The names of the sections, one after the other. */
static const char names[] = "\0.dynsym\0.dynstr\0.rela.dyn\0.note\0.shstrtab";

enum { NAME_DYNSYM = 1, NAME_DYNSTR = 9, NAME_RELA = 17, NAME_NOTE = 27, NAME_NAMES = 33 };

/* --- the mapped parts of the file, at their offsets --- */

/* Copy what is there of @map.  A page that cannot be read stays a hole. */
static int image__copy(int fd, pid_t pid, const struct proc_map *map, char *chunk)
{
	uint64_t size = map->end - map->start;

	if (map->offset > IMAGE_MAX || size > IMAGE_MAX - map->offset)
		return -E2BIG;
	for (uint64_t at = 0; at < size;) {
		size_t len = size - at < CHUNK ? (size_t)(size - at) : CHUNK;
		int err = proc__memory(pid, map->start + at, chunk, len);

		if (err == -EFAULT && len > PAGE) {
			len = PAGE;
			err = proc__memory(pid, map->start + at, chunk, len);
		}
		if (err && err != -EFAULT)
			return err;
		if (!err && pwrite(fd, chunk, len, (off_t)(map->offset + at)) != (ssize_t)len)
			return -EIO;
		at += len;
	}
	return 0;
}

/* All mappings of the file of @of, lowest address first: code before data that was written to. */
static int image__fill(int fd, pid_t pid, const struct proc_map *of)
{
	char *chunk = malloc(CHUNK);
	FILE *in = proc__fopen(pid, "maps");
	int err = chunk && in ? 0 : chunk ? -errno : -ENOMEM;
	struct proc_map map;

	while (!err && proc_maps__next(in, &map))
		if (map.inode == of->inode && map.dev_major == of->dev_major &&
		    map.dev_minor == of->dev_minor && !strcmp(map.path, of->path))
			err = image__copy(fd, pid, &map, chunk);
	free(chunk);
	if (in)
		fclose(in);
	return err;
}

/* --- the sections --- */

struct image {
	int fd;
	uint64_t bias, size;
	Elf64_Ehdr head;
	uint32_t n; /* program headers */
	Elf64_Phdr ph[HEADERS_MAX];
	uint32_t nsections;
	Elf64_Shdr sections[SECTIONS_MAX];
};

static bool image__read(const struct image *m, uint64_t at, void *to, size_t len)
{
	return at <= m->size && len <= m->size - at &&
	       pread(m->fd, to, len, (off_t)at) == (ssize_t)len;
}

/* Where the @len bytes at @address are in the file.  False: not in it. */
static bool image__offset(const struct image *m, uint64_t address, uint64_t len, uint64_t *at)
{
	for (uint32_t i = 0; i < m->n; i++) {
		const Elf64_Phdr *p = &m->ph[i];

		if (p->p_type != PT_LOAD || address < p->p_vaddr ||
		    address - p->p_vaddr > p->p_filesz ||
		    len > p->p_filesz - (address - p->p_vaddr))
			continue;
		*at = p->p_offset + (address - p->p_vaddr);
		return true;
	}
	return false;
}

/*
 * An address of the dynamic section, to which glibc has added the bias (elf/get-dynamic-info.h),
 * and others have not.
 */
static uint64_t image__address(const struct image *m, uint64_t value)
{
	uint64_t at;

	return value >= m->bias && image__offset(m, value - m->bias, 0, &at) ? value - m->bias
									     : value;
}

/* How many symbols there are, by DT_HASH: its second number. */
static uint32_t symbols__of_hash(const struct image *m, uint64_t address)
{
	uint32_t head[2];
	uint64_t at;

	return image__offset(m, address, sizeof(head), &at) &&
			       image__read(m, at, head, sizeof(head))
		       ? head[1]
		       : 0;
}

/* The same by DT_GNU_HASH: to the end of the chain that begins last. */
static uint32_t symbols__of_gnu_hash(const struct image *m, uint64_t address)
{
	uint32_t head[4], bucket, last = 0, hash = 0; /* buckets, first symbol, bloom words */
	uint64_t at, buckets, chains;

	if (!image__offset(m, address, sizeof(head), &at) ||
	    !image__read(m, at, head, sizeof(head)) || head[0] > SYMBOLS_MAX ||
	    head[2] > SYMBOLS_MAX)
		return 0;
	buckets = at + sizeof(head) + (uint64_t)head[2] * 8;
	chains = buckets + (uint64_t)head[0] * 4;
	for (uint32_t i = 0; i < head[0]; i++) {
		if (!image__read(m, buckets + (uint64_t)i * 4, &bucket, sizeof(bucket)))
			return 0;
		last = bucket > last ? bucket : last;
	}
	if (last < head[1])
		return head[1];
	for (; !(hash & 1); last++)
		if (last > SYMBOLS_MAX ||
		    !image__read(m, chains + (uint64_t)(last - head[1]) * 4, &hash, sizeof(hash)))
			return 0;
	return last;
}

static void image__section(struct image *m, uint32_t name, uint32_t type, uint64_t address,
			   uint64_t size, uint32_t link, uint64_t entry)
{
	uint64_t at;

	if (m->nsections == SECTIONS_MAX || !size || !image__offset(m, address, size, &at))
		return;
	m->sections[m->nsections++] = (Elf64_Shdr){
		.sh_name = name,
		.sh_type = type,
		.sh_flags = SHF_ALLOC,
		.sh_addr = address,
		.sh_offset = at,
		.sh_size = size,
		.sh_link = link,
		.sh_addralign = 8,
		.sh_entsize = entry,
	};
}

/* Sections 1 and 2 are .dynsym and .dynstr; .rela.dyn may follow. */
static int image__dynamic(struct image *m, const Elf64_Phdr *p)
{
	uint64_t symbols = 0, strings = 0, size = 0, rela = 0, rela_size = 0, hash = 0, gnu = 0;
	uint32_t n;
	Elf64_Dyn d;

	for (uint32_t i = 0; i < DYNAMIC_MAX && i < p->p_filesz / sizeof(d); i++) {
		if (!image__read(m, p->p_offset + i * sizeof(d), &d, sizeof(d)))
			return -EBADMSG;
		if (d.d_tag == DT_NULL)
			break;
		if (d.d_tag == DT_SYMTAB)
			symbols = image__address(m, d.d_un.d_ptr);
		else if (d.d_tag == DT_STRTAB)
			strings = image__address(m, d.d_un.d_ptr);
		else if (d.d_tag == DT_STRSZ)
			size = d.d_un.d_val;
		else if (d.d_tag == DT_RELA)
			rela = image__address(m, d.d_un.d_ptr);
		else if (d.d_tag == DT_RELASZ)
			rela_size = d.d_un.d_val;
		else if (d.d_tag == DT_HASH)
			hash = image__address(m, d.d_un.d_ptr);
		else if (d.d_tag == DT_GNU_HASH)
			gnu = image__address(m, d.d_un.d_ptr);
	}
	n = hash ? symbols__of_hash(m, hash) : symbols__of_gnu_hash(m, gnu);
	if (!n || n > SYMBOLS_MAX)
		return -EBADMSG;
	image__section(m, NAME_DYNSYM, SHT_DYNSYM, symbols, (uint64_t)n * sizeof(Elf64_Sym), 2,
		       sizeof(Elf64_Sym));
	image__section(m, NAME_DYNSTR, SHT_STRTAB, strings, size, 0, 0);
	if (m->nsections != 3)
		return -EBADMSG;
	m->sections[1].sh_info = 1;
	image__section(m, NAME_RELA, SHT_RELA, rela, rela_size, 1, sizeof(Elf64_Rela));
	return 0;
}

/* The headers go behind all that is mapped, and the names behind them. */
static int image__write(struct image *m)
{
	uint64_t at = (m->size + 7) / 8 * 8;
	size_t len;

	m->sections[m->nsections++] = (Elf64_Shdr){
		.sh_name = NAME_NAMES,
		.sh_type = SHT_STRTAB,
		.sh_size = sizeof(names),
		.sh_addralign = 1,
	};
	len = m->nsections * sizeof(m->sections[0]);
	m->sections[m->nsections - 1].sh_offset = at + len;
	m->head.e_shoff = at;
	m->head.e_shentsize = sizeof(Elf64_Shdr);
	m->head.e_shnum = (uint16_t)m->nsections;
	m->head.e_shstrndx = (uint16_t)(m->nsections - 1);
	if (pwrite(m->fd, m->sections, len, (off_t)at) != (ssize_t)len ||
	    pwrite(m->fd, names, sizeof(names), (off_t)(at + len)) != (ssize_t)sizeof(names) ||
	    pwrite(m->fd, &m->head, sizeof(m->head), 0) != (ssize_t)sizeof(m->head))
		return -EIO;
	return 0;
}

int mapped_file__make(int fd, uint64_t bias)
{
	struct image m = {.fd = fd, .bias = bias, .nsections = 1};
	const Elf64_Phdr *dynamic = NULL;
	unsigned int notes = 0;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	m.size = (uint64_t)st.st_size;
	if (!image__read(&m, 0, &m.head, sizeof(m.head)) ||
	    memcmp(m.head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    m.head.e_ident[EI_CLASS] != ELFCLASS64 || m.head.e_phentsize != sizeof(m.ph[0]) ||
	    m.head.e_phnum > HEADERS_MAX)
		return -EBADMSG;
	m.n = m.head.e_phnum;
	if (!image__read(&m, m.head.e_phoff, m.ph, m.n * sizeof(m.ph[0])))
		return -EBADMSG;
	for (uint32_t i = 0; i < m.n; i++)
		if (m.ph[i].p_type == PT_DYNAMIC)
			dynamic = &m.ph[i];
	err = dynamic ? image__dynamic(&m, dynamic) : -EBADMSG;
	for (uint32_t i = 0; i < m.n && !err; i++)
		if (m.ph[i].p_type == PT_NOTE && notes++ < NOTES_MAX)
			image__section(&m, NAME_NOTE, SHT_NOTE, m.ph[i].p_vaddr, m.ph[i].p_filesz,
				       0, 0);
	return err ? err : image__write(&m);
}

/* What was added to the addresses of the file, by the first of its mappings; @of is of its code. */
static int image__bias(int fd, const struct proc_map *of, uint64_t *bias)
{
	Elf64_Ehdr head;
	Elf64_Phdr ph;

	if (pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return -EBADMSG;
	for (uint32_t i = 0; i < head.e_phnum && i < HEADERS_MAX; i++) {
		if (pread(fd, &ph, sizeof(ph), (off_t)(head.e_phoff + i * sizeof(ph))) !=
		    (ssize_t)sizeof(ph))
			return -EBADMSG;
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) ||
		    of->offset < (ph.p_offset & ~(uint64_t)(PAGE - 1)) ||
		    of->offset >= ph.p_offset + ph.p_filesz)
			continue;
		*bias = of->start - of->offset + ph.p_offset - ph.p_vaddr;
		return 0;
	}
	return -EBADMSG;
}

static int image__open(pid_t pid, const struct proc_map *map)
{
	int fd = memfd_create("xrprof-mapped", MFD_CLOEXEC), err;
	uint64_t bias;

	if (fd < 0)
		return -errno;
	err = image__fill(fd, pid, map);
	if (!err)
		err = image__bias(fd, map, &bias);
	if (!err)
		err = mapped_file__make(fd, bias);
	if (!err)
		return fd;
	close(fd);
	return err;
}

struct target_file mapped_file__number(const struct proc_map *map)
{
	return (struct target_file){.dev = makedev(map->dev_major, map->dev_minor),
				    .ino = map->inode};
}

int mapped_file__open(pid_t pid, const struct proc_map *map, struct target_file *which,
		      struct errmsg *f)
{
	int fd = proc_maps__open(pid, map, f), image;

	*which = mapped_file__number(map);
	if (fd >= 0)
		mapped_file__which(fd, which);
	if (fd != -EACCES)
		return fd;
	image = image__open(pid, map);
	return image < 0 ? fd : image;
}

static int64_t timespec__ns(struct timespec t)
{
	return (int64_t)t.tv_sec * (int64_t)NS_PER_S + t.tv_nsec;
}

int mapped_file__which(int fd, struct target_file *file)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -EBADMSG;
	*file = (struct target_file){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = (uint64_t)st.st_size,
		.mtime_ns = timespec__ns(st.st_mtim),
		.ctime_ns = timespec__ns(st.st_ctim),
	};
	return 0;
}
