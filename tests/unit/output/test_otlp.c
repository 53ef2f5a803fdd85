/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests to a receiver of OTLP: what is written is read back by protobuf's own library. */
#include "output/otlp.h"
#include "encode_scene.h"
#include "otlp.pb-c.h"

typedef Otlp__ExportProfilesServiceRequest Request;

static const struct profile_label web[] = {{"service", "web"}, {"tier", "b\"\xff"}};
static const struct profile_label run[] = {{"host", "h1"}, {"service", "all"}, {"tier", "x"}};
static const struct profile_process one = {.serial = 1,
					   .pid = 10,
					   .comm = "R",
					   .container = "c0ffee",
					   .r_version = "4.2.2",
					   .labels = web,
					   .nlabels = 2};
static const struct profile_process other = {.serial = 3, .pid = 12, .comm = "Rscript"};

#define HASH "600dcafe4a110000f2bf38c493f5fb92"

/* Are the elements 0 of all tables empty? */
static bool empty(const Otlp__ProfilesDictionary *d)
{
	return d && d->n_string_table && !d->string_table[0].len && d->n_mapping_table &&
	       !d->mapping_table[0]->filename_strindex && d->n_location_table &&
	       !d->location_table[0]->n_lines && d->n_function_table &&
	       !d->function_table[0]->name_strindex && d->n_attribute_table &&
	       !d->attribute_table[0]->key_strindex && !d->attribute_table[0]->value &&
	       d->n_stack_table && !d->stack_table[0]->n_location_indices && d->n_link_table &&
	       !d->link_table[0]->trace_id.len;
}

/* What is referred to is there: element @i of @n. */
static size_t at(int32_t i, size_t n)
{
	tap__bail_if(i < 0 || (size_t)i >= n, "there is no element %d of %zu", i, n);
	return (size_t)i;
}

/* What the elements of tables refer to is there, also of those that no sample has. */
static void check_tables(const Otlp__ProfilesDictionary *d)
{
	for (size_t i = 1; i < d->n_function_table; i++) {
		at(d->function_table[i]->name_strindex, d->n_string_table);
		at(d->function_table[i]->filename_strindex, d->n_string_table);
	}
	for (size_t i = 1; i < d->n_location_table; i++) {
		const Otlp__Location *l = d->location_table[i];

		tap__bail_if(l->n_lines != 1, "%zu lines", l->n_lines);
		at(l->mapping_index, d->n_mapping_table);
		at(l->lines[0]->function_index, d->n_function_table);
	}
	for (size_t i = 1; i < d->n_attribute_table; i++) {
		at(d->attribute_table[i]->key_strindex, d->n_string_table);
		tap__bail_if(!d->attribute_table[i]->value, "attribute %zu has no value", i);
	}
	for (size_t i = 1; i < d->n_stack_table; i++)
		for (size_t k = 0; k < d->stack_table[i]->n_location_indices; k++)
			at(d->stack_table[i]->location_indices[k], d->n_location_table);
}

/* @a as a request, read back; until the next call. */
static const Request *encoded(const struct aggregate *a, const struct writer_config *config,
			      const struct stats *stats)
{
	static struct buf out;
	static Request *r;

	out.len = 0;
	tap__bail_if(encode__profile(&out, &writer_otlp, config, a, stats) < 0, "cannot encode");
	if (r)
		otlp__export_profiles_service_request__free_unpacked(r, NULL);
	r = otlp__export_profiles_service_request__unpack(NULL, out.len, (uint8_t *)out.data);
	tap__bail_if(!r || !empty(r->dictionary), "cannot be unpacked, or an element 0 says it");
	check_tables(r->dictionary);
	return r;
}

static void say_bytes(ProtobufCBinaryData b)
{
	tap__say("%.*s", (int)b.len, (const char *)b.data);
}

static void say_string(const Request *r, int32_t i)
{
	say_bytes(r->dictionary->string_table[at(i, r->dictionary->n_string_table)]);
}

static void say_value(const Otlp__AnyValue *value)
{
	tap__say("=");
	if (value->value_case == OTLP__ANY_VALUE__VALUE_STRING_VALUE)
		say_bytes(value->string_value);
	else
		tap__say("%lld", (long long)value->int_value);
	tap__say(";");
}

