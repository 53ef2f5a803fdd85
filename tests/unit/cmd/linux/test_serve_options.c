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

/* httpuv::rookCall is found by its package. */
TEST(packages)
{
	const char *argv[] = {"serve", "--dir", "d", "--calls", "http", "--no-packages", NULL};
	struct serve_options so;
	struct errmsg f = {""};

	tap__ok(!serve_options__parse(&so, 6, (char **)(uintptr_t)argv, &f) &&
			so.o.config.capture & XR_ROW_PACKAGES,
		"--calls needs packages, as it does in record: %s", f.text);
	serve_options__free(&so);
}

TEST(events)
{
	static const struct {
		const char *line, *why; /* NULL: it may be */
		uint32_t events;
	} rows[] = {
		{"--dir d --event cs", "--max-cpu 0", 0},
		{"--dir d --max-cpu 0 --period 3", "--period needs --event", 0},
		{"--dir d --max-cpu 0 --event cs -e vmread", "engine bpf", 0},
		{"--dir d --idle", "--idle needs --off-cpu or --clock wall", 0},
		{"--dir d --idle --clock wall", NULL, 0},
		{"--dir d", NULL, 0},
		/* where no limit is to be kept, and with other sample types */
		{"--dir d --max-cpu 0 --event cs --event gc --period 3 --off-cpu --memory "
		 "--clock cpu",
		 NULL, 2},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct serve_options so;
		struct errmsg f = {""};
		int argc, err;
		char **argv = words("serve", rows[i].line, &argc);

		err = serve_options__parse(&so, argc, argv, &f);
		tap__ok(rows[i].why ? err == -EINVAL && strstr(f.text, rows[i].why)
				    : !err && so.o.config.events.n == rows[i].events,
			"%s: %d %s", rows[i].line, err, f.text);
		serve_options__free(&so);
	}
}
