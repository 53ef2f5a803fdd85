/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A row gets the collector's flag once that was seen to be right in a live process, here this one,
 * and what was seen in one process serves all of the same file.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "session/verify_hidden.h"
#include "tap.h"

static unsigned int notes;
static char last[800];

static void on_note(void *arg, enum notes_level level, const char *line)
{
	(void)arg;
	if (level != NOTES_USER)
		return;
	notes++;
	snprintf(last, sizeof(last), "%s", line);
}

static const struct notes listener = {.line = on_note, .lowest = NOTES_DEBUG};

static volatile uint32_t flag;

static struct target make(const char *path, const char *how)
{
	struct target t = {.pid = getpid(), .comm = "R", .version = "4.2.2", .how_gc = how};

	snprintf(t.path, sizeof(t.path), "%s", path);
	t.load_bias = 0x1000;
	t.row.pid = (uint32_t)getpid();
	t.row.flags = XR_ROW_GC;
	t.row.gc_at = (uint64_t)(uintptr_t)&flag;
	t.row.gc_size = 4;
	return t;
}

static uint64_t at(void)
{
	return (uint64_t)(uintptr_t)&flag;
}

int main(void)
{
	struct verify_hidden v = {.notes = &listener};
	struct hidden_proof one, two, three, child;
	struct target a = make("/lib/libR.so", "code"), b = make("/lib/libR.so", "code");
	struct target c = make("/other/libR.so", "code"),
		      d = make("/third/libR.so", "symbol table");
	struct target none = make("/fourth/libR.so", NULL), again = make("/fourth/libR.so", NULL);
	struct target plain = make("/lib/libR.so", "code"), forked;

	flag = 1;
	tap__ok(!verify_hidden__begin(&v, &one, &a, 0) && one.open && !a.row.gc_at,
		"what was read from code is not used at once");
	tap__ok(!verify_hidden__begin(&v, &two, &b, 0) && two.open, "nor in another process");
	tap__ok(!verify_hidden__begin(&v, &three, &c, 0) && three.open, "nor of another file");
	tap__ok(!verify_hidden__advance(&v, &one, &a, 8, 1) && one.open && !a.row.gc_at &&
			one.looked_at == 1,
		"a flag that is set proves nothing");
	tap__ok(verify_hidden__worth_waiting(&one, &a, 1),
		"this process runs: it is worth waiting");
	tap__ok(!verify_hidden__worth_waiting(&one, &a, 50000000), "but not for long");
	forked = a;
	verify_hidden__inherit(&child, &one, 5);
	tap__ok(child.open && !child.check.looks && child.opened_at == 5, "a child begins anew");
	flag = 0;
	tap__ok(verify_hidden__advance(&v, &child, &forked, 1, 6) && forked.row.gc_at == at() &&
			!child.open && child.completed,
		"a flag that is not set is one: in a child");
	tap__ok(verify_hidden__advance(&v, &one, &a, 0, 7) && a.row.gc_at == at() && !one.open,
		"its parent has it without another look");
	tap__ok(verify_hidden__advance(&v, &two, &b, 0, 7) && b.row.gc_at == at(),
		"and so has another process of that file");
	tap__ok(!verify_hidden__advance(&v, &two, &b, 8, 8) && two.looked_at == 7,
		"then nothing more is looked at");
	tap__ok(!verify_hidden__advance(&v, &three, &c, 0, 7) && three.open && !c.row.gc_at,
		"but not one of another file");
	tap__ok(!verify_hidden__begin(&v, &two, &plain, 9) && !two.open && plain.row.gc_at == at(),
		"a process that comes later has it from the start");
	tap__ok(!verify_hidden__begin(&v, &two, &d, 9) && !two.open && d.row.gc_at == at(),
		"a symbol table is believed");
	tap__ok(!notes, "nothing was to be said");

	none.row.gc_at = again.row.gc_at = 0;
	verify_hidden__begin(&v, &two, &none, 9);
	verify_hidden__begin(&v, &two, &again, 9);
	tap__ok(notes == 1 && strstr(last, "no GC marks") && strstr(last, "/fourth/libR.so"),
		"what cannot be had is said once for a file: %s", last);
	c.row.gc_at = at();
	flag = 7;
	verify_hidden__advance(&v, &three, &c, 1, 10);
	tap__ok(notes == 2 && !three.open && strstr(last, "/other/libR.so"),
		"and for each file: %s", last);

	plain.row.flags = 0;
	plain.row.gc_at = 0;
	tap__ok(!verify_hidden__begin(&v, &two, &plain, 9) && !two.open && !two.file,
		"where nothing is asked for nothing is done");
	verify_hidden__free(&v);
	return tap__done();
}
