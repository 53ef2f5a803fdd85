/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Symbols by dbghelp.dll, which Windows ships: for an R.dll with debug information. */
#ifndef XR_TARGET_WIN32_DBGHELP_H
#define XR_TARGET_WIN32_DBGHELP_H

#include "target/pe.h"
#include "os/win32/wide.h"

/*
 * dbghelp__symbols - of the @n variables of @want, look up those that are still 0 in the DLL of
 * @path, which is loaded at @base with @size bytes.  What is not found stays; so does all, when
 * there is no dbghelp.dll.
 */
void dbghelp__symbols(HANDLE process, uint64_t base, uint32_t size, const wchar_t *path,
		      struct pe_symbol *want, size_t n);

#endif
