/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading the index of a directory of profiles: which profiles it lists. */
#include "cmd/report_index.h"
#include "gzip.h"

static const char *path;

/* "MINUTE/PID " of each line. */
static int on_line(void *arg, const struct index_line *line)
{
	tap__say("%u/%u ", (unsigned int)(line->file.began / 60 % 60), line->process.pid);
	return 0;
}

/* A minute and a pid for each line; pid 0: a malformed line. */
static void read_back(const int lines[][2], size_t n, struct report_index_read *read)
{
	struct buf text = {0}, packed = {0};
	struct errmsg f = {""};

	for (size_t i = 0; i < n; i++)
		buf__printf(&text,
			    lines[i][1] ? "{\"file\":\"20261122T02%02d00Z-60.pb.gz\",\"pid\":%d,"
					  "\"samples\":1}\n"
					: "{\"file\":\"202611\n",
			    lines[i][0], lines[i][1]);
	gzip__pack(&packed, text.data, text.len);
	tap__write(path, packed.data, packed.len);
	tap__bail_if(report_index__read(path, on_line, NULL, read, &f), "%s", f.text);
	buf__free(&text);
	buf__free(&packed);
}

#define READ(...)                                                                                  \
	read_back((const int[][2]){__VA_ARGS__},                                                   \
		  sizeof((const int[][2]){__VA_ARGS__}) / sizeof(int[2]), &read)

TEST(report_index)
{
	struct report_index_read read;

	path = tap__path("index.jsonl.gz");
	READ({10, 1}, {10, 2}, {11, 1});
	tap__said("10/1 10/2 11/1 ", "whole");
	tap__ok(!read.bad && !read.damaged, "nothing is damaged");
	READ({10, 1}, {11, 1}, {11, 0}, {11, 3}, {12, 1});
	tap__said("10/1 12/1 ", "one whose lines are not all lines is left out");
	tap__ok(read.bad == 1, "and counted");
	READ({10, 1}, {10, 0}, {11, 1}, {11, 2}, {12, 1});
	tap__said("12/1 ", "a line between two may be of either");
	READ({10, 0}, {10, 1}, {11, 1});
	tap__said("11/1 ", "the first line");
	READ({10, 1}, {11, 1}, {11, 0});
	tap__said("10/1 ", "the last one");
}
