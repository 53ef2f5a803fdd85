/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "native/linux/symbols.h"

#include "tap.h"

/* What is made of @name, until the next call; NULL: nothing. */
static const char *demangled(const char *name)
{
	static struct buf out;

	out.len = 0;
	return demangle__add(&out, name) || buf__add(&out, "", 1) ? NULL : out.data;
}

TEST(demangle)
{
	static const char *const rows[][2] = {
		{"dgemm_", "dgemm_"},
		{"_Z3fooi", "foo"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi",
		 "std::vector<int, std::allocator<int> >::push_back"},
		{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
		{"__solver_MOD_step", "solver::step"},
		{"__MOD_", "__MOD_"},
		{"_Znotaname", "_Znotaname"},
		{"work.constprop.0", "work.constprop.0"},
		{"", ""},
	};
	static char deep[8001];
	const char *got;

	for (size_t i = 0; i < COUNT(rows); i++)
		tap__is(demangled(rows[i][0]), rows[i][1], "%s is %s", rows[i][0], rows[i][1]);
	memset(deep, 'P', sizeof(deep) - 1);
	memcpy(deep, "_Z1f", 4);
	got = demangled(deep);
	tap__ok(got && !strcmp(got, deep), "a long one stays as it is");
	deep[4000] = '\0';
	got = demangled(deep);
	tap__ok(got && *got && strlen(got) < 8192,
		"one that nests as deep as it can ends: %zu bytes", got ? strlen(got) : 0);
}
