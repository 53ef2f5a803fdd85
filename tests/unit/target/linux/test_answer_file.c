/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers about native code: of this very process, and damaged ones. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/mman.h>

#include "some.h"
#include "tap.h"
#include "target/linux/answer_file.h"
#include "target/native.h"

/* The bytes of the answer in @fd, which is closed; the caller frees them. */
static char *bytes_of(int fd, size_t *size)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char *bytes = malloc((size_t)end);

	tap__bail_if(!bytes || pread(fd, bytes, (size_t)end, 0) != end,
		     "the answer cannot be read");
	close(fd);
	*size = (size_t)end;
	return bytes;
}

static int file_of(const char *bytes, size_t size)
{
	const struct answer_part part = {bytes, size};

	return answer_file__make(&part, 1);
}

/* Whatever is changed: it is taken whole and checked, or refused. */
static void test_damaged(int fd, bool maps)
{
	size_t size, at;
	char *bytes = bytes_of(fd, &size), *copy = malloc(size);
	uint32_t taken = 0, refused = 0;

	for (uint32_t i = 0; copy && i < 2000; i++) {
		struct native_maps m;
		struct native_module module;
		int err;

		memcpy(copy, bytes, size);
		at = some(4) ? some(size < 400 ? (uint32_t)size : 400) : some((uint32_t)size);
		copy[at] = (char)some(256);
		fd = file_of(copy, some(8) ? size : some((uint32_t)size) + 1);
		tap__bail_if(fd < 0, "no file in memory");
		err = maps ? native_maps__open(&m, fd) : native_module__open(&module, fd);
		taken += !err;
		refused += err == -EBADMSG;
		if (!err && maps)
			native_maps__close(&m);
		else if (!err)
			native_module__close(&module);
	}
	tap__ok(taken + refused == 2000 && refused, "damaged %s: %u taken, %u refused",
		maps ? "mappings" : "modules", taken, refused);
	free(bytes);
	free(copy);
}

TEST(this)
{
	struct native_maps m;
	struct native_module module;
	struct target_file of;
	bool vdso = false, libc = false, named = false;
	int fd, err = native_maps__make(getpid(), &fd);

	tap__ok(!err && fd >= 0, "what this process has mapped");
	tap__ok(!native_maps__open(&m, dup(fd)) && m.n > 2, "%u mappings of code", m.n);
	for (uint32_t i = 0; i < m.n; i++) {
		const char *path = m.texts + m.maps[i].path;
		int file;

		vdso = vdso || m.maps[i].kind == NATIVE_VDSO;
		if (!strstr(path, "/libc.so") && !strstr(path, "/libc-"))
			continue;
		libc = true;
		of = m.maps[i].file;
		of.ino++;
		tap__ok(native_module__make(getpid(), m.maps[i].start, &of, &file) == -ESRCH,
			"another file that was mapped there has no answer");
		of = m.maps[i].file;
		err = native_module__make(getpid(), m.maps[i].start, &of, &file);
		tap__ok(!err, "%s: its code is known", path);
		if (err || native_module__open(&module, dup(file)))
			continue;
		for (uint32_t k = 0; k < module.head->nsymbols; k++)
			named = named || !strcmp(module.texts + module.symbols[k].name, "qsort");
		tap__ok(module.head->nrows > 1000 && named && module.head->build_id_len == 20 &&
				module.head->hash_len == NATIVE_HASH,
			"%u rows, %u names, one of them qsort", module.head->nrows,
			module.head->nsymbols);
		native_module__close(&module);
		test_damaged(file, false);
	}
	tap__ok(vdso && libc, "the C library and the vdso are among them");
	native_maps__close(&m);
	test_damaged(fd, true);
	tap__ok(native_module__make(getpid(), 4096, &of, &fd) == -ESRCH && fd == -1,
		"where nothing is mapped there is no module");
}

/* The first 16 bytes of the SHA-256 of the first and last 4096 bytes and the length. */
TEST(hash)
{
	static const struct {
		size_t size;
		const char *hash;
	} files[] = {
		{0, "af5570f5a1810b7af78caf4bc70a660f"},
		{5000, "8fcb735ccf036663f4dc178cf6653aac"},
		{100000, "4feba4f4dcc392647124e0ac3e1dfdd3"},
	};
	static unsigned char data[100000];
	int fd = memfd_create("x", MFD_CLOEXEC);
	char text[2 * NATIVE_HASH + 1];
	uint8_t hash[NATIVE_HASH];

	for (size_t at = 0; at < sizeof(data); at++)
		data[at] = at % 251;
	for (size_t i = 0; i < COUNT(files); i++) {
		tap__bail_if(pwrite(fd, data, files[i].size, 0) != (ssize_t)files[i].size,
			     "no file in memory");
		if (native__hash(fd, hash))
			memset(hash, 0, sizeof(hash));
		for (size_t k = 0; k < NATIVE_HASH; k++)
			snprintf(text + 2 * k, 3, "%02x", hash[k]);
		tap__ok(!strcmp(text, files[i].hash), "the hash of a file of %zu bytes: %s",
			files[i].size, text);
	}
	close(fd);
	tap__ok(native__hash(fd, hash) == -EBADF, "a file that cannot be read has none");
}

TEST(refused)
{
	struct native_maps m;
	int fd = memfd_create("x", MFD_CLOEXEC);

	tap__ok(write(fd, "x", 1) == 1 && native_maps__open(&m, fd) == -EBADMSG,
		"a file that could still be changed is refused");
	fd = file_of("", 0);
	tap__ok(native_maps__open(&m, fd) == -EBADMSG, "and an empty one");
	tap__ok(native_maps__open(&m, open("/dev/null", O_RDONLY)) == -EBADMSG,
		"and one that is not in memory");
}
