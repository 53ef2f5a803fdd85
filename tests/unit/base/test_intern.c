/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Budgets, arenas, tables, and interned names. */
#include "base/intern.h"
#include "base/map.h"
#include "tap.h"

TEST(budget)
{
	struct budget all = {.max = 1000}, one = {.whole = &all, .max = 700, .reserve = 100},
		      other = {.whole = &all, .max = 700, .reserve = 100};

	tap__ok(budget__take(NULL, SIZE_MAX), "no budget is no limit");
	tap__ok(budget__take(&one, 700) && !budget__take(&one, 1) && all.used == 600,
		"a part has its limit, and counts in the whole except for its reserve");
	tap__ok(!budget__take(&other, SIZE_MAX) && !budget__take(&other, 501) &&
			budget__take(&other, 500) && all.used == 1000,
		"so has the whole");
	budget__give(&other, 450);
	budget__take(&all, 400);
	tap__ok(!budget__take(&other, 51) && budget__take(&other, 50) && all.used == 1000,
		"a reserve is available even when the whole is used up");
	budget__owe(&other, 10);
	tap__ok(other.used == 110 && all.used == 1010, "what must be is taken all the same");
	budget__give(&other, 110);
	budget__give(&one, 700);
	budget__give(&all, 150);
	budget__give(NULL, 1);
	tap__ok(!one.used && !other.used && all.used == 250, "what is given back is free");
}

TEST(arena)
{
	struct budget budget = {.max = 200000};
	struct arena a = {.budget = &budget};
	size_t wrong = 0, n = 0;
	char *last = NULL, *p;

	for (; (p = arena__alloc(&a, 1 + n % 100)); n++) {
		wrong += (uintptr_t)p % 8 != 0;
		memset(p, (int)n, 1 + n % 100);
		wrong += last && *last != (char)(n - 1);
		last = p;
	}
	tap__ok(!wrong && n > 3000, "%zu pieces, aligned and apart", n);
	tap__ok(a.total == budget.used && a.total <= budget.max && a.total > 190000,
		"up to the budget: %zu bytes", a.total);
	arena__free(&a);
	tap__ok(!budget.used && !a.total, "all is given back");
	tap__ok(arena__alloc(&a, 150000) && arena__alloc(&a, 8) && !arena__alloc(&a, 150000),
		"a large piece is a separate block");
	arena__free(&a);
}

struct number {
	uint64_t hash;
	unsigned int n;
};

static bool number__same(const void *record, const void *key)
{
	return ((const struct number *)record)->n == *(const unsigned int *)key;
}

TEST(table)
{
	static struct number numbers[5000];
	struct budget budget = {.max = 100000};
	struct table t = {.budget = &budget};
	unsigned int n, none = 5000, wrong = 0;
	int err = 0;

	tap__ok(!table__find(&t, 1, number__same, &none), "nothing is in an empty one");
	for (n = 0; n < 5000 && !err; n++) {
		numbers[n] = (struct number){.hash = n % 1000, .n = n}; /* many of equal hash */
		err = table__add(&t, &numbers[n]);
	}
	for (n = 0; n < 5000; n++)
		wrong += table__find(&t, n % 1000, number__same, &n) != &numbers[n];
	tap__ok(!err && !wrong && t.count == 5000, "all are found by what they hold");
	tap__ok(!table__find(&t, 0, number__same, &none), "and no others");
	tap__ok(budget.used == t.cap * sizeof(void *), "its size is in the budget");
	table__free(&t);
	tap__ok(!budget.used && !t.cap, "and given back");
	budget.max = 16 * sizeof(void *);
	for (n = 0, err = 0; n < 100 && !err; n++)
		err = table__add(&t, &numbers[n]);
	tap__ok(err == -ENOMEM && n == 13, "over the budget: %u go in", n - 1);
	table__free(&t);
}

