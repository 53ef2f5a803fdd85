/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The JSON writer, and the object of --stats. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "session/stats.h"
#include "tap.h"

struct text {
	FILE *out;
	char *data;
	size_t size;
};

static void text__open(struct text *t)
{
	t->data = NULL;
	t->out = open_memstream(&t->data, &t->size);
	if (!t->out)
		tap__bail("no memory");
}

static void text__is(struct text *t, const char *wanted, const char *name)
{
	fclose(t->out);
	tap__ok(!strcmp(t->data, wanted), "%s: %.*s", name, (int)strcspn(t->data, "\n"), t->data);
	free(t->data);
}

TEST(shape)
{
	struct text t;
	struct json j;

	text__open(&t);
	json__begin(&j);
	json__object(&j, NULL);
	json__u64(&j, "big", UINT64_MAX);
	json__bool(&j, "yes", true);
	json__str(&j, "none", NULL);
	json__array(&j, "list");
	json__double(&j, NULL, 0.5);
	json__double(&j, NULL, NAN);
	json__object(&j, NULL);
	json__close(&j);
	json__close(&j);
	json__close(&j);
	tap__ok(json__print(&j, t.out) == 0, "well-formed");
	text__is(&t,
		 "{\"big\": 18446744073709551615, \"yes\": true, \"none\": null, "
		 "\"list\": [0.5, null, {}]}\n",
		 "values and nesting");
}

static void string_is(const char *value, const char *wanted)
{
	struct text t;
	struct json j;
	char line[256];

	text__open(&t);
	json__begin(&j);
	json__str(&j, NULL, value);
	if (json__print(&j, t.out))
		tap__bail("a string alone was refused");
	snprintf(line, sizeof(line), "\"%s\"\n", wanted);
	text__is(&t, line, "string");
}