static void say_attributes(const Request *r, const int32_t *all, size_t n)
{
	const Otlp__ProfilesDictionary *d = r->dictionary;

	for (size_t i = 0; i < n; i++) {
		say_string(r, d->attribute_table[at(all[i], d->n_attribute_table)]->key_strindex);
		say_value(d->attribute_table[all[i]]->value);
	}
}

static const Otlp__Profile *profile(const Request *r, size_t resource)
{
	return r->resource_profiles[resource]->scope_profiles[0]->profiles[0];
}

/* "what unit", of a sample type or a period. */
static void say_type(const Request *r, const Otlp__ValueType *t)
{
	say_string(r, t->type_strindex);
	tap__say(" ");
	say_string(r, t->unit_strindex);
}

/* The value and the frames of @s: "name(system file:start)@line type=... in mapping". */
static void say_frames(const Request *r, const Otlp__Sample *s)
{
	const Otlp__ProfilesDictionary *d = r->dictionary;
	const Otlp__Stack *stack = d->stack_table[at(s->stack_index, d->n_stack_table)];

	tap__bail_if(s->n_values != 1, "%zu values", s->n_values);
	tap__say("%lld", (long long)s->values[0]);
	for (size_t i = 0; i < stack->n_location_indices; i++) {
		const Otlp__Location *l = d->location_table[stack->location_indices[i]];
		const Otlp__Function *f = d->function_table[l->lines[0]->function_index];

		tap__say(i ? " < " : " ");
		say_string(r, f->name_strindex);
		if (f->filename_strindex) {
			tap__say("(");
			say_string(r, f->system_name_strindex);
			tap__say(" ");
			say_string(r, f->filename_strindex);
			tap__say(":%lld)@%lld", (long long)f->start_line,
				 (long long)l->lines[0]->line);
		}
		tap__say(" ");
		say_attributes(r, l->attribute_indices, l->n_attribute_indices);
		if (l->mapping_index) {
			const Otlp__Mapping *m = d->mapping_table[l->mapping_index];

			say_string(r, m->filename_strindex);
			tap__say(" ");
			say_attributes(r, m->attribute_indices, m->n_attribute_indices);
		}
	}
}

#define OF_R "process.pid=10;process.executable.name=R;"

/* The attributes of @s, and its link in hexadecimal, "TRACE SPAN"; "" for none. */
static void say_linked(const Request *r, const Otlp__Sample *s)
{
	const Otlp__ProfilesDictionary *d = r->dictionary;
	const Otlp__Link *link = d->link_table[at(s->link_index, d->n_link_table)];

	say_attributes(r, s->attribute_indices, s->n_attribute_indices);
	for (size_t i = 0; i < link->trace_id.len; i++)
		tap__say("%02x", link->trace_id.data[i]);
	for (size_t i = 0; i < link->span_id.len; i++)
		tap__say("%s%02x", i ? "" : " ", link->span_id.data[i]);
}

static void say_profile(const Request *r, const Otlp__Profile *p)
{
	tap__say("  ");
	say_type(r, p->sample_type);
	tap__say(", period %lld of ", (long long)p->period);
	if (p->period_type)
		say_type(r, p->period_type);
	else
		tap__say("none");
	tap__say(", at %llu for %llu\n", (unsigned long long)p->time_unix_nano,
		 (unsigned long long)p->duration_nano);
	for (size_t i = 0; i < p->n_samples; i++) {
		tap__say("  ");
		say_frames(r, p->samples[i]);
		tap__say("\n    ");
		say_linked(r, p->samples[i]);
		tap__say("\n");
	}
}

/* All of it: the attributes of each resource, and its profiles. */
static void say(const Request *r)
{
	for (size_t i = 0; i < r->n_resource_profiles; i++) {
		const Otlp__ResourceProfiles *of = r->resource_profiles[i];

		for (size_t k = 0; k < of->resource->n_attributes; k++) {
			say_bytes(of->resource->attributes[k]->key);
			say_value(of->resource->attributes[k]->value);
		}
		tap__say("\n");
		for (size_t k = 0; k < of->scope_profiles[0]->n_profiles; k++)
			say_profile(r, of->scope_profiles[0]->profiles[k]);
	}
}

