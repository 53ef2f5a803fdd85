/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions and built-in probes of ELF files: sound ones, and such as somebody damaged. */
#define _GNU_SOURCE /* memfd_create */
#include <elf.h>
#include <sys/mman.h>

#include "elf_fixture.h"
#include "engine/bpf/probe_file.h"
#include "some.h"
#include "tap.h"

#define SIZE	  0x3000u
#define CODE	  0x1000u /* offset, and loaded 0x10000 above */
#define DATA	  0x2000u /* the same, loaded 0x20000 above */
#define CODE_ADDR (CODE + 0x10000u)
#define DATA_ADDR (DATA + 0x20000u)
#define SECTIONS  0x800u
#define SYMBOLS	  0x200u
#define STRINGS	  0x400u
#define NOTES	  0x500u
#define MOVED	  0x40u /* that addresses in notes are below what they are now */

struct image {
	uint8_t bytes[SIZE];
	uint32_t strings, symbols, notes;
};

static uint32_t image__string(struct image *m, const char *text)
{
	uint32_t at = m->strings;

	strcpy((char *)m->bytes + STRINGS + at, text);
	m->strings += (uint32_t)strlen(text) + 1;
	return at;
}

static void image__symbol(struct image *m, const char *name, uint64_t addr, uint64_t size,
			  unsigned char type)
{
	Elf64_Sym *sym = (Elf64_Sym *)(m->bytes + SYMBOLS);

	sym[m->symbols++] = (Elf64_Sym){
		.st_name = image__string(m, name),
		.st_info = ELF64_ST_INFO(STB_GLOBAL, type),
		.st_shndx = 1,
		.st_value = addr,
		.st_size = size,
	};
}

static void image__note(struct image *m, uint64_t addr, uint64_t semaphore, const char *provider,
			const char *name)
{
	uint64_t words[3] = {addr - MOVED, 0x900 - MOVED, semaphore ? semaphore - MOVED : 0};
	uint8_t *at = m->bytes + NOTES + m->notes;
	uint32_t size = sizeof(words) + (uint32_t)(strlen(provider) + strlen(name)) + 3;
	Elf64_Nhdr head = {.n_namesz = 8, .n_descsz = size, .n_type = 3};

	memcpy(at, &head, sizeof(head));
	memcpy(at + 12, "stapsdt", 8);
	memcpy(at + 20, words, sizeof(words));
	strcpy((char *)at + 44, provider);
	strcpy((char *)at + 45 + strlen(provider), name);
	m->notes += 20 + (size + 3) / 4 * 4;
}

static struct image *image__make(void)
{
	static struct image image;
	struct image *m = &image;
	Elf64_Ehdr *head = (Elf64_Ehdr *)m->bytes;
	Elf64_Phdr *ph = (Elf64_Phdr *)(m->bytes + sizeof(*head));
	Elf64_Shdr *sh = (Elf64_Shdr *)(m->bytes + SECTIONS);

	memset(m, 0, sizeof(*m));
	m->strings = 1;
	m->symbols = 1;
	image__symbol(m, "twice", CODE_ADDR + 0x10, 0x10, STT_FUNC);
	image__symbol(m, "other", CODE_ADDR + 0x20, 0x10, STT_FUNC);
	image__symbol(m, "twice", CODE_ADDR + 0x30, 0x10, STT_FUNC);
	image__symbol(m, "alias", CODE_ADDR + 0x20, 0, STT_FUNC);
	image__symbol(m, "alias", CODE_ADDR + 0x20, 0, STT_FUNC);
	image__symbol(m, "variable", DATA_ADDR, 8, STT_OBJECT);
	image__symbol(m, "nowhere", 0x7fffffff, 8, STT_FUNC);
	image__symbol(m, "in_data", DATA_ADDR + 8, 8, STT_FUNC);
	image__note(m, CODE_ADDR + 0x50, DATA_ADDR + 0x20, "lib", "here");
	image__note(m, CODE_ADDR + 0x60, DATA_ADDR + 0x20, "lib", "here");
	image__note(m, CODE_ADDR + 0x70, 0, "lib", "there");
	image__note(m, 0x7fffffff, 0, "lib", "nowhere");
	image__note(m, CODE_ADDR + 0x80, 0x7fffffff, "lib", "no_semaphore");

	fixture__head(head, ET_DYN, EM_X86_64, 2);
	head->e_shoff = SECTIONS;
	head->e_shnum = 6;
	head->e_shstrndx = 2;
	ph[0] = fixture__load(PF_R | PF_X, CODE, CODE_ADDR, 0x1000, 0x1000);
	ph[1] = fixture__load(PF_R | PF_W, DATA, DATA_ADDR, 0x800, 0x1000);
	sh[1] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = CODE, .sh_size = 0x1000};
	sh[3] = (Elf64_Shdr){.sh_name = image__string(m, ".symtab"),
			     .sh_type = SHT_SYMTAB,
			     .sh_offset = SYMBOLS,
			     .sh_size = m->symbols * sizeof(Elf64_Sym),
			     .sh_link = 2,
			     .sh_entsize = sizeof(Elf64_Sym)};
	sh[4] = (Elf64_Shdr){.sh_name = image__string(m, ".note.stapsdt"),
			     .sh_type = SHT_NOTE,
			     .sh_offset = NOTES,
			     .sh_size = m->notes,
			     .sh_addralign = 4};
	sh[5] = (Elf64_Shdr){.sh_name = image__string(m, ".stapsdt.base"),
			     .sh_type = SHT_PROGBITS,
			     .sh_addr = 0x900,
			     .sh_offset = 0x900,
			     .sh_size = 1};
	sh[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = STRINGS, .sh_size = m->strings};
	return m;
}

