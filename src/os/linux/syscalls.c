/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/linux/syscalls.h"

#include <stddef.h>
#include <sys/syscall.h>

/* From the SYS_ macros of <sys/syscall.h> (the Makefile); the compiler knows their numbers. */
static const struct {
	int64_t number;
	const char *name;
} table[] = {
#include "syscalls.inc"
};

const char *syscalls__name(int64_t number)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].number == number)
			return table[i].name;
	return NULL;
}
