/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of the index, read back. */
#include "serve/index_line.h"
#include "tap.h"

#define FILE_FIELD                                                                                 \
	"\"file\":\"20261122T021000Z-60.1.pb.gz\",\"from\":\"2026-11-22T02:10:00Z\",\"seconds\":"  \
	"60"

static int parse(struct index_line *line, const char *text)
{
	static char copy[4096];

	snprintf(copy, sizeof(copy), "%s", text);
	return index_line__parse(line, copy);
}

TEST(index_line)
{
	char none[] = "|{}|{\"pid\":1}|{\"file\":\"index-20261122.jsonl.gz\",\"pid\":1}|"
		      "{\"file\":\"../../etc/passwd\",\"pid\":1}";
	/* of a line that begins well */
	char ends[] = "}|,\"pid\":\"1\"}|,\"pid\":-1}|,\"pid\":1e10}|,\"pid\":null}|"
		      ",\"pid\":1,\"samples\":-3}|,\"pid\":1,\"samples\":1e300}|"
		      ",\"pid\":1,\"started\":1e300}|,\"pid\":1,\"interval\":1e300}|"
		      "," FILE_FIELD ",\"pid\":1}|,\"pid\":1";
	char *at = none;
	char text[2048] = "{" FILE_FIELD ",\"pid\":1";
	struct index_line line;

	tap__ok(!parse(&line, "{" FILE_FIELD ", \"pid\": 17, \"comm\": \"R\", \"uid\": 1000, "
			      "\"container\": \"abc\", \"r_version\": \"4.2.2\", \"started\": "
			      "1795313000.5, \"samples\": 42, \"interval\": 10, \"service\": "
			      "\"api\", \"route\": "
			      "\"/x\", \"samples\": 1000, \"service\": \"other\", \"command\": "
			      "\"R -f a.R\"}\n"),
		"a line");
	tap__say("%llu.%u for %u s, pid %u of %u since %llu: %llu of %llu ns; %s, %s, %s, %s;",
		 (unsigned long long)line.file.began, line.file.number, line.file.seconds,
		 line.process.pid, line.process.uid, (unsigned long long)line.process.started,
		 (unsigned long long)line.samples, (unsigned long long)line.interval_ns,
		 line.process.comm, line.process.container, line.process.r_version,
		 line.process.command);
	for (size_t i = 0; i < line.process.nlabels; i++)
		tap__say(" %s=%s", line.process.labels[i].key, line.process.labels[i].value);
	tap__said("1795313400.1 for 60 s, pid 17 of 1000 since 1795313000500000000: 42 of 10 ns; "
		  "R, abc, 4.2.2, R -f a.R; service=api route=/x",
		  "all of it; of labels the first of a key");
	tap__ok(!parse(&line, "{" FILE_FIELD ",\"pid\":1,\"later\":[1,2],\"x\":{\"y\":1}}") &&
			!line.samples && !line.process.comm && !line.process.nlabels,
		"what is not known is left out");
	for (const char *one; (one = strsep(&at, "|"));)
		tap__ok(parse(&line, one) == -EINVAL, "none: %s", one);
	at = ends;
	for (const char *one; (one = strsep(&at, "|"));) {
		char begun[512];

		snprintf(begun, sizeof(begun), "{" FILE_FIELD "%s", one);
		tap__ok(parse(&line, begun) == -EINVAL, "none: %s", begun);
	}
	for (int i = 0; i < 100; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",\"k%d\":\"v\"", i);
	strcat(text, "}");
	tap__ok(!parse(&line, text) && line.process.nlabels == INDEX_LABELS_MAX,
		"more labels than are kept");
}
