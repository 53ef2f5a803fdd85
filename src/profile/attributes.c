/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/attributes.h"

#include <limits.h>
#include <stddef.h>

#include "base/clock.h"

#define STARTED_MAX 18e9 /* seconds since 1970 that fit into 64 bits as ns */

#define TEXT(name)   .kind = ATTRIBUTE_TEXT, .field = offsetof(struct profile_process, name)
#define U32(name)    .kind = ATTRIBUTE_U32, .field = offsetof(struct profile_process, name)
#define TIME(name)   .kind = ATTRIBUTE_TIME, .field = offsetof(struct profile_process, name)
#define OF(what, is) .kind = ATTRIBUTE_##is, .of = ATTRIBUTE_##what

/* clang-format off */
const struct attribute attributes[] = {
	{.pprof = "pid", .otlp = "process.pid", .index = "pid", .page = "pid",
	 U32(pid), .max = INT_MAX, .identity = true},
	{.page = "parent", U32(parent_pid), .max = INT_MAX},
	{.pprof = "process", .otlp = "process.executable.name", .index = "comm", .page = "comm",
	 TEXT(comm), .size = XR_COMM_LEN, .match = ATTRIBUTE_MATCH, .identity = true},
	{.pprof = "thread", .otlp = "thread.id", OF(THREAD, U32), .max = INT_MAX},
	{.index = "command", TEXT(command), .match = ATTRIBUTE_MATCH_WORDS},
	{.index = "uid", U32(uid), .max = UINT32_MAX},
	{.pprof = "container", .otlp = "container.id", .index = "container", .page = "container",
	 TEXT(container), .match = ATTRIBUTE_MATCH_ID, .resource = true},
	{.otlp = "process.runtime.name",
	 .kind = ATTRIBUTE_FIXED, .fixed = "R", .resource = true},
	{.pprof = "r_version", .otlp = "process.runtime.version", .index = "r_version", .page = "r",
	 TEXT(r_version), .size = PROFILE_VERSION_LEN, .described = true, .resource = true},
	{.pprof = "started", .index = "started", TIME(started), .max = STARTED_MAX, .described = true},
	{.pprof = "state", .otlp = "state", OF(STATE, TEXT)},
	{.pprof = "syscall", .otlp = "syscall", OF(SYSCALL, TEXT)},
	{.pprof = "call", .otlp = "call", OF(CALL, TEXT)},
	{.pprof = "call_id", .otlp = "call_id", OF(CALL_ID, U32), .max = UINT32_MAX},
	{.pprof = "call_ms", .otlp = "call_ms", OF(CALL_MS, MS), .max = UINT32_MAX},
	{.pprof = "call_start", .otlp = "call_start", OF(CALL_START, MS), .max = STARTED_MAX},
	{.pprof = "call_error", .otlp = "call_error", OF(CALL_ERROR, MS), .max = UINT32_MAX},
	{.pprof = "call_state", .otlp = "call_state", OF(CALL_STATE, TEXT)},
	{.pprof = "call_request", .otlp = "call_request", OF(CALL_REQUEST, TEXT)},
	{.kind = ATTRIBUTE_END},
};
/* clang-format on */

_Static_assert(sizeof(attributes) / sizeof(attributes[0]) <= ATTRIBUTES_MAX, "ATTRIBUTES_MAX");

const struct attribute *attribute__by_pprof(const char *key, size_t len)
{
	for (const struct attribute *a = attributes; a->kind; a++)
		if (a->pprof && strlen(a->pprof) == len && !memcmp(a->pprof, key, len))
			return a;
	return NULL;
}

const struct attribute *attribute__by_index(const char *key)
{
	for (const struct attribute *a = attributes; a->kind; a++)
		if (a->index && !strcmp(a->index, key))
			return a;
	return NULL;
}

bool attribute__is_label(const char *key)
{
	const struct attribute *a = attribute__by_pprof(key, strlen(key));

	return !a || (a->of >= ATTRIBUTE_STATE && a->of < ATTRIBUTE_CALL);
}

static const void *attribute__field(const struct attribute *a, const struct profile_process *p)
{
	return (const char *)p + a->field;
}

