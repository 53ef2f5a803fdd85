/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Libraries that only some runs need, loaded when they are: what the dynamic linker does for all
 * others before main(), with what it costs.
 *
 *	#define FUNCTIONS(F) F(curl_easy_init) F(curl_easy_setopt) ...
 *	LIBRARY_FUNCTIONS(curl, FUNCTIONS)
 *	...
 *	library__load("libcurl.so.4", LIBRARY_NAMES(FUNCTIONS), curl_addresses, "libcurl4", f)
 *
 * defines them: each jumps to where library__load has put its address, as the table would in which
 * the linker keeps such addresses.  So they are declared by the library's own header, and take
 * whatever arguments it says.  To call one before library__load ends the program.
 */
#ifndef XR_OS_LINUX_LIBRARY_H
#define XR_OS_LINUX_LIBRARY_H

#include <stddef.h>

#include "base/errmsg.h"

/* clang-format off */
#if defined(__x86_64__)
#define LIBRARY_JUMP(function) "endbr64\njmp *" #function "_address(%rip)\n"
#elif defined(__aarch64__)
#define LIBRARY_JUMP(function)				\
	"hint #34\n" /* bti c */			\
	"adrp x16, " #function "_address\n"		\
	"ldr x16, [x16, :lo12:" #function "_address]\n"	\
	"br x16\n"
#else
#error "how to jump to an address in memory on this machine is to be added here"
#endif

#define LIBRARY_ADDRESS(function) #function "_address: .skip 8\n"
#define LIBRARY_FUNCTION(function)		\
	".globl " #function "\n"		\
	".type " #function ", %function\n"	\
	#function ":\n"				\
	LIBRARY_JUMP(function)			\
	".size " #function ", . - " #function "\n"

#define LIBRARY_FUNCTIONS(library, functions)				\
	__asm__(".pushsection .bss\n.balign 8\n" #library "_addresses:\n" functions(LIBRARY_ADDRESS) \
		".popsection\n.pushsection .text\n.balign 16\n" functions(LIBRARY_FUNCTION)	\
		".popsection\n");					\
	extern void *library##_addresses[];

#define LIBRARY_NAME(function) #function,
#define LIBRARY_NAMES(functions) (const char *const[]){functions(LIBRARY_NAME) NULL}
/* clang-format on */

/*
 * library__load - find @functions (names, NULL last) in the library @soname, and put their
 * addresses into @out, in the same order; nothing is done where there are some.  @package: Debian's
 * name of what has it, for the line that says that it is missing.  It stays loaded.  0; -ENOENT: it
 * cannot be loaded; -ENOSYS: it lacks one of them, and @out is as it was.
 */
int library__load(const char *soname, const char *const *functions, void **out, const char *package,
		  struct errmsg *f);

#endif
