/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "native/linux/symbols.h"

#include "tap.h"

static void check(const char *name, const char *want)
{
	struct buf out = {0};

	tap__ok(!demangle__add(&out, name) && out.len == strlen(want) &&
			(!out.len || !memcmp(out.data, want, out.len)),
		"%.60s is %.60s", name, want);
	buf__free(&out);
}

TEST(demangle)
{
	char *deep = malloc(8192);

	tap__bail_if(!deep, "no memory");
	check("dgemm_", "dgemm_");
	check("_Z3fooi", "foo");
	check("_ZNSt6vectorIiSaIiEE9push_backERKi",
	      "std::vector<int, std::allocator<int> >::push_back");
	check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	check("__solver_MOD_step", "solver::step");
	check("__MOD_", "__MOD_");
	check("_Znotaname", "_Znotaname");
	check("work.constprop.0", "work.constprop.0");
	check("", "");
	memset(deep, 'P', 8000);
	memcpy(deep, "_Z1f", 4);
	deep[8000] = '\0';
	check(deep, deep);
	deep[4000] = '\0';
	tap__ok(!demangle__add(&(struct buf){0}, "") && strlen(deep) == 4000, "a long one ends");
	{
		struct buf out = {0};

		tap__ok(!demangle__add(&out, deep) && out.len && out.len < 8192,
			"one that nests as deep as it can: %zu bytes", out.len);
		buf__free(&out);
	}
	free(deep);
}
