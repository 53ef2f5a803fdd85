/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names: the forms of the naming rule. */
#include <math.h>

#include "profile/names.h"
#include "tap.h"

static const char *text(struct buf *b)
{
	buf__add(b, "", 1);
	return b->data;
}

static void check_render(enum xr_form form, uint64_t number, const char *want)
{
	struct buf b = {0};
	int err = name__render(&b, form, "a", "b", number);

	tap__ok(!err && !strcmp(text(&b), want), "form %d: %s", form, want);
	buf__free(&b);
}

static uint64_t bits(double real)
{
	uint64_t u;

	memcpy(&u, &real, sizeof(u));
	return u;
}

TEST(render)
{
	struct buf b = {0};
	char line[400];

	check_render(XR_FORM_SYMBOL, 0, "a");
	check_render(XR_FORM_ANON, 0, "<Anonymous>");
	check_render(XR_FORM_COLON2, 0, "a::b");
	check_render(XR_FORM_COLON3, 0, "a:::b");
	check_render(XR_FORM_DOLLAR, 0, "a$b");
	check_render(XR_FORM_ITEM_SYM, 0, "a[[b]]");
	check_render(XR_FORM_ITEM_STR, 0, "a[[\"b\"]]");
	check_render(XR_FORM_ITEM_INT, 7, "a[[7]]");
	check_render(XR_FORM_ITEM_INT, (uint64_t)-2147483648LL, "a[[-2147483648]]");
	check_render(XR_FORM_ITEM_REAL, bits(2), "a[[2]]");
	check_render(XR_FORM_ITEM_REAL, bits(-3), "a[[-3]]");
	check_render(XR_FORM_ITEM_REAL, bits(2.7), "a[[3]]");
	check_render(XR_FORM_ITEM_REAL, bits(INFINITY), "a[[inf]]");
	check_render(XR_FORM_ITEM_REAL, bits(-INFINITY), "a[[-inf]]");
	check_render(XR_FORM_ITEM_REAL, 0x7ff80000000007a2ULL, "a[[nan]]"); /* NA_real_ */
	snprintf(line, sizeof(line), "a[[%.0f]]", 1.7e308);
	check_render(XR_FORM_ITEM_REAL, bits(1.7e308), line);
	check_render(XR_FORM_ITEM_ODD, 0, "a[[?]]");
	tap__ok(name__render(&b, XR_FORM_NATIVE, "a", "b", 0) == -EINVAL,
		"a native frame has no name of words");
	tap__ok(name__render(&b, XR_FORM_NONE, "a", "b", 0) == -EINVAL, "no form is no name");
	tap__ok(name__render(&b, XR_FORMS, "a", "b", 0) == -EINVAL, "a form past the last is none");
	buf__free(&b);
}
