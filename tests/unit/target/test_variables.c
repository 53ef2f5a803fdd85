/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* R's variables, read from this process' own memory; and the layout that goes with a version. */
#define _GNU_SOURCE
#include "target/variables.h"

#include <sys/mman.h>

#include "child.h"

/* What stands for R's memory: the variables, and the symbol `eval` with its third word. */
static uint64_t memory[TARGET_VARIABLES], eval_symbol[8];

static void memory__fill(uint64_t at[TARGET_VARIABLES])
{
	for (int i = 0; i < TARGET_VARIABLES; i++) {
		memory[i] = 0x1000u * (unsigned int)(i + 1);
		at[i] = (uint64_t)(uintptr_t)&memory[i];
	}
	memory[TARGET_EVAL] = (uint64_t)(uintptr_t)eval_symbol;
	eval_symbol[6] = 0x4711;
}

static struct target self(void)
{
	struct target t = {.pid = getpid(), .comm = "self", .path = "/lib/libR.so"};

	return t;
}

TEST(read)
{
	struct target t = self();
	uint64_t at[TARGET_VARIABLES];
	struct errmsg f = {""};

	memory__fill(at);
	tap__ok(!variables__read(&t, at, &f), "all variables: %s", f.text);
	tap__ok(t.row.head_at == at[TARGET_CONTEXT] && t.row.srcref_at == at[TARGET_SRCREF],
		"two by their address");
	tap__ok(t.row.nil == 0x2000 && t.row.sym_colon2 == 0x3000 && t.row.sym_colon3 == 0x4000 &&
			t.row.sym_dollar == 0x5000 && t.row.sym_item == 0x6000 &&
			t.row.sym_srcfile == 0x7000 && t.row.sym_class == 0x8000 &&
			t.row.in_bc == 0xa000,
		"the others by their value");
	tap__ok(t.row.eval_fun == 0x4711, "and what `eval` stands for");
	t = self();
	at[TARGET_IN_BC] = at[TARGET_EVAL] = at[TARGET_SRCREF] = 0;
	tap__ok(!variables__read(&t, at, &f) && !t.row.in_bc && !t.row.eval_fun &&
			!t.row.srcref_at && t.row.nil == 0x2000,
		"those that this R does not have are 0");
}

TEST(not_ready)
{
	static const enum target_variable late[] = {TARGET_CONTEXT, TARGET_NIL, TARGET_ITEM};

	for (size_t i = 0; i < COUNT(late); i++) {
		struct target t = self();
		uint64_t at[TARGET_VARIABLES];
		struct errmsg f = {""};

		memory__fill(at);
		memory[late[i]] = 0;
		tap__ok(variables__read(&t, at, &f) == -EAGAIN &&
				strstr(f.text, "not finished starting"),
			"%s is NULL: %s", variables__name(late[i]), f.text);
	}
}

TEST(unreadable)
{
	struct target t = self();
	uint64_t at[TARGET_VARIABLES];
	struct errmsg f = {""};
	void *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	memory__fill(at);
	at[TARGET_DOLLAR] = (uint64_t)(uintptr_t)hole;
	tap__ok(variables__read(&t, at, &f) == -EBADMSG && strstr(f.text, "/lib/libR.so"),
		"a variable where no memory is: %s", f.text);
	memory__fill(at);
	memory[TARGET_EVAL] = (uint64_t)(uintptr_t)hole;
	t = self();
	tap__ok(variables__read(&t, at, &f) == -EBADMSG, "a symbol where none is: %s", f.text);
	munmap(hole, 4096);
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	memory__fill(at);
	t = self();
	t.pid = pid;
	tap__ok(variables__read(&t, at, &f) == -ESRCH && strstr(f.text, "ended"),
		"a process that has ended: %s", f.text);
}

TEST(layout)
{
	static const struct {
		const char *version;
		int err;
		bool known;
	} rows[] = {
		{"4.2.2", 0, true}, {"3.0.0", 0, true},		 {"99.1.0", 0, false},
		{"", 0, false},	    {"2.15.3", -ENOTSUP, false}, {"0.0.1", -ENOTSUP, false},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct target t = self();
		struct errmsg f = {""};
		int err;

		snprintf(t.version, sizeof(t.version), "%s", rows[i].version);
		err = variables__layout(&t, LAYOUTS_X86_64_LINUX, &f);
		tap__ok(err == rows[i].err && (err || t.row.layout.call) &&
				t.version_known == rows[i].known,
			"R '%s': %d %s", rows[i].version, err, f.text);
		if (!err && !rows[i].known)
			tap__ok(!memcmp(&t.row.layout, layouts__last(LAYOUTS_X86_64_LINUX),
					sizeof(t.row.layout)),
				"with the last layout that is known");
	}
}
