/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The labels that an R program sets, from records to samples, and hostile ones. */
#include "decode_scene.h"
#include "profile/label_sets.h"

#define TEXT(s) s, sizeof(s) - 1

/* Set @id is @want: "key=value ..." */
static void is(const struct label_sets *s, uint64_t id, const char *want, const char *what)
{
	size_t n;
	const struct profile_label *l = label_sets__find(s, id, &n);

	for (size_t i = 0; i < n; i++)
		tap__say("%s%s=%s", i ? " " : "", l[i].key, l[i].value);
	tap__said(want, "%s", what);
}

TEST(texts)
{
	struct budget budget = {.max = 4096};
	struct label_sets s = {.budget = &budget};

	label_sets__put(&s, 1, TEXT("route\0/x\0a\0b\0"));
	is(&s, 1, "a=b route=/x", "labels are ordered by key");
	label_sets__put(&s, 2, TEXT("a\0b\0a\0c\0pid\0001\0\0x\0b\0\0"));
	is(&s, 2,
	   "a=b b=", "the first of a key counts; pid is not a label, nor is what has no key");
	label_sets__put(&s, 3, TEXT("a\0b\0c"));
	is(&s, 3, "a=b", "a key without a value");
	label_sets__put(&s, 4, "", 0);
	is(&s, 4, "", "no text");
	label_sets__put(&s, 5, TEXT("a\0\0b\0\0c\0\0d\0\0e\0\0f\0\0g\0\0h\0\0i\0\0j\0\0"));
	is(&s, 5, "a= b= c= d= e= f= g= h=", "more than a set may have");
	is(&s, 9, "", "an unknown set");
	for (uint64_t i = 100; i < 100 + 2 * LABEL_SETS; i++)
		label_sets__put(&s, i, TEXT("k\0v\0"));
	is(&s, 1, "", "old sets are dropped");
	label_sets__free(&s);
	tap__ok(!budget.used, "what was taken of the budget is given back");
	budget.max = 10;
	tap__ok(label_sets__put(&s, 1, TEXT("a\0b\0")) == -ENOSPC, "a set that does not fit");
	label_sets__free(&s);
}

TEST(samples)
{
	start();
	send_text(1, 0x100, XR_TEXT_SYMBOL, "f");
	make_text(1, 7, XR_TEXT_LABELS, "");
	memcpy(r.text.text, "a\0b", 4);
	r.text.len = 4;
	r.text.head.size += 4;
	send();
	becomes("f", (struct shape){.flags = XR_F_LABELS}, SLOTS(PAIR(7, 0), SYMBOL(0x100)));
	tap__ok(seen.sample.nlabels == 1, "a sample has its labels");
	becomes("f", (struct shape){.flags = XR_F_LABELS | XR_F_MEMORY},
		SLOTS(PAIR(8, 16), PAIR(56, 7), PAIR(7, 0), SYMBOL(0x100)));
	tap__ok(seen.sample.nlabels == 1 && seen.sample.memory.small == 8,
		"behind counts of memory");
	becomes("f", (struct shape){.flags = XR_F_LABELS}, SLOTS(PAIR(0, 0), SYMBOL(0x100)));
	tap__ok(!seen.sample.nlabels, "0: it has none");
	becomes("f", (struct shape){.flags = XR_F_LABELS}, SLOTS(PAIR(9, 0), SYMBOL(0x100)));
	tap__ok(!seen.sample.nlabels && decoder__stats(d)->unnamed == 1,
		"labels that never came are counted");
	send_sample((struct shape){.flags = XR_F_LABELS}, NO_SLOTS);
	tap__ok(malformed() == 1, "a sample too short for them is malformed");
	finish();
}
