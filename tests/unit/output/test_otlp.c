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
static const struct profile_process same = {.serial = 2,
					    .pid = 11,
					    .comm = "R",
					    .container = "c0ffee",
					    .r_version = "4.2.2",
					    .labels = web,
					    .nlabels = 2};
static const struct profile_process other = {.serial = 3, .pid = 12, .comm = "Rscript"};

#define HASH "600dcafe4a110000f2bf38c493f5fb92"

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
	tap__bail_if(!r, "cannot be unpacked");
	return r;
}

static void put(struct buf *to, ProtobufCBinaryData b)
{
	buf__add(to, b.data, b.len);
}

static void put_string(struct buf *to, const Request *r, int32_t i)
{
	tap__bail_if(i < 0 || (size_t)i >= r->dictionary->n_string_table, "no string %d", i);
	put(to, r->dictionary->string_table[i]);
}

static void put_value(struct buf *to, const Otlp__AnyValue *value)
{
	buf__str(to, "=");
	if (value->value_case == OTLP__ANY_VALUE__VALUE_STRING_VALUE)
		put(to, value->string_value);
	else
		buf__printf(to, "%lld", (long long)value->int_value);
	buf__str(to, ";");
}

static void put_attributes(struct buf *to, const Request *r, const int32_t *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		put_string(to, r, r->dictionary->attribute_table[all[i]]->key_strindex);
		put_value(to, r->dictionary->attribute_table[all[i]]->value);
	}
}

/* A text to write into; the last four stay. */
static struct buf *text_begin(void)
{
	static struct buf texts[4];
	static unsigned int n;
	struct buf *to = &texts[n++ % 4];

	to->len = 0;
	return to;
}

static const char *text_end(struct buf *to)
{
	buf__add(to, "", 1);
	return to->data;
}

static const Otlp__Profile *profile(const Request *r, size_t resource)
{
	return r->resource_profiles[resource]->scope_profiles[0]->profiles[0];
}

/* The attributes of a resource, as "key=value;". */
static const char *resource(const Request *r, size_t i)
{
	const Otlp__Resource *res = r->resource_profiles[i]->resource;
	struct buf *to = text_begin();

	for (size_t k = 0; k < res->n_attributes; k++) {
		put(to, res->attributes[k]->key);
		put_value(to, res->attributes[k]->value);
	}
	return text_end(to);
}

/* "what unit", of a sample type or a period. */
static const char *type(const Request *r, const Otlp__ValueType *t)
{
	struct buf *to = text_begin();

	put_string(to, r, t->type_strindex);
	buf__str(to, " ");
	put_string(to, r, t->unit_strindex);
	return text_end(to);
}

static const char *of_sample(const Request *r, const Otlp__Sample *s)
{
	struct buf *to = text_begin();

	put_attributes(to, r, s->attribute_indices, s->n_attribute_indices);
	return text_end(to);
}

/* The value and the frames of @s: "name(system file:start)@line type=... in mapping". */
static const char *frames(const Request *r, const Otlp__Sample *s)
{
	const Otlp__ProfilesDictionary *d = r->dictionary;
	const Otlp__Stack *stack = d->stack_table[s->stack_index];
	struct buf *to = text_begin();

	buf__printf(to, "%lld", (long long)s->values[0]);
	for (size_t i = 0; i < stack->n_location_indices; i++) {
		const Otlp__Location *l = d->location_table[stack->location_indices[i]];
		const Otlp__Function *f = d->function_table[l->lines[0]->function_index];

		buf__str(to, i ? " < " : " ");
		put_string(to, r, f->name_strindex);
		if (f->filename_strindex) {
			buf__str(to, "(");
			put_string(to, r, f->system_name_strindex);
			buf__str(to, " ");
			put_string(to, r, f->filename_strindex);
			buf__printf(to, ":%lld)@%lld", (long long)f->start_line,
				    (long long)l->lines[0]->line);
		}
		buf__str(to, " ");
		put_attributes(to, r, l->attribute_indices, l->n_attribute_indices);
		if (l->mapping_index) {
			const Otlp__Mapping *m = d->mapping_table[l->mapping_index];

			put_string(to, r, m->filename_strindex);
			buf__str(to, " ");
			put_attributes(to, r, m->attribute_indices, m->n_attribute_indices);
		}
	}
	return text_end(to);
}

