/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * R's variables, read from this process' own memory.  (The layout that goes with a version:
 * linux/find:found.)
 */
#define _GNU_SOURCE
#include "target/variables.h"

#include <sys/mman.h>

#include "tap.h"

/* What stands for R's memory: the variables, and the symbol `eval` with its third word. */
static uint64_t memory[TARGET_VARIABLES], eval_symbol[8], at[TARGET_VARIABLES];
static struct target t;
static struct errmsg f;

static uint64_t address(const void *of)
{
	return (uint64_t)(uintptr_t)of;
}

BEFORE()
{
	for (int i = 0; i < TARGET_VARIABLES; i++) {
		memory[i] = 0x1000u * (unsigned int)(i + 1);
		at[i] = address(&memory[i]);
	}
	memory[TARGET_EVAL] = address(eval_symbol);
	eval_symbol[6] = 0x4711;
	t = (struct target){.pid = getpid(), .comm = "self", .path = "/lib/libR.so"};
}

static int reads(void)
{
	t.row = (struct xr_row){0};
	return variables__read(&t, at, &f);
}

TEST(read)
{
	tap__ok(!reads(), "all variables: %s", f.text);
	tap__ok(t.row.head_at == at[TARGET_CONTEXT] && t.row.srcref_at == at[TARGET_SRCREF],
		"two by their address");
	tap__ok(t.row.nil == 0x2000 && t.row.sym_colon2 == 0x3000 && t.row.sym_colon3 == 0x4000 &&
			t.row.sym_dollar == 0x5000 && t.row.sym_item == 0x6000 &&
			t.row.sym_srcfile == 0x7000 && t.row.sym_class == 0x8000 &&
			t.row.in_bc == 0xa000,
		"the others by their value");
	tap__ok(t.row.eval_fun == 0x4711, "and what `eval` stands for");
	at[TARGET_IN_BC] = at[TARGET_EVAL] = at[TARGET_SRCREF] = 0;
	tap__ok(!reads() && !t.row.in_bc && !t.row.eval_fun && !t.row.srcref_at &&
			t.row.nil == 0x2000,
		"those that this R does not have are 0");
	memory[TARGET_ITEM] = 0;
	tap__ok(reads() == -EAGAIN && strstr(f.text, "not finished starting"),
		"one that it has is NULL: %s", f.text);
}

TEST(unreadable)
{
	void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	at[TARGET_DOLLAR] = address(hole);
	tap__ok(reads() == -EBADMSG && strstr(f.text, "/lib/libR.so"),
		"a variable where no memory is: %s", f.text);
	at[TARGET_DOLLAR] = address(&memory[TARGET_DOLLAR]);
	memory[TARGET_EVAL] = address(hole);
	tap__ok(reads() == -EBADMSG, "a symbol where none is: %s", f.text);
	t.pid = fork();
	if (!t.pid)
		_exit(0);
	waitpid(t.pid, NULL, 0);
	tap__ok(reads() == -ESRCH && strstr(f.text, "ended"), "a process that has ended: %s",
		f.text);
}
