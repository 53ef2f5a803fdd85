/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "output/otlp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/version.h"
#include "layout.h"
#include "output/otlp_parts.h"

#define PROFILE_SAMPLES 2 /* field of a Profile (otlp.proto) */

/* Beside labels and attributes: service and host. */
#define RESOURCE_MAX (2 + ATTRIBUTES_MAX + 2 * PROFILE_LABELS_MAX)

/* A resource with its samples; equal attributes are one. */
struct otlp_group {
	uint64_t hash; /* of the resource */
	struct otlp_group *next;
	struct buf resource;		       /* as it is sent */
	struct buf samples[PROFILE_TYPES_MAX]; /* by sample type, fields of its Profile */
};

struct otlp_process {
	struct otlp_group *group; /* NULL: none of its rows came yet */
	int32_t attributes[ATTRIBUTES_MAX];
	size_t n;
};

struct otlp {
	const struct writer_config *config;
	const struct aggregate *aggregate;
	struct output *out;
	uint64_t period; /* ns; 0: not known */
	struct otlp_dictionary d;
	struct otlp_process *processes;
	struct table groups;
	struct otlp_group *first, **last;    /* in their order */
	struct buf heads[PROFILE_TYPES_MAX]; /* of profiles, without their samples; empty: not made
						yet */
	struct buf texts;
};

/* A resource that is made. */
struct otlp_making {
	Otlp__KeyValue values[RESOURCE_MAX], *all[RESOURCE_MAX];
	Otlp__AnyValue any[RESOURCE_MAX];
	/* where the texts of each are in a buffer, which moves as it grows */
	size_t key[RESOURCE_MAX], value[RESOURCE_MAX];
	size_t n;
};

/* Append @text as it can be sent, terminated; where it begins to @at. */
static int otlp__tame(struct buf *out, const char *text, size_t *at)
{
	int err;

	*at = out->len;
	err = escape__text(out, text, "", LIMIT_NAME);
	return err < 0 ? err : buf__add(out, "", 1);
}

/* The first of a key counts. */
static int otlp__add(struct otlp *o, struct otlp_making *m, const char *key, const char *value)
{
	int err;

	if (m->n == RESOURCE_MAX || !*key)
		return 0;
	err = otlp__tame(&o->texts, key, &m->key[m->n]);
	err = err ? err : otlp__tame(&o->texts, value, &m->value[m->n]);
	if (err)
		return err;
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(o->texts.data + m->key[i], o->texts.data + m->key[m->n]))
			return 0;
	m->n++;
	return 0;
}

static int otlp__add_labels(struct otlp *o, struct otlp_making *m,
			    const struct profile_label *labels, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = otlp__add(o, m, label__otlp(labels[i].key), labels[i].value);
	return err;
}

static int otlp__resource(struct otlp *o, struct buf *out, const struct profile_process *p)
{
	const struct writer_config *config = o->config;
	Otlp__Resource resource = OTLP__RESOURCE__INIT;
	struct otlp_making m;
	int err;

	m.n = 0;
	o->texts.len = 0;
	err = otlp__add_labels(o, &m, p->labels, p->nlabels);
	err = err ? err : otlp__add_labels(o, &m, config->labels, config->nlabels);
	/* required by the conventions; Pyroscope gets the same name */
	err = err ? err : otlp__add(o, &m, "service.name", *p->comm ? p->comm : "R");
	if (!err && config->about.host)
		err = otlp__add(o, &m, "host.name", config->about.host);
	for (const struct attribute *a = attributes; a->kind && !err; a++)
		if (a->otlp && a->resource && attribute__text(a, p))
			err = otlp__add(o, &m, a->otlp, attribute__text(a, p));
	if (err)
		return err;
	for (size_t i = 0; i < m.n; i++) {
		m.values[i] = (Otlp__KeyValue)OTLP__KEY_VALUE__INIT;
		m.any[i] = (Otlp__AnyValue)OTLP__ANY_VALUE__INIT;
		m.all[i] = &m.values[i];
		m.values[i].key.data = (uint8_t *)o->texts.data + m.key[i];
		m.values[i].key.len = strlen(o->texts.data + m.key[i]);
		m.values[i].value = &m.any[i];
		m.any[i].value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
		m.any[i].string_value.data = (uint8_t *)o->texts.data + m.value[i];
		m.any[i].string_value.len = strlen(o->texts.data + m.value[i]);
	}
	resource.n_attributes = m.n;
	resource.attributes = m.all;
	return otlp__pack(out, &resource.base);
}

