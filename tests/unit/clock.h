/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The clock of a case.  os__now() of all code in a program of unit tests is that of clock.c; it is
 * the machine's until a case has it run faster, where a deadline is to pass, or slower, where none
 * is to on a machine that is busy.  The processes that are forked from then on have it, too.
 */
#ifndef XR_TESTS_CLOCK_H
#define XR_TESTS_CLOCK_H

#define CLOCK_SLOW 0.05

/* clock__run - let @speed seconds pass in each second of the machine. */
void clock__run(double speed);

/* clock__pass - let @ms pass at once, on a clock that clock__run() has set. */
void clock__pass(int ms);

/* clock__real_ms - how many ms of the machine are @ms of the clock: at least 1, if @ms is not 0. */
int clock__real_ms(int ms);

#endif
