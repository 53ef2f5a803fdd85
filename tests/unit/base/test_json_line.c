/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of JSON, read back. */
#include "base/json_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tap.h"

/* The fields of @text as "key=value;", or "!" where it is none. */
static void is(const char *text, const char *want)
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
	if (err)
		snprintf(got, sizeof(got), "!");
	tap__ok(!strcmp(got, want), "%s: %s", text, got);
	free(copy);
}

/* What our own writer writes is read as it was. */
static void test_writer(void)
{
	static const char value[] = "a\"b\\c\n\t\x01/\xc3\xa9\xf0\x9f\x98\x80\xe2\x80\xae";
	struct json_field field;
	struct buf out = {0};
	struct json_line l;
	struct json j;
	bool fine;

	json__begin(&j);
	json__object(&j, NULL);
	json__str(&j, "k\"ey", value);
	json__u64(&j, "n", UINT64_C(1) << 53);
	json__double(&j, "d", 0.25);
	json__close(&j);
	json__end(&j, &out);
	buf__add(&out, "", 1);
	json_line__begin(&l, out.data);
	fine = json_line__next(&l, &field) == 1 && !strcmp(field.key, "k\"ey") &&
	       !strcmp(field.text, value);
	tap__ok(fine, "a string");
	tap__ok(json_line__next(&l, &field) == 1 && field.number == 9007199254740992.0, "a number");
	tap__ok(json_line__next(&l, &field) == 1 && field.number == 0.25, "a fraction");
	tap__ok(!json_line__next(&l, &field), "the end");
	buf__free(&out);
}

TEST(json_line)
{
	char deep[100];

	is("{}", "");
	is(" { } \n", "");
	is("{\"a\":1}", "a=1;");
	is("{\"a\" : \"b\" , \"c\" : -1.5e2 }\n", "a=\"b\";c=-150;");
	is("{\"a\":true,\"b\":null,\"c\":[1,{\"d\":\"e\"}],\"f\":{},\"g\":2}",
	   "a=?;b=?;c=?;f=?;g=2;");
	is("{\"a\":\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\/\"}",
	   "a=\"A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80/\";");
	is("{\"a\":0.000001}", "a=9.9999999999999995e-07;");
	is("{\"a\":1E3}", "a=1000;");
	is("{\"a\":1795313400.25}", "a=1795313400.25;");
	is("", "!");
	is("{", "!");
	is("[]", "!");
	is("{\"a\"}", "!");
	is("{\"a\":}", "!");
	is("{\"a\":1,}", "!");
	is("{,\"a\":1}", "!");
	is("{\"a\":1 \"b\":2}", "!");
	is("{\"a\":1} x", "!");
	is("{\"a\":01}", "!");
	is("{\"a\":1.}", "!");
	is("{\"a\":.5}", "!");
	is("{\"a\":1e}", "!");
	is("{\"a\":-}", "!");
	is("{\"a\":tru}", "!");
	is("{\"a\":\"b}", "!");
	is("{\"a\":\"\\", "!");
	is("{\"a\":\"\\x\"}", "!");
	is("{\"a\":\"\\u12\"}", "!");
	is("{\"a\":\"\\u0000\"}", "!");
	is("{\"a\":\"\\ud83d\"}", "!");
	is("{\"a\":\"\\ud83dx\"}", "!");
	is("{\"a\":\"\\ude00\"}", "!");
	is("{\"a\":\"\t\"}", "!");
	is("{\"a\":\"\xff\"}", "!");
	is("{\"a\":[1}", "!");
	is("{\"a\":[", "!");
	is("{1:2}", "!");
	memset(deep, '[', sizeof(deep));
	memcpy(deep, "{\"a\":", 5);
	deep[sizeof(deep) - 1] = '\0';
	is(deep, "!");
	test_writer();
}
