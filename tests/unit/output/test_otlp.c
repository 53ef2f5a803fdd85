/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests to a receiver of OTLP: what is written is read back by protobuf's own library. */
#include "output/encode.h"
#include "output/otlp.h"
#include "otlp.pb-c.h"
#include "stack_maker.h"
#include "tap.h"

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

static Request *encoded(const struct aggregate *a, const struct writer_config *config,
			const struct stats *stats)
{
	struct buf out = {0};
	Request *r;

	if (encode__profile(&out, &writer_otlp, config, a, stats) < 0)
		tap__bail("cannot encode");
	r = otlp__export_profiles_service_request__unpack(NULL, out.len, (uint8_t *)out.data);
	if (!r)
		tap__bail("cannot be unpacked");
	buf__free(&out);
	return r;
}

static void freed(Request *r)
{
	otlp__export_profiles_service_request__free_unpacked(r, NULL);
}

static bool bytes_are(ProtobufCBinaryData b, const char *wanted)
{
	return b.len == strlen(wanted) && (!b.len || !memcmp(b.data, wanted, b.len));
}

static bool string_is(const Request *r, int32_t i, const char *wanted)
{
	return i >= 0 && (size_t)i < r->dictionary->n_string_table &&
	       bytes_are(r->dictionary->string_table[i], wanted);
}

static const Otlp__Profile *profile(const Request *r, size_t resource)
{
	return r->resource_profiles[resource]->scope_profiles[0]->profiles[0];
}

static bool resource_has(const Request *r, size_t resource, const char *key, const char *value)
{
	const Otlp__Resource *res = r->resource_profiles[resource]->resource;
	int found = 0;

	for (size_t i = 0; i < res->n_attributes; i++)
		if (bytes_are(res->attributes[i]->key, key))
			found += bytes_are(res->attributes[i]->value->string_value, value) ? 1 : 2;
	return found == 1;
}

static const Otlp__AnyValue *attribute(const Request *r, const int32_t *all, size_t n,
				       const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (string_is(r, r->dictionary->attribute_table[all[i]]->key_strindex, key))
			return r->dictionary->attribute_table[all[i]]->value;
	return NULL;
}

static const Otlp__AnyValue *sample_has(const Request *r, const Otlp__Sample *s, const char *key)
{
	return attribute(r, s->attribute_indices, s->n_attribute_indices, key);
}

/* The location of frame @i of @s. */
static const Otlp__Location *location(const Request *r, const Otlp__Sample *s, size_t i)
{
	const Otlp__Stack *stack = r->dictionary->stack_table[s->stack_index];

	return r->dictionary->location_table[stack->location_indices[i]];
}

static const Otlp__Function *function(const Request *r, const Otlp__Sample *s, size_t i)
{
	return r->dictionary->function_table[location(r, s, i)->lines[0]->function_index];
}

static bool frame_is(const Request *r, const Otlp__Sample *s, size_t i, const char *name,
		     const char *type)
{
	const Otlp__Location *l = location(r, s, i);
	const Otlp__AnyValue *value =
		attribute(r, l->attribute_indices, l->n_attribute_indices, "profile.frame.type");

	return string_is(r, function(r, s, i)->name_strindex, name) &&
	       (type ? value && bytes_are(value->string_value, type) : !value);
}

/* Are the elements 0 empty, and is all that is referred to there? */
static bool sound(const Request *r)
{
	const Otlp__ProfilesDictionary *d = r->dictionary;
	bool good = d && d->n_mapping_table && d->n_location_table && d->n_function_table &&
		    d->n_link_table == 1 && d->n_string_table && d->n_attribute_table &&
		    d->n_stack_table;

	if (!good || d->string_table[0].len || d->mapping_table[0]->filename_strindex ||
	    d->location_table[0]->n_lines || d->function_table[0]->name_strindex ||
	    d->attribute_table[0]->key_strindex || d->attribute_table[0]->value ||
	    d->stack_table[0]->n_location_indices)
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
			       profile(r, i)->samples[k]->n_values == 1;
	return good;
}