TEST(intern)
{
	/* a name, its form that is safe, and that for fields between semicolons */
	static const char *const forms[][3] = {
		{"a\nb\"", "a\\nb\\x22", "a\\nb\\x22"},
		{"a;b", "a;b", "a\\x3bb"},
		{"x[[\"k\"]]", "x[[\"k\"]]", "x[[\"k\"]]"},
		{"gr\xc3\xb6\xc3\x9f", "gr\xc3\xb6\xc3\x9f", "gr\xc3\xb6\xc3\x9f"},
		{"\xe4", "\\xe4", "\\xe4"},
	};
	static char big[100000];
	struct intern t;
	const struct name *one, *name;
	char text[32];
	size_t wrong = 0;

	intern__init(&t, NULL);
	one = intern__get(&t, "fun", 3);
	tap__ok(!strcmp(one->text, "fun") && one->len == 3 && one->safe == one->text &&
			one->safe_len == 3 && one->field == one->text,
		"a name comes back, nothing to be escaped");
	tap__ok(intern__get(&t, "funny", 3) == one, "equal names have one address");
	tap__ok(intern__get(&t, "fun\0ny", 6) == one, "a NUL ends the name");
	tap__ok(intern__get(&t, "fu", 2) != one, "others have another");
	tap__ok(!intern__get(&t, "", 0)->len, "the empty name");
	memset(big, 'x', sizeof(big));
	tap__ok(intern__get(&t, big, sizeof(big))->len == sizeof(big),
		"a name longer than a block");
	for (int i = 0; i < 20000; i++) {
		int len = snprintf(text, sizeof(text), "name %d", i);

		name = intern__get(&t, text, (size_t)len);
		wrong +=
			strcmp(name->text, text) != 0 || intern__get(&t, text, (size_t)len) != name;
	}
	tap__ok(!wrong && intern__get(&t, "fun", 3) == one, "20000 names stay where they are");

	for (size_t i = 0; i < COUNT(forms); i++) {
		const char *const *form = forms[i];

		name = intern__get(&t, form[0], strlen(form[0]));
		tap__ok(!strcmp(name->text, form[0]) && !strcmp(name->safe, form[1]) &&
				!strcmp(name->field, form[2]) &&
				name->safe_len == strlen(form[1]) &&
				name->field_len == strlen(form[2]) &&
				(name->safe == name->text) == !strcmp(form[0], form[1]) &&
				(name->field == name->text) == !strcmp(form[0], form[2]),
			"%s is safe, and %s as a field", form[1], form[2]);
	}
	intern__free(&t);
}

/* Names that have equal low bits of a hash that anyone can compute are spread out. */
TEST(chosen_names)
{
	struct intern t = {0};
	size_t run = 0, longest = 0;
	char text[32];

	for (int i = 0; t.table.count < 500; i++) {
		const size_t len = (size_t)snprintf(text, sizeof(text), "%d", i);

		if (!(map__hash(map__hash_bytes(text, len), len) & 0x3ff))
			intern__get(&t, text, len);
	}
	for (size_t i = 0; i < t.table.cap; i++) {
		run = t.table.records[i] ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	tap__ok(t.table.cap == 1024 && longest < 250, "of 500 chosen names %zu are in a row",
		longest);
	intern__free(&t);
}

TEST(intern_budget)
{
	struct budget budget = {.max = 1 << 20};
	struct intern t;
	char text[64];
	int n;

	intern__init(&t, &budget);
	for (n = 0; n < 1000000; n++) {
		int len = snprintf(text, sizeof(text), "name number %d\n", n);

		if (!intern__get(&t, text, (size_t)len))
			break;
	}
	tap__ok(n > 5000 && n < 20000 && budget.used <= budget.max, "%d names in 1 MiB", n);
	tap__ok(intern__get(&t, "name number 0\n", 14), "those that are there are still found");
	intern__free(&t);
	tap__ok(!budget.used, "all is given back");
}

/* Parts of a whole: none takes the room of those to come. */
TEST(shared)
{
	struct budget whole = {.max = 1000, .shared = true};
	struct budget hog = {.whole = &whole, .max = SIZE_MAX};
	struct budget second = {.whole = &whole, .max = SIZE_MAX};
	struct budget third = {.whole = &whole, .max = SIZE_MAX, .reserve = 100};

	while (budget__take(&hog, 10))
		;
	tap__ok(hog.used == 500, "one part takes at most what it leaves: %zu of 1000", hog.used);
	while (budget__take(&second, 10))
		;
	tap__ok(second.used == 250, "the next half of the rest: %zu", second.used);
	while (budget__take(&third, 10))
		;
	tap__ok(third.used == 220, "one with a reserve has that as well: %zu", third.used);
	budget__give(&third, 120);
	tap__ok(third.used == 100 && whole.used == 750, "what is its own is given back last");
	budget__give(&hog, 500);
	budget__give(&second, 250);
	budget__give(&third, 100);
	tap__ok(!whole.used && !third.used, "all of it is given back");
}
