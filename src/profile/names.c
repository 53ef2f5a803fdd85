/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "profile/names.h"

#define CONSOLE "<console>"

int name__render(struct buf *b, enum xr_form form, const char *word, const char *more,
		 uint64_t number)
{
	double real;

	switch (form) {
	case XR_FORM_SYMBOL:
		return buf__str(b, word);
	case XR_FORM_ANON:
		return buf__str(b, "<Anonymous>");
	case XR_FORM_COLON2:
		return buf__printf(b, "%s::%s", word, more);
	case XR_FORM_COLON3:
		return buf__printf(b, "%s:::%s", word, more);
	case XR_FORM_DOLLAR:
		return buf__printf(b, "%s$%s", word, more);
	case XR_FORM_ITEM_SYM:
		return buf__printf(b, "%s[[%s]]", word, more);
	case XR_FORM_ITEM_STR:
		return buf__printf(b, "%s[[\"%s\"]]", word, more);
	case XR_FORM_ITEM_INT:
		return buf__printf(b, "%s[[%" PRId64 "]]", word, (int64_t)number);
	case XR_FORM_ITEM_REAL:
		memcpy(&real, &number, sizeof(real));
		return buf__printf(b, "%s[[%.0f]]", word, real);
	case XR_FORM_ITEM_ODD:
		return buf__printf(b, "%s[[?]]", word);
	case XR_FORM_BUILTIN: /* known__native() */
	case XR_FORM_NATIVE:
	case XR_FORM_KERNEL:
	case XR_FORM_NONE:
	case XR_FORMS:
		break;
	}
	return -EINVAL;
}

int code_name__make(struct buf *b, const char *r_name, uint32_t n)
{
	int err = buf__str(b, *r_name ? r_name : CONSOLE);

	return err || n < 2 ? err : buf__printf(b, "#%u", n);
}

size_t code_name__r(const char *name, size_t len)
{
	size_t plain = len;

	if (!len || *name != '<')
		return len;
	while (plain && name[plain - 1] >= '0' && name[plain - 1] <= '9')
		plain--;
	if (plain == len || plain < 2 || name[plain - 1] != '#' || name[plain - 2] != '>')
		plain = len;
	else
		plain--;
	return plain == strlen(CONSOLE) && !memcmp(name, CONSOLE, plain) ? 0 : plain;
}
