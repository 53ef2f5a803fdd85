/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the host asks of the made-up R.dll. */
#ifndef FIXTURE_H
#define FIXTURE_H

/*
 * fixture_run - call functions as R does, over and over, until *@stop is not 0.
 * FIXTURE_KNOWN: the stacks of r_dll.c's known(), each for a while; FIXTURE_FLIP: as fast as can
 * be; FIXTURE_IDLE: R at its prompt.
 */
enum fixture_mode { FIXTURE_KNOWN, FIXTURE_FLIP, FIXTURE_IDLE };

typedef void fixture_run(enum fixture_mode mode, volatile long *stop);

#endif
