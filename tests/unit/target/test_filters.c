/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include <sys/prctl.h>

#include "target/filters.h"
#include "tap.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Does @s pass these? The words of @options are kinds and their arguments. */
static bool passes(const char *options, struct match_subject s)
{
	static const char *const names[FILTER_KINDS] = {
		[FILTER_USER] = "user",
		[FILTER_CGROUP] = "cgroup",
		[FILTER_COMM] = "comm",
		[FILTER_EXCLUDE] = "exclude",
	};
	struct filters fs = {0};
	char words[256], *at = words;
	bool yes;

	snprintf(words, sizeof(words), "%s", options);
	for (const char *name; *words && (name = strsep(&at, " "));) {
		const char *arg = strsep(&at, " ");
		int kind = 0;

		while (strcmp(name, names[kind]))
			kind++;
		tap__bail_if(filters__add(&fs, (enum filter_kind)kind, arg, NULL), "no filter");
	}
	yes = filters__match(&fs, &s);
	filters__free(&fs);
	return yes;
}

TEST(match)
{
	struct match_subject s = {
		.pid = 42,
		.uid = 1000,
		.comm = "rsession",
		.cgroup = "/system.slice/docker-" ID ".scope/app",
	};

	tap__ok(passes("", s), "no filter: all pass");
	tap__ok(passes("user 1000", s), "the user");
	tap__ok(!passes("user 1001", s), "another user");
	tap__ok(!passes("user root", s), "another by name");
	tap__ok(passes("user root user 1000", s), "one of two users");
	tap__ok(passes("comm rsession", s), "the command");
	tap__ok(passes("comm R comm rs*", s), "one of two commands, a pattern");
	tap__ok(!passes("comm R", s), "another command");
	tap__ok(!passes("comm session", s), "a pattern is of the whole name");
	tap__ok(passes("cgroup /system.slice", s), "a cgroup above");
	tap__ok(passes("cgroup /system.slice/", s), "the same with a slash");
	tap__ok(passes("cgroup /", s), "the root cgroup holds all");
	tap__ok(!passes("cgroup /system", s), "half a name is another cgroup");
	tap__ok(passes("cgroup */app", s), "a pattern over several levels");
	tap__ok(passes("cgroup 0123456789ab", s), "a container by its short id");
	tap__ok(passes("cgroup " ID, s), "and by its whole id");
	tap__ok(!passes("cgroup 0123456789a", s), "but not by less");
	tap__ok(!passes("cgroup 1123456789ab", s), "another container");
	tap__ok(!passes("exclude 42", s), "an excluded pid");
	tap__ok(!passes("exclude 1,42,3", s), "one of a list");
	tap__ok(passes("exclude 4,2", s), "others are excluded");
	tap__ok(!passes("exclude 42 user 1000", s), "excluded whatever else is met");
	tap__ok(passes("user 1000 comm rsession", s), "two kinds, both met");
	tap__ok(!passes("user 1000 comm R", s), "two kinds, one met");
	s.cgroup = "";
	tap__ok(!passes("cgroup /system.slice", s), "no cgroup");
	s.uid = 0;
	tap__ok(passes("user root", s), "the user by name");
}

TEST(text)
{
	struct filters fs = {0};
	char text[64];

	tap__ok(!filters__add(&fs, FILTER_EXCLUDE, "1,42", NULL) && !filters__narrow(&fs),
		"those that only exclude leave something");
	tap__ok(!filters__add(&fs, FILTER_USER, "1000", NULL) &&
			!filters__add(&fs, FILTER_COMM, "R*", NULL) && filters__narrow(&fs),
		"others may leave nothing");
	filters__text(&fs, text, sizeof(text));
	tap__ok(!strcmp(text, "--exclude-pid 1 --exclude-pid 42 --user 1000 --comm R*"),
		"as text: %s", text);
	filters__text(&fs, text, 30);
	tap__ok(strlen(text) < 30 && !strncmp(text, "--exclude-pid 1 --exclude", 25), "cut: %s",
		text);
	filters__free(&fs);
	filters__add(&fs, FILTER_COMM, "Rscript", NULL);
	filters__text(&fs, text, sizeof(text));
	tap__ok(!strcmp(text, "--comm Rscript (the command that Rscript runs is called R)"),
		"a name that no R has: %s", text);
	filters__free(&fs);
}

TEST(wrong)
{
	static const struct {
		enum filter_kind kind;
		const char *arg;
	} wrong[] = {
		{FILTER_USER, "no-such-user-here"},
		{FILTER_USER, ""},
		{FILTER_USER, "4294967296"},
		{FILTER_COMM, ""},
		{FILTER_CGROUP, ""},
		{FILTER_EXCLUDE, ""},
		{FILTER_EXCLUDE, "0"},
		{FILTER_EXCLUDE, "1,"},
		{FILTER_EXCLUDE, "-1"},
		{FILTER_EXCLUDE, "2147483648"},
		{FILTER_EXCLUDE, "99999999999999999999999"},
	};
	struct filters fs = {0};
	struct errmsg f;

	for (size_t i = 0; i < COUNT(wrong); i++) {
		f.text[0] = '\0';
		tap__ok(filters__add(&fs, wrong[i].kind, wrong[i].arg, &f) == -EINVAL && f.text[0],
			"kind %d, \"%s\" is refused: %s", (int)wrong[i].kind, wrong[i].arg, f.text);
	}
	tap__ok(!filters__add(&fs, FILTER_USER, "4294967295", &f), "the largest user id");
	filters__free(&fs);
}

TEST(self)
{
	struct filters fs = {0};
	struct errmsg f;
	char uid[16];

	tap__ok(filters__pass(&fs, getpid()), "no filter: we pass");
	snprintf(uid, sizeof(uid), "%u", (unsigned int)geteuid());
	filters__add(&fs, FILTER_USER, uid, &f);
	prctl(PR_SET_NAME, "filtered");
	filters__add(&fs, FILTER_COMM, "filt*", &f);
	tap__ok(filters__pass(&fs, getpid()), "we pass by user and name");
	tap__ok(!filters__pass(&fs, 0x7fffffff), "no such process");
	filters__add(&fs, FILTER_CGROUP, "/no/such/cgroup", &f);
	tap__ok(!filters__pass(&fs, getpid()), "we are not in that cgroup");
	filters__free(&fs);
}
