/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "native/linux/symbols.h"

#include <errno.h>
#include <gelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "target/linux/answer_file.h"

#define SECTIONS_MAX	4096u
#define DEBUG_DATA_MAX	(32u << 20) /* bytes of .gnu_debugdata, unpacked */
#define DEBUG_DATA_WORK (64u << 20) /* for unpacking it */

static int symbols__add(struct symbols *s, uint64_t address, uint64_t size,
			enum symbol_source source, uint8_t binding, const char *name)
{
	struct symbol one = {.source = (uint8_t)source, .binding = binding};
	int err;

	if (!*name || address < s->base || address - s->base > UINT32_MAX)
		return 0;
	if (s->count == SYMBOLS_MAX || s->texts.len + strlen(name) > SYMBOLS_TEXTS_MAX) {
		s->left_out++;
		return 0;
	}
	one.pc = (uint32_t)(address - s->base);
	one.size = size < UINT32_MAX - one.pc ? (uint32_t)size : 0;
	err = texts__add(&s->texts, name, &one.name);
	if (!err)
		err = array__room(&s->symbols, s->count, &s->cap, sizeof(*s->symbols));
	if (!err)
		s->symbols[s->count++] = one;
	return err;
}

int symbols__add_routine(struct symbols *s, uint64_t address, const char *name)
{
	return symbols__add(s, address, 0, SYMBOL_ROUTINE, 0, name);
}

static int symbols__add_elf(struct symbols *s, Elf_Data *data, Elf_Data *strings,
			    enum symbol_source source)
{
	int err = 0;

	for (size_t i = 0; i < data->d_size / sizeof(Elf64_Sym) && i < INT32_MAX && !err; i++) {
		const char *name;
		GElf_Sym sym;
		int binding;

		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF ||
		    (GELF_ST_TYPE(sym.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(sym.st_info) != STT_GNU_IFUNC) ||
		    sym.st_name >= strings->d_size)
			continue;
		name = (const char *)strings->d_buf + sym.st_name;
		if (!memchr(name, '\0', strings->d_size - sym.st_name))
			continue;
		binding = GELF_ST_BIND(sym.st_info);
		err = symbols__add(s, sym.st_value, sym.st_size, source,
				   binding == STB_GLOBAL ? 0
				   : binding == STB_WEAK ? 1
							 : 2,
				   name);
	}
	return err;
}

/* The symbols of all tables of @type. */
static int symbols__of_tables(struct symbols *s, Elf *elf, uint32_t type, enum symbol_source source)
{
	struct elf_taken taken = {0};
	Elf_Scn *scn = NULL;
	int err = 0;

	for (unsigned int i = 0; i < SECTIONS_MAX && !err && (scn = elf_nextscn(elf, scn)); i++) {
		Elf_Data *data, *strings = NULL;
		Elf_Scn *names;
		GElf_Shdr shdr;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != type)
			continue;
		names = elf_getscn(elf, shdr.sh_link);
		data = elf_taken__section(&taken, scn);
		strings = names ? elf_taken__section(&taken, names) : NULL;
		if (data && strings)
			err = symbols__add_elf(s, data, strings, source);
	}
	return err;
}

/* A small ELF file, packed, with the symbols that .dynsym does not have. */
static int symbols__of_packed(struct symbols *s, const Elf_Data *packed)
{
	uint64_t memory = DEBUG_DATA_WORK;
	size_t in = 0, out = 0;
	uint8_t *bytes = malloc(DEBUG_DATA_MAX);
	Elf *elf;
	int err = 0;

	if (!bytes)
		return -ENOMEM;
	if (lzma_stream_buffer_decode(&memory, 0, NULL, packed->d_buf, &in, packed->d_size, bytes,
				      &out, DEBUG_DATA_MAX) != LZMA_OK)
		goto cleanup;
	elf = elf_memory((char *)bytes, out);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		err = symbols__of_tables(s, elf, SHT_SYMTAB, SYMBOL_DEBUG_DATA);
	elf_end(elf);
cleanup:
	free(bytes);
	return err;
}

int symbols__of_debug(struct symbols *s, Elf *debug)
{
	return symbols__of_tables(s, debug, SHT_SYMTAB, SYMBOL_TABLE);
}