/* What is found in a file of these @size bytes. */
static int look(const void *bytes, size_t size, const char *event, struct probe_place **places,
		uint32_t *n, struct errmsg *f)
{
	int fd = memfd_create("image", MFD_CLOEXEC), err;
	struct event_name e;
	char path[64];

	*places = NULL;
	*n = 0;
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		return -EIO;
	err = event_name__parse(&e, event, f);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!err)
		err = probe_file__places(path, &e, places, n, f);
	close(fd);
	return err;
}

/* @offsets: of the places, ended by 0; of all the same semaphore. */
static void found(const struct image *m, const char *event, const uint64_t *offsets,
		  uint64_t semaphore)
{
	struct probe_place *places;
	struct errmsg f = {""};
	uint32_t n, wanted = 0;
	int err = look(m->bytes, SIZE, event, &places, &n, &f);
	bool same = true;

	for (; offsets[wanted]; wanted++)
		same = same && wanted < n && places[wanted].offset == offsets[wanted] &&
		       places[wanted].semaphore == semaphore;
	tap__ok(!err && n == wanted && same, "%s: %u places %s", event, n, f.text);
	free(places);
}

static void refused(const void *bytes, size_t size, const char *event, int wanted, const char *said)
{
	struct probe_place *places;
	struct errmsg f = {""};
	uint32_t n;
	int err = look(bytes, size, event, &places, &n, &f);

	tap__ok(err == wanted && strstr(f.text, said), "%s, %zu bytes: %s", event, size, f.text);
	free(places);
}

TEST(sound)
{
	struct image *m = image__make();

	found(m, "uprobe:/x:other", (uint64_t[]){CODE + 0x20, 0}, 0);
	found(m, "uprobe:/x:other+0xf", (uint64_t[]){CODE + 0x2f, 0}, 0);
	found(m, "uprobe:/x:alias", (uint64_t[]){CODE + 0x20, 0}, 0);
	found(m, "uprobe:/x:twice", (uint64_t[]){CODE + 0x10, CODE + 0x30, 0}, 0);
	found(m, "usdt:/x:lib:here", (uint64_t[]){CODE + 0x50, CODE + 0x60, 0}, DATA + 0x20);
	found(m, "usdt:/x:lib:there", (uint64_t[]){CODE + 0x70, 0}, 0);
	refused(m->bytes, SIZE, "uprobe:/x:other+0x10", -ENOENT, "shorter");
	refused(m->bytes, SIZE, "uprobe:/x:othe", -ENOENT, "no such function");
	refused(m->bytes, SIZE, "uprobe:/x:variable", -ENOENT, "no such function");
	refused(m->bytes, SIZE, "uprobe:/x:nowhere", -ENOENT, "no such function");
	refused(m->bytes, SIZE, "uprobe:/x:in_data", -ENOENT, "no such function");
	refused(m->bytes, SIZE, "usdt:/x:lib:her", -ENOENT, "no such probe");
	refused(m->bytes, SIZE, "usdt:/x:li:here", -ENOENT, "no such probe");
	refused(m->bytes, SIZE, "usdt:/x:lib:nowhere", -EBADMSG, "ELF");
	refused(m->bytes, SIZE, "usdt:/x:lib:no_semaphore", -EBADMSG, "ELF");
	refused(m->bytes, 0, "uprobe:/x:other", -EBADMSG, "ELF");
	refused(m->bytes, 64, "uprobe:/x:other", -ENOENT, "no such function");
	m->bytes[EI_CLASS] = ELFCLASS32;
	refused(m->bytes, SIZE, "uprobe:/x:other", -EBADMSG, "ELF");
}

/* More places than are taken. */
TEST(many)
{
	const struct image *m = image__make();
	static uint8_t file[SIZE + 0x10000];
	Elf64_Shdr *sh = (Elf64_Shdr *)(file + SECTIONS);
	Elf64_Sym *sym = (Elf64_Sym *)(file + SIZE);

	memcpy(file, m->bytes, SIZE);
	sh[3].sh_offset = SIZE;
	sh[3].sh_size = (PROBE_PLACES_MAX + 1) * sizeof(*sym);
	for (uint32_t i = 0; i <= PROBE_PLACES_MAX; i++) {
		sym[i] = ((Elf64_Sym *)(m->bytes + SYMBOLS))[1];
		sym[i].st_value = CODE_ADDR + i;
	}
	refused(file, sizeof(file), "uprobe:/x:twice", -E2BIG, "more than");
}

/* Whatever is in the file, it ends, and says something if there is nothing. */
TEST(damaged)
{
	static const char *const events[] = {"uprobe:/x:twice", "usdt:/x:lib:here"};
	static const uint64_t values[] = {0, 1, 0x7f, 0xff, UINT32_MAX, UINT64_MAX, 1ULL << 63};
	uint32_t good = 0, bad = 0;
	bool all = true;

	for (uint32_t i = 0; i < 20000; i++) {
		struct image *m = image__make();
		struct probe_place *places;
		struct errmsg f = {""};
		uint32_t n;
		int err;

		for (uint32_t changes = 1 + some(3); changes; changes--)
			memcpy(m->bytes + some(0xa00), &values[some(COUNT(values))], 1U << some(4));
		err = look(m->bytes, some(8) ? SIZE : some(SIZE), events[i % 2], &places, &n, &f);
		all = all && err <= 0 && (err ? f.text[0] && !places : n > 0);
		good += !err;
		bad += err != 0;
		free(places);
	}
	tap__ok(all && good && bad, "damaged in 20,000 ways: %u files have it, %u do not", good,
		bad);
}
