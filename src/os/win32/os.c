/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/os.h"

#include <errno.h>
#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "os/win32/keeper.h"
#include "os/win32/wide.h"
#include <shellapi.h>

/* The console's code page as it was: it outlives this program. */
static UINT console_code_page;

static void console__restore(void)
{
	SetConsoleOutputCP(console_code_page);
}

/* What is written to the standard streams is UTF-8, and goes out as it is. */
static void outputs__prepare(void)
{
	_setmode(_fileno(stdout), _O_BINARY);
	_setmode(_fileno(stderr), _O_BINARY);
	console_code_page = GetConsoleOutputCP();
	if (console_code_page && console_code_page != CP_UTF8 && SetConsoleOutputCP(CP_UTF8))
		atexit(console__restore);
}

int os__arguments(int *argc, char ***argv, struct errmsg *f)
{
	int n = 0, err = -ENOMEM;
	wchar_t **wide;
	char **utf8;

	keeper__run();
	wide = CommandLineToArgvW(GetCommandLineW(), &n);
	utf8 = n > 0 ? calloc((size_t)n + 1, sizeof(*utf8)) : NULL;
	outputs__prepare();
	if (!wide || !utf8)
		goto cleanup;
	for (int i = 0; i < n; i++) {
		utf8[i] = wide__utf8(wide[i]);
		if (!utf8[i])
			goto cleanup;
	}
	*argc = n;
	*argv = utf8;
	utf8 = NULL;
	err = 0;
cleanup:
	for (int i = 0; utf8 && i < n; i++)
		free(utf8[i]);
	free(utf8);
	LocalFree(wide);
	return err ? errmsg__set(f, err, "the command line cannot be read: out of memory") : 0;
}

const char *os__syscall(uint32_t number)
{
	(void)number;
	return NULL;
}

uint32_t os__syscall_detail(const char *name, size_t len)
{
	(void)name;
	(void)len;
	return 0;
}

bool os__is_windows(void)
{
	return true;
}

uint64_t os__now(void)
{
	LARGE_INTEGER frequency, count;
	uint64_t hz, ticks;

	QueryPerformanceFrequency(&frequency);
	QueryPerformanceCounter(&count);
	hz = (uint64_t)frequency.QuadPart;
	ticks = (uint64_t)count.QuadPart;
	return ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;
}

