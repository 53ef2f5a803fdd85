/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/probe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTIONS_MAX 65536u
#define SEGMENTS_MAX 4096u
#define NOTE_TYPE                                                                                  \
	3u /* of USDT: version 3,                                                                  \
	      https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation */
#define NOTE_NAME    "stapsdt"
#define NOTE_SECTION ".note.stapsdt"
#define BASE_SECTION ".stapsdt.base"

struct probe_file {
	Elf *elf;
	const struct event_name *event;
	struct probe_place *places;
	uint32_t n;
	bool beyond; /* the symbol is there, but ends before the offset */
};

/* Where in the file address @addr is; 0: nowhere.  @flags: of the segment that has it (PF_*). */
static uint64_t file__offset(const struct probe_file *pf, uint64_t addr, uint32_t flags)
{
	GElf_Phdr h;
	size_t n;

	if (elf_getphdrnum(pf->elf, &n))
		return 0;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(pf->elf, (int)i, &h) || h.p_type != PT_LOAD ||
		    (h.p_flags & flags) != flags)
			continue;
		if (addr >= h.p_vaddr && addr - h.p_vaddr < h.p_filesz &&
		    h.p_offset <= UINT64_MAX - h.p_filesz)
			return addr - h.p_vaddr + h.p_offset;
	}
	return 0;
}

static int file__add(struct probe_file *pf, uint64_t offset, uint64_t semaphore)
{
	struct probe_place *more;

	for (uint32_t i = 0; i < pf->n; i++)
		if (pf->places[i].offset == offset)
			return 0;
	if (pf->n == PROBE_PLACES_MAX)
		return -E2BIG;
	more = realloc(pf->places, (pf->n + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	pf->places = more;
	pf->places[pf->n++] = (struct probe_place){offset, semaphore};
	return 0;
}

static bool part__is(const struct event_part *part, const char *text)
{
	return text && strlen(text) == part->len && !memcmp(text, part->at, part->len);
}

static int symbol__found(struct probe_file *pf, const GElf_Sym *sym)
{
	const uint64_t off = pf->event->offset;
	uint64_t at;

	if (off && sym->st_size && off >= sym->st_size) {
		pf->beyond = true;
		return 0;
	}
	at = file__offset(pf, sym->st_value + off, PF_X);
	return at ? file__add(pf, at, 0) : 0;
}

/* The functions of that name in a table of symbols; some may be local, and have the name of others.
 */
static int symbols__look(struct probe_file *pf, Elf_Scn *scn, const GElf_Shdr *h)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = data && h->sh_entsize ? data->d_size / h->sh_entsize : 0;
	GElf_Sym sym;
	int err = 0;

	for (size_t i = 0; i < n && i < INT32_MAX && !err; i++) {
		if (!gelf_getsym(data, (int)i, &sym))
			break;
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF ||
		    !part__is(&pf->event->name, elf_strptr(pf->elf, h->sh_link, sym.st_name)))
			continue;
		err = symbol__found(pf, &sym);
	}
	return err;
}

static uint64_t word__get(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* The string at *@at, which ends before @end; NULL: it does not.  *@at is behind it. */
static const char *string__next(const char **at, const char *end)
{
	const char *s = *at, *nul = memchr(s, '\0', (size_t)(end - s));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return s;
}

/*
 * A note: the address of the place, that of the section BASE_SECTION as it was then, that of the
 * semaphore, and the names.  @base: where that section is now; prelink moves addresses.
 */
static int note__look(struct probe_file *pf, const char *at, size_t size, uint64_t base)
{
	const char *end = at + size, *text = at + 24, *provider, *name;
	uint64_t moved, place, semaphore;

	if (size < 24)
		return 0;
	provider = string__next(&text, end);
	name = provider ? string__next(&text, end) : NULL;
	if (!part__is(&pf->event->group, provider) || !part__is(&pf->event->name, name))
		return 0;
	moved = base ? base - word__get(at + 8) : 0;
	place = file__offset(pf, word__get(at) + moved, PF_X);
	semaphore = word__get(at + 16);
	if (semaphore)
		semaphore = file__offset(pf, semaphore + moved, PF_W);
	if (!place || (!semaphore && word__get(at + 16)) || semaphore > UINT32_MAX)
		return -EBADMSG;
	return file__add(pf, place, semaphore);
}

static int notes__look(struct probe_file *pf, Elf_Scn *scn, uint64_t base)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t at = 0, next, name, desc;
	GElf_Nhdr h;
	int err = 0;

	while (data && !err && (next = gelf_getnote(data, at, &h, &name, &desc))) {
		const char *bytes = data->d_buf;

		if (h.n_type == NOTE_TYPE && h.n_namesz == sizeof(NOTE_NAME) &&
		    !memcmp(bytes + name, NOTE_NAME, sizeof(NOTE_NAME)))
			err = note__look(pf, bytes + desc, h.n_descsz, base);
		at = next;
	}
	return err;
}

