/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The answer to ASK_MODULE. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "os/linux/proc_maps.h"
#include "os/proc.h"
#include "target/linux/hidden/debug_file.h"
#include "target/linux/mapped_file.h"
#include "target/linux/answer_file.h"
#include "native/linux/symbols.h"
#include "target/linux/unwind/table.h"
#include "target/native.h"

#define VDSO	  "[vdso]"
#define VDSO_MAX  65536u
#define HASH_PART 4096

struct module_made {
	int file; /* that it is made of, which process `pid` knows as `path`; -1: the vdso */
	pid_t pid;
	const char *path;
	struct native_module_head head;
	struct unwind_table *table;
	struct buf symbols, builtins, texts;
};

/* The mapping of @pid that begins at @at. */
static int module__mapping(pid_t pid, uint64_t at, struct proc_map *map)
{
	FILE *in = proc__fopen(pid, "maps");
	int err = -ESRCH;

	while (err && in && proc_maps__next(in, map))
		if (map->start == at && map->exec)
			err = 0;
	if (in)
		fclose(in);
	return err;
}

/* The rows of the functions of R_FunTab are marked, and their names kept. */
static int module__builtins(struct module_made *m, struct elf_image *file)
{
	struct fun_tab_entry *entries = NULL;
	int n = fun_tab__of_elf(file, &entries), err = 0;

	if (n < 0)
		return n == -ENOMEM ? n : 0;
	for (int i = 0; i < n && !err; i++) {
		const char *name = fun_tab__name(file, entries[i].name);
		uint64_t begin, end;
		uint32_t at;

		err = texts__add(&m->texts, name ? name : "", &at);
		if (!err)
			err = buf__add(&m->builtins, &at, sizeof(at));
		if (err || !m->table ||
		    !unwind_table__function(m->table, entries[i].cfun, &begin, &end) ||
		    begin != entries[i].cfun)
			continue;
		for (struct xr_unwind_row *row =
			     (struct xr_unwind_row *)unwind_table__find(m->table, begin);
		     row && row < m->table->rows + m->table->nrows &&
		     m->table->base + row->pc < end;
		     row++)
			row->back |= XR_ROW_BUILTIN;
	}
	if (!err)
		m->head.nbuiltins = (uint32_t)n;
	free(entries);
	return err;
}

/* The symbols of the debug files that belong to @elf. */
static int module__debug_files(const struct module_made *m, struct symbols *s, Elf *elf)
{
	unsigned int n = 0;
	int err = 0, fd;
	Elf *debug;

	while (!err && (debug = debug_file__next(elf, m->file, m->pid, m->path, &n, &fd))) {
		err = symbols__of_debug(s, debug);
		elf_end(debug);
		close(fd);
	}
	return err;
}

static int module__symbols(struct module_made *m, struct elf_image *file)
{
	struct symbols s = {.base = m->head.base};
	int err = symbols__of_elf(&s, file->elf);

	if (!err && m->file >= 0)
		err = module__debug_files(m, &s, file->elf);
	if (!err)
		err = symbols__of_routines(&s, file);
	if (!err)
		err = symbols__finish(&s, &m->symbols, &m->texts);
	symbols__free(&s);
	return err;
}

static void module__segments(struct module_made *m, const struct elf_image *file)
{
	struct native_module_head *h = &m->head;

	for (uint32_t i = 0; i < file->n_segments && h->nsegments < NATIVE_SEGMENTS_MAX; i++) {
		const GElf_Phdr *p = &file->segment[i];

		if (p->p_flags & PF_X)
			h->segments[h->nsegments++] =
				(struct native_segment){p->p_offset, p->p_vaddr, p->p_filesz};
	}
}

static int module__read(struct module_made *m, Elf *elf)
{
	struct elf_image file;
	int err;

	err = elf ? elf_image__open(&file, elf) : -EBADMSG;
	if (err)
		return err;
	m->head.base = m->table ? m->table->base : elf_image__base(&file);
	module__segments(m, &file);
	m->head.build_id_len = (uint32_t)debug_file__build_id(elf, m->head.build_id);
	err = module__builtins(m, &file);
	return err ? err : module__symbols(m, &file);
}

/* Add @len bytes of @fd from @offset on. */
static int hash__part(struct sha256 *s, int fd, off_t offset, size_t len)
{
	char part[HASH_PART];
	ssize_t n;

	for (size_t at = 0; at < len; at += (size_t)n) {
		n = pread(fd, part + at, len - at, offset + (off_t)at);
		if (n <= 0)
			return n ? -errno : -EIO; /* it became shorter meanwhile */
	}
	sha256__add(s, part, len);
	return 0;
}

