/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options from a file: the same as on the command line. */
#include "cmd/config_file.h"
#include "tap.h"

struct values {
	const char *dir;
	uint32_t freq;
	bool all;
};

static const struct option_row rows[] = {
	{.name = "dir", .arg = "DIR", .type = OPTION_STRING, .at = offsetof(struct values, dir)},
	{.name = "freq",
	 .alias = {"rate"},
	 .arg = "HZ",
	 .type = OPTION_NUMBER,
	 .min = 1,
	 .max = 100,
	 .at = offsetof(struct values, freq)},
	{.name = "all", .type = OPTION_FLAG, .at = offsetof(struct values, all)},
	{.name = "config", .arg = "FILE", .type = OPTION_STRING, .only_command_line = true},
	{.name = "help", .type = OPTION_FLAG, .last = true},
	{0},
};

static char kept[4096];

static int apply(const char *text, struct values *v, struct errmsg *f)
{
	*v = (struct values){0};
	*f = (struct errmsg){""};
	snprintf(kept, sizeof(kept), "%s", text);
	return config_file__apply(rows, v, kept, "x.conf", f);
}

TEST(lines)
{
	struct values v;
	struct errmsg f;

	tap__ok(!apply("", &v, &f) && !v.dir, "an empty file");
	tap__ok(!apply("# dir = /x\n\n \t\n  # more", &v, &f) && !v.dir, "nothing but comments");
	tap__ok(!apply("dir = /var/lib/a b # c \r\nfreq=19\n\tall\n", &v, &f) && v.freq == 19 &&
			v.all,
		"names and values: %s", f.text);
	tap__ok(v.dir && !strcmp(v.dir, "/var/lib/a b # c"), "a value may hold blanks and #");
	tap__ok(!apply("rate = 7", &v, &f) && v.freq == 7, "another name of an option");
	tap__ok(!apply("dir = a=b\ndir = c", &v, &f) && !strcmp(v.dir, "c"), "the last one counts");
}

static void refused(const char *text, const char *why)
{
	struct values v;
	struct errmsg f;

	tap__ok(apply(text, &v, &f) == -EINVAL && strstr(f.text, why) &&
			!strncmp(f.text, "x.conf, line ", 13),
		"refused: %s", f.text);
}

TEST(refused)
{
	refused("\nfoo = 1\n", "line 2: no such option: foo");
	refused("freq = 101", "not a whole number from 1 to 100");
	refused("freq", "freq needs a value");
	refused("all = yes", "all takes no value");
	refused("dir =", "is empty");
	refused("config = x", "on the command line only");
	refused("help", "on the command line only");
	refused("= 3", "no such option");
	refused("--freq = 3", "no such option: --freq");
}

TEST(file)
{
	static char large[CONFIG_FILE_MAX + 1];
	const char *path = tap__path("conf");
	struct errmsg f;
	char *text;

	tap__write(path, "all\n", 4);
	tap__ok(!config_file__read(&text, path, &f) && !strcmp(text, "all\n"), "a file is read");
	free(text);
	tap__write(path, "all\n", 5);
	tap__ok(config_file__read(&text, path, &f) == -EINVAL && !text, "not one with a NUL: %s",
		f.text);
	tap__write(path, large, sizeof(large));
	tap__ok(config_file__read(&text, path, &f) == -EFBIG && !text, "nor a large one: %s",
		f.text);
	unlink(path);
	tap__ok(config_file__read(&text, path, &f) == -ENOENT && strstr(f.text, path),
		"one that is not there: %s", f.text);
	tap__ok(config_file__read(&text, "/", &f) < 0, "a directory: %s", f.text);
	tap__bail_if(mkfifo(path, 0600), "no pipe");
	tap__ok(config_file__read(&text, path, &f) && strstr(f.text, "not a regular file"),
		"a pipe is not waited for: %s", f.text);
}
