/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The checks of a layout and of hidden variables against a live process, over memory that the input
 * gives. */
#include "target/hidden_check.h"
#include "target/layout_check.h"
#include "walk_input.h"

#define LOOKS 50u

static void no_pause(void *arg)
{
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct fuzz_memory memory;
	const struct mem_reader reader = {.read = fuzz_memory__read, .arg = &memory};
	struct layout_found found = {0};
	struct hidden_check check = {0};
	struct errmsg f = {""};
	struct walk_input w;
	int err;

	walk_input__take(&in, &w, &memory);
	if (w.looks & 1) {
		err = layout_check__run(&w.row, &reader, no_pause, &found, &f);
		if (err > 0 || (err && !f.text[0]))
			fuzz__fail("the check of a layout: %d, %s", err, f.text);
		if (w.row.layout.read_lines > XR_CONTEXT_MAX ||
		    w.row.layout.read_plain > XR_CONTEXT_MAX)
			fuzz__fail("a layout of %u bytes", w.row.layout.read_lines);
	}
	for (unsigned int i = 0; i < LOOKS && hidden_check__open(&check, &w.row); i++) {
		err = hidden_check__look(&check, &w.row, &reader);
		if (err > 0)
			fuzz__fail("a look: %d", err);
		if (err)
			break;
	}
	return 0;
}
