/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What hidden.c and counters.c share: values seen in code, and what is asked of the file. */
#ifndef XR_TARGET_LINUX_HIDDEN_HIDDEN_PARTS_H
#define XR_TARGET_LINUX_HIDDEN_HIDDEN_PARTS_H

#include "target/linux/hidden/flow.h"
#include "target/linux/hidden/hidden.h"

/* How long a function can be whose size is not known; only R_gc_internal is long. */
#define CODE_LIMIT 4096u

/* A value seen at one place: none yet, one, or several that differ. */
struct derive_seen {
	struct flow_value value;
	enum { SEEN_NONE, SEEN_ONE, SEEN_MANY } n;
};

void seen__add(struct derive_seen *seen, const struct flow_value *value);

/*
 * hidden__exported - return the address of a function or variable that R exports, 0 if there is
 * none.  *@size (may be NULL) becomes its size, or 0.
 */
uint64_t hidden__exported(struct elf_image *file, const char *name, int type, uint64_t *size);

/* hidden__is_variable - is @value the contents of a variable of @size bytes that R may write? */
bool hidden__is_variable(const struct elf_image *file, const struct flow_value *value,
			 unsigned int size);

/* counters__by_symbols - R's counters as .symtab of @file names them, in place of those of @out. */
void counters__by_symbols(struct elf_image *file, const char *how, struct hidden *out);

/*
 * counters__by_code - what @out has not of R's counters, from code; and the size of a node. Returns
 * 0, also when nothing was found; -ENOMEM.
 */
int counters__by_code(struct elf_image *file, struct hidden *out);

#endif
