/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/win32/wide.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

wchar_t *wide__from(const char *utf8)
{
	int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8, -1, NULL, 0);
	wchar_t *wide = n > 0 ? malloc((size_t)n * sizeof(*wide)) : NULL;

	if (wide)
		MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, utf8, -1, wide, n);
	return wide;
}

char *wide__utf8(const wchar_t *wide)
{
	int n = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
	char *utf8 = n > 0 ? malloc((size_t)n) : NULL;

	if (utf8)
		WideCharToMultiByte(CP_UTF8, 0, wide, -1, utf8, n, NULL, NULL);
	return utf8;
}

void wide__cut(const wchar_t *wide, char *buf, size_t size)
{
	char *whole = wide__utf8(wide);
	size_t len = whole ? strlen(whole) : 0;

	if (len >= size) {
		len = size - 1;
		while (len && ((unsigned char)whole[len] & 0xc0) == 0x80)
			len--;
	}
	if (len)
		memcpy(buf, whole, len);
	buf[len] = '\0';
	free(whole);
}

const wchar_t *wide__base(const wchar_t *path)
{
	const wchar_t *base = path;

	for (; *path; path++)
		if (*path == L'\\' || *path == L'/')
			base = path + 1;
	return base;
}

int wide__errno(DWORD code)
{
	switch (code) {
	case ERROR_FILE_NOT_FOUND:
	case ERROR_PATH_NOT_FOUND:
		return -ENOENT;
	case ERROR_ACCESS_DENIED:
		return -EACCES;
	case ERROR_NOT_ENOUGH_MEMORY:
	case ERROR_OUTOFMEMORY:
		return -ENOMEM;
	case ERROR_BAD_EXE_FORMAT:
		return -ENOEXEC;
	default:
		return -EIO;
	}
}

const char *wide__error(DWORD code, char *buf, size_t size)
{
	wchar_t text[256];
	size_t len;

	if (!FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, code,
			    0, text, sizeof(text) / sizeof(text[0]), NULL)) {
		snprintf(buf, size, "error %lu", code);
		return buf;
	}
	wide__cut(text, buf, size);
	len = strlen(buf);
	while (len && (buf[len - 1] == '\n' || buf[len - 1] == '\r' || buf[len - 1] == '.' ||
		       buf[len - 1] == ' '))
		buf[--len] = '\0';
	return buf;
}
