/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/attributes.h"

#include <limits.h>
#include <stddef.h>

#include "base/clock.h"

#define STARTED_MAX 18e9 /* seconds since 1970 that fit into 64 bits as ns */
#define MS_MAX	    (UINT64_MAX / NS_PER_MS / 4)

#define TEXT(name)     .kind = ATTRIBUTE_TEXT, .field = offsetof(struct profile_process, name)
#define U32(name)      .kind = ATTRIBUTE_U32, .field = offsetof(struct profile_process, name)
#define TIME(name)     .kind = ATTRIBUTE_TIME, .field = offsetof(struct profile_process, name)
#define CALL(name, is) OF(CALL, is), .field = offsetof(struct profile_call, name)
#define OF(what, is)   .kind = ATTRIBUTE_##is, .of = ATTRIBUTE_##what

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
	{.pprof = "call", .otlp = "call", CALL(name, TEXT)},
	{.pprof = "call_id", .otlp = "call_id", CALL(id, U64)},
	{.pprof = "call_ms", .otlp = "call_ms", OF(CALL, LASTED)},
	{.pprof = "call_start", .otlp = "call_start", CALL(began, WHEN)},
	{.pprof = "call_error", .otlp = "call_error", CALL(error, NS)},
	{.pprof = "call_state", .otlp = "call_state", OF(CALL, FLAGS)},
	{.pprof = "call_request", .otlp = "call_request", CALL(request, TEXT)},
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

	return !a || a->of == ATTRIBUTE_STATE || a->of == ATTRIBUTE_SYSCALL;
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

/* The time of @call in milliseconds since 1970. */
static uint64_t ms_since_1970(const struct profile_about *about, uint64_t ns)
{
	return ms(about->began ? ns - about->began + about->began_real : ns);
}

bool call__value(const struct attribute *a, const struct profile_about *about,
		 const struct profile_call *call, struct attribute_value *value)
{
	static const char *const flags[2][2][2] = {
		{{NULL, "ambiguous"}, {"running", "running ambiguous"}},
		{{"cut", "cut ambiguous"}, {"cut running", "cut running ambiguous"}},
	};
	const void *field = (const char *)call + a->field;

	*value = (struct attribute_value){NULL, 0};
	if (a->of != ATTRIBUTE_CALL)
		return false;
	switch (a->kind) {
	case ATTRIBUTE_TEXT:
		value->text = *(const char *const *)field;
		break;
	case ATTRIBUTE_U64:
		value->number = *(const uint64_t *)field;
		break;
	case ATTRIBUTE_NS:
		value->number = ms(*(const uint64_t *)field);
		break;
	case ATTRIBUTE_WHEN:
		value->number = ms_since_1970(about, *(const uint64_t *)field);
		break;
	case ATTRIBUTE_LASTED:
		value->number = ms(call__ns(call));
		break;
	case ATTRIBUTE_FLAGS:
		value->text = flags[call->cut][!call->ended][call->ambiguous];
		break;
	default:
		break;
	}
	return value->text || value->number;
}

void call__set(const struct attribute *a, struct profile_call *call,
	       const struct attribute_value *value)
{
	const uint64_t ns = value->number < MS_MAX ? value->number * NS_PER_MS : 0;
	const char *text = value->text ? value->text : "";
	void *field = (char *)call + a->field;

	if (a->of != ATTRIBUTE_CALL)
		return;
	switch (a->kind) {
	case ATTRIBUTE_TEXT:
		*(const char **)field = value->text;
		break;
	case ATTRIBUTE_U64:
		*(uint64_t *)field = value->number;
		break;
	case ATTRIBUTE_NS:
	case ATTRIBUTE_WHEN:
		*(uint64_t *)field = ns;
		break;
	case ATTRIBUTE_LASTED:
		call->seen = ns;
		break;
	case ATTRIBUTE_FLAGS:
		call->ended = !strstr(text, "running");
		call->cut = strstr(text, "cut");
		call->ambiguous = strstr(text, "ambiguous");
		break;
	default:
		break;
	}
}

void call__set_all(struct profile_call *call)
{
	call->seen += call->began;
	call->ended = call->ended ? call->seen : 0;
}

const char *label__otlp(const char *key)
{
	static const char *const names[][2] = {{"service", "service.name"}, {"host", "host.name"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(key, names[i][0]))
			return names[i][1];
	return key;
}
