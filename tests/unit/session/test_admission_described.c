/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An answer about the arguments of a process that executed another program before it came. */
#include "session/admission.h"
#include "tap.h"

static const struct label_rules rules;
static const struct sink_ops ops;
static const struct session_config config = {.labels = &rules};

/* The command of a process that was found with these, after the answer "other" came. */
static void becomes(uint64_t start_time, uint64_t stack, const char *want, const char *what)
{
	struct lifecycle l = {.config = &config, .sink = {.ops = &ops}};
	struct process *p = processes__add(&l.processes, 7, 1 << 22);
	static struct ask a = {.kind = ASK_DESCRIBE, .tag = 7, .yes = true, .text = "other\0"};

	tap__bail_if(!p, "out of memory");
	p->mine = true;
	p->target.start_time = start_time;
	p->target.stack = stack;
	a.target.start_time = 5;
	a.target.stack = 0x7ffd1000;
	admission__answered(&l, &a);
	tap__is(p->described ? p->described->command : "(none)", want, "%s", what);
	processes__remove(&l.processes, p);
}

TEST(described)
{
	becomes(5, 0x7ffd1000, "other", "the program that was found");
	becomes(5, 0, "other", "it is not known where its stack was");
	becomes(5, 0x7ffd2000, "", "another program of that process");
	becomes(6, 0x7ffd1000, "", "another process with that pid");
}
