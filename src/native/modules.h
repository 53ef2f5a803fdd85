/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The modules of native code that processes have mapped: one for each file, for all processes that
 * map it.  Its unwind table is in the slabs, its names are here.
 */
#ifndef XR_NATIVE_MODULES_H
#define XR_NATIVE_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "native/slabs.h"
#include "target/native.h"

enum module_state {
	MODULE_NEW,   /* nothing is known of it */
	MODULE_ASKED, /* somebody looks */
	MODULE_KNOWN, /* as much as there is */
};

#define MODULE_PARTS_MAX 32u /* of a table, each in a slab */

/* Rows of a table from `pc` on, and where they are. */
struct module_part {
	uint32_t pc;
	uint32_t rows, nrows; /* the first word in the slab, and how many */
	uint32_t rules;
	struct extent extent;
};

struct module {
	struct module *next; /* with the same file */
	struct target_file file;
	enum native_kind kind;
	enum module_state state;
	uint32_t number; /* in slots; no number is used twice */
	uint32_t refs;	 /* of spaces, and of processes that wait for it */
	uint32_t failures;
	bool is_r;    /* it has R's table of builtins */
	bool no_room; /* its table, or names, found none */
	char *path;   /* as the process named it that was seen with it first */
	char build_id[2 * NATIVE_BUILD_ID_MAX + 1]; /* hexadecimal; "": it has none */
	char hash[2 * NATIVE_HASH + 1];		    /* hexadecimal, of native__hash(); "": none */
	uint64_t base;
	struct native_segment segments[NATIVE_SEGMENTS_MAX];
	uint32_t nsegments;
	struct module_part parts[MODULE_PARTS_MAX];
	uint32_t nparts;
	struct native_symbol *symbols;
	uint32_t nsymbols;
	uint32_t *builtins;
	uint32_t nbuiltins;
	char *texts;
	uint32_t texts_size;
};

struct modules {
	struct map files;	 /* (dev, ino) to the first of its modules */
	struct map numbers;	 /* (number, 0) to the module */
	uint32_t last;		 /* number */
	size_t names, names_max; /* bytes that names take, and may */
	uint64_t made, dropped;	 /* so far */
	uint64_t no_room;
};

/* modules__get - that of @file, made if there is none.  NULL: no memory.  @path is copied. */
struct module *modules__get(struct modules *all, const struct target_file *file,
			    enum native_kind kind, const char *path);

/* modules__number - the one of @number, or NULL. */
struct module *modules__number(const struct modules *all, uint32_t number);

/*
 * modules__know - what was found of @m goes into @slabs and into memory; @answer stays the
 * caller's. What does not fit is left out, and m->no_room is set.  -ENOMEM.
 */
int modules__know(struct modules *all, struct module *m, const struct native_module *answer,
		  struct slabs *slabs);

/* modules__hold, modules__release - one more, or one less, needs it.  Without any it goes. */
void modules__hold(struct module *m);
void modules__release(struct modules *all, struct module *m, struct slabs *slabs, uint64_t now);

/* module__name - what the function that @pc is in is called, by a symbol that has it; or NULL. */
const char *module__name(const struct module *m, uint32_t pc);

/* module__builtin - what builtin @n of R_FunTab is called, or NULL. */
const char *module__builtin(const struct module *m, uint32_t n);

/* module__base - what is to be added to its pc when it is mapped at @start from @offset on. */
uint64_t module__base(const struct module *m, uint64_t start, uint64_t offset);

void modules__free(struct modules *all);

#endif
