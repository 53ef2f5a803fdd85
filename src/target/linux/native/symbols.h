/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the functions of an ELF file are called, from all tables that there are. */
#ifndef XR_TARGET_LINUX_NATIVE_SYMBOLS_H
#define XR_TARGET_LINUX_NATIVE_SYMBOLS_H

#include <libelf.h>
#include <stdint.h>

#include "base/buf.h"
#include "target/linux/hidden/elf_image.h"
#include "target/native.h"

#define SYMBOLS_MAX	  (1u << 20)  /* of one file */
#define SYMBOLS_TEXTS_MAX (16u << 20) /* bytes of all names */

/* The better first. */
enum symbol_source { SYMBOL_TABLE, SYMBOL_DEBUG_DATA, SYMBOL_DYNAMIC, SYMBOL_ROUTINE };

struct symbol {
	uint32_t pc, size;
	uint8_t source;	 /* enum symbol_source */
	uint8_t binding; /* 0 global, 1 weak, 2 local */
	uint32_t name;	 /* in `texts`, as it is in the file */
};

/* Starts as { .base = } (what pc 0 is as the file counts addresses). */
struct symbols {
	uint64_t base;
	struct symbol *symbols;
	size_t count, cap;
	struct buf texts;
	uint32_t left_out; /* for want of room */
};

/*
 * symbols__of_elf - add the functions of the tables of @elf (.symtab, .gnu_debugdata, .dynsym).
 * symbols__of_debug - the same of the .symtab of its debug file.  -ENOMEM; what is damaged has
 * none.
 */
int symbols__of_elf(struct symbols *s, Elf *elf);
int symbols__of_debug(struct symbols *s, Elf *debug);

/*
 * symbols__of_routines - add what the package in @file registered for R to call (R_CallMethodDef
 * and its like, R_ext/Rdynload.h: a name, a function, a number of arguments): functions that often
 * have no symbol.
 */
int symbols__of_routines(struct symbols *s, struct elf_image *file);

/* symbols__add_routine - one of these: @name is the function at @address, if nothing else tells. */
int symbols__add_routine(struct symbols *s, uint64_t address, const char *name);

/*
 * symbols__finish - of each function the best name, demangled, by their pc: to @out an array of
 * struct native_symbol, whose names are in @texts.  -ENOMEM.
 */
int symbols__finish(struct symbols *s, struct buf *out, struct buf *texts);

void symbols__free(struct symbols *s);

#endif