static const char *section__name(const struct probe_file *pf, size_t names, const GElf_Shdr *h)
{
	const char *name = elf_strptr(pf->elf, names, h->sh_name);

	return name ? name : "";
}

/* Where BASE_SECTION is; 0: there is none. */
static uint64_t file__base(const struct probe_file *pf, size_t names)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	for (size_t i = 0; i < SECTIONS_MAX && (scn = elf_nextscn(pf->elf, scn)); i++)
		if (gelf_getshdr(scn, &h) && !strcmp(section__name(pf, names, &h), BASE_SECTION))
			return h.sh_addr;
	return 0;
}

static int file__look(struct probe_file *pf)
{
	const bool usdt = pf->event->kind == EVENT_USDT;
	Elf_Scn *scn = NULL;
	GElf_Shdr h;
	size_t names;
	uint64_t base;
	int err = 0;

	if (elf_kind(pf->elf) != ELF_K_ELF || gelf_getclass(pf->elf) != ELFCLASS64 ||
	    elf_getshdrstrndx(pf->elf, &names))
		return -EBADMSG;
	base = usdt ? file__base(pf, names) : 0;
	for (size_t i = 0; i < SECTIONS_MAX && !err && (scn = elf_nextscn(pf->elf, scn)); i++) {
		if (!gelf_getshdr(scn, &h))
			continue;
		if (usdt && h.sh_type == SHT_NOTE &&
		    !strcmp(section__name(pf, names, &h), NOTE_SECTION))
			err = notes__look(pf, scn, base);
		else if (!usdt && (h.sh_type == SHT_SYMTAB || h.sh_type == SHT_DYNSYM))
			err = symbols__look(pf, scn, &h);
	}
	return err;
}

static int file__fault(const struct probe_file *pf, const char *path, int err, struct errmsg *f)
{
	const struct event_name *e = pf->event;

	switch (err) {
	case -EBADMSG:
		return errmsg__set(f, err, "--event %s: %s is not a valid ELF file", e->text, path);
	case -E2BIG:
		return errmsg__set(f, err, "--event %s: the probe is at more than %u places",
				   e->text, PROBE_PLACES_MAX);
	case -ENOENT:
		if (pf->beyond)
			return errmsg__set(f, err, "--event %s: the function is shorter than that",
					   e->text);
		if (e->kind == EVENT_USDT)
			return errmsg__set(
				f, err,
				"--event %s: no such probe in %s; `readelf -n` lists them "
				"as stapsdt",
				e->text, path);
		return errmsg__set(
			f, err,
			"--event %s: no such function in %s; `nm -D` lists the exported functions",
			e->text, path);
	default:
		return errmsg__set(f, err, "--event %s: %s: %s", e->text, path, strerror(-err));
	}
}

int probe_file__places(const char *path, const struct event_name *event, struct probe_place **out,
		       uint32_t *n, struct errmsg *f)
{
	struct probe_file pf = {.event = event};
	struct stat st;
	int err = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EBADMSG;
	if (!err && elf_version(EV_CURRENT) != EV_NONE)
		pf.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!err)
		err = pf.elf ? file__look(&pf) : -EBADMSG;
	if (!err && !pf.n)
		err = -ENOENT;
	if (pf.elf)
		elf_end(pf.elf);
	if (fd >= 0)
		close(fd);
	if (err) {
		free(pf.places);
		return file__fault(&pf, path, err, f);
	}
	*out = pf.places;
	*n = pf.n;
	return 0;
}
