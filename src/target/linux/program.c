/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/program.h"

#include <unistd.h>

#include "target/linux/elf.h"
#include "os/proc.h"

int program__holds_r(pid_t pid)
{
	struct target_symbol want = {.name = "R_GlobalContext"};
	struct elf_file elf;
	int fd, n = 0;

	fd = proc__open(pid, "exe");
	if (fd < 0)
		return fd;
	/* one that cannot be opened is 32-bit, for another machine, or damaged */
	if (!elf_file__open(&elf, fd, "program", NULL)) {
		n = elf_file__symbols(&elf, &want, 1, false);
		elf_file__close(&elf);
	}
	close(fd);
	return n > 0;
}