int symbols__of_elf(struct symbols *s, Elf *elf)
{
	struct elf_taken taken = {0};
	const Elf_Data *packed;
	GElf_Shdr header;
	int err = symbols__of_tables(s, elf, SHT_SYMTAB, SYMBOL_TABLE);

	packed = elf_taken__named(&taken, elf, ".gnu_debugdata", &header);
	if (!err && packed)
		err = symbols__of_packed(s, packed);
	return err ? err : symbols__of_tables(s, elf, SHT_DYNSYM, SYMBOL_DYNAMIC);
}

/*
 * Of libiberty (demangle.h), whose header wants more of a program than these.  Its recursion is
 * limited without DMGL_NO_RECURSE_LIMIT.
 */
extern char *cplus_demangle_v3(const char *mangled, int options);
extern char *rust_demangle(const char *mangled, int options);

/* gfortran: `__module_MOD_procedure` (gcc/fortran/trans-decl.cc, gfc_sym_mangled_function_id). */
static int fortran__add(struct buf *out, const char *name)
{
	const char *mod = strstr(name, "_MOD_");

	if (strncmp(name, "__", 2) || !mod || mod == name + 2 || !mod[5])
		return -EINVAL;
	return buf__printf(out, "%.*s::%s", (int)(mod - name - 2), name + 2, mod + 5);
}

int demangle__add(struct buf *out, const char *name)
{
	char *made = NULL;
	int err;

	if (strlen(name) >= DEMANGLE_MAX)
		return buf__str(out, name);
	if (name[0] == '_' && (name[1] == 'R' || name[1] == 'Z'))
		made = rust_demangle(name, 0);
	if (!made && name[0] == '_' && name[1] == 'Z')
		made = cplus_demangle_v3(name, 0);
	if (made) {
		const size_t len = strnlen(made, DEMANGLE_MAX);

		err = buf__add(out, made, len);
		if (!err && len == DEMANGLE_MAX)
			err = buf__str(out, "...");
		free(made);
		return err;
	}
	err = fortran__add(out, name);
	return err == -EINVAL ? buf__str(out, name) : err;
}

/* The better of two names of one function comes first; at last anything that is always the same. */
static int symbol__compare(const void *a, const void *b, void *texts)
{
	const struct symbol *p = a, *q = b;
	const char *s = (const char *)texts + p->name, *t = (const char *)texts + q->name;

	if (p->pc != q->pc)
		return p->pc < q->pc ? -1 : 1;
	if (p->source != q->source)
		return p->source < q->source ? -1 : 1;
	if (p->binding != q->binding)
		return p->binding < q->binding ? -1 : 1;
	if ((*s == '_') != (*t == '_'))
		return *s == '_' ? 1 : -1;
	if (strlen(s) != strlen(t))
		return strlen(s) < strlen(t) ? -1 : 1;
	return strcmp(s, t);
}

/* .symtab has the version of what is exported behind its name: exp@@GLIBC_2.29. */
static void symbol__unversion(char *name)
{
	char *at = strchr(name, '@');

	if (at && at != name)
		*at = '\0';
}

int symbols__finish(struct symbols *s, struct buf *out, struct buf *texts)
{
	int err = 0;

	if (s->count)
		qsort_r(s->symbols, s->count, sizeof(*s->symbols), symbol__compare, s->texts.data);
	for (size_t i = 0; i < s->count && !err; i++) {
		struct native_symbol symbol = {.pc = s->symbols[i].pc, .size = s->symbols[i].size};

		if (i && s->symbols[i - 1].pc == s->symbols[i].pc)
			continue;
		if (texts->len > SYMBOLS_TEXTS_MAX) {
			s->left_out++;
			continue;
		}
		symbol.name = (uint32_t)texts->len;
		symbol__unversion(s->texts.data + s->symbols[i].name);
		err = demangle__add(texts, s->texts.data + s->symbols[i].name);
		if (!err)
			err = buf__add(texts, "", 1);
		if (!err)
			err = buf__add(out, &symbol, sizeof(symbol));
	}
	return err;
}

void symbols__free(struct symbols *s)
{
	free(s->symbols);
	buf__free(&s->texts);
	*s = (struct symbols){0};
}
