/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/parse.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define SECONDS_DIGITS 15u /* of a time: what a double holds exactly */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int parse__digits(const char **at, uint64_t max, uint64_t *out)
{
	const char *text = *at;
	uint64_t value = 0;

	if (!is_digit(*text))
		return -EINVAL;
	for (; is_digit(*text); text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (digit > max || value > (max - digit) / 10)
			return -ERANGE;
		value = value * 10 + digit;
	}
	*at = text;
	*out = value;
	return 0;
}

int parse__field(const char **at, uint64_t max, uint64_t *out)
{
	const char *text = *at + strspn(*at, " \t");
	int err = parse__digits(&text, max, out);

	if (!err)
		*at = text;
	return err;
}

int parse__u64_to(const char **at, char end, uint64_t max, uint64_t *out)
{
	const char *text = *at;
	uint64_t value;
	int err = parse__digits(&text, max, &value);

	if (err)
		return err;
	if (*text && *text != end)
		return -EINVAL;
	*at = text;
	*out = value;
	return 0;
}

int parse__u64(const char *text, uint64_t max, uint64_t *out)
{
	return parse__u64_to(&text, '\0', max, out);
}

int parse__hex(char c)
{
	if (is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int parse__seconds(const char *text, double *out)
{
	double value = 0, unit = 1;
	unsigned int digits = 0;
	bool fraction = false;

	for (; is_digit(*text) || (*text == '.' && !fraction); text++) {
		if (*text == '.') {
			fraction = true;
			continue;
		}
		if (++digits > SECONDS_DIGITS)
			return -EINVAL;
		value = value * 10 + (*text - '0');
		if (fraction)
			unit *= 10;
	}
	if (!digits)
		return -EINVAL;
	value /= unit;
	if (text[0] == 'm' && text[1] == 's') {
		value /= 1000;
		text++;
	} else if (*text == 'm') {
		value *= 60;
	} else if (*text == 'h') {
		value *= 3600;
	}
	if (*text && strchr("smh", *text))
		text++;
	if (*text)
		return -EINVAL;
	*out = value;
	return 0;
}

int parse__size(const char *text, uint64_t *out)
{
	static const char units[] = "KMG";
	const char *unit;
	unsigned int shift = 0;
	uint64_t n;
	int err = parse__digits(&text, UINT64_MAX, &n);

	if (err)
		return err;
	unit = *text ? strchr(units, *text) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		text++;
	}
	if (*text)
		return -EINVAL;
	if (n > UINT64_MAX >> shift)
		return -ERANGE;
	*out = n << shift;
	return 0;
}
