/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is said of a process, as it came, and as it comes from nobody that can be trusted. */

#include "session/description.h"
#include "tap.h"

TEST(good)
{
	static const char text[4096] = "R -f x\0service\0web\0env\0prod\0";
	struct description *d = description__new(text, sizeof(text));

	tap__ok(d && !strcmp(d->command, "R -f x") && d->nlabels == 2 &&
			!strcmp(d->labels[0].key, "service") &&
			!strcmp(d->labels[0].value, "web") && !strcmp(d->labels[1].key, "env") &&
			!strcmp(d->labels[1].value, "prod"),
		"the command and the labels");
	tap__ok(description__hold(d) == d && d->holders == 2, "two hold it");
	description__drop(d);
	tap__ok(!strcmp(d->labels[1].value, "prod"), "one lets it go, the other has it");
	description__drop(d);
	description__drop(NULL);
	tap__ok(!description__hold(NULL), "what is not there can be held");
}

TEST(bad)
{
	static char full[4096], many[4096];
	static const char lone[] = "c\0key";
	struct description *d;
	size_t n = 0;

	memset(full, 'x', sizeof(full));
	d = description__new(full, sizeof(full));
	tap__ok(d && strlen(d->command) == sizeof(full) && !d->nlabels, "a text without an end");
	description__drop(d);
	d = description__new(lone, sizeof(lone) - 1);
	tap__ok(d && !strcmp(d->command, "c") && !d->nlabels, "a key without a value");
	description__drop(d);
	d = description__new("", 0);
	tap__ok(d && !*d->command && !d->nlabels, "nothing");
	description__drop(d);
	many[n++] = '\0';
	while (n + 5 < sizeof(many)) {
		memcpy(many + n, "k\0v\0", 4);
		n += 4;
	}
	d = description__new(many, sizeof(many));
	tap__ok(d && d->nlabels == DESCRIBE_LABELS + 1, "more labels than there can be: %zu",
		d ? d->nlabels : 0);
	description__drop(d);
}