static bool group__same(const void *record, const void *key)
{
	const struct otlp_group *g = record;
	const struct buf *resource = key;

	return g->resource.len == resource->len &&
	       !memcmp(g->resource.data, resource->data, resource->len);
}

static void group__free(struct otlp_group *g)
{
	buf__free(&g->resource);
	for (uint32_t i = 0; i < PROFILE_TYPES_MAX; i++)
		buf__free(&g->samples[i]);
	free(g);
}

static int otlp__group(struct otlp *o, const struct profile_process *p, struct otlp_group **group)
{
	struct otlp_group *g = calloc(1, sizeof(*g)), *same;
	int err = g ? otlp__resource(o, &g->resource, p) : -ENOMEM;

	if (err)
		goto out;
	g->hash = map__hash_bytes(g->resource.data, g->resource.len);
	same = table__find(&o->groups, g->hash, group__same, &g->resource);
	if (same) {
		*group = same;
		goto out;
	}
	err = table__add(&o->groups, g);
	if (err)
		goto out;
	*group = g;
	*o->last = g;
	o->last = &g->next;
	return 0;
out:
	if (g)
		group__free(g);
	return err;
}

/* The attribute @a of samples, added to the @n at @to. */
static int otlp__attribute(struct otlp *o, const struct attribute *a,
			   const struct attribute_value *value, int32_t *to, size_t *n)
{
	size_t at;
	int err;

	if (!value->text)
		return otlp__number(&o->d, a->otlp, (int64_t)value->number, &to[(*n)++]);
	o->texts.len = 0;
	err = otlp__tame(&o->texts, value->text, &at);
	return err ? err : otlp__text(&o->d, a->otlp, o->texts.data + at, &to[(*n)++]);
}

/* What all samples of a process have in common, once for each. */
static int otlp__process(struct otlp *o, uint32_t i, struct otlp_process **process)
{
	const struct profile_process *p = aggregate__process(o->aggregate, i);
	struct otlp_process *own = &o->processes[i];
	int err = 0;

	*process = own;
	if (own->group)
		return 0;
	own->n = 0;
	for (const struct attribute *a = attributes; a->kind && !err; a++) {
		const struct attribute_value value = {attribute__text(a, p),
						      attribute__number(a, p)};

		if (a->otlp && !a->resource && (value.text || value.number))
			err = otlp__attribute(o, a, &value, own->attributes, &own->n);
	}
	return err ? err : otlp__group(o, p, &own->group);
}

/* Does the key say something else of a sample?  Its attributes are of different keys. */
static bool key__is_taken(const char *key)
{
	bool taken = attribute__by_pprof(key, strlen(key));

	for (const struct attribute *a = attributes; a->kind && !taken; a++)
		taken = a->otlp && !strcmp(a->otlp, key);
	return taken;
}

/* The labels that the R program gave, added to the @n attributes at @to. */
static int otlp__given(struct otlp *o, const struct profile_given *given, int32_t *to, size_t *n)
{
	int err = 0;

	for (size_t i = 0; given && i < given->n && !err; i++) {
		size_t key, value;

		if (key__is_taken(given->labels[i].key))
			continue;
		o->texts.len = 0;
		err = otlp__tame(&o->texts, given->labels[i].key, &key);
		err = err ? err : otlp__tame(&o->texts, given->labels[i].value, &value);
		if (!err)
			err = otlp__text(&o->d, o->texts.data + key, o->texts.data + value,
					 &to[(*n)++]);
	}
	return err;
}

