/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "values/literal.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const reserved[] = {
	"NULL",	    "NA",	   "TRUE",     "FALSE",		"Inf",
	"NaN",	    "NA_integer_", "NA_real_", "NA_character_", "NA_complex_",
	"function", "while",	   "repeat",   "for",		"if",
	"in",	    "else",	   "next",     "break",
};

bool literal__is_name(const char *s, size_t len)
{
	if (!len || len >= LITERAL_NAME_BYTES)
		return false;
	if (len == 3 && !memcmp(s, "...", 3))
		return true;
	if (*s == '.' ? len > 1 && s[1] >= '0' && s[1] <= '9'
		      : !((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || *s & 0x80))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
		      (s[i] >= '0' && s[i] <= '9') || s[i] == '.' || s[i] == '_' || s[i] & 0x80))
			return false;
	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		if (strlen(reserved[i]) == len && !memcmp(reserved[i], s, len))
			return false;
	return true;
}

/* Between @quote, with R's escapes (EncodeString(), util.c). */
static int quoted(struct buf *b, const char *s, size_t len, char quote)
{
	static const char from[] = "\n\r\t\a\b\f\v\\", to[] = "nrtabfv\\";
	int err = buf__add(b, &quote, 1);

	for (size_t i = 0; i < len && !err; i++) {
		const char *known = s[i] ? strchr(from, s[i]) : NULL;

		if (s[i] == quote)
			err = buf__printf(b, "\\%c", quote);
		else if (known)
			err = buf__printf(b, "\\%c", to[known - from]);
		else if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			err = buf__printf(b, "\\%03o", (unsigned char)s[i]);
		else
			err = buf__add(b, s + i, 1);
	}
	return err ? err : buf__add(b, &quote, 1);
}

int literal__name(struct buf *b, const char *name, size_t len)
{
	return !len || literal__is_name(name, len) ? buf__add(b, name, len)
						   : quoted(b, name, len, '`');
}

int literal__string(struct buf *b, const char *s, size_t len)
{
	return quoted(b, s, len, '"');
}

bool literal__is_na(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return isnan(value) && (uint32_t)bits == 1954;
}

/* The fewest significant digits of @value that are as good as @digits, and its exponent. */
static int real__digits(double value, int digits, int *exponent)
{
	char want[48], have[48];
	int n;

	snprintf(want, sizeof(want), "%.*e", digits - 1, value);
	for (n = 1; n < digits; n++) {
		snprintf(have, sizeof(have), "%.*e", n - 1, value);
		if (strtod(have, NULL) == strtod(want, NULL))
			break;
	}
	snprintf(have, sizeof(have), "%.*e", n - 1, value);
	*exponent = atoi(strchr(have, 'e') + 1);
	return n;
}

/* @value as text without zeros at the end of its fraction. */
static int real__add(struct buf *b, double value, bool fixed, int right)
{
	char text[400], tail[16] = "";
	char *end = text, *e;

	snprintf(text, sizeof(text), fixed ? "%.*f" : "%.*e", right, value);
	e = fixed ? NULL : strchr(text, 'e');
	if (e) {
		snprintf(tail, sizeof(tail), "%s", e);
		*e = '\0';
	}
	end = text + strlen(text);
	if (strchr(text, '.'))
		while (end[-1] == '0' || end[-1] == '.')
			if (*--end == '.')
				break;
	*end = '\0';
	return buf__printf(b, "%s%s", text, tail);
}

int literal__reals(struct buf *b, const double *values, size_t n, int digits, const char *between)
{
	int most = 1, right = 0, left = 1, exponent, err = 0;
	bool three = false;

	for (size_t i = 0; i < n; i++) {
		int needed;

		if (!isfinite(values[i]))
			continue;
		needed = real__digits(values[i], digits, &exponent);
		most = needed > most ? needed : most;
		right = needed - 1 - exponent > right ? needed - 1 - exponent : right;
		left = exponent + 1 > left ? exponent + 1 : left;
		three = three || abs(exponent) >= 100;
	}
	for (size_t i = 0; i < n && !err; i++) {
		err = i ? buf__str(b, between) : 0;
		if (err)
			break;
		if (literal__is_na(values[i]))
			err = buf__str(b, "NA");
		else if (isnan(values[i]) || isinf(values[i]))
			err = buf__str(b, isnan(values[i]) ? "NaN"
					  : values[i] < 0  ? "-Inf"
							   : "Inf");
		/* without an exponent if that is no longer (formatReal(), format.c) */
		else if (left + (right ? right + 1 : 0) <=
			 (most > 1 ? most + 1 : most) + (three ? 5 : 4))
			err = real__add(b, values[i], true, right);
		else
			err = real__add(b, values[i], false, most - 1);
	}
	return err;
}

int literal__complex(struct buf *b, const double parts[2], int digits)
{
	int err = literal__reals(b, &parts[0], 1, digits, "");

	err = err ? err : buf__str(b, signbit(parts[1]) ? "" : "+");
	err = err ? err : literal__reals(b, &parts[1], 1, digits, "");
	return err ? err : buf__str(b, "i");
}
