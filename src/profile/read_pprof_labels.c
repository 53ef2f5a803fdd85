/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/read_pprof.h"

#include <limits.h>
#include <string.h>

const char *read_pprof__string(const struct pprof_file *p, int64_t string, size_t *len)
{
	const struct part *part;

	*len = 0;
	if (string < 0 || (uint64_t)string >= p->nstrings)
		return "";
	part = &p->strings[string];
	*len = part->len;
	return p->r->bytes.data + part->at;
}

bool read_pprof__is(const struct pprof_file *p, int64_t string, const char *text)
{
	size_t len;
	const char *is = read_pprof__string(p, string, &len);

	return len == strlen(text) && !memcmp(is, text, len);
}

/* What is behind "@what: " in @text; empty: it does not begin so. */
static struct read_text comment__says(struct read_text text, const char *what)
{
	const size_t len = strlen(what);

	if (text.len < len + 2 || memcmp(text.text, what, len) != 0 ||
	    memcmp(text.text + len, ": ", 2) != 0)
		return (struct read_text){0};
	return (struct read_text){text.text + len + 2, text.len - len - 2};
}

/* The number before " @what" in a list such as "27 taken, 1 lost"; 0: there is none. */
static uint64_t counts__number(const struct read_text *counts, const char *what)
{
	const char *at = text__find(counts->text, counts->len, what);
	uint64_t number = 0, digit = 1;

	if (!at || at == counts->text)
		return 0;
	for (at -= 2; at >= counts->text && *at >= '0' && *at <= '9' && digit < READ_COUNT_MAX;
	     at--, digit *= 10)
		number += digit * (uint64_t)(*at - '0');
	return number;
}

void read_pprof__made(struct pprof_file *p)
{
	struct read_result *result = p->r->result;
	struct read_says_made says = {.lost = 0};
	struct read_text counts = {0};
	struct {
		const char *what;
		struct read_text *text;
	} of[] = {
		{"command", &says.command}, {"host", &says.host}, {"engine", &says.engine},
		{"event", &says.event},	    {"R", &p->r_version}, {"samples", &counts},
		{"series", &says.series},
	};

	for (size_t i = 0; i < p->ncomments; i++) {
		struct read_text text, value;

		text.text = read_pprof__string(p, p->comments[i], &text.len);
		for (size_t k = 0; k < sizeof(of) / sizeof(of[0]); k++) {
			value = comment__says(text, of[k].what);
			if (value.len)
				*of[k].text = value;
		}
		value = comment__says(text, PPROF_GIVEN);
		if (value.len && p->ngiven < PPROF_GIVEN_MAX)
			p->given[p->ngiven++] = value;
	}
	says.lost = counts__number(&counts, "lost");
	says.truncated = counts__number(&counts, "truncated");
	says.unreadable = counts__number(&counts, "unreadable");
	result->began = p->began > 0 ? (uint64_t)p->began : 0;
	result->duration_ns = p->duration > 0 ? (uint64_t)p->duration : 0;
	reading__made(p->r, &says);
}

const struct attribute *read_pprof__attribute(const struct pprof_file *p, const Pprof__Label *l)
{
	size_t len;
	const char *key = read_pprof__string(p, l->key, &len);

	return attribute__by_pprof(key, len);
}

/* Whose it is; ATTRIBUTE_PROCESS also if it is not an attribute. */
static enum attribute_of attribute__whose(const struct attribute *a)
{
	return a ? a->of : ATTRIBUTE_PROCESS;
}

/* Is it one that the R program gave the sample?  Others are of the process. */
static bool label__is_given(const struct pprof_file *p, const Pprof__Label *l)
{
	size_t len;
	const char *key = p->ngiven && l->str ? read_pprof__string(p, l->key, &len) : NULL;

	for (size_t i = 0; key && i < p->ngiven; i++)
		if (len == p->given[i].len && !memcmp(key, p->given[i].text, len))
			return true;
	return false;
}

size_t read_pprof__given(const struct pprof_file *p, const Pprof__Sample *s,
			 struct profile_label labels[XR_LABELS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_label && n < XR_LABELS_MAX; i++) {
		int64_t strings[] = {s->label[i]->key, s->label[i]->str};
		const struct name *names[2];

		if (!label__is_given(p, s->label[i]))
			continue;
		for (size_t k = 0; k < 2; k++) {
			size_t len;
			const char *text = read_pprof__string(p, strings[k], &len);

			names[k] = reading__name(p->r, text, len);
		}
		if (names[0] && names[1])
			labels[n++] = (struct profile_label){names[0]->text, names[1]->text};
	}
	return n;
}

static bool of__is_wait(enum attribute_of of)
{
	return of == ATTRIBUTE_STATE || of == ATTRIBUTE_SYSCALL;
}

