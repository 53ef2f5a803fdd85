/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/linux/vm.h"

#include <unistd.h>

#include "os/proc.h"

int remote_vm__usable(void)
{
	char from = 'x', to = 0;
	struct mem_span span = {.addr = (uintptr_t)&from, .to = &to, .len = 1};
	struct mem_reader self = proc__reader(getpid());
	int got = mem_reader__read_spans(&self, &span, 1);

	return got < 0 ? got : 0;
}
