/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names of the functions of an ELF file, from all tables that there are. */
#ifndef XR_NATIVE_LINUX_SYMBOLS_H
#define XR_NATIVE_LINUX_SYMBOLS_H

#include <libelf.h>
#include <stdint.h>

#include "base/buf.h"
#include "target/linux/hidden/elf_image.h"
#include "target/native.h"

#define SYMBOLS_MAX	  (1u << 20)  /* of one file */
#define SYMBOLS_TEXTS_MAX (16u << 20) /* bytes of all names */
#define DEMANGLE_MAX	  4096u	      /* bytes of a name that is demangled, and of the result */

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

/*
 * demangle__add - append what @name is called in its language: C++ and Rust without parameters
 * (`std::vector<int>::push_back`), Fortran's procedures in modules (`module::procedure`).  Another
 * name, or one that is too long, is appended as it is.  -ENOMEM.
 *
 * What the compiler adds for parts and clones of a function (.cold, .part.0, .constprop.0, .isra.0)
 * stays.
 */
int demangle__add(struct buf *out, const char *name);

/* --- R_FunTab, R's table of builtins (src/main/names.c), as it is in R's file --- */

#define FUN_TAB_ENTRY 40u   /* bytes, R 3.0 to 4.6: name, cfun, code, eval, arity, gram */
#define FUN_TAB_MAX   4096u /* entries that are looked at; R 4.6 has 760 */
#define FUN_TAB_NAME  64u   /* bytes of a name that are looked at */

/* Addresses as the file counts. */
struct fun_tab_entry {
	uint64_t name, cfun;
};

/*
 * fun_tab__of_elf - the entries up to the one without a name: *@entries, which the caller frees,
 * and their number.  -ENOENT: the file exports no R_FunTab; -EBADMSG; -ENOMEM.
 */
int fun_tab__of_elf(struct elf_image *file, struct fun_tab_entry **entries);

/* fun_tab__name - the text at @address, if it ends within FUN_TAB_NAME; or NULL. */
const char *fun_tab__name(const struct elf_image *file, uint64_t address);

#endif