/* Are the elements 0 empty, and is all that is referred to there? */
static bool sound(const Request *r)
{
	const Otlp__ProfilesDictionary *d = r->dictionary;
	bool good = d && d->n_mapping_table && d->n_location_table && d->n_function_table &&
		    d->n_link_table && d->n_string_table && d->n_attribute_table &&
		    d->n_stack_table;

	if (!good || d->string_table[0].len || d->mapping_table[0]->filename_strindex ||
	    d->location_table[0]->n_lines || d->function_table[0]->name_strindex ||
	    d->attribute_table[0]->key_strindex || d->attribute_table[0]->value ||
	    d->stack_table[0]->n_location_indices || d->link_table[0]->trace_id.len)
		return false;
	for (size_t i = 1; i < d->n_location_table && good; i++)
		good = d->location_table[i]->n_lines == 1 &&
		       (size_t)d->location_table[i]->mapping_index < d->n_mapping_table &&
		       d->location_table[i]->mapping_index >= 0 &&
		       (size_t)d->location_table[i]->lines[0]->function_index < d->n_function_table;
	for (size_t i = 1; i < d->n_function_table && good; i++)
		good = (size_t)d->function_table[i]->name_strindex < d->n_string_table &&
		       (size_t)d->function_table[i]->filename_strindex < d->n_string_table;
	for (size_t i = 1; i < d->n_attribute_table && good; i++)
		good = (size_t)d->attribute_table[i]->key_strindex < d->n_string_table &&
		       d->attribute_table[i]->value;
	for (size_t i = 1; i < d->n_stack_table && good; i++)
		for (size_t k = 0; k < d->stack_table[i]->n_location_indices && good; k++)
			good = (size_t)d->stack_table[i]->location_indices[k] < d->n_location_table;
	for (size_t i = 0; i < r->n_resource_profiles && good; i++)
		for (size_t k = 0; k < profile(r, i)->n_samples && good; k++)
			good = (size_t)profile(r, i)->samples[k]->stack_index < d->n_stack_table &&
			       (size_t)profile(r, i)->samples[k]->link_index < d->n_link_table &&
			       profile(r, i)->samples[k]->n_values == 1;
	return good;
}

#define OF_R "process.pid=10;process.executable.name=R;"

/* The whole request is a part of the golden file. */
static void say(const Request *r)
{
	for (size_t i = 0; i < r->n_resource_profiles; i++) {
		const Otlp__Profile *p = profile(r, i);

		tap__say("%s\n  %s, period %lld of %s, at %llu for %llu\n", resource(r, i),
			 type(r, p->sample_type), (long long)p->period,
			 p->period_type ? type(r, p->period_type) : "none",
			 (unsigned long long)p->time_unix_nano,
			 (unsigned long long)p->duration_nano);
		for (size_t k = 0; k < p->n_samples; k++)
			tap__say("  %s\n    %s\n", frames(r, p->samples[k]),
				 of_sample(r, p->samples[k]));
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

	tap__ok(sound(r), "elements 0 are empty, all that is referred to is there");
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
	tap__ok(sound(r), "without a rate there is no period; a process' name is its service");
	say(r);
	tap__golden("otlp_rateless.txt");
}

static bool is_one(const void *arg, const struct profile_process *p)
{
	return p->pid == *(const uint32_t *)arg;
}

static void test_parts(struct aggregate *a)
{
	const struct profile_part part = {.depth = 2, .wants = is_one, .arg = &(uint32_t){11}};
	struct writer_config config = {.part = &part};
	struct profile_part limited = {.size = 100};
	static struct buf out;
	struct encoded done;
	const Request *r = encoded(a, &config, NULL);

	tap__ok(sound(r) && r->n_resource_profiles == 1 && profile(r, 0)->n_samples == 1,
		"a part of it: some processes");
	tap__is(frames(r, profile(r, 0)->samples[0]),
		"4 pkg::f(f f.R:10)@12 profile.frame.type=r; < <truncated> ",
		"stacks of some depth");
	config.part = NULL;
	tap__ok(encode__next(&out, &writer_otlp, &config, a, NULL, &limited, &done) == 0 &&
			done.left_out == 10 && !out.len,
		"what has no room is left out and counted");
	limited = (struct profile_part){.size = 800};
	for (int n = 0, rows = 0;; n++) {
		out.len = 0;
		if (encode__next(&out, &writer_otlp, &config, a, NULL, &limited, &done) <= 0) {
			tap__ok(rows == 5 && n > 1, "or goes in %d pieces", n);
			break;
		}
		rows += (int)done.rows;
		tap__bail_if(out.len > 800, "%zu bytes", out.len);
	}
}

/* The profiles of a resource: "type in unit: value attributes... each PERIOD|", or "untimed|". */
static const char *profiles(const Request *r, size_t i)
{
	const Otlp__ScopeProfiles *s = r->resource_profiles[i]->scope_profiles[0];
	struct buf *to = text_begin();

	for (size_t k = 0; k < s->n_profiles; k++) {
		const Otlp__Profile *p = s->profiles[k];

		put_string(to, r, p->sample_type->type_strindex);
		buf__str(to, " in ");
		put_string(to, r, p->sample_type->unit_strindex);
		for (size_t n = 0; n < p->n_samples; n++) {
			const Otlp__Sample *one = p->samples[n];

			buf__printf(to, ": %lld ", (long long)one->values[0]);
			put_attributes(to, r, one->attribute_indices, one->n_attribute_indices);
		}
		buf__printf(to, p->period_type ? " each %lld|" : " untimed|", (long long)p->period);
	}
	return text_end(to);
}

static void test_types(const struct stack *stack)
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
	struct sample s = {.time = 5, .tid = 10, .stack = stack};
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
	r = encoded(a, &config, NULL);
	tap__ok(sound(r) && r->n_resource_profiles == 2, "a resource each");
	tap__is(profiles(r, 0),
		"samples in count: 3 " OF_R " each 10000000|"
		"off_cpu in nanoseconds: 2000000000 " OF_R "state=sleeping; untimed|"
		"alloc_space in bytes: 4096 " OF_R " untimed|page-faults in count: 7 " OF_R
		" untimed|",
		"a profile of each type that a resource has samples of; a period is of ticks");
	tap__is(profiles(r, 1),
		"off_cpu in nanoseconds: 7 "
		"process.pid=12;process.executable.name=Rscript;state=disk;"
		"syscall=read; untimed|",
		"one that only waited has that alone, and why it waited");
	s.type = PROFILE_TYPE_TICKS;
	s.flags = 0;
	aggregate__put(a, &one, s);
	r = encoded(a, &config, NULL);
	tap__is(profiles(r, 0),
		"samples in count: 3 " OF_R ": 7 " OF_R
		"state=sleeping;syscall=read; each 10000000|"
		"off_cpu in nanoseconds: 2000000000 " OF_R "state=sleeping; untimed|"
		"alloc_space in bytes: 4096 " OF_R " untimed|page-faults in count: 7 " OF_R
		" untimed|",
		"with --clock wall ticks have a state, too");
	aggregate__free(a);
}

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN  "00f067aa0ba902b7"

