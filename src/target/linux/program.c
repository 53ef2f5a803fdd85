/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/program.h"

#include <unistd.h>

#include "target/linux/elf.h"
#include "os/proc.h"

bool program__file_holds_r(int fd)
{
	struct target_symbol want = {.name = "R_GlobalContext"};
	struct elf_file elf;
	int n;

	/* one that cannot be opened is 32-bit, for another machine, or damaged */
	if (elf_file__open(&elf, fd, "program", NULL))
		return false;
	n = elf_file__symbols(&elf, &want, 1, false);
	elf_file__close(&elf);
	return n > 0;
}

int program__holds_r(pid_t pid)
{
	int fd = proc__open(pid, "exe");
	bool yes;

	if (fd < 0)
		return fd;
	yes = program__file_holds_r(fd);
	close(fd);
	return yes;
}
