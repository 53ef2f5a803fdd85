/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* R's table of builtins, R_FunTab (src/main/names.c), as it is in R's file. */
#ifndef XR_TARGET_LINUX_NATIVE_FUN_TAB_H
#define XR_TARGET_LINUX_NATIVE_FUN_TAB_H

#include <stdint.h>

#include "target/linux/hidden/elf_image.h"

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