static int otlp__row(struct otlp *o, const struct aggregate_row *row)
{
	Otlp__Sample sample = OTLP__SAMPLE__INIT;
	struct message_buffer to;
	int64_t value = (int64_t)row->value;
	struct attribute_value of_sample;
	int32_t all[ATTRIBUTES_MAX + XR_LABELS_MAX];
	struct otlp_process *process;
	int err;

	err = otlp__process(o, row->process, &process);
	if (!err)
		err = otlp__stack(&o->d, o->config->part, row->stack, &sample.stack_index);
	if (err)
		return err;
	memcpy(all, process->attributes, process->n * sizeof(*all));
	sample.n_attribute_indices = process->n;
	for (const struct attribute *a = attributes; a->kind && !err; a++)
		if (row__value(a, &o->config->about, row, &of_sample))
			err = otlp__attribute(o, a, &of_sample, all, &sample.n_attribute_indices);
	err = err ? err : otlp__given(o, row->given, all, &sample.n_attribute_indices);
	err = err ? err : otlp__link(&o->d, row->given, &sample.link_index);
	if (err)
		return err;
	sample.attribute_indices = all;
	sample.n_values = 1;
	sample.values = &value;
	to = message__buffer(&process->group->samples[row->type]);
	message__element(&to.base, PROFILE_SAMPLES, &sample.base);
	return to.err;
}

/* --- what is around the samples --- */

static int field__begin(struct buf *out, unsigned int number, uint64_t len)
{
	struct message_buffer to = message__buffer(out);

	message__begin(&to.base, number, len);
	return to.err;
}

/* Ticks are a count of samples with a period. */
static int otlp__profile_types(struct otlp *o, uint32_t type, Otlp__ValueType *values,
			       Otlp__ValueType *time)
{
	static const char *const units[] = {"count", "nanoseconds", "bytes", "count"};
	const struct profile_about *about = &o->config->about;
	const struct profile_type of = about__type(about, type);
	int err;

	err = otlp__string(&o->d, type && of.name ? of.name : "samples", &values->type_strindex);
	err = err ? err : otlp__string(&o->d, units[of.unit], &values->unit_strindex);
	if (type)
		return err;
	err = err ? err
		  : otlp__string(&o->d, about->clock ? about->clock : "cpu", &time->type_strindex);
	return err ? err : otlp__string(&o->d, "nanoseconds", &time->unit_strindex);
}

/* The fields of a profile of @type but its samples. */
static int otlp__profile_head(struct otlp *o, uint32_t type, struct buf *out,
			      const struct stats *stats)
{
	Otlp__ValueType values = OTLP__VALUE_TYPE__INIT, time = OTLP__VALUE_TYPE__INIT;
	const struct profile_about *about = &o->config->about;
	Otlp__Profile head = OTLP__PROFILE__INIT;
	uint64_t first, last;
	int err;

	err = otlp__profile_types(o, type, &values, &time);
	if (err)
		return err;
	head.sample_type = &values;
	if (o->period && !type) {
		head.period_type = &time;
		head.period = (int64_t)o->period;
	}
	aggregate__span(o->aggregate, &first, &last);
	head.time_unix_nano = about->began_real;
	head.duration_nano = stats ? (uint64_t)(stats->seconds * (double)NS_PER_S) : last - first;
	return otlp__pack(out, &head.base);
}

static int otlp__scope_head(struct buf *out)
{
	Otlp__InstrumentationScope scope = OTLP__INSTRUMENTATION_SCOPE__INIT;
	Otlp__ScopeProfiles head = OTLP__SCOPE_PROFILES__INIT;
	static char name[] = XR_PROGRAM, version[] = XR_VERSION;

	scope.name.data = (uint8_t *)name;
	scope.name.len = strlen(name);
	scope.version.data = (uint8_t *)version;
	scope.version.len = strlen(version);
	head.scope = &scope;
	return otlp__pack(out, &head.base);
}