int native__hash(int fd, uint8_t hash[NATIVE_HASH])
{
	uint8_t length[8], digest[SHA256_SIZE];
	struct stat st;
	struct sha256 s;
	size_t part;
	int err;

	if (fstat(fd, &st))
		return -errno;
	part = st.st_size < HASH_PART ? (size_t)st.st_size : HASH_PART;
	sha256__begin(&s);
	/* of a short file the two parts overlap */
	err = hash__part(&s, fd, 0, part);
	err = err ? err : hash__part(&s, fd, st.st_size - (off_t)part, part);
	if (err)
		return err;
	for (size_t i = 0; i < sizeof(length); i++)
		length[i] = (uint8_t)((uint64_t)st.st_size >> (56 - 8 * i));
	sha256__add(&s, length, sizeof(length));
	sha256__end(&s, digest);
	memcpy(hash, digest, NATIVE_HASH);
	return 0;
}

static int module__of_file(struct module_made *m)
{
	Elf *elf;
	int err = unwind_table__of_elf(&m->table, m->file, NULL);

	if (err && err != -ENOENT && err != -EBADMSG && err != -E2BIG)
		return err;
	elf = elf_begin(m->file, ELF_C_READ, NULL);
	err = module__read(m, elf);
	elf_end(elf);
	return err;
}

/* That of this very process: the kernel gives the same one to all, and it cannot be changed. */
static int module__of_vdso(struct module_made *m)
{
	/* its size is not known: sections lie behind all segments */
	const unsigned long at = getauxval(AT_SYSINFO_EHDR);
	struct proc_map map;
	Elf *elf;
	int err = at ? module__mapping(getpid(), at, &map) : -ENOENT;

	if (err || map.end - map.start > VDSO_MAX)
		return err ? err : -EBADMSG;
	err = unwind_table__of_image(&m->table, (const void *)at, map.end - map.start, NULL);
	if (err && err != -ENOENT && err != -EBADMSG)
		return err;
	elf = elf_memory((char *)at, map.end - map.start);
	err = module__read(m, elf);
	elf_end(elf);
	return err;
}

static int module__file(struct module_made *m, int *fd)
{
	struct native_module_head *h = &m->head;
	const struct unwind_table *t = m->table;
	int err = m->texts.len ? 0 : buf__add(&m->texts, "", 1);

	if (err)
		return err;
	h->magic = NATIVE_MODULE_MAGIC;
	h->nrows = t ? t->nrows : 0;
	h->nrules = t ? t->nrules : 0;
	h->nsymbols = (uint32_t)(m->symbols.len / sizeof(struct native_symbol));
	h->texts = (uint32_t)m->texts.len;
	const struct answer_part parts[] = {
		{h, sizeof(*h)},
		{t ? t->rows : NULL, h->nrows * sizeof(*t->rows)},
		{t ? t->rules : NULL, h->nrules * sizeof(*t->rules)},
		{m->symbols.data, m->symbols.len},
		{m->builtins.data, m->builtins.len},
		{m->texts.data, m->texts.len},
	};
	*fd = answer_file__make(parts, sizeof(parts) / sizeof(parts[0]));
	return *fd < 0 ? *fd : 0;
}

int native_module__make(pid_t pid, uint64_t at, const struct target_file *of, int *fd)
{
	struct proc_map map;
	struct module_made m = {.file = -1, .pid = pid, .path = map.path};
	struct target_file is = {0};
	struct errmsg why;
	int err = module__mapping(pid, at, &map);
	const bool vdso = !err && !strcmp(map.path, VDSO);

	*fd = -1;
	if (elf_version(EV_CURRENT) == EV_NONE)
		err = -ENOTSUP;
	if (!err && !vdso) {
		m.file = mapped_file__open(pid, &map, &is, &why);
		err = m.file < 0 ? m.file : 0;
	}
	/* what is found serves all processes of that file: none may give out another one for it */
	if (!err && memcmp(&is, of, sizeof(is)) != 0) /* or it was written to: that one is lost */
		err = is.size && of->size && is.dev == of->dev && is.ino == of->ino ? -EBADMSG
										    : -ESRCH;
	if (!err)
		err = vdso ? module__of_vdso(&m) : module__of_file(&m);
	if (!err && is.size && !native__hash(m.file, m.head.hash))
		m.head.hash_len = NATIVE_HASH;
	if (!err)
		err = module__file(&m, fd);
	if (m.file >= 0)
		close(m.file);
	unwind_table__free(m.table);
	buf__free(&m.symbols);
	buf__free(&m.builtins);
	buf__free(&m.texts);
	return err;
}
