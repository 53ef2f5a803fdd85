/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "clock.h"

#include <stdint.h>

/* The linker puts one in the place of the other. */
uint64_t __real_os__now(void);
uint64_t __wrap_os__now(void);

static struct {
	uint64_t base, real_base;
	double speed; /* 0: that of the machine */
} state;

uint64_t __wrap_os__now(void)
{
	uint64_t now = __real_os__now();

	if (state.speed == 0)
		return now;
	return state.base + (uint64_t)((double)(now - state.real_base) * state.speed);
}

void clock__run(double speed)
{
	state.base = __wrap_os__now();
	state.real_base = __real_os__now();
	state.speed = speed;
}

void clock__pass(int ms)
{
	state.base += (uint64_t)ms * 1000000;
}

int clock__real_ms(int ms)
{
	double real = state.speed == 0 ? ms : ms / state.speed;

	return ms <= 0 ? ms : real < 1 ? 1 : (int)real;
}