uint64_t os__cpu(void)
{
	FILETIME made, ended, kernel, user;

	if (!GetThreadTimes(GetCurrentThread(), &made, &ended, &kernel, &user))
		return 0;
	return 100 * (((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) +
		      ((uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime));
}

unsigned int os__columns(int fd)
{
	CONSOLE_SCREEN_BUFFER_INFO info;
	HANDLE handle = (HANDLE)_get_osfhandle(fd);

	if (!_isatty(fd) || !GetConsoleScreenBufferInfo(handle, &info))
		return 0;
	return (unsigned int)(info.srWindow.Right - info.srWindow.Left + 1);
}

bool os__foreground(int fd)
{
	(void)fd;
	return false;
}

uint64_t os__real_time(void)
{
	FILETIME t;

	/* in units of 100 ns since 1601 */
	GetSystemTimeAsFileTime(&t);
	return (((uint64_t)t.dwHighDateTime << 32 | t.dwLowDateTime) - 116444736000000000ULL) * 100;
}

void os__host(char *name, size_t size)
{
	wchar_t wide[256];
	DWORD len = sizeof(wide) / sizeof(*wide);

	if (!GetComputerNameExW(ComputerNameDnsHostname, wide, &len) ||
	    !WideCharToMultiByte(CP_UTF8, 0, wide, -1, name, (int)size, NULL, NULL))
		*name = '\0';
}

static DWORD WINAPI input__wait(void *arg)
{
	DWORD n;
	char byte;

	(void)arg;
	ReadFile(GetStdHandle(STD_INPUT_HANDLE), &byte, 1, &n, NULL);
	return 0;
}

/* By a thread that reads: PeekNamedPipe() knows no consoles, and under Wine no pipes of Unix. */
bool os__input_over(void)
{
	static HANDLE reader;

	if (!reader)
		reader = CreateThread(NULL, 0, input__wait, NULL, 0, NULL);
	return !reader || WaitForSingleObject(reader, 0) == WAIT_OBJECT_0;
}

/* @how: what becomes of a file that is there. */
static int create(const char *path, int how)
{
	wchar_t *wide = wide__from(path);
	int fd, err;

	if (!wide)
		return -EINVAL;
	fd = _wopen(wide, _O_WRONLY | _O_CREAT | how | _O_BINARY | _O_NOINHERIT,
		    _S_IREAD | _S_IWRITE);
	err = errno;
	free(wide);
	if (fd == -1)
		return -err;
	return fd;
}

int os__create(const char *path)
{
	return create(path, _O_TRUNC);
}

int os__create_new(const char *path)
{
	return create(path, _O_EXCL);
}

int os__standard_output(void)
{
	return STDOUT_FILENO;
}

int os__open(const char *path, enum os_reading what)
{
	wchar_t *wide;
	int fd, err;

	(void)what;
	if (!strcmp(path, "-")) {
		_setmode(_fileno(stdin), _O_BINARY);
		return _fileno(stdin);
	}
	if (os__is_directory(path))
		return -EISDIR;
	wide = wide__from(path);
	if (!wide)
		return -EINVAL;
	fd = _wopen(wide, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
	err = errno;
	free(wide);
	return fd == -1 ? -err : fd;
}

void os__close(int fd)
{
	if (fd != _fileno(stdin))
		_close(fd);
}

int os__read(int fd, void *to, unsigned int size)
{
	int n = _read(fd, to, size);

	return n < 0 ? -errno : n;
}

uint64_t os__size(int fd)
{
	struct _stat64 st;

	return !_fstat64(fd, &st) && (st.st_mode & _S_IFMT) == _S_IFREG ? (uint64_t)st.st_size : 0;
}

const char *os__reason(int err)
{
	return strerror(err < 0 ? -err : err);
}

/* The C library makes EINVAL of ERROR_NO_DATA, "the pipe is being closed". */
int os__write(int fd, const void *data, unsigned int size)
{
	int n = _write(fd, data, size), err = errno;

	if (n >= 0)
		return n;
	if (err == EINVAL && GetFileType((HANDLE)_get_osfhandle(fd)) == FILE_TYPE_PIPE)
		err = EPIPE;
	return -err;
}

void os__wait_writable(int fd)
{
	(void)fd;
	Sleep(10);
}

int os__identify(const char *path, struct os_identity *id)
{
	(void)path;
	(void)id;
	return -ENOSYS;
}

int os__mkdir(const char *path)
{
	wchar_t *wide = wide__from(path);
	int err;

	if (!wide)
		return -EINVAL;
	err = _wmkdir(wide) ? -errno : 0;
	free(wide);
	return err;
}

bool os__is_directory(const char *path)
{
	wchar_t *wide = wide__from(path);
	DWORD attributes;

	if (!wide)
		return false;
	attributes = GetFileAttributesW(wide);
	free(wide);
	return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY);
}

/* The pattern that finds all that is in @path; to be freed. */
static wchar_t *path__pattern(const char *path)
{
	size_t len = strlen(path) + sizeof("/*");
	char *pattern = malloc(len);
	wchar_t *wide;

	if (!pattern)
		return NULL;
	snprintf(pattern, len, "%s/*", path);
	wide = wide__from(pattern);
	free(pattern);
	return wide;
}

int os__list(const char *path, int (*each)(void *arg, const char *name), void *arg)
{
	wchar_t *pattern = path__pattern(path);
	WIN32_FIND_DATAW found;
	HANDLE search;
	int err = 0;
	char *name;

	if (!pattern)
		return -EINVAL;
	search = FindFirstFileW(pattern, &found);
	free(pattern);
	if (search == INVALID_HANDLE_VALUE)
		return wide__errno(GetLastError());
	do {
		name = wide__utf8(found.cFileName);
		err = name ? each(arg, name) : -ENOMEM;
		free(name);
	} while (!err && FindNextFileW(search, &found));
	FindClose(search);
	return err;
}

/* There is no limit to be raised: handles are 16 million, and files of the C library 8192. */
void os__many_files(void)
{
	_setmaxstdio(2048);
}

void os__trim(void)
{
	_heapmin();
}
