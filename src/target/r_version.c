/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/r_version.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCAN_CHUNK   (64u << 10)
#define SCAN_OVERLAP 128u	  /* what is looked for is shorter than this */
#define SCAN_MAX     (256u << 20) /* bytes that are searched */

/* The decimal number at @text, which must be all digits; -1 if it is not. */
static int digits__parse(const char *text, const char *end, int max)
{
	int value = 0;

	if (text == end)
		return -1;
	for (; text < end; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		value = value * 10 + (*text - '0');
		if (value > max)
			return -1;
	}
	return value;
}

/*
 * R x.y.0 comes each spring: 3.0 in 2013, 4.0 in 2020; patches and the next one's development
 * fall in the years beside.
 */
static int major__guess(int minor, int year)
{
	static const struct {
		int major, year;
	} firsts[] = {{3, 2013}, {4, 2020}};

	for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
		if (year >= firsts[i].year + minor - 1 && year <= firsts[i].year + minor + 1)
			return firsts[i].major;
	return year <= 2013 ? 2 : -1;
}

/* The literals around @minor, which is behind "minor\0": "X.Y\0year\0YYYY\0". */
static int version__parse(const char *data, const char *minor, const char *end, char version[16])
{
	static const char year_word[] = "year", major_word[] = "major";
	const char *dot, *stop, *year;
	int x, y, when, major = -1;

	stop = memchr(minor, '\0', (size_t)(end - minor) < 8 ? (size_t)(end - minor) : 8);
	if (!stop || (size_t)(end - stop) < 1 + sizeof(year_word) + 5)
		return -ENOENT;
	dot = memchr(minor, '.', (size_t)(stop - minor));
	year = stop + 1 + sizeof(year_word);
	if (!dot || memcmp(stop + 1, year_word, sizeof(year_word)) || year[4] != '\0')
		return -ENOENT;
	x = digits__parse(minor, dot, 99);
	y = digits__parse(dot + 1, stop, 99);
	when = digits__parse(year, year + 4, 9999);
	if (x < 0 || y < 0 || when < 0)
		return -ENOENT;
	/* "major\0" "4\0" "minor\0", if the number was not merged away */
	minor -= sizeof("minor");
	if ((size_t)(minor - data) >= sizeof(major_word) + 2 && minor[-1] == '\0' &&
	    !memcmp(minor - 2 - sizeof(major_word), major_word, sizeof(major_word)))
		major = digits__parse(minor - 2, minor - 1, 9);
	if (major < 0)
		major = major__guess(x, when);
	if (major < 0)
		return -ENOENT;
	snprintf(version, 16, "%u.%u.%u", (uint8_t)major, (uint8_t)x, (uint8_t)y);
	return 0;
}

int r_version__parse(const char *data, size_t len, char version[16])
{
	static const char word[] = "minor";
	const char *at = data, *end = data + len;

	version[0] = '\0';
	while (at < end && (at = memchr(at, word[0], (size_t)(end - at)))) {
		if ((size_t)(end - at) < sizeof(word))
			break;
		if (memcmp(at, word, sizeof(word))) {
			at++;
			continue;
		}
		at += sizeof(word);
		if (!version__parse(data, at, end, version))
			return 0;
	}
	return -ENOENT;
}

/* "4.2.2", and nothing more, at the start of the @n characters of UTF-16 @text. */
static int resource__number(const char *text, size_t n, char version[16])
{
	unsigned int dots = 0, len = 0;

	for (; len < n && len < 15; len++) {
		const char c = text[2 * len];

		if (text[2 * len + 1] || (c != '.' && (c < '0' || c > '9')))
			break;
		if (c == '.' && (!len || version[len - 1] == '.'))
			return -ENOENT;
		dots += c == '.';
		version[len] = c;
	}
	version[len] = '\0';
	return dots == 2 && version[len - 1] != '.' ? 0 : -ENOENT;
}

int r_version__resource(const char *data, size_t len, char version[16])
{
	static const char name[] = "R\0 \0V\0e\0r\0s\0i\0o\0n\0\0"; /* and one more 0 */

	for (size_t i = 0; i + sizeof(name) <= len; i += 2) {
		size_t at = i + sizeof(name);

		if (memcmp(data + i, name, sizeof(name)))
			continue;
		/* values are aligned to 4 bytes */
		while (at + 2 <= len && at < i + sizeof(name) + 4 && !data[at] && !data[at + 1])
			at += 2;
		if (!resource__number(data + at, (len - at) / 2, version))
			return 0;
	}
	version[0] = '\0';
	return -ENOENT;
}

int r_version__scan(const struct mem_reader *m, uint64_t at, uint64_t size, r_version_parse *parse,
		    char version[16])
{
	char *chunk = malloc(SCAN_CHUNK);
	int err = chunk ? -ENOENT : -ENOMEM;

	version[0] = '\0';
	size = size < SCAN_MAX ? size : SCAN_MAX;
	for (uint64_t done = 0; err == -ENOENT && done + SCAN_OVERLAP < size;
	     done += SCAN_CHUNK - SCAN_OVERLAP) {
		const size_t n = size - done < SCAN_CHUNK ? (size_t)(size - done) : SCAN_CHUNK;

		if (!mem_reader__read(m, at + done, chunk, n))
			err = parse(chunk, n, version);
	}
	free(chunk);
	return err;
}