static void test_request(struct aggregate *a)
{
	const struct stats stats = {.written = 10, .seconds = 2};
	struct writer_config config = {.about = {.freq = 19, .clock = "cpu", .began_real = 77},
				       .labels = run,
				       .nlabels = 3};
	const Request *r = encoded(a, &config, &stats);
	const Otlp__Profile *p;

	tap__bail_if(r->n_resource_profiles != 2, "a resource for each service");
	say(r);
	tap__golden("otlp.txt");
	p = profile(r, 0);
	tap__ok(r->resource_profiles[0]->scope_profiles[0]->scope->name.len == 10,
		"the scope is who made it");
	tap__ok(p->samples[0]->stack_index == p->samples[2]->stack_index &&
			r->dictionary->n_mapping_table == 2,
		"equal stacks are one, and so are files");

	config.about.freq = 0;
	config.nlabels = 0;
	r = encoded(a, &config, NULL);
	/* no rate: no period; no service: the name of the process */
	say(r);
	tap__golden("otlp_rateless.txt");
}

static void test_parts(struct aggregate *a)
{
	const struct profile_part part = {
		.depth = 2, .wants = scene__is_pid, .arg = &(uint32_t){11}};
	struct writer_config config = {.part = &part};
	struct profile_part limited = {.size = 800};
	static struct buf out;
	struct encoded done;
	const Request *r = encoded(a, &config, NULL);

	tap__ok(r->n_resource_profiles == 1 && profile(r, 0)->n_samples == 1,
		"a part of it: some processes");
	say_frames(r, profile(r, 0)->samples[0]);
	say_linked(r, profile(r, 0)->samples[0]);
	tap__said("4 pkg::f(f f.R:10)@12 profile.frame.type=r; < <truncated> "
		  "process.pid=11;process.executable.name=R;thread.id=12;",
		  "stacks of some depth");
	config.part = NULL;
	for (int n = 0, rows = 0;; n++) {
		out.len = 0;
		if (encode__next(&out, &writer_otlp, &config, a, NULL, &limited, &done) <= 0) {
			tap__ok(rows == 5 && n > 1, "it goes in %d pieces", n);
			break;
		}
		rows += (int)done.rows;
		tap__bail_if(out.len > 800, "%zu bytes", out.len);
	}
}

/* A resource has a profile of each type that it has samples of; a period is of ticks. */
static void test_types(void)
{
	struct writer_config config = {
		.about = {.freq = 100,
			  .clock = "cpu",
			  .types = {
				  [PROFILE_TYPE_OFF_CPU] = {"off_cpu", PROFILE_NANOSECONDS},
				  [PROFILE_TYPE_ALLOC] = {"alloc_space", PROFILE_BYTES},
				  [PROFILE_TYPE_EVENTS] = {"page-faults", PROFILE_COUNT},
			  }}};
	static const uint64_t weights[] = {3, 2000000000, 4096, 7};
	struct sample s = {.time = 5, .tid = 10, .stack = stack__one("f")};
	struct aggregate *a = AGGREGATE(.labels = XR_F_WAIT, .details = true);
	const Request *r;

	for (s.type = 0; s.type < 4; s.type++) {
		s.weight = weights[s.type];
		aggregate__put(a, &one, s);
	}
	s.type = PROFILE_TYPE_OFF_CPU;
	s.flags = XR_F_DISK;
	s.detail = 1;
	aggregate__put(a, &other, s);
	s.type = PROFILE_TYPE_TICKS;
	s.flags = 0;
	aggregate__put(a, &one, s);
	r = encoded(a, &config, &(struct stats){0});
	say(r);
	tap__said("service.name=web;tier=b\"\\xff;container.id=c0ffee;process.runtime.name=R;"
		  "process.runtime.version=4.2.2;\n"
		  "  samples count, period 10000000 of cpu nanoseconds, at 0 for 0\n"
		  "  3 f profile.frame.type=r;\n    " OF_R "\n"
		  "  7 f profile.frame.type=r;\n    " OF_R "state=sleeping;syscall=read;\n"
		  "  off_cpu nanoseconds, period 0 of none, at 0 for 0\n"
		  "  2000000000 f profile.frame.type=r;\n    " OF_R "state=sleeping;\n"
		  "  alloc_space bytes, period 0 of none, at 0 for 0\n"
		  "  4096 f profile.frame.type=r;\n    " OF_R "\n"
		  "  page-faults count, period 0 of none, at 0 for 0\n"
		  "  7 f profile.frame.type=r;\n    " OF_R "\n"
		  "service.name=Rscript;process.runtime.name=R;\n"
		  "  off_cpu nanoseconds, period 0 of none, at 0 for 0\n"
		  "  7 f profile.frame.type=r;\n    process.pid=12;process.executable.name=Rscript;"
		  "state=disk;syscall=read;\n",
		  "one that only waited has that alone; with --clock wall ticks have a state, too");
	aggregate__free(a);
}

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"
#define OF_F  "1 f profile.frame.type=r;"

