/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A core file, and the file that --libr names: the first part of the input.  Its facts are whole,
 * and its calls, values and modules can be asked for.
 */
#include "base/buf.h"
#include "fuzz.h"
#include "target/linux/core.h"
#include "values/calls.h"
#include "values/deparse.h"

static void ask(struct core *c)
{
	const struct mem_reader reader = core__reader(c);
	const struct core_facts *facts = core__facts(c);
	struct core_module m = {0};
	struct buf b = {0};
	struct calls calls;
	uint64_t start;
	struct heap h;

	if (!memchr(facts->command, '\0', sizeof(facts->command)) ||
	    !memchr(facts->version, '\0', sizeof(facts->version)) ||
	    !memchr(facts->path, '\0', sizeof(facts->path)))
		fuzz__fail("a fact that does not end");
	calls__read(&reader, core__row(c), 50, &calls);
	heap__init(&h, &reader, core__row(c), 2000);
	for (size_t i = 0; i < calls.n; i++)
		deparse__call(&h, calls.list[i].call, &b, 200);
	for (unsigned int i = 0; i < 50 && core__module(c, &m); i++) {
		core__mapped(c, m.start, &start);
		core__is_r(c, m.path);
		core_module__close(&m);
	}
	calls__free(&calls);
	buf__free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size}, libr = input__part(&in);
	const int of_core = fuzz__file(in.at, in.left), of_libr = fuzz__file(libr.at, libr.left);
	char core_path[32], libr_path[32];
	struct errmsg f = {""};
	struct core *c;
	int err;

	snprintf(core_path, sizeof(core_path), "/proc/self/fd/%d", of_core);
	snprintf(libr_path, sizeof(libr_path), "/proc/self/fd/%d", of_libr);
	err = core__open(core_path, libr_path, &c, &f);
	if (err > 0 || (err && !f.text[0]))
		fuzz__fail("open: %d, %s", err, f.text);
	if (!err) {
		ask(c);
		core__close(c);
	}
	close(of_core);
	close(of_libr);
	return 0;
}
