/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The JSON writer, the object of --stats, and lines of JSON, read back. */
#include <math.h>

#include "base/json.h"
#include "base/json_line.h"
#include "session/stats.h"
#include "tap.h"

static struct json j;

/* End it: its text, until the next call. */
static const char *text_of(void)
{
	static char *text;
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	tap__bail_if(!out || json__print(&j, out) || fclose(out), "no text of JSON");
	return text;
}

TEST(shape)
{
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
	tap__is(text_of(),
		"{\"big\": 18446744073709551615, \"yes\": true, \"none\": null, "
		"\"list\": [0.5, null, {}]}\n",
		"values and nesting");
}

TEST(strings)
{
	static const char *const rows[][2] = {
		{"plain", "plain"},
		{"a\"b\\c/d", "a\\\"b\\\\c/d"},
		{"tab\tnl\nesc\033del\177", "tab\\u0009nl\\u000aesc\\u001bdel\\u007f"},
		{"\302\240\xe2\x82\xac\xf0\x9f\x98\x80", "\302\240\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"C1 \xc2\x9b, direction \xe2\x80\xae", "C1 \\u009b, direction \\u202e"},
		{"lone \xe9 byte", "lone \\ufffd byte"},
		{"cut \xe2\x82", "cut \\ufffd\\ufffd"},
	};
	char want[256];

	for (size_t i = 0; i < COUNT(rows); i++) {
		json__begin(&j);
		json__str(&j, NULL, rows[i][0]);
		snprintf(want, sizeof(want), "\"%s\"\n", rows[i][1]);
		tap__is(text_of(), want, "a string is written as %s", rows[i][1]);
	}
	json__begin_html(&j);
	json__str(&j, NULL, "</script><!--&\xe2\x80\xa8\"");
	tap__is(text_of(), "\"\\u003c/script\\u003e\\u003c!--\\u0026\\u2028\\\"\"\n",
		"in a page nothing is markup");
}

/* o, a: begin an object, an array; 1: a number without a key; c: close. */
TEST(misuse)
{
	static const struct {
		const char *calls, *what;
		int err;
	} rows[] = {
		{"o1c", "no key inside an object", -EINVAL},
		{"a", "not closed", -EINVAL},
		{"c", "closed too often", -EINVAL},
		{"11", "two values at the top", -EINVAL},
		{NULL, "too deep", -E2BIG},
	};
	char deep[JSON_DEPTH_MAX + 2] = "";
	static struct buf text;

	memset(deep, 'a', sizeof(deep) - 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		json__begin(&j);
		for (const char *at = rows[i].calls ? rows[i].calls : deep; *at; at++) {
			if (*at == 'o')
				json__object(&j, NULL);
			else if (*at == 'a')
				json__array(&j, NULL);
			else if (*at == '1')
				json__u64(&j, NULL, 1);
			else
				json__close(&j);
		}
		tap__ok(json__end(&j, &text) == rows[i].err, "refused: %s", rows[i].what);
	}
}

TEST(counts)
{
	struct decoder_stats decoder = {.samples = 5};
	uint64_t counts[XR_COUNTERS], sum = 0;
	struct stats s = {0};

	/* different powers of two, so that the sum shows which were added */
	for (unsigned int i = 0; i < XR_COUNTERS; i++)
		counts[i] = 1ull << i;
	for (unsigned int i = 0; i < XR_ERRORS; i++)
		sum += counts[i];
	stats__fill(&s, counts, &decoder);
	tap__ok(s.sent + s.no_r_frames + s.exiting + s.unreadable + s.lost == sum,
		"each row of errors.def is in exactly one count");
	tap__ok(s.written == 5 && s.sent == counts[XR_WRITTEN], "written is what was decoded");
	tap__ok(!stats__conserved(&s), "ticks that do not add up are noticed");
	tap__ok(s.truncated == counts[XR_TRUNCATED] && s.over_budget == counts[XR_OVER_BUDGET] &&
			s.overrun == counts[XR_OVERRUN] && s.throttled == counts[XR_THROTTLED] &&
			s.longest_us * 1000 == (double)counts[XR_LONGEST_NS] &&
			s.most_work == counts[XR_MOST_WORK] && s.spent_ns == counts[XR_SPENT_NS],
		"what samples cost");
	counts[XR_TICKS] = sum;
	decoder.samples = counts[XR_WRITTEN];
	for (unsigned int more = 0; more < 3; more += 2) {
		decoder.partial = more ? s.lost + more : 1;
		stats__fill(&s, counts, &decoder);
		tap__ok(stats__conserved(&s), "ticks that do add up");
		tap__ok(s.partial == more,
			"parts of samples that were lost are not counted twice, however few");
		tap__ok(s.decoder.partial == decoder.partial,
			"the decoder's count, a metric, does not fall as more are lost");
	}
}

TEST(summary)
{
	static const struct {
		struct stats s;
		const char *want;
	} rows[] = {
		{{.clock = "cpu", .rate = 100, .processes = 1, .seconds = 2.01, .written = 26},
		 "26 samples = 0.26 s of CPU in 2.01 s; none lost"},
		{{.clock = "wall",
		  .rate = 100,
		  .processes = 3,
		  .written = 26,
		  .lost = 4,
		  .truncated = 1},
		 "26 samples of 3 processes = 0.26 s of wall time in 0.00 s; 4 lost, 1 truncated"},
		{{.processes = 1, .over_budget = 2, .throttled = 3},
		 "0 samples in 0.00 s; none lost, 2 stacks took too long to read, 3 collections "
		 "skipped: too soon after another"},
		{{.processes = 1, .over_budget = 1, .throttled = 1, .missed = 1},
		 "0 samples in 0.00 s; none lost, 1 stack took too long to read, 1 collection "
		 "skipped: too soon after another, 1 tick missed"},
	};
	char line[512];

	for (size_t i = 0; i < COUNT(rows); i++) {
		stats__summary(&rows[i].s, line, sizeof(line));
		tap__is(line, rows[i].want, "the last line: %s", rows[i].want);
	}
}

/* The fields of @text as "key=value;", or "!" if it is not a line. */
static void reads(const char *text, const char *want)
{
	char *copy = strdup(text), got[512] = "";
	struct json_field field;
	struct json_line j;
	size_t n = 0;
	int err;

	json_line__begin(&j, copy);
	while ((err = json_line__next(&j, &field)) > 0) {
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s=", field.key);
		if (field.text)
			n += (size_t)snprintf(got + n, sizeof(got) - n, "\"%s\";", field.text);
		else if (field.is_number)
			n += (size_t)snprintf(got + n, sizeof(got) - n, "%.17g;", field.number);
		else
			n += (size_t)snprintf(got + n, sizeof(got) - n, "?;");
	}
	tap__is(err ? "!" : got, want, "fields of %s", text);
	free(copy);
}

TEST(lines)
{
	/* between them a space */
	char bad[] =
		"{ [] {\"a\"} {\"a\":} {\"a\":1,} {,\"a\":1} {\"a\":1\t\"b\":2} {\"a\":1}\tx "
		"{\"a\":01} {\"a\":1.} {\"a\":.5} {\"a\":1e} {\"a\":-} {\"a\":tru} {\"a\":\"b} "
		"{\"a\":\"\\ {\"a\":\"\\x\"} {\"a\":\"\\u12\"} {\"a\":\"\\u0000\"} "
		"{\"a\":\"\\ud83d\"} {\"a\":\"\\ud83dx\"} {\"a\":\"\\ude00\"} {\"a\":\"\t\"} "
		"{\"a\":\"\xff\"} {\"a\":[1} {\"a\":[ {1:2}";
	char deep[100], *at = bad;

	reads("{}", "");
	reads(" { } \n", "");
	reads("{\"a\":1}", "a=1;");
	reads("{\"a\" : \"b\" , \"c\" : -1.5e2 }\n", "a=\"b\";c=-150;");
	reads("{\"a\":true,\"b\":null,\"c\":[1,{\"d\":\"e\"}],\"f\":{},\"g\":2}",
	      "a=?;b=?;c=?;f=?;g=2;");
	reads("{\"a\":\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\/\"}",
	      "a=\"A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80/\";");
	reads("{\"a\":0.000001,\"b\":1E3,\"c\":1795313400.25}",
	      "a=9.9999999999999995e-07;b=1000;c=1795313400.25;");
	reads("", "!");
	for (char *text; (text = strsep(&at, " "));)
		reads(text, "!");
	memset(deep, '[', sizeof(deep));
	memcpy(deep, "{\"a\":", 5);
	deep[sizeof(deep) - 1] = '\0';
	reads(deep, "!");
}

TEST(written_lines)
{
	json__begin(&j);
	json__object(&j, NULL);
	json__str(&j, "k\"ey", "a\"b\\c\n\t\x01/\xc3\xa9\xf0\x9f\x98\x80\xe2\x80\xae");
	json__u64(&j, "n", UINT64_C(1) << 53);
	json__double(&j, "d", 0.25);
	json__close(&j);
	reads(text_of(), "k\"ey=\"a\"b\\c\n\t\x01/\xc3\xa9\xf0\x9f\x98\x80\xe2\x80\xae\";"
			 "n=9007199254740992;d=0.25;");
}