static void add(struct aggregate *a, const struct profile_process *p, const struct stack *stack,
		uint64_t weight)
{
	struct sample s = {.time = 5, .weight = weight, .tid = p->pid + 1, .stack = stack};

	if (aggregate__know(a, p) || aggregate__add(a, p, &s))
		tap__bail("no room");
}

/* A mapping is a file, and has its build ids. */
static void test_mappings(const Request *r, const Otlp__Sample *s)
{
	const Otlp__ProfilesDictionary *d = r->dictionary;
	const Otlp__Mapping *m = d->mapping_table[d->n_mapping_table - 1];
	const Otlp__AnyValue *gnu, *hash;

	gnu = attribute(r, m->attribute_indices, m->n_attribute_indices,
			"process.executable.build_id.gnu");
	hash = attribute(r, m->attribute_indices, m->n_attribute_indices,
			 "process.executable.build_id.htlhash");
	tap__ok(d->n_mapping_table == 2 && string_is(r, m->filename_strindex, "/lib/libc.so.6") &&
			gnu && bytes_are(gnu->string_value, "c89b11") && hash &&
			bytes_are(hash->string_value, HASH),
		"a file is a mapping with both of its build ids");
	tap__ok(!location(r, s, 0)->mapping_index && location(r, s, 1)->mapping_index == 1 &&
			!location(r, s, 2)->mapping_index,
		"functions of R have none, nor has a file without a build id");
}

static void test_request(struct aggregate *a)
{
	const struct stats stats = {.written = 10, .seconds = 2};
	struct writer_config config = {.about = {.freq = 19, .clock = "cpu", .began_real = 77},
				       .labels = run,
				       .nlabels = 3};
	const Otlp__Sample *const *samples;
	const Otlp__Profile *p;
	Request *r = encoded(a, &config, &stats);

	tap__ok(sound(r), "elements 0 are empty, all that is referred to is there");
	if (!tap__ok(r->n_resource_profiles == 2, "a resource for each service"))
		return;
	tap__ok(resource_has(r, 0, "service.name", "web") &&
			resource_has(r, 0, "host.name", "h1") &&
			resource_has(r, 0, "container.id", "c0ffee") &&
			resource_has(r, 0, "process.runtime.name", "R") &&
			resource_has(r, 0, "process.runtime.version", "4.2.2") &&
			resource_has(r, 0, "tier", "b\"\\xff"),
		"its attributes: those of processes go before those of the run; all is UTF-8");
	tap__ok(resource_has(r, 1, "service.name", "all") && resource_has(r, 1, "tier", "x"),
		"those of the run are of processes without them");
	p = profile(r, 0);
	tap__ok(string_is(r, p->sample_type->type_strindex, "samples") &&
			string_is(r, p->sample_type->unit_strindex, "count") &&
			string_is(r, p->period_type->type_strindex, "cpu") &&
			string_is(r, p->period_type->unit_strindex, "nanoseconds") &&
			p->period == 52631579,
		"samples, and the time each stands for");
	tap__ok(p->time_unix_nano == 77 && p->duration_nano == 2000000000, "time and duration");
	tap__ok(bytes_are(r->resource_profiles[0]->scope_profiles[0]->scope->name, "xrprof-bpf"),
		"the scope is who made it");
	samples = (const Otlp__Sample *const *)p->samples;
	if (!tap__ok(p->n_samples == 3 && profile(r, 1)->n_samples == 2, "a sample for each row"))
		return;
	tap__ok(samples[0]->values[0] == 3 && samples[1]->values[0] == 1 &&
			samples[2]->values[0] == 4,
		"their values");
	tap__ok(sample_has(r, samples[0], "process.pid")->int_value == 10 &&
			sample_has(r, samples[2], "process.pid")->int_value == 11 &&
			sample_has(r, samples[0], "thread.id")->int_value == 11 &&
			bytes_are(
				sample_has(r, samples[0], "process.executable.name")->string_value,
				"R"),
		"processes of one service are told apart by their samples");
	tap__ok(samples[0]->stack_index == samples[2]->stack_index, "equal stacks are one");
	tap__ok(frame_is(r, samples[0], 0, "pkg::f", "r") &&
			frame_is(r, samples[0], 1, "memcpy", "native") &&
			frame_is(r, samples[0], 2, "read", "kernel") &&
			frame_is(r, samples[1], 0, "<GC>", NULL),
		"frames, innermost first, and of which kind");
	tap__ok(string_is(r, function(r, samples[0], 0)->system_name_strindex, "f") &&
			string_is(r, function(r, samples[0], 0)->filename_strindex, "f.R") &&
			function(r, samples[0], 0)->start_line == 10 &&
			location(r, samples[0], 0)->lines[0]->line == 12,
		"name, definition, line");
	test_mappings(r, samples[0]);
	tap__ok(frame_is(r, profile(r, 1)->samples[1], 0, "<toplevel>", NULL),
		"top level is shown");
	freed(r);

	config.about.freq = 0;
	config.nlabels = 0;
	r = encoded(a, &config, NULL);
	tap__ok(sound(r) && !profile(r, 0)->period_type && !profile(r, 0)->period,
		"without a rate there is no period");
	tap__ok(resource_has(r, 1, "service.name", "Rscript"),
		"a service that has no name is called as its processes");
	freed(r);
}

