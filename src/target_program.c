/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target_program.h"

#include <unistd.h>

#include "target_elf.h"
#include "target_proc.h"

int target_program__holds_r(pid_t pid)
{
	struct target_symbol want = {.name = "R_GlobalContext"};
	struct target_elf elf;
	int fd, n = 0;

	fd = target_proc__open(pid, "exe");
	if (fd < 0)
		return fd;
	/* one that cannot be opened is 32-bit, for another machine, or damaged */
	if (!target_elf__open(&elf, fd, "program", NULL)) {
		n = target_elf__symbols(&elf, &want, 1, true);
		target_elf__close(&elf);
	}
	close(fd);
	return n > 0;
}
