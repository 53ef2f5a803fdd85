/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Symbols, load bias and version from ELF files, and of files with every byte wrong. */
#define _GNU_SOURCE

#include <sys/mman.h>

#include "elf_fixture.h"
#include "some.h"
#include "target/layouts.h"
#include "tap.h"
#include "target/linux/elf.h"

#define WANTS 3

static const struct target_symbol wanted[WANTS] = {
	{.name = "R_GlobalContext"}, {.name = "R_NilValue"}, {.name = "R_Srcref"}};

/* A file in memory that is written again and again. */
static int file_fd;
static uint8_t data[FIXTURE_SIZE];

static void file__set(size_t len)
{
	tap__bail_if(ftruncate(file_fd, 0) || pwrite(file_fd, data, len, 0) != (ssize_t)len,
		     "cannot write a file in memory");
}

/*
 * All that discovery asks of a file.  Returns whether every answer was in bounds: one of the
 * errors, or addresses that lie in a segment.
 */
static bool file__ask(int *err_out)
{
	struct target_symbol want[WANTS];
	struct elf_file e;
	struct errmsg f = {""};
	char version[16];
	uint64_t bias;
	bool good = true;
	int err, n;

	err = elf_file__open(&e, file_fd, "file", &f);
	*err_out = err;
	if (err)
		return (err == -EBADMSG || err == -ENOTSUP || err == -ENOMEM) && f.text[0];
	memcpy(want, wanted, sizeof(want));
	n = elf_file__symbols(&e, want, WANTS, true);
	good &= n >= -EBADMSG && n <= WANTS;
	if (n < 0)
		*err_out = n;
	for (int i = 0; n > 0 && i < WANTS; i++) {
		bool in = !want[i].value;

		for (uint32_t s = 0; s < e.segments; s++)
			in |= (e.segment[s].p_flags & PF_W) &&
			      want[i].value - e.segment[s].p_vaddr < e.segment[s].p_memsz;
		good &= in;
	}
	err = elf_file__bias(&e, 0x7f0000011000, FIXTURE_CODE, &bias);
	good &= err == -EBADMSG || (!err && bias % 4096 == 0);
	err = elf_file__version(&e, version);
	good &= memchr(version, '\0', sizeof(version)) &&
		(err == -ENOENT || layouts__parse(version));
	elf_file__close(&e);
	return good;
}

BEFORE()
{
	file_fd = memfd_create("fixture", MFD_CLOEXEC);
	tap__bail_if(file_fd < 0, "memfd_create failed");
}

TEST(fixture)
{
	struct target_symbol want[WANTS];
	struct elf_file e;
	char version[16];
	uint64_t bias = 1;
	int err;

	fixture__make(data, "2.2", "2022");
	file__set(sizeof(data));
	err = elf_file__open(&e, file_fd, "fixture", NULL);
	if (!tap__ok(!err, "a small file is opened"))
		return;
	memcpy(want, wanted, sizeof(want));
	tap__ok(elf_file__symbols(&e, want, WANTS, false) == WANTS &&
			want[0].value == FIXTURE_DATA_ADDR &&
			want[1].value == FIXTURE_DATA_ADDR + 8 && want[1].size == 8,
		"its symbols are found");
	tap__ok(!elf_file__bias(&e, 0x500000 + FIXTURE_CODE_ADDR, FIXTURE_CODE, &bias) &&
			bias == 0x500000,
		"the load bias comes from the segment, not from the file offset");
	tap__ok(elf_file__bias(&e, 0x500000, 0, &bias) == -EBADMSG,
		"a segment without code is not taken for it");
	tap__ok(elf_file__bias(&e, 0x1000, 1ULL << 40, &bias) == -EBADMSG,
		"a mapping from beyond its end is refused");
	tap__ok(!elf_file__version(&e, version) && !strcmp(version, "4.2.2"), "its version");
	elf_file__close(&e);
}

/* With one field of the fixture changed, what looking at it comes to. */
TEST(hostile)
{
	size_t *names;
	bool good;
	int got;

	for (size_t i = 0; i < COUNT(fixture_damages); i++) {
		fixture__make(data, "2.2", "2022");
		fixture__damage(data, i);
		file__set(sizeof(data));
		good = file__ask(&got);
		tap__ok(good && got == fixture_damages[i].err, "%s: %s", fixture_damages[i].what,
			strerror(-got));
	}
	/* the last name loses its terminator and its last letter: not found, nothing read beyond */
	fixture__make(data, "2.2", "2022");
	names = &((Elf64_Shdr *)(data + FIXTURE_SECTIONS))[2].sh_size;
	*names -= 2;
	file__set(sizeof(data));
	tap__ok(file__ask(&got) && !got, "names without an end");
}

TEST(flips)
{
	unsigned int bad = 0, refused = 0;
	int err;

	for (size_t bit = 0; bit < FIXTURE_META * 8; bit++) {
		fixture__make(data, "2.2", "2022");
		data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		file__set(sizeof(data));
		bad += !file__ask(&err);
		refused += err != 0;
		if (bit % (tap__all() ? 1 : 4))
			continue;
		for (int i = 0; i < 3; i++)
			data[some(FIXTURE_META)] = (uint8_t)some(256);
		file__set(sizeof(data));
		bad += !file__ask(&err);
	}
	tap__ok(!bad && refused,
		"each single bit wrong, and some bytes: in bounds (%u of %u refused)", refused,
		FIXTURE_META * 8);
	bad = 0;
	fixture__make(data, "2.2", "2022");
	for (size_t len = 0; len < FIXTURE_SIZE; len++) {
		file__set(len);
		/* its last segment begins at the file's end, so a byte less is too little */
		bad += !file__ask(&err) || !err;
	}
	tap__ok(!bad, "cut at every length: refused");
}

TEST(not_a_file)
{
	struct errmsg f = {""};
	struct elf_file e;
	int fd = open("/dev/zero", O_RDONLY), pipes[2];

	tap__ok(elf_file__open(&e, fd, "/dev/zero", &f) == -EBADMSG && strstr(f.text, "/dev/zero"),
		"a device is refused");
	close(fd);
	tap__bail_if(pipe(pipes), "no pipe");
	tap__ok(elf_file__open(&e, pipes[0], "pipe", &f) == -EBADMSG, "and a pipe");
	close(pipes[0]);
	close(pipes[1]);
	/* only a hole, but 16 TiB of it would be asked for */
	if (ftruncate(file_fd, 0) || ftruncate(file_fd, 1LL << 40))
		tap__skip("this file system has no file of 2^40 bytes", "a huge file");
	else
		tap__ok(elf_file__open(&e, file_fd, "huge", &f) == -EBADMSG,
			"a huge file is refused");
}