static bool is_one(const void *arg, const struct aggregate_process *p)
{
	return p->pid == *(const uint32_t *)arg;
}

static void test_parts(struct aggregate *a)
{
	const struct profile_part part = {.depth = 2, .wants = is_one, .arg = &(uint32_t){11}};
	struct writer_config config = {.part = &part};
	struct profile_part limited = {.size = 100};
	struct buf out = {0};
	struct encoded done;
	Request *r = encoded(a, &config, NULL);

	tap__ok(sound(r) && r->n_resource_profiles == 1 && profile(r, 0)->n_samples == 1 &&
			frame_is(r, profile(r, 0)->samples[0], 0, "pkg::f", "r") &&
			frame_is(r, profile(r, 0)->samples[0], 1, "<truncated>", NULL),
		"a part of it: some processes, stacks of some depth");
	freed(r);
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
		if (out.len > 800)
			tap__bail("%zu bytes", out.len);
	}
	buf__free(&out);
}

/* The profile of a sample type of a resource; NULL: there is none. */
static const Otlp__Profile *profile_of(const Request *r, size_t resource, const char *type)
{
	const Otlp__ScopeProfiles *s = r->resource_profiles[resource]->scope_profiles[0];

	for (size_t i = 0; i < s->n_profiles; i++)
		if (string_is(r, s->profiles[i]->sample_type->type_strindex, type))
			return s->profiles[i];
	return NULL;
}

