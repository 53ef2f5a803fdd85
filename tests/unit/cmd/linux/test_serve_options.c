/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What only all options of `serve` together can tell. */
#include "cmd/linux/serve_options.h"
#include "serve/linux/push_body.h"
#include "profile/read.h"
#include "cmd/command.h"

/* The labels in the name of a series that is written to @way, into @name: 0, or an error. */
static int labels_of(struct buf *name, const char *label, const char *way, const char *to)
{
	const char *argv[] = {"serve",	 "--label", label, "--host", "h",
			      "--spool", "/tmp/",   way,   to,	     NULL};
	struct serve_options so;
	struct errmsg f = {""};
	int err = serve_options__parse(&so, 9, (char **)(uintptr_t)argv, &f);

	name->len = 0;
	err = err ? err : push_body__labels(name, so.labels, so.nlabels);
	if (err)
		tap__diag("%s", f.text);
	serve_options__free(&so);
	return err;
}

/* The name of a profile of the longest service, if @value is a label's: its bytes, or an error. */
static long name_of(size_t value, const char *way, const char *to)
{
	static struct buf name;
	char label[2 * READ_SERIES_LEN] = "dc=";
	int err;

	memset(label + 3, 'v', value);
	label[3 + value] = '\0';
	err = labels_of(&name, label, way, to);
	return err ? err : (long)strlen(name.data) + DESCRIBE_VALUE - 1;
}

TEST(names)
{
	size_t value = 1;
	long len, longest = 0;

	while ((len = name_of(value, "--pyroscope", "http://127.0.0.1:1")) > 0 &&
	       value < READ_SERIES_LEN) {
		longest = len;
		value++;
	}
	tap__ok(len == -EINVAL && longest <= (long)READ_SERIES_LEN &&
			longest > (long)READ_SERIES_LEN - 4,
		"labels that can be sent are taken, up to %ld bytes, and no others", longest);
	tap__ok(name_of(value, "--dir", "/tmp") > 0, "where no name is needed, these, too");
}

/* The name of a series has all labels, except the service, which comes first. */
TEST(series)
{
	static const char *const all[][2] = {
		{"service=all", "{host=h}"},
		{"dc={a, \"b\"=}", "{dc=_a___b___,host=h}"},
	};
	static struct buf name;

	for (size_t i = 0; i < COUNT(all); i++) {
		tap__bail_if(labels_of(&name, all[i][0], "--dir", "/tmp"), "no labels");
		tap__is(name.data, all[i][1], "--label %s", all[i][0]);
	}
}

/* Events, given as @line of words: an error, or how many there are. */
static long events_of(const char *line, struct errmsg *f)
{
	struct serve_options so;
	int argc;
	char **argv = words("serve", line, &argc);
	long n;

	f->text[0] = '\0';
	n = serve_options__parse(&so, argc, argv, f);
	if (!n)
		n = so.o.config.events.n;
	serve_options__free(&so);
	return n;
}

TEST(events)
{
	static const struct {
		const char *line, *why;
	} refused[] = {
		{"--dir d --event cs", "--max-cpu 0"},
		{"--dir d --max-cpu 0 --period 3", "--period needs --event"},
		{"--dir d --max-cpu 0 --event cs -e vmread", "engine bpf"},
	};
	struct errmsg f;

	tap__ok(events_of("--dir d --max-cpu 0 --event cs --event gc --period 3 --off-cpu "
			  "--memory --clock cpu",
			  &f) == 2,
		"events where no limit is to be kept, and other sample types: %s", f.text);
	tap__ok(!events_of("--dir d", &f), "none unless they are asked for");
	for (size_t i = 0; i < COUNT(refused); i++)
		tap__ok(events_of(refused[i].line, &f) == -EINVAL && strstr(f.text, refused[i].why),
			"refused: %s: %s", refused[i].line, f.text);
}
