/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ELF file that is made of what a process has mapped: of this one's C library. */
#define _GNU_SOURCE
#include "target/linux/mapped_file.h"

#include <elf.h>
#include <sys/mman.h>

#include "os/proc.h"
#include "tap.h"
#include "target/linux/elf.h"

/* The code of the C library, as this process has it mapped. */
static bool library__map(struct proc_map *map)
{
	FILE *in = proc__fopen(getpid(), "maps");
	bool found = false;

	while (in && !found && proc_maps__next_library(in, map))
		found = strstr(map->path, "/libc.so") || strstr(map->path, "/libc-");
	if (in)
		fclose(in);
	return found;
}

/* A copy of the file @from without the headers of its sections. */
static int copy__bare(int from, off_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	static char all[8 << 20];
	Elf64_Ehdr *head = (void *)all;

	if (fd < 0 || size > (off_t)sizeof(all) || pread(from, all, sizeof(all), 0) != size)
		return -1;
	memset(all + head->e_shoff, 0, (size_t)head->e_shnum * head->e_shentsize);
	head->e_shoff = head->e_shnum = head->e_shstrndx = 0;
	return pwrite(fd, all, (size_t)size, 0) == size ? fd : -1;
}

/* The address and the size of `environ`, which is data, in .dynsym of @fd. */
static struct target_symbol environ__of(int fd)
{
	struct target_symbol want = {.name = "environ"};
	struct elf_file elf;

	if (elf_file__open(&elf, fd, "test", NULL))
		return want;
	elf_file__symbols(&elf, &want, 1, false);
	elf_file__close(&elf);
	return want;
}

TEST(mapped_file)
{
	struct target_symbol want, got;
	struct proc_map map;
	struct errmsg f;
	struct stat st;
	struct target_file which;
	int fd, bare;

	if (!library__map(&map)) {
		tap__skip("there is none", "the C library as a file that is mapped");
		return;
	}
	fd = mapped_file__open(getpid(), &map, &which, &f);
	tap__ok(fd >= 0 && which.size, "a file that can be opened is opened");
	tap__bail_if(fd < 0 || fstat(fd, &st), "%s", f.text);
	want = environ__of(fd);
	bare = copy__bare(fd, st.st_size);
	tap__ok(bare >= 0 && want.value && !environ__of(bare).value,
		"without headers of sections there are no symbols");
	tap__ok(!mapped_file__make(bare, 0), "they are made of what the dynamic linker uses");
	got = environ__of(bare);
	tap__ok(got.value == want.value && got.size == want.size, "and the symbols are the same");
	for (off_t at = 0; at < st.st_size; at += at < 8192 ? 61 : 65521) {
		tap__bail_if(ftruncate(bare, at) || mapped_file__make(bare, 0) == 0,
			     "of %lld bytes a file was made", (long long)at);
		close(bare);
		bare = copy__bare(fd, st.st_size);
		if (at > st.st_size / 4)
			break;
	}
	tap__ok(true, "not of a file that is cut");
	map.deleted = true;
	map.inode++;
	tap__ok(mapped_file__open(1 << 22, &map, &which, &f) == -ESRCH,
		"nor of a process that is gone");
	close(bare);
	close(fd);
}