/* What an R program gave samples: all are attributes, and the ids of a span are a link too. */
static void test_given(void)
{
	/* route, span_id, trace_id, and the link */
	static const char *const all[][4] = {
		{"/a", SPAN, TRACE, TRACE " " SPAN},
		{"/b", SPAN, TRACE, TRACE " " SPAN},
		{"/a", "00f067aa0ba902b8", TRACE, TRACE " 00f067aa0ba902b8"},
		{"/a", SPAN, "4bf92f3577b34da6a3ce929d0e0e473", ""},
		{"/a", SPAN, "00000000000000000000000000000000", ""},
		{"/a", "00f067aa0ba902bx", TRACE, ""},
		{"/a", SPAN "00", TRACE, ""},
	};
	struct writer_config config = {.about = {.freq = 100, .clock = "cpu"}};
	struct aggregate *a = AGGREGATE(.given = true);
	const Request *r;

	for (size_t i = 0; i <= COUNT(all); i++) {
		const struct profile_label given[] = {{"route", all[i % COUNT(all)][0]},
						      {"span_id", all[i % COUNT(all)][1]},
						      {"state", "a key that is taken"},
						      {"trace_id", all[i % COUNT(all)][2]}};

		aggregate__put(a, &one,
			       (struct sample){.weight = 1,
					       .stack = stack__one("f"),
					       .labels = given,
					       .nlabels = i < COUNT(all) ? 4 : 1});
	}
	r = encoded(a, &config, NULL);
	tap__bail_if(!tap__ok(profile(r, 0)->n_samples == COUNT(all) + 1,
			      "samples of each set of labels"),
		     "no samples");
	for (size_t i = 0; i < COUNT(all); i++) {
		char want[256];

		snprintf(want, sizeof(want), OF_F OF_R "route=%s;span_id=%s;trace_id=%s;%s",
			 all[i][0], all[i][1], all[i][2], all[i][3]);
		say_frames(r, profile(r, 0)->samples[i]);
		say_linked(r, profile(r, 0)->samples[i]);
		tap__said(want, "labels %zu are attributes, and their span a link", i);
	}
	say_frames(r, profile(r, 0)->samples[COUNT(all)]);
	say_linked(r, profile(r, 0)->samples[COUNT(all)]);
	tap__said(OF_F OF_R "route=/a;", "one label, without a span");
	tap__ok(r->dictionary->n_link_table == 3, "a span has one link");
	aggregate__free(a);
}

TEST(otlp)
{
	const struct frame *frames[] = {
		MADE(.function = "f", .package = "pkg", .file = "f.R", .line = 12, .defined = "f.R",
		     .defined_line = 10),
		MADE(.kind = FRAME_NATIVE, .function = "memcpy", .module = "/lib/libc.so.6",
		     .build_id = "c89b11", .hash = HASH),
		MADE(.kind = FRAME_KERNEL, .function = "read", .module = "[kernel]"),
	};
	const struct frame *gc[] = {&mark_gc, frames[0]};
	struct aggregate *a = AGGREGATE(.threads = true);
	struct profile_process same = one; /* as far as its resource */

	same.serial = 2;
	same.pid = 11;
	scene__add(a, &one, stack__of(3, frames, NULL, 0), 3);
	scene__add(a, &one, stack__of(2, gc, NULL, 0), 1);
	scene__add(a, &same, stack__of(3, frames, NULL, 0), 4);
	scene__add(a, &other, stack__of(2, gc, NULL, 0), 1);
	scene__add(a, &other, stack__of(0, NULL, NULL, 0), 1);
	test_request(a);
	test_parts(a);
	test_types();
	test_given();
	aggregate__free(a);
}
