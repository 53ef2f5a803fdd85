/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `report --dir` reads: names of files, times that people write, lines of the index, and files
 * of those.  The first byte of the input says as what.
 */
#include <inttypes.h>

#include "base/calendar.h"
#include "base/clock.h"
#include "base/json_line.h"
#include "cmd/report_index.h"
#include "cmd/when.h"
#include "fuzz.h"
#include "serve/interval_name.h"

/* A name has one spelling. */
static void fuzz__name(const char *text)
{
	char again[INTERVAL_NAME_MAX];
	struct interval_name name;

	if (interval_name__parse(text, &name)) {
		interval_name__print(again, &name);
		if (strcmp(again, text) != 0)
			fuzz__fail("%s became %s", text, again);
		if (interval_name__is_temporary(text))
			fuzz__fail("%s is both", text);
		if (name.kind == INTERVAL_PROFILE && !name.seconds)
			fuzz__fail("%s has no length", text);
	}
	interval_name__is_temporary(text);
}

static void fuzz__time(struct input *in)
{
	static const char *const zones[] = {"UTC0", "CET-1CEST,M3.5.0,M10.5.0/3",
					    "LHST-10:30LHDT-11,M10.1.0,M4.1.0", "XXX+23"};
	struct when_context c;
	uint64_t out, since, until;
	struct errmsg f = {""};
	uint8_t how = input__u8(in);
	char printed[WHEN_MAX], *text;
	int err;

	setenv("TZ", zones[how % 4], 1);
	input__take(in, &c.now, sizeof(c.now));
	c.now %= CALENDAR_MAX;
	c.edge = how & 4 ? WHEN_SINCE : WHEN_UNTIL;
	c.after = how & 8 ? c.now / 2 : 0;
	text = input__text(*in);
	err = when__parse(text, "--since", &c, &out, &f);
	if ((err != 0) != (f.text[0] != '\0'))
		fuzz__fail("%d says: %s", err, f.text);
	fuzz__plain(f.text, strlen(f.text), false);
	if (!err)
		when__print(printed, out);
	if (!err && out > CALENDAR_MAX + CALENDAR_DAY)
		fuzz__fail("%s is %" PRIu64, text, out);
	since = c.now / 2;
	until = since + 600;
	f.text[0] = '\0';
	err = when__before(text, "--diff", c.now, &since, &until, &f);
	if ((err != 0) != (f.text[0] != '\0'))
		fuzz__fail("%d says: %s", err, f.text);
	free(text);
}

static void line__check(const struct index_line *line)
{
	const struct profile_process *p = &line->process;

	if (line->file.kind != INTERVAL_PROFILE || line->samples > INDEX_SAMPLES_MAX ||
	    p->nlabels > INDEX_LABELS_MAX || p->started > UINT64_C(18000000000) * NS_PER_S)
		fuzz__fail("a line that cannot be");
	for (size_t i = 0; i < p->nlabels; i++)
		if (!p->labels[i].key || !p->labels[i].value)
			fuzz__fail("a label without a value");
}

static void fuzz__line(char *text)
{
	char *copy = strdup(text);
	struct json_field field;
	struct index_line line;
	struct json_line j;
	size_t len = strlen(text);

	if (!copy)
		fuzz__fail("out of memory");
	json_line__begin(&j, copy);
	while (json_line__next(&j, &field) > 0) {
		if (!field.key || (field.text && field.is_number))
			fuzz__fail("a field that cannot be");
		if (field.key < copy || field.key + strlen(field.key) > copy + len)
			fuzz__fail("a key outside of the text");
		if (field.text && field.text + strlen(field.text) > copy + len)
			fuzz__fail("a value outside of the text");
	}
	free(copy);
	if (!index_line__parse(&line, text))
		line__check(&line);
}

struct taken {
	size_t lines;
	struct interval_name last;
};

static int taken__line(void *arg, const struct index_line *line)
{
	struct taken *t = arg;

	t->lines++;
	t->last = line->file;
	line__check(line);
	return 0;
}

/* An index file, compressed or not: a regular one, as links are refused. */
static void fuzz__file_of(const struct input *in)
{
	char path[] = "/tmp/xrprof-fuzz.XXXXXX";
	struct report_index_read read;
	struct taken t = {0};
	struct errmsg f = {""};
	int fd = mkstemp(path), err;

	if (fd < 0 || write(fd, in->at, in->left) != (ssize_t)in->left)
		fuzz__fail("cannot write %s", path);
	err = report_index__read(path, taken__line, &t, &read, &f);
	unlink(path);
	close(fd);
	if (err)
		fuzz__fail("%d: %s", err, f.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t what = input__u8(&in);
	char *text;

	if (what % 4 == 1) {
		fuzz__time(&in);
		return 0;
	}
	if (what % 4 == 3) {
		fuzz__file_of(&in);
		return 0;
	}
	text = input__text(in);
	if (what % 4)
		fuzz__line(text);
	else
		fuzz__name(text);
	free(text);
	return 0;
}
