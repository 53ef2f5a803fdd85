/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * src/target/linux/hidden/counters.c on code that is much like get_current_mem and Rf_duplicate,
 * but is not what it must be, from tests/fixtures/hidden.c.  The right code: test_hidden.c.
 */
#include "target/linux/hidden/hidden_image.h"

enum expect { EXPECT_NONE, EXPECT_NO_DUPS, EXPECT_ALL };

static const struct variant {
	const char *flags, *what;
	enum expect expect;
} variants[] = {
	{"", "R's", EXPECT_ALL},
	{"-DMEM_FOURTH", "a fourth store", EXPECT_NONE},
	{"-DMEM_CALLS", "a call", EXPECT_NONE},
	{"-DMEM_BRANCH", "a store that depends on something", EXPECT_NONE},
	{"-DMEM_SAME", "one variable twice", EXPECT_NONE},
	{"-DMEM_CONST", "a constant", EXPECT_NONE},
	{"-DMEM_ORDER", "another order", EXPECT_NONE},
	{"-DMEM_INT", "a variable of 4 bytes", EXPECT_NONE},
	{"-DMEM_PLAIN", "no multiple", EXPECT_NONE},
	{"-DMEM_NODE", "a multiple that is no node's", EXPECT_NONE},
	{"-DMEM_TWO", "two of them", EXPECT_NONE},
	{"-DMEM_FAR", "far from vmaxget", EXPECT_NONE},
	{"-DDUP_BY=0", "duplicates are not counted", EXPECT_NO_DUPS},
	{"-DDUP_BY=2", "duplicates are counted by two", EXPECT_NO_DUPS},
	{"-DDUP_LATER", "duplicates are counted after a call", EXPECT_NO_DUPS},
};

#define VARIANTS (COUNT(variants))

static void test_variant(const char *compiler, const struct variant *v)
{
	struct image im = {0};
	struct hidden d = {0};
	bool right = false;
	char path[64];
	Elf *elf;

	snprintf(path, sizeof(path), "%s/x.so", scratch);
	if (run("exec %s -O2 %s -fPIC -shared -w -nostdlib -s -o %s tests/fixtures/hidden.c",
		compiler, v->flags, path) &&
	    image__read(&im, path)) {
		elf = image__elf(&im);
		right = !derive(elf, &d) && d.gc_running;
		elf_end(elf);
	}
	free(im.bytes);
	if (v->expect == EXPECT_NONE)
		right = right && !d.small && !d.large && !d.nodes && !d.dups && !d.node_size &&
			!d.how_memory;
	else
		right = right && d.small && d.large && d.nodes && d.node_size == 56 &&
			!d.dups == (v->expect == EXPECT_NO_DUPS) &&
			!strcmp(d.how_memory, "code of get_current_mem");
	tap__ok(right, "%s: %s: %s%s", compiler, v->what, d.how_memory ? d.how_memory : "nothing",
		d.dups ? " and of Rf_duplicate" : "");
}

/* By default one compiler gets all variants, and each other one R's own code. */
static void test_compiler(const char *compiler, size_t n)
{
	if (!run("command -v %s >/dev/null", compiler)) {
		tap__skip("not installed", "%s", compiler);
		return;
	}
	for (size_t i = 0; i < (tap__all() ? VARIANTS : n); i++)
		test_variant(compiler, &variants[i]);
}

TEST(counters)
{
	elf_version(EV_CURRENT);
	scratch = tap__folder();
	test_compiler("cc", VARIANTS);
	test_compiler("clang", 1);
	test_compiler("aarch64-linux-gnu-gcc", 1);
}
