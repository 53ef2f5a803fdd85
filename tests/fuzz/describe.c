/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process says of itself: its arguments, its environment, its cgroup, its name, four parts
 * of the input; a fifth is a rule of the user's, a sixth the service; the rest is what somebody who
 * looked at it might answer.
 */
#include "fuzz.h"
#include "session/processes.h"
#include "target/describe.h"

static void fuzz__label(const struct description *d, size_t i)
{
	const char *key = d->labels[i].key, *value = d->labels[i].value;
	size_t len = strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (!len || key[len] || len >= DESCRIBE_KEY)
		fuzz__fail("a key %s", key);
	if (!*value || strlen(value) >= DESCRIBE_VALUE)
		fuzz__fail("a value of %zu bytes", strlen(value));
	for (size_t at = 0; value[at];) {
		size_t size = utf8__length(value + at);

		if (!size || utf8__acts(value + at, size))
			fuzz__fail("a value acts: %s", value);
		at += size;
	}
	for (size_t k = 0; k < i; k++)
		if (!strcmp(d->labels[k].key, key))
			fuzz__fail("there are two of %s", key);
}

static void fuzz__described(const char *text, size_t size)
{
	struct description *d = description__new(text, size);
	size_t shown = 0;

	if (!d)
		fuzz__fail("out of memory");
	if (d->nlabels > DESCRIBE_LABELS + 1 || strlen(d->command) > size)
		fuzz__fail("%zu labels", d->nlabels);
	for (size_t i = 0; i < d->nlabels; i++)
		shown += strlen(d->labels[i].key) + strlen(d->labels[i].value);
	if (shown > size)
		fuzz__fail("%zu bytes of %zu", shown, size);
	description__drop(description__hold(d));
	description__drop(d);
}

static void fuzz__made(const struct label_rules *rules, const struct describe_from *from)
{
	char text[DESCRIBE_TEXT];
	size_t size = describe__make(rules, from, text);
	struct description *d;

	if (!size || size > DESCRIBE_TEXT || text[size - 1])
		fuzz__fail("%zu bytes", size);
	d = description__new(text, size);
	if (!d || strlen(d->command) >= DESCRIBE_COMMAND)
		fuzz__fail("a command of %zu bytes", d ? strlen(d->command) : 0);
	for (size_t i = 0; i < d->nlabels; i++)
		fuzz__label(d, i);
	description__drop(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct input arguments = input__part(&in), environment = input__part(&in);
	char *cgroup = input__text(input__part(&in)), *comm = input__text(input__part(&in));
	char *rule = input__text(input__part(&in)), *service = input__text(input__part(&in));
	const char *const env[] = {"TEAM", "APP=service", "OTEL_SERVICE_NAME", rule, NULL};
	const struct label_rules rules = {.env = env, .service = *service ? service : NULL};
	struct describe_from from = {
		.arguments = fuzz__copy(arguments.at, arguments.left),
		.arguments_len = arguments.left,
		.environment = fuzz__copy(environment.at, environment.left),
		.environment_len = environment.left,
		.cgroup = cgroup,
		.comm = comm,
	};
	char key[DESCRIBE_KEY], *rest = fuzz__copy(in.at, in.left);
	struct errmsg f;

	fuzz__made(&rules, &from);
	fuzz__described(rest, in.left);
	if (label__parse(rule, key, &f) && !*key)
		fuzz__fail("a label without a key");
	free((void *)(uintptr_t)from.arguments);
	free((void *)(uintptr_t)from.environment);
	free(rest);
	free(cgroup);
	free(comm);
	free(rule);
	free(service);
	return 0;
}
