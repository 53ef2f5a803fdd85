/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef PROGRAM_TOLD_H
#define PROGRAM_TOLD_H

#include "target/linux/proc_events.h"
#include "target/linux/program.h"

/*
 * on_program - the `program` of a struct proc_events_sink: what the session asks a process apart is
 * answered at once.  @arg: of the sink, where the events are; on_mapped() is the test's.
 */
static void on_mapped(void *arg, pid_t pid);

static void on_program(void *arg, pid_t pid, uint64_t file)
{
	struct proc_events **events = arg;
	bool yes = program__holds_r(pid) > 0;

	proc_events__learn(*events, file, yes);
	if (yes)
		on_mapped(NULL, pid);
}

#endif