const char *attribute__text(const struct attribute *a, const struct profile_process *p)
{
	const char *text;

	if (a->kind == ATTRIBUTE_FIXED)
		return a->fixed;
	if (a->kind != ATTRIBUTE_TEXT || a->of != ATTRIBUTE_PROCESS)
		return NULL;
	text = *(const char *const *)attribute__field(a, p);
	return text && *text ? text : NULL;
}

const char **attribute__place(const struct attribute *a, struct profile_process *p)
{
	return (const char **)(void *)((char *)p + a->field);
}

/* The number as struct profile_process has it. */
static uint64_t attribute__stored(const struct attribute *a, const struct profile_process *p)
{
	if (a->of != ATTRIBUTE_PROCESS)
		return 0;
	if (a->kind == ATTRIBUTE_TIME)
		return *(const uint64_t *)attribute__field(a, p);
	return a->kind == ATTRIBUTE_U32 ? *(const uint32_t *)attribute__field(a, p) : 0;
}

uint64_t attribute__number(const struct attribute *a, const struct profile_process *p)
{
	return attribute__stored(a, p) / (a->kind == ATTRIBUTE_TIME ? NS_PER_S : 1);
}

bool attribute__set_number(const struct attribute *a, struct profile_process *p, double number)
{
	void *field = (char *)p + a->field;

	if (a->of != ATTRIBUTE_PROCESS || !(number >= 0 && number <= a->max))
		return false;
	if (a->kind == ATTRIBUTE_TIME)
		*(uint64_t *)field = (uint64_t)(number * (double)NS_PER_S);
	else
		*(uint32_t *)field = (uint32_t)number;
	return true;
}

void attribute__learn_number(const struct attribute *a, struct profile_process *p,
			     const struct profile_process *from)
{
	size_t size = a->kind == ATTRIBUTE_TIME ? sizeof(uint64_t) : sizeof(uint32_t);

	if (attribute__stored(a, from))
		memcpy((char *)p + a->field, attribute__field(a, from), size);
}

void attributes__json(struct json *j, const struct profile_process *p, const char *but)
{
	for (const struct attribute *a = attributes; a->kind; a++) {
		const char *text = attribute__text(a, p);
		uint64_t number = attribute__number(a, p);

		if (!a->index || (but && !strcmp(a->index, but)))
			continue;
		if (text)
			json__str(j, a->index, text);
		else if (a->kind == ATTRIBUTE_U32 || number)
			json__u64(j, a->index, number);
	}
}

/* At least one: 0 is what is not known. */
static uint64_t ms(uint64_t ns)
{
	uint64_t rounded = (ns + NS_PER_MS / 2) / NS_PER_MS;

	return rounded ? rounded : 1;
}

bool call__value(const struct attribute *a, const struct profile_about *about,
		 const struct profile_call *call, struct attribute_value *value)
{
	static const char *const states[2][2][2] = {
		{{NULL, "ambiguous"}, {"running", "running ambiguous"}},
		{{"cut", "cut ambiguous"}, {"cut running", "cut running ambiguous"}},
	};

	*value = (struct attribute_value){NULL, 0};
	switch (a->of) {
	case ATTRIBUTE_CALL:
		value->text = call->name;
		break;
	case ATTRIBUTE_CALL_ID:
		value->number = call->id;
		break;
	case ATTRIBUTE_CALL_MS:
		value->number = ms(call__ns(call));
		break;
	case ATTRIBUTE_CALL_START:
		value->number = ms(about->began ? call->began - about->began + about->began_real
						: call->began);
		break;
	case ATTRIBUTE_CALL_ERROR:
		value->number = ms(call->error);
		break;
	case ATTRIBUTE_CALL_STATE:
		value->text = states[call->cut][!call->ended][call->ambiguous];
		break;
	case ATTRIBUTE_CALL_REQUEST:
		value->text = call->request;
		break;
	default:
		break;
	}
	return value->text || value->number;
}

const char *label__otlp(const char *key)
{
	static const char *const names[][2] = {{"service", "service.name"}, {"host", "host.name"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(key, names[i][0]))
			return names[i][1];
	return key;
}