TEST(strings)
{
	string_is("plain", "plain");
	string_is("a\"b\\c/d", "a\\\"b\\\\c/d");
	string_is("tab\tnl\nesc\033del\177", "tab\\u0009nl\\u000aesc\\u001bdel\\u007f");
	string_is("csi\302\233nbsp\302\240", "csi\\u009bnbsp\302\240");
	string_is("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	string_is("C1 \xc2\x9b, direction \xe2\x80\xae", "C1 \\u009b, direction \\u202e");
	string_is("lone \xe9 byte", "lone \\ufffd byte");
	string_is("cut \xe2\x82", "cut \\ufffd\\ufffd");
	string_is("overlong \xc0\xaf", "overlong \\ufffd\\ufffd");
	string_is("surrogate \xed\xa0\x80", "surrogate \\ufffd\\ufffd\\ufffd");
	string_is("beyond \xf4\x90\x80\x80", "beyond \\ufffd\\ufffd\\ufffd\\ufffd");
}

/* Within a page, and taken out piece by piece. */
TEST(html)
{
	struct buf text = {0};
	struct json j;
	int err;

	json__begin_html(&j);
	json__object(&j, NULL);
	json__str(&j, "a<", "</script><!--&");
	err = buf__add(&text, j.text.data, j.text.len);
	j.text.len = 0;
	json__array(&j, "n");
	json__u64(&j, NULL, 0);
	json__u64(&j, NULL, 1234567890);
	json__str(&j, NULL, "\xe2\x80\xa8\"");
	json__close(&j);
	json__close(&j);
	err = err ? err : json__end(&j, &text);
	err = err ? err : buf__add(&text, "", 1);
	tap__ok(!err && !strcmp(text.data,
				"{\"a\\u003c\":\"\\u003c/script\\u003e\\u003c!--\\u0026\",\"n\":[0,"
				"1234567890,\"\\u2028\\\"\"]}\n"),
		"in a page nothing is markup: %s", text.data);
	buf__free(&text);
}

TEST(misuse)
{
	struct text t;
	struct json j;

	text__open(&t);
	json__begin(&j);
	json__object(&j, NULL);
	json__u64(&j, NULL, 1);
	json__close(&j);
	tap__ok(json__print(&j, t.out) == -EINVAL, "no key inside an object");
	json__begin(&j);
	json__array(&j, NULL);
	tap__ok(json__print(&j, t.out) == -EINVAL, "not closed");
	json__begin(&j);
	json__close(&j);
	tap__ok(json__print(&j, t.out) == -EINVAL, "closed too often");
	json__begin(&j);
	json__u64(&j, NULL, 1);
	json__u64(&j, NULL, 2);
	tap__ok(json__print(&j, t.out) == -EINVAL, "two values at the top");
	json__begin(&j);
	for (int i = 0; i <= JSON_DEPTH_MAX; i++)
		json__array(&j, NULL);
	tap__ok(json__print(&j, t.out) == -E2BIG, "too deep");
	fclose(t.out);
	free(t.data);
}

TEST(full)
{
	FILE *full = fopen("/dev/full", "w");
	struct json j;

	if (!full)
		tap__bail("no /dev/full");
	json__begin(&j);
	json__u64(&j, NULL, 1);
	tap__ok(!json__print(&j, full) && fflush(full) && errno == ENOSPC,
		"a failed write is told");
	fclose(full);
}

TEST(counts)
{
	struct decoder_stats decoder = {.samples = 1};
	uint64_t counts[XR_COUNTERS];
	struct stats s = {.freq = 99};
	char line[512], wanted[128];
	uint64_t sum = 0;

	/* different powers of two, so that the sum shows which were added */
	for (unsigned int i = 0; i < XR_COUNTERS; i++)
		counts[i] = 1ull << i;
	stats__fill(&s, counts, &decoder);
	for (unsigned int i = 0; i < XR_ERRORS; i++)
		sum += counts[i];
	tap__ok(s.sent + s.no_r_frames + s.exiting + s.unreadable + s.lost == sum,
		"each row of errors.def is in exactly one count");
	tap__ok(s.written == 1 && s.sent == counts[XR_WRITTEN], "written is what was decoded");
	tap__ok(s.truncated == counts[XR_TRUNCATED], "truncated");
	tap__ok(!stats__conserved(&s), "ticks that do not add up are noticed");
	tap__ok(s.over_budget == counts[XR_OVER_BUDGET] && s.overrun == counts[XR_OVERRUN] &&
			s.throttled == counts[XR_THROTTLED] &&
			s.longest_us * 1000 == (double)counts[XR_LONGEST_NS] &&
			s.most_work == counts[XR_MOST_WORK] && s.spent_ns == counts[XR_SPENT_NS],
		"what samples cost");
	s = (struct stats){.clock = "cpu", .rate = 100, .processes = 1, .seconds = 2.01};
	s.written = 26;
	stats__summary(&s, line, sizeof(line));
	tap__ok(!strcmp(line, "26 samples = 0.26 s of CPU in 2.01 s; none lost"), "%s", line);
	s.clock = "wall";
	s.processes = 3;
	s.lost = 4;
	s.truncated = 1;
	stats__summary(&s, line, sizeof(line));
	tap__ok(!strcmp(line,
			"26 samples of 3 processes = 0.26 s of wall time in 2.01 s; 4 lost, 1 "
			"truncated"),
		"%s", line);
	stats__fill(&s, counts, &decoder);
	stats__summary(&s, line, sizeof(line));
	snprintf(wanted, sizeof(wanted),
		 ", %llu stacks took too long to read, %llu collections left out: too many a "
		 "second",
		 (unsigned long long)s.over_budget, (unsigned long long)s.throttled);
	tap__ok(strstr(line, wanted) != NULL, "the last line says what was cut and left out");
	counts[XR_OVER_BUDGET] = counts[XR_THROTTLED] = 0;
	stats__fill(&s, counts, &decoder);
	stats__summary(&s, line, sizeof(line));
	tap__ok(!strstr(line, "too long") && !strstr(line, "left out"),
		"and nothing if nothing was");
	counts[XR_TICKS] = sum;
	decoder.samples = counts[XR_WRITTEN];
	stats__fill(&s, counts, &decoder);
	tap__ok(stats__conserved(&s), "ticks that do add up");
	decoder.partial = s.lost + 2;
	stats__fill(&s, counts, &decoder);
	tap__ok(s.decoder.partial == 2, "parts of samples that were lost are not counted twice");
	decoder.partial = 1;
	stats__fill(&s, counts, &decoder);
	tap__ok(!s.decoder.partial, "however few they are");
}
