/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "target/linux/core.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/rights.h"
#include "target/linux/elf.h"
#include "target/variables.h"

#define SEGMENTS_MAX 100000u
#define NOTES_MAX    (64u << 20) /* bytes of all notes; those after that are not read */
#define PAGE	     4096u

/* Memory that is in the file. */
struct core_segment {
	uint64_t start, size, offset;
};

/* Part of a file that was mapped; the path lies in the notes. */
struct core_map {
	uint64_t start, end, offset;
	const char *path;
};

struct core {
	int fd;
	Elf *elf;
	struct core_segment *segments; /* by address */
	size_t nsegments, segments_cap;
	struct core_map *maps;
	size_t nmaps, maps_cap;
	uint64_t notes; /* bytes of those read */
	uint64_t entry; /* where its program begins, AT_ENTRY */
	uint16_t machine;
	const char *libr; /* where R's file is now, if the caller named it */
	const char *program;
	struct target target;
	struct core_facts facts;
};

/* --- its memory --- */

static int segment__compare(const void *a, const void *b)
{
	const struct core_segment *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static const struct core_segment *core__segment(const struct core *c, uint64_t addr)
{
	size_t low = 0, high = c->nsegments;

	while (low < high) {
		const size_t i = low + (high - low) / 2;

		if (addr < c->segments[i].start)
			high = i;
		else if (addr - c->segments[i].start >= c->segments[i].size)
			low = i + 1;
		else
			return &c->segments[i];
	}
	return NULL;
}

static int core__read(void *core, uint64_t addr, void *to, size_t len)
{
	const struct core *c = core;
	char *at = to;

	while (len) {
		const struct core_segment *s = core__segment(c, addr);
		uint64_t skip, n;

		if (!s)
			return -EFAULT;
		skip = addr - s->start;
		n = s->size - skip < len ? s->size - skip : len;
		if (pread(c->fd, at, n, (off_t)(s->offset + skip)) != (ssize_t)n)
			return -EFAULT;
		at += n;
		addr += n;
		len -= n;
	}
	return 0;
}

struct mem_reader core__reader(struct core *c)
{
	return (struct mem_reader){.read = core__read, .arg = c};
}

/* --- its notes --- */

/* NT_FILE: count, page size, then start, end, offset of each, then their paths. */
static int core__files(struct core *c, const char *data, size_t len)
{
	uint64_t head[2], entry[3];
	const char *path, *end = data + len;
	int err = 0;

	if (len < sizeof(head))
		return 0;
	memcpy(head, data, sizeof(head));
	if (head[0] > (len - sizeof(head)) / sizeof(entry))
		return 0;
	path = data + sizeof(head) + head[0] * sizeof(entry);
	for (uint64_t i = 0; i < head[0] && path < end && !err; i++) {
		const size_t n = strnlen(path, (size_t)(end - path));

		if (path + n == end)
			break;
		memcpy(entry, data + sizeof(head) + i * sizeof(entry), sizeof(entry));
		err = array__room(&c->maps, c->nmaps, &c->maps_cap, sizeof(*c->maps));
		if (!err && head[1] && entry[2] <= UINT64_MAX / head[1])
			c->maps[c->nmaps++] =
				(struct core_map){entry[0], entry[1], entry[2] * head[1], path};
		path += n + 1;
	}
	return err;
}

static void core__auxv(struct core *c, const char *data, size_t len)
{
	Elf64_auxv_t a;

	for (size_t i = 0; i + sizeof(a) <= len; i += sizeof(a)) {
		memcpy(&a, data + i, sizeof(a));
		if (a.a_type == AT_ENTRY)
			c->entry = a.a_un.a_val;
	}
}

static int core__note(struct core *c, uint32_t type, const char *data, size_t len)
{
	struct elf_prstatus status;
	struct elf_prpsinfo info;

	switch (type) {
	case NT_FILE:
		return c->nmaps ? 0 : core__files(c, data, len);
	case NT_AUXV:
		core__auxv(c, data, len);
		break;
	case NT_PRSTATUS: /* the first is that of the thread that crashed */
		if (len >= sizeof(status) && !c->facts.tid) {
			memcpy(&status, data, sizeof(status));
			c->facts.signal = status.pr_info.si_signo;
			c->facts.pid = c->facts.tid = status.pr_pid;
		}
		break;
	case NT_PRPSINFO:
		if (len < sizeof(info))
			break;
		memcpy(&info, data, sizeof(info));
		c->facts.pid = info.pr_pid;
		memcpy(c->facts.command, info.pr_psargs, sizeof(info.pr_psargs));
		for (size_t n = strlen(c->facts.command); n && c->facts.command[n - 1] == ' ';)
			c->facts.command[--n] = '\0';
		memcpy(c->target.comm, info.pr_fname, sizeof(c->target.comm) - 1);
		break;
	}
	return 0;
}

static int core__notes(struct core *c, const GElf_Phdr *ph)
{
	Elf_Data *data;
	size_t at = 0, name, desc;
	GElf_Nhdr note;
	int err = 0;

	if (ph->p_filesz > NOTES_MAX - c->notes)
		return 0;
	c->notes += ph->p_filesz;
	data = elf_getdata_rawchunk(c->elf, (int64_t)ph->p_offset, ph->p_filesz, ELF_T_NHDR);
	while (data && !err && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0)
		err = core__note(c, note.n_type, (const char *)data->d_buf + desc, note.n_descsz);
	return err;
}

/* --- opening it --- */

/* The core file decides what @path is: a device must not be opened. */
static int path__open(const char *path)
{
	uint64_t raised = rights__raise(RIGHTS_FILES);
	int fd = proc__open_regular(path);

	rights__lower(raised);
	return fd;
}

static int core__load(struct core *c, const GElf_Phdr *ph, uint64_t file_size)
{
	struct core_segment s = {ph->p_vaddr, ph->p_filesz, ph->p_offset};
	const uint64_t there = s.offset < file_size ? file_size - s.offset : 0;
	int err;

	if (s.size > there) {
		c->facts.cut = true;
		s.size = there;
	}
	if (!s.size || s.start + s.size < s.start)
		return 0;
	err = array__room(&c->segments, c->nsegments, &c->segments_cap, sizeof(*c->segments));
	if (!err)
		c->segments[c->nsegments++] = s;
	return err;
}

static int core__headers(struct core *c, const char *path, struct errmsg *f)
{
	struct stat st;
	GElf_Ehdr head;
	GElf_Phdr ph;
	size_t n;
	int err = 0;

	if (fstat(c->fd, &st))
		return errmsg__set(f, -errno, "cannot read %s: %s", path, strerror(errno));
	elf_version(EV_CURRENT);
	c->elf = elf_begin(c->fd, ELF_C_READ, NULL);
	if (!c->elf || !gelf_getehdr(c->elf, &head) || head.e_type != ET_CORE)
		return errmsg__set(f, -EBADMSG, "%s is not a core file", path);
	if (gelf_getclass(c->elf) != ELFCLASS64 ||
	    (head.e_machine != EM_X86_64 && head.e_machine != EM_AARCH64))
		return errmsg__set(
			f, -ENOTSUP,
			"%s is of a machine that is not supported: 64-bit x86 and ARM are", path);
	c->machine = head.e_machine;
	if (elf_getphdrnum(c->elf, &n) || n > SEGMENTS_MAX)
		return errmsg__set(f, -EBADMSG, "%s is damaged: it has no list of segments", path);
	for (size_t i = 0; i < n && !err; i++) {
		if (!gelf_getphdr(c->elf, (int)i, &ph))
			continue;
		if (ph.p_type == PT_LOAD)
			err = core__load(c, &ph, (uint64_t)st.st_size);
		else if (ph.p_type == PT_NOTE)
			err = core__notes(c, &ph);
	}
	if (err)
		return errmsg__set(f, err, "%s: out of memory", path);
	if (c->nsegments)
		qsort(c->segments, c->nsegments, sizeof(*c->segments), segment__compare);
	return 0;
}

/* --- R in it --- */

/* A file that was mapped, opened. */
struct core_file {
	int fd;
	struct elf_file elf;
	uint64_t bias;
};

static void file__close(struct core_file *file)
{
	elf_file__close(&file->elf);
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/*
 * Is what @fd begins with what lies at @start in the core file?  -ENODATA: that is not in it.  The
 * build id lies there, too.  A copy of the same build may have other sections: it was stripped.
 */
static int core__same(struct core *c, int fd, uint64_t start)
{
	char have[PAGE], want[PAGE];
	const size_t at = offsetof(Elf64_Ehdr, e_shoff), last = offsetof(Elf64_Ehdr, e_shentsize);

	if (core__read(c, start, have, sizeof(have)))
		return -ENODATA;
	if (pread(fd, want, sizeof(want), 0) != sizeof(want))
		return -EBADMSG;
	memcpy(want + at, have + at, sizeof(Elf64_Off));
	memcpy(want + last, have + last, sizeof(Elf64_Ehdr) - last);
	return memcmp(have, want, sizeof(have)) ? -EBADMSG : 0;
}

/* The file that is mapped as @path, which lies at @found now; where it was loaded. */
static int core__file(struct core *c, const char *path, const char *found, struct core_file *file,
		      bool *checked, struct errmsg *f)
{
	int err = -EBADMSG, same = -ENODATA;

	file->fd = path__open(found);
	if (file->fd < 0)
		return errmsg__set(f, file->fd,
				   "cannot open %s, which ran in the core file: %s; "
				   "name a copy with --libr",
				   found, strerror(-file->fd));
	err = elf_file__open(&file->elf, file->fd, found, f);
	if (err)
		return err;
	err = -EBADMSG;
	for (size_t i = 0; i < c->nmaps; i++) {
		if (strcmp(c->maps[i].path, path))
			continue;
		if (!c->maps[i].offset)
			same = core__same(c, file->fd, c->maps[i].start);
		if (err &&
		    !elf_file__bias(&file->elf, c->maps[i].start, c->maps[i].offset, &file->bias))
			err = 0;
	}
	if (err || same == -EBADMSG)
		return errmsg__set(f, -EBADMSG,
				   "%s is not the file that ran in the core file: "
				   "name a copy of that one with --libr",
				   found);
	*checked = !same;
	return 0;
}

static const char *path__name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The path that libR.so had, or the program's; NULL: the core file names none. */
static const char *core__path(const struct core *c, bool libr)
{
	for (size_t i = 0; i < c->nmaps; i++)
		if (libr ? !strncmp(path__name(c->maps[i].path), "libR.so", 7)
			 : c->entry >= c->maps[i].start && c->entry < c->maps[i].end)
			return c->maps[i].path;
	return NULL;
}

static uint64_t core__word(struct core *c, uint64_t addr)
{
	uint64_t value;

	return addr && !core__read(c, addr, &value, sizeof(value)) ? value : 0;
}

/* The row, from R's file @r and the program @exe, which may have copies of R's variables. */
static int core__variables(struct core *c, struct core_file *r, struct core_file *exe,
			   struct errmsg *f)
{
	static const enum target_variable of[] = {TARGET_CONTEXT, TARGET_NIL, TARGET_FUN_TAB,
						  TARGET_GLOBAL_ENV, TARGET_NAMESPACES};
	enum { N = sizeof(of) / sizeof(of[0]) };
	struct target_symbol want[N], before[N];
	uint64_t at[N];

	for (int i = 0; i < N; i++)
		want[i] = before[i] = (struct target_symbol){.name = variables__name(of[i])};
	if (elf_file__symbols(&r->elf, want, N, true) < 0 || !want[0].value || !want[1].value)
		return errmsg__set(f, -ENOEXEC,
				   "no R ran in the core file: %s has none of R's "
				   "variables",
				   c->facts.path);
	if (exe && elf_file__symbols(&exe->elf, before, N, false) < 0)
		memset(before, 0, sizeof(before));
	for (int i = 0; i < N; i++) {
		at[i] = want[i].value ? want[i].value + r->bias : 0;
		if (before[i].value)
			at[i] = before[i].value + exe->bias;
	}
	c->target.row.head_at = at[0];
	c->target.row.nil = core__word(c, at[1]);
	c->target.row.fun_tab = at[2];
	c->target.row.global_env = core__word(c, at[3]);
	c->target.namespaces = core__word(c, at[4]);
	elf_file__version(&r->elf, c->target.version);
	memcpy(c->facts.version, c->target.version, sizeof(c->facts.version));
	if (!c->target.row.nil)
		return errmsg__set(f, -EBADMSG,
				   "the memory of R's variables is not in the core "
				   "file: it was cut (ulimit -c), or R had not started");
	return variables__layout(
		&c->target,
		r->elf.machine == EM_AARCH64 ? LAYOUTS_AARCH64_LINUX : LAYOUTS_X86_64_LINUX, f);
}

static int core__find(struct core *c, const char *libr, struct errmsg *f)
{
	const char *path = core__path(c, true), *program = core__path(c, false);
	struct core_file r = {.fd = -1}, exe = {.fd = -1};
	struct errmsg ignored;
	bool of_exe, have_exe;
	int err;

	if (!path)
		path = program;
	if (!path)
		return errmsg__set(f, -ENOEXEC,
				   "no R ran in the core file: it names no file that "
				   "was mapped");
	c->libr = libr;
	c->program = program;
	c->facts.mapped = path;
	snprintf(c->facts.path, sizeof(c->facts.path), "%.255s", libr ? libr : path);
	err = core__file(c, path, libr ? libr : path, &r, &c->facts.checked, f);
	have_exe = !err && program && strcmp(program, path) &&
		   !core__file(c, program, program, &exe, &of_exe, &ignored);
	if (!err)
		err = core__variables(c, &r, have_exe ? &exe : NULL, f);
	file__close(&r);
	file__close(&exe);
	return err;
}

int core__open(const char *path, const char *libr, struct core **out, struct errmsg *f)
{
	struct core *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return errmsg__set(f, -ENOMEM, "out of memory");
	c->fd = os__open(path, OS_REGULAR);
	err = c->fd < 0 ? errmsg__set(f, c->fd, "cannot open %s: %s", path, os__reason(c->fd))
			: core__headers(c, path, f);
	c->target.pid = c->facts.pid;
	if (!err)
		err = core__find(c, libr, f);
	c->facts.version_known = c->target.version_known;
	if (err) {
		core__close(c);
		return err;
	}
	*out = c;
	return 0;
}

void core__close(struct core *c)
{
	if (!c)
		return;
	elf_end(c->elf);
	if (c->fd >= 0)
		close(c->fd);
	free(c->segments);
	free(c->maps);
	free(c);
}

const struct xr_row *core__row(const struct core *c)
{
	return &c->target.row;
}

uint64_t core__namespaces(const struct core *c)
{
	return c->target.namespaces;
}

const struct core_facts *core__facts(const struct core *c)
{
	return &c->facts;
}

Elf *core__elf(const struct core *c)
{
	return c->elf;
}

uint16_t core__machine(const struct core *c)
{
	return c->machine;
}

/* --- what else was mapped --- */

const char *core__mapped(const struct core *c, uint64_t addr, uint64_t *start)
{
	for (size_t i = 0; i < c->nmaps; i++) {
		const struct core_map *m = &c->maps[i];

		if (addr < m->start || addr >= m->end)
			continue;
		*start = m->start - m->offset;
		return m->path;
	}
	return NULL;
}

bool core__is_r(const struct core *c, const char *path)
{
	return !strcmp(path, c->facts.mapped) || (c->program && !strcmp(path, c->program));
}

bool core__module(struct core *c, struct core_module *m)
{
	const struct core_map *map;
	const char *found;

	while (m->next < c->nmaps && c->maps[m->next].offset)
		m->next++;
	if (m->next >= c->nmaps)
		return false;
	map = &c->maps[m->next++];
	m->path = map->path;
	m->start = map->start;
	found = c->libr && !strcmp(map->path, c->facts.mapped) ? c->libr : map->path;
	m->fd = path__open(found);
	if (m->fd >= 0 && core__same(c, m->fd, map->start) == -EBADMSG)
		core_module__close(m);
	return true;
}

void core_module__close(struct core_module *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}