static uint32_t pprof__syscall(struct pprof_file *p, int64_t string)
{
	uintptr_t known = map__number(&p->syscalls, (uint64_t)string, 0);
	const char *text;
	size_t len;

	if (known)
		return (uint32_t)(known - 1);
	text = read_pprof__string(p, string, &len);
	known = 1 + p->r->reader->config.syscall(text, len);
	/* where there is no room to remember it is found again */
	if (budget__take(&p->budget, 3 * sizeof(struct map_entry)))
		map__put(&p->syscalls, (uint64_t)string, 0, (void *)known);
	return (uint32_t)(known - 1);
}

void read_pprof__wait(struct pprof_file *p, const Pprof__Sample *s, struct sample *to)
{
	static const struct {
		const char *state;
		uint32_t flag;
	} states[] = {
		{"preempted", XR_F_PREEMPTED}, {"disk", XR_F_DISK}, {"stopped", XR_F_STOPPED}};

	for (size_t i = 0; i < s->n_label; i++) {
		const Pprof__Label *l = s->label[i];
		enum attribute_of of = attribute__whose(read_pprof__attribute(p, l));

		if (of == ATTRIBUTE_SYSCALL && p->r->reader->config.syscall)
			to->detail = pprof__syscall(p, l->str);
		for (size_t k = 0; k < sizeof(states) / sizeof(states[0]); k++)
			if (of == ATTRIBUTE_STATE && read_pprof__is(p, l->str, states[k].state))
				to->flags |= states[k].flag;
	}
}

/* Add a label that is not an attribute. */
static void says__label(const struct pprof_file *p, const Pprof__Label *l, struct read_text value,
			struct read_says *says)
{
	struct read_text *key;

	if (says->nlabels == PROFILE_LABELS_MAX)
		return;
	key = &says->labels[says->nlabels].key;
	key->text = read_pprof__string(p, l->key, &key->len);
	says->labels[says->nlabels++].value = value;
}

/* The text of the attribute @key. */
static struct read_text *says__text(struct read_says *says, const char *key)
{
	return &says->texts[attribute__by_pprof(key, strlen(key)) - attributes];
}

/* What the labels of @s say of its process; false: nothing. */
static bool pprof__says(const struct pprof_file *p, const Pprof__Sample *s, bool waits,
			struct read_says *says)
{
	*says = (struct read_says){0};
	for (size_t i = 0; i < s->n_label; i++) {
		const Pprof__Label *l = s->label[i];
		const struct attribute *a = read_pprof__attribute(p, l);
		enum attribute_of of = attribute__whose(a);
		struct read_text text;

		if (a && of == ATTRIBUTE_PROCESS && a->kind != ATTRIBUTE_TEXT && l->num > 0)
			attribute__set_number(a, &says->numbers, (double)l->num);
		if (!l->str || of == ATTRIBUTE_CALL || (waits && of__is_wait(of)) ||
		    label__is_given(p, l))
			continue;
		text.text = read_pprof__string(p, l->str, &text.len);
		if (a && of == ATTRIBUTE_PROCESS && a->kind == ATTRIBUTE_TEXT)
			says->texts[a - attributes] = text;
		else
			says__label(p, l, text, says);
	}
	if (!says__text(says, "r_version")->len)
		*says__text(says, "r_version") = p->r_version;
	return says->numbers.pid || says__text(says, "process")->len;
}

struct reader_process *read_pprof__process(struct pprof_file *p, const Pprof__Sample *s, bool waits,
					   uint32_t *tid)
{
	struct reader_process *process;
	struct read_says says;
	uint64_t a = s->n_label, b = 0;

	*tid = 0;
	for (size_t i = 0; i < s->n_label; i++) {
		const Pprof__Label *l = s->label[i];
		enum attribute_of of = attribute__whose(read_pprof__attribute(p, l));

		if (of == ATTRIBUTE_THREAD)
			*tid = l->num > 0 && l->num <= INT_MAX ? (uint32_t)l->num : 0;
		if (of == ATTRIBUTE_THREAD || of == ATTRIBUTE_CALL || (waits && of__is_wait(of)) ||
		    label__is_given(p, l)) {
			a--;
			continue;
		}
		a = map__hash(a ^ (uint64_t)l->key, (uint64_t)l->str);
		b = map__hash(b ^ (uint64_t)l->num, a);
	}
	process = map__get(&p->processes, a, b);
	if (process)
		return process;
	process = pprof__says(p, s, waits, &says) ? reading__described(p->r, &says) : p->r->process;
	/* where there is no room to remember it is found again */
	if (process && budget__take(&p->budget, 3 * sizeof(struct map_entry)))
		map__put(&p->processes, a, b, process);
	return process;
}
