/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* R's version, from its constants and from the version resource of R.dll. */
#include "target/r_version.h"

#include "tap.h"

static int version_of(const char *text, size_t len, char version[16])
{
	char *copy = malloc(len ? len : 1);
	int err;

	tap__bail_if(!copy, "no memory");
	memcpy(copy, text, len);
	err = r_version__parse(copy, len, version);
	free(copy);
	return err;
}

#define VERSION_OF(text, version) version_of(text, sizeof(text), version)

TEST(constants)
{
	static const char whole[] = "x\0major\0minor\0002.2\0year\0002022\0month";
	static const struct {
		const char *minor, *year, *version;
	} cases[] = {
		{"0.0", "2013", "3.0.0"}, {"0.3", "2014", "3.0.3"}, {"6.3", "2020", "3.6.3"},
		{"0.0", "2020", "4.0.0"}, {"0.5", "2021", "4.0.5"}, {"5.0", "2025", "4.5.0"},
		{"6.2", "2026", "4.6.2"}, {"8.0", "2027", "4.8.0"}, {"15.3", "2013", "2.15.3"},
		{"9.1", "2009", "2.9.1"}, {"0.0", "2035", NULL},    {"2.2", "20x2", NULL},
		{"2", "2022", NULL},	  {".2", "2022", NULL},	    {"2.", "2022", NULL},
		{"2.2.2", "2022", NULL},  {"-2.2", "2022", NULL},   {"2222222222.2", "2022", NULL},
	};
	char version[16], text[128];
	bool all = true;

	tap__ok(!VERSION_OF(whole, version) && !strcmp(version, "4.2.2"), "literals of R 4.2.2");
	tap__ok(!VERSION_OF("major\0005\0minor\0000.1\0year\0002030\0month", version) &&
			!strcmp(version, "5.0.1"),
		"the major number, where it stands there");
	tap__ok(!VERSION_OF("minor\0minor\0minor\0x.y\0year\0minor\0002.2\0year\0002022\0",
			    version) &&
			!strcmp(version, "4.2.2"),
		"the word elsewhere in the file");
	for (size_t i = 0; i < COUNT(cases); i++) {
		size_t n = (size_t)snprintf(text, sizeof(text), "major%cminor%c%s%cyear%c%s", 0, 0,
					    cases[i].minor, 0, 0, cases[i].year);
		int err = version_of(text, n + 1, version);
		if (cases[i].version ? err || strcmp(version, cases[i].version)
				     : err != -ENOENT || version[0]) {
			tap__diag("%s of %s: \"%s\"", cases[i].minor, cases[i].year, version);
			all = false;
		}
	}
	tap__ok(all, "releases by their year, and words that are not releases");
	all = true;
	for (size_t n = 0; n < sizeof(whole); n++)
		all &= !version_of(whole, n, version) ? !strcmp(version, "4.2.2") : !version[0];
	tap__ok(all, "cut at every length");
}

/* @text in UTF-16 at @at; where it ends. */
static char *put_wide(char *at, const char *text)
{
	for (; *text; text++, at += 2)
		at[0] = *text;
	return at;
}

static char image[(1u << 16) + 4096]; /* of which a part is beyond the first piece */

static int image__read(void *arg, uint64_t addr, void *to, size_t len)
{
	(void)arg;
	if (addr > sizeof(image) || len > sizeof(image) - addr)
		return -EFAULT;
	memcpy(to, image + addr, len);
	return 0;
}

TEST(resource)
{
	static const struct mem_reader reader = {.read = image__read};
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"3.6.3  (2020-02-29)", "3.6.3"},
		{"4.6.1 Patched (2026-05-01)", "4.6.1"},
		{"Under development (unstable)", ""},
		{"4.6", ""},
		{"4..6", ""},
		{"1.2.3.4.5.6.7.8.9.10.11", ""},
	};
	char version[16];
	int err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		memset(image, 0, sizeof(image));
		put_wide(put_wide(image + (1u << 16) - 144, "FileVersion") + 2, "9.9.9 ");
		put_wide(put_wide(image + (1u << 16) - 80, "R Version") + 4, rows[i].text);
		err = r_version__scan(&reader, 0, sizeof(image), r_version__resource, version);
		tap__ok(err == (*rows[i].want ? 0 : -ENOENT) && !strcmp(version, rows[i].want),
			"%s: \"%s\"", rows[i].text, version);
		err = r_version__scan(&reader, 0, (1u << 16) - 62, r_version__resource, version);
		tap__ok(err == -ENOENT && !*version, "cut off behind its name");
	}
}
