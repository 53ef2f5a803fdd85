/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/os.h"
#include "os/win32/wide.h"

/* Not \\\\server\\share: the server of that share learns which user opens it. */
bool texts__absolute(const char *path)
{
	return ((*path >= 'A' && *path <= 'Z') || (*path >= 'a' && *path <= 'z')) &&
	       path[1] == ':' && (path[2] == '/' || path[2] == '\\');
}

/* The bytes of a text in @to, which has room for @max; 0: there is none. */
static size_t text__slurp(const char *path, char *to, size_t max)
{
	wchar_t *name = wide__from(path);
	LARGE_INTEGER size;
	DWORD len = 0;
	HANDLE file;

	if (!name)
		return 0;
	/* a pipe's server may not act as the one who opens it */
	file = CreateFileW(name, GENERIC_READ,
			   FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
			   OPEN_EXISTING, SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS, NULL);
	free(name);
	if (file == INVALID_HANDLE_VALUE)
		return 0;
	if (GetFileType(file) == FILE_TYPE_DISK && GetFileSizeEx(file, &size) &&
	    size.QuadPart > 0 && (unsigned long long)size.QuadPart <= max &&
	    !ReadFile(file, to, (DWORD)size.QuadPart, &len, NULL))
		len = 0;
	CloseHandle(file);
	return memchr(to, '\0', len) ? 0 : len;
}

int texts__read(const struct texts_request *requests, size_t n, const struct texts_limits *limits,
		texts_got got, void *arg)
{
	uint64_t end = os__now() + (uint64_t)limits->ms * 1000000u;
	char *text = malloc(limits->each + 1);
	size_t left = limits->all, len = 0;

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < n && os__now() < end; i++) {
		if (len && requests[i].tag == requests[i - 1].tag)
			continue;
		len = !texts__absolute(requests[i].path)
			      ? 0
			      : text__slurp(requests[i].path, text,
					    limits->each < left ? limits->each : left);
		left -= len;
		if (len) {
			text[len] = '\0';
			got(arg, requests[i].tag, text, len, 0);
		} else {
			got(arg, requests[i].tag, NULL, 0, -EACCES);
		}
	}
	free(text);
	return 0;
}