static bool sample_says(const Request *r, const Otlp__Sample *s, const char *key, const char *text)
{
	const Otlp__AnyValue *value = sample_has(r, s, key);

	return value && bytes_are(value->string_value, text);
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
	const Otlp__Profile *ticks, *waits, *bytes, *faults;
	struct aggregate *a;
	Request *r;

	if (aggregate__new(&a, &(struct aggregate_config){
				       .max = 16 << 20, .labels = XR_F_WAIT, .details = true}))
		tap__bail("no memory");
	for (s.type = 0; s.type < 4; s.type++) {
		s.weight = weights[s.type];
		if (aggregate__know(a, &one) || aggregate__add(a, &one, &s))
			tap__bail("no room");
	}
	s.type = PROFILE_TYPE_OFF_CPU;
	s.flags = XR_F_DISK;
	s.detail = 1;
	if (aggregate__know(a, &other) || aggregate__add(a, &other, &s))
		tap__bail("no room");
	r = encoded(a, &config, NULL);
	if (!tap__ok(sound(r) && r->n_resource_profiles == 2 &&
			     r->resource_profiles[0]->scope_profiles[0]->n_profiles == 4 &&
			     r->resource_profiles[1]->scope_profiles[0]->n_profiles == 1,
		     "a profile of each type that a resource has samples of"))
		return;
	ticks = profile_of(r, 0, "samples");
	waits = profile_of(r, 0, "off_cpu");
	bytes = profile_of(r, 0, "alloc_space");
	faults = profile_of(r, 0, "page-faults");
	if (!tap__ok(ticks && waits && bytes && faults, "by their names"))
		return;
	tap__ok(string_is(r, waits->sample_type->unit_strindex, "nanoseconds") &&
			string_is(r, bytes->sample_type->unit_strindex, "bytes") &&
			string_is(r, faults->sample_type->unit_strindex, "count"),
		"their units");
	tap__ok(ticks->samples[0]->values[0] == 3 && waits->samples[0]->values[0] == 2000000000 &&
			bytes->samples[0]->values[0] == 4096 && faults->samples[0]->values[0] == 7,
		"their values");
	tap__ok(ticks->period == 10000000 && !waits->period && !waits->period_type &&
			!bytes->period,
		"a period is of ticks alone");
	tap__ok(profile_of(r, 1, "off_cpu") && !profile_of(r, 1, "samples"),
		"one that only waited has that alone");
	tap__ok(sample_says(r, waits->samples[0], "state", "sleeping") &&
			!sample_says(r, waits->samples[0], "syscall", "read"),
		"why it waited");
	waits = profile_of(r, 1, "off_cpu");
	tap__ok(sample_says(r, waits->samples[0], "state", "disk") &&
			sample_says(r, waits->samples[0], "syscall", "read"),
		"and in which system call, where that is known");
	tap__ok(!sample_says(r, ticks->samples[0], "state", "sleeping"), "not of time on a CPU");
	freed(r);
	s.type = PROFILE_TYPE_TICKS;
	s.flags = 0;
	if (aggregate__add(a, &one, &s))
		tap__bail("no room");
	r = encoded(a, &config, NULL);
	ticks = profile_of(r, 0, "samples");
	tap__ok(ticks && ticks->n_samples == 2 &&
			sample_says(r, ticks->samples[1], "state", "sleeping") &&
			sample_says(r, ticks->samples[1], "syscall", "read"),
		"with --clock wall of ticks, too");
	freed(r);
	aggregate__free(a);
}

TEST(otlp)
{
	struct frame frame = {.kind = FRAME_R, .place = stack__place("f.R", 12)};
	const struct frame *f, *frames[3], *gc[2];
	struct aggregate *a;

	frame.defined = stack__place("f.R", 10);
	frame.package = stacks__name(maker__stacks(), "pkg", 3);
	frame.function = stacks__name(maker__stacks(), "f", 1);
	f = frames[0] = stacks__frame(maker__stacks(), &frame);
	frame = (struct frame){.kind = FRAME_NATIVE};
	frame.function = stacks__name(maker__stacks(), "memcpy", 6);
	frame.module = stacks__name(maker__stacks(), "/lib/libc.so.6", 14);
	frame.build_id = stacks__name(maker__stacks(), "c89b11", 6);
	frame.hash = stacks__name(maker__stacks(), HASH, strlen(HASH));
	frames[1] = stacks__frame(maker__stacks(), &frame);
	frames[2] = stack__frame(FRAME_KERNEL, "read", NULL, 0);
	gc[0] = &mark_gc;
	gc[1] = f;
	if (aggregate__new(&a, &(struct aggregate_config){.max = 16 << 20, .threads = true}))
		tap__bail("no memory");
	add(a, &one, stack__of(3, frames, NULL, 0), 3);
	add(a, &one, stack__of(2, gc, NULL, 0), 1);
	add(a, &same, stack__of(3, frames, NULL, 0), 4);
	add(a, &other, stack__of(2, gc, NULL, 0), 1);
	add(a, &other, stack__of(0, NULL, NULL, 0), 1);
	test_request(a);
	test_parts(a);
	test_types(stack__of(3, frames, NULL, 0));
	aggregate__free(a);
	stack__free_all();
}