/* The profile of @type: its head is made once for all groups. */
static int otlp__profile_of(struct otlp *o, const struct otlp_group *g, uint32_t type,
			    const struct stats *stats, struct buf *out)
{
	const struct buf *samples = &g->samples[type];
	struct buf *head = &o->heads[type];
	int err = 0;

	if (!samples->len)
		return 0;
	if (!head->len)
		err = otlp__profile_head(o, type, head, stats);
	err = err ? err : field__begin(out, 2, head->len + samples->len);
	err = err ? err : buf__add(out, head->data, head->len);
	return err ? err : buf__add(out, samples->data, samples->len);
}

/* Resource 1, scope_profiles 2 { scope 1, profiles 2 { head, samples } ... }: inside out. */
static int otlp__write_group(struct otlp *o, const struct otlp_group *g, const struct buf *scope,
			     const struct stats *stats)
{
	struct buf profiles = {0}, scopes = {0}, resource = {0}, request = {0};
	uint64_t len;
	int err = 0;

	for (uint32_t type = 0; type < PROFILE_TYPES_MAX && !err; type++)
		err = otlp__profile_of(o, g, type, stats, &profiles);
	len = profiles.len + scope->len;
	err = err ? err : field__begin(&scopes, 2, len);
	len += scopes.len;
	err = err ? err : field__begin(&resource, 1, g->resource.len);
	len += resource.len + g->resource.len;
	err = err ? err : field__begin(&request, 1, len);
	if (!err) {
		const struct buf *all[] = {&request, &resource, &g->resource,
					   &scopes,  scope,	&profiles};

		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !err; i++)
			err = output__write(o->out, all[i]->data, all[i]->len);
	}
	buf__free(&profiles);
	buf__free(&scopes);
	buf__free(&resource);
	buf__free(&request);
	return err;
}

static int otlp__write(struct otlp *o, const struct stats *stats)
{
	struct buf scope = {0}, dictionary = {0};
	int err;

	err = otlp__scope_head(&scope);
	for (const struct otlp_group *g = o->first; g && !err; g = g->next)
		err = otlp__write_group(o, g, &scope, stats);
	err = err ? err : field__begin(&dictionary, 2, o->d.bytes.len);
	err = err ? err : output__write(o->out, dictionary.data, dictionary.len);
	err = err ? err : output__write(o->out, o->d.bytes.data, o->d.bytes.len);
	buf__free(&scope);
	buf__free(&dictionary);
	return err;
}

static void otlp__free(struct otlp *o)
{
	struct otlp_group *next;

	for (struct otlp_group *g = o->first; g; g = next) {
		next = g->next;
		group__free(g);
	}
	table__free(&o->groups);
	otlp__end(&o->d);
	buf__free(&o->texts);
	for (uint32_t i = 0; i < PROFILE_TYPES_MAX; i++)
		buf__free(&o->heads[i]);
	free(o->processes);
}

static int otlp__profile(struct output *out, const struct writer_config *config,
			 const struct aggregate *a, const struct stats *stats)
{
	struct part_rows rows = part__rows(a, config->part);
	struct otlp o = {.config = config, .aggregate = a, .out = out};
	const struct aggregate_row *row;
	size_t n;
	int err;

	o.period = about__interval(&config->about);
	o.last = &o.first;
	aggregate__processes(a, &n);
	o.processes = calloc(n + 1, sizeof(*o.processes));
	err = otlp__begin(&o.d);
	if (!o.processes)
		err = -ENOMEM;
	while (!err && (row = part__next(&rows)))
		err = otlp__row(&o, row);
	err = err ? err : otlp__write(&o, stats);
	otlp__free(&o);
	return err ? err : output__commit(out, 0);
}

const struct writer_ops writer_otlp = {
	.name = "otlp",
	.suffix = ".otlp",
	.binary = true,
	.help = "a request to a receiver of OTLP profiles",
	.keeps = KEEPS_ATTRIBUTES,
	.types = true,
	.parts = true,
	.capture = XR_ROW_GC | XR_ROW_PACKAGES | XR_ROW_LABELS,
	.profile = otlp__profile,
};
