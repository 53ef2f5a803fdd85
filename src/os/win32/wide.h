/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Windows for this program: UTF-16 to and from UTF-8, and errors.
 */
#ifndef XR_OS_WIN32_WIDE_H
#define XR_OS_WIN32_WIDE_H

#include <stddef.h>

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include "base/errmsg.h"

/* wide__from - @utf8 in UTF-16, to be freed.  NULL: it is not UTF-8, or there is no memory. */
wchar_t *wide__from(const char *utf8);

/* wide__utf8 - @wide in UTF-8, to be freed; unpaired surrogates become U+FFFD.  NULL: no memory. */
char *wide__utf8(const wchar_t *wide);

/* wide__cut - as wide__utf8(), into @buf, cut between characters if it is too long. */
void wide__cut(const wchar_t *wide, char *buf, size_t size);

/* wide__base - the last part of a path. */
const wchar_t *wide__base(const wchar_t *path);

/* wide__errno - the negative errno for a Windows error code. */
int wide__errno(DWORD code);

/* wide__error - what the system says of a Windows error code, in one line. */
const char *wide__error(DWORD code, char *buf, size_t size);

#endif