/* The link of @s in hexadecimal, "TRACE SPAN"; "" for none. */
static const char *linked(const Request *r, const Otlp__Sample *s)
{
	const Otlp__Link *link = r->dictionary->link_table[s->link_index];
	struct buf *to = text_begin();

	for (size_t i = 0; i < link->trace_id.len; i++)
		buf__printf(to, "%02x", link->trace_id.data[i]);
	for (size_t i = 0; i < link->span_id.len; i++)
		buf__printf(to, "%s%02x", i ? "" : " ", link->span_id.data[i]);
	return text_end(to);
}

/* What an R program gave samples: all are attributes, and the ids of a span are a link too. */
static void test_given(const struct stack *stack)
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
					       .stack = stack,
					       .labels = given,
					       .nlabels = i < COUNT(all) ? 4 : 1});
	}
	r = encoded(a, &config, NULL);
	tap__bail_if(!tap__ok(sound(r) && profile(r, 0)->n_samples == COUNT(all) + 1,
			      "samples of each set of labels"),
		     "no samples");
	for (size_t i = 0; i < COUNT(all); i++) {
		const Otlp__Sample *s = profile(r, 0)->samples[i];
		struct buf *wanted = text_begin();

		buf__printf(wanted, OF_R "route=%s;span_id=%s;trace_id=%s;", all[i][0], all[i][1],
			    all[i][2]);
		tap__is(of_sample(r, s), text_end(wanted), "labels %zu are attributes", i);
		tap__is(linked(r, s), all[i][3], "the span of sample %zu", i);
	}
	tap__is(of_sample(r, profile(r, 0)->samples[COUNT(all)]), OF_R "route=/a;", "one label");
	tap__is(linked(r, profile(r, 0)->samples[COUNT(all)]), "", "without a span");
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

	scene__add(a, &one, stack__of(3, frames, NULL, 0), 3);
	scene__add(a, &one, stack__of(2, gc, NULL, 0), 1);
	scene__add(a, &same, stack__of(3, frames, NULL, 0), 4);
	scene__add(a, &other, stack__of(2, gc, NULL, 0), 1);
	scene__add(a, &other, stack__of(0, NULL, NULL, 0), 1);
	test_request(a);
	test_parts(a);
	test_types(stack__of(3, frames, NULL, 0));
	test_given(stack__of(3, frames, NULL, 0));
	aggregate__free(a);
}
