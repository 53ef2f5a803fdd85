/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pprof's format (profile/pprof.proto), for `go tool pprof` and the services that take it.
 *
 * Two sample types: how many samples, and the time they stand for, "cpu" or "wall" as the clock
 * was, in nanoseconds; the period is that of one sample.  Where no rate is known (a file of folded
 * stacks) there is the first alone.
 *
 * A function is what writer__label() calls it, its system_name is R's own name, and its file and
 * first line are those of its definition, if they are known, or else the file being executed in it.
 * All of R is one mapping, native code that of its module.  Labels: pid, process (its name), thread
 * and container.  Comments: the command, and what is known of how the profile was made.
 *
 * The file is written one message after another (pprof.proto says why that may be): strings,
 * functions and locations right before the first sample that uses them.  What is kept meanwhile is
 * a number for each frame, function and name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/version.h"
#include "output/gzip.h"
#include "layout.h"
#include "output/whole.h"
#include "pprof.pb-c.h"

/* A function that was written; equal frames of one place each share it. */
struct pprof_function {
	uint64_t hash;
	uint64_t id;
	const struct name *name, *package, *file;
	uint32_t line;
	enum frame_kind kind;
};

struct pprof {
	struct gzip gzip;
	const struct aggregate *aggregate;
	uint64_t period; /* ns; 0: not known */
	int64_t nstrings;
	uint64_t nlocations, nfunctions, nmappings;
	struct map names;     /* (address of a name, 0) to 1 + its string */
	struct map locations; /* (address of a frame, 0) to its location's id */
	struct map modules;   /* (address of a name, 0) to its mapping's id */
	struct table functions;
	struct arena arena; /* of them */
	struct buf text;
	uint64_t *ids; /* of the locations of a sample */
	size_t cap;
	int64_t pid, process, thread, container; /* strings */
};

/* Where protobuf-c puts the bytes of a message. */
struct pprof_buffer {
	ProtobufCBuffer base;
	struct gzip *gzip;
};

static void pprof__append(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
	gzip__add(((struct pprof_buffer *)buffer)->gzip, data, len);
}

/* A part of the profile. */
static int pprof__put(struct pprof *p, const Pprof__Profile *part)
{
	struct pprof_buffer buffer = {{.append = pprof__append}, &p->gzip};

	protobuf_c_message_pack_to_buffer(&part->base, &buffer.base);
	return p->gzip.err;
}

static int pprof__string(struct pprof *p, const char *text, size_t len, int64_t *string)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	ProtobufCBinaryData data = {0};

	data.len = len;
	data.data = (uint8_t *)(uintptr_t)text;
	part.n_string_table = 1;
	part.string_table = &data;
	*string = p->nstrings++;
	return pprof__put(p, &part);
}

static int pprof__text(struct pprof *p, const char *text, int64_t *string)
{
	return pprof__string(p, text, strlen(text), string);
}

static void *number(uint64_t n)
{
	return (void *)(uintptr_t)n;
}

/* @name as it is shown, once for each name; NULL: "". */
static int pprof__name(struct pprof *p, const struct name *name, int64_t *string)
{
	int64_t known;
	int err;

	*string = 0;
	if (!name)
		return 0;
	known = (int64_t)(uintptr_t)map__get(&p->names, (uintptr_t)name, 0);
	if (known) {
		*string = known - 1;
		return 0;
	}
	err = pprof__string(p, name->safe, name->safe_len, string);
	if (!err)
		err = map__put(&p->names, (uintptr_t)name, 0, number((uint64_t)*string + 1));
	return err;
}

static bool function__same(const void *record, const void *key)
{
	const struct pprof_function *a = record, *b = key;

	return a->name == b->name && a->package == b->package && a->file == b->file &&
	       a->line == b->line && a->kind == b->kind;
}

static int pprof__new_function(struct pprof *p, const struct frame *frame,
			       const struct pprof_function *key)
{
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions[] = {&function};
	Pprof__Profile part = PPROF__PROFILE__INIT;
	struct pprof_function *f;
	int err;

	p->text.len = 0;
	err = writer__label(&p->text, frame, WRITER_SAFE);
	if (!err)
		err = pprof__string(p, p->text.data, p->text.len, &function.name);
	if (!err)
		err = pprof__name(p, frame->function, &function.system_name);
	if (!err)
		err = pprof__name(p, key->file, &function.filename);
	if (err)
		return err;
	function.id = key->id;
	function.start_line = (int32_t)key->line;
	part.n_function = 1;
	part.function = functions;
	err = pprof__put(p, &part);
	if (err)
		return err;
	f = arena__alloc(&p->arena, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = *key;
	return table__add(&p->functions, f);
}

static int pprof__function(struct pprof *p, const struct frame *frame, uint64_t *id)
{
	struct pprof_function key = {
		.name = frame->function,
		.package = frame->package,
		.file = frame->defined.file ? frame->defined.file : frame->place.file,
		.line = frame->defined.file ? frame->defined.line : 0,
		.kind = frame->kind,
	};
	const struct pprof_function *f;

	key.hash = map__hash((uintptr_t)key.name ^ (uintptr_t)key.package,
			     (uintptr_t)key.file ^ (uint64_t)key.line << 32);
	f = table__find(&p->functions, key.hash, function__same, &key);
	*id = f ? f->id : ++p->nfunctions;
	key.id = *id;
	return f ? 0 : pprof__new_function(p, frame, &key);
}

/* The mapping of @module; NULL: of R, whose functions are all known. */
static int pprof__mapping(struct pprof *p, const struct name *module, uint64_t *id)
{
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings[] = {&mapping};
	Pprof__Profile part = PPROF__PROFILE__INIT;
	int err;

	*id = (uint64_t)(uintptr_t)map__get(&p->modules, (uintptr_t)module, 0);
	if (*id)
		return 0;
	*id = mapping.id = ++p->nmappings;
	mapping.has_functions = true;
	mapping.has_filenames = mapping.has_line_numbers = !module;
	err = module ? pprof__name(p, module, &mapping.filename)
		     : pprof__text(p, "R", &mapping.filename);
	part.n_mapping = 1;
	part.mapping = mappings;
	if (!err)
		err = pprof__put(p, &part);
	return err ? err : map__put(&p->modules, (uintptr_t)module, 0, number(*id));
}

static int pprof__location(struct pprof *p, const struct frame *frame, uint64_t *id)
{
	Pprof__Location location = PPROF__LOCATION__INIT, *locations[] = {&location};
	Pprof__Line line = PPROF__LINE__INIT, *lines[] = {&line};
	Pprof__Profile part = PPROF__PROFILE__INIT;
	int err;

	*id = (uint64_t)(uintptr_t)map__get(&p->locations, (uintptr_t)frame, 0);
	if (*id)
		return 0;
	err = pprof__mapping(p, frame->module, &location.mapping_id);
	if (!err)
		err = pprof__function(p, frame, &line.function_id);
	if (err)
		return err;
	*id = location.id = ++p->nlocations;
	location.address = frame->address;
	line.line = (int32_t)frame->place.line;
	location.n_line = 1;
	location.line = lines;
	part.n_location = 1;
	part.location = locations;
	err = pprof__put(p, &part);
	return err ? err : map__put(&p->locations, (uintptr_t)frame, 0, number(*id));
}

/* The locations of @stack: *@n of them. */
static int pprof__stack(struct pprof *p, const struct stack *stack, size_t *n)
{
	uint64_t *ids = p->ids;
	int err = 0;

	*n = stack->nframes + stack__is_toplevel(stack);
	if (*n > p->cap) {
		ids = realloc(ids, *n * 2 * sizeof(*ids));
		if (!ids)
			return -ENOMEM;
		p->ids = ids;
		p->cap = *n * 2;
	}
	for (uint32_t i = 0; i < stack->nframes && !err; i++)
		err = pprof__location(p, stack->frames[i], &ids[i]);
	if (!err && *n > stack->nframes)
		err = pprof__location(p, &mark_toplevel, &ids[stack->nframes]);
	return err;
}

/* The name of the aggregate's process @i, once for each. */
static int pprof__comm(struct pprof *p, uint32_t i, const char *comm, int64_t *string)
{
	int64_t known = (int64_t)(uintptr_t)map__get(&p->names, i, 1);
	int err;

	if (known) {
		*string = known - 1;
		return 0;
	}
	p->text.len = 0;
	err = escape__text(&p->text, comm, "\"", LIMIT_NAME);
	if (!err)
		err = pprof__string(p, p->text.data, p->text.len, string);
	return err ? err : map__put(&p->names, i, 1, number((uint64_t)*string + 1));
}

static int pprof__row(struct pprof *p, const struct aggregate_row *row)
{
	const struct aggregate_process *process = aggregate__process(p->aggregate, row->process);
	Pprof__Label l[4] = {PPROF__LABEL__INIT, PPROF__LABEL__INIT, PPROF__LABEL__INIT,
			     PPROF__LABEL__INIT};
	Pprof__Label *labels[4];
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples[] = {&sample};
	Pprof__Profile part = PPROF__PROFILE__INIT;
	uint64_t ticks = row->values[XR_UNIT_TICKS];
	int64_t values[2] = {(int64_t)row->samples,
			     (int64_t)(ticks * p->period + row->values[XR_UNIT_NS])};
	size_t n = 0;
	int err;

	if (row->values[XR_UNIT_BYTES])
		return -ENOTSUP; /* there is no sample type for it yet */
	/* a sample that stands for several ticks counts as that many, as in all formats */
	if (ticks)
		values[0] = (int64_t)ticks;
	err = pprof__stack(p, row->stack, &sample.n_location_id);
	sample.location_id = p->ids;
	sample.n_value = p->period ? 2 : 1;
	sample.value = values;
	if (process->pid) {
		l[n].key = p->pid;
		l[n++].num = process->pid;
	}
	if (!err && *process->comm) {
		l[n].key = p->process;
		err = pprof__comm(p, row->process, process->comm, &l[n++].str);
	}
	if (row->tid) {
		l[n].key = p->thread;
		l[n++].num = row->tid;
	}
	if (!err && process->container) {
		l[n].key = p->container;
		err = pprof__name(p, process->container, &l[n++].str);
	}
	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		labels[i] = &l[i];
	sample.n_label = n;
	sample.label = labels;
	part.n_sample = 1;
	part.sample = samples;
	return pprof__put(p, &part);
}

/* A line of the profile's comments; @value NULL: none. */
static int pprof__comment(struct pprof *p, const char *what, const char *value)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	int64_t string;
	int err;

	if (!value || !*value)
		return 0;
	p->text.len = 0;
	err = buf__printf(&p->text, "%s: ", what);
	if (!err)
		err = escape__text(&p->text, value, "", LIMIT_NAME) < 0 ? -ENOMEM : 0;
	if (!err)
		err = pprof__string(p, p->text.data, p->text.len, &string);
	if (err)
		return err;
	part.n_comment = 1;
	part.comment = &string;
	return pprof__put(p, &part);
}

/* What is said of the whole; @stats may be NULL. */
static int pprof__comments(struct pprof *p, const struct profile_about *about,
			   const struct stats *stats)
{
	size_t n;
	const struct aggregate_process *process = aggregate__processes(p->aggregate, &n);
	const char *version = n ? process->r_version : NULL;
	char counts[160] = "";
	int err;

	for (size_t i = 1; i < n; i++)
		if (strcmp(process[i].r_version, version) != 0)
			version = NULL;
	if (stats)
		snprintf(counts, sizeof(counts),
			 "%" PRIu64 " taken, %" PRIu64 " lost, %" PRIu64 " truncated, %" PRIu64
			 " unreadable",
			 stats->written, stats->lost, stats->truncated, stats->unreadable);
	err = pprof__comment(p, "made by", XR_PROGRAM " " XR_VERSION);
	err = err ? err : pprof__comment(p, "command", about->command);
	err = err ? err : pprof__comment(p, "host", about->host);
	err = err ? err : pprof__comment(p, "R", version);
	err = err ? err : pprof__comment(p, "engine", about->engine);
	err = err ? err : pprof__comment(p, "clock", about->clock);
	err = err ? err : pprof__comment(p, "event", about->event);
	return err ? err : pprof__comment(p, "samples", counts);
}

/* Types, period, time: what comes before all samples. */
static int pprof__head(struct pprof *p, const struct profile_about *about,
		       const struct stats *stats)
{
	Pprof__ValueType samples = PPROF__VALUE_TYPE__INIT, time = PPROF__VALUE_TYPE__INIT;
	Pprof__ValueType *types[] = {&samples, &time};
	Pprof__Profile part = PPROF__PROFILE__INIT;
	uint64_t first, last;
	int err;

	err = pprof__text(p, "", &samples.type); /* string 0 */
	err = err ? err : pprof__text(p, "samples", &samples.type);
	err = err ? err : pprof__text(p, "count", &samples.unit);
	/* of a file that was read nobody knows which time it is, and most of R's are CPU time */
	err = err ? err : pprof__text(p, about->clock ? about->clock : "cpu", &time.type);
	err = err ? err : pprof__text(p, "nanoseconds", &time.unit);
	err = err ? err : pprof__text(p, "pid", &p->pid);
	err = err ? err : pprof__text(p, "process", &p->process);
	err = err ? err : pprof__text(p, "thread", &p->thread);
	err = err ? err : pprof__text(p, "container", &p->container);
	if (err)
		return err;
	part.n_sample_type = 1;
	part.sample_type = types;
	if (p->period) {
		part.n_sample_type = 2;
		part.period_type = &time;
		part.period = (int64_t)p->period;
		part.default_sample_type = time.type;
	}
	aggregate__span(p->aggregate, &first, &last);
	part.time_nanos = (int64_t)about->began_real;
	part.duration_nanos =
		(int64_t)(stats ? (uint64_t)(stats->seconds * (double)NS_PER_S) : last - first);
	err = pprof__put(p, &part);
	return err ? err : pprof__comments(p, about, stats);
}

static void pprof__free(struct pprof *p)
{
	map__free(&p->names);
	map__free(&p->locations);
	map__free(&p->modules);
	table__free(&p->functions);
	arena__free(&p->arena);
	buf__free(&p->text);
	free(p->ids);
}

static int pprof__profile(struct writer *w, const struct aggregate *a, const struct stats *stats)
{
	const struct profile_about *about = &w->config.about;
	struct pprof p = {.aggregate = a};
	const struct aggregate_row *rows;
	size_t n;
	int err, end;

	p.period = about__interval(about);
	err = gzip__begin(&p.gzip, w->out);
	if (err)
		return err;
	err = pprof__head(&p, about, stats);
	rows = aggregate__rows(a, &n);
	/* R is the first mapping: pprof takes it for the program */
	if (!err && n)
		err = pprof__mapping(&p, NULL, &(uint64_t){0});
	for (size_t i = 0; i < n && !err; i++)
		err = pprof__row(&p, &rows[i]);
	end = gzip__end(&p.gzip);
	pprof__free(&p);
	err = err ? err : end;
	return err ? err : output__commit(w->out, 0);
}

const struct writer_ops writer_pprof = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.binary = true,
	.help = "for `go tool pprof` and the services that take it",
	.threads = true,
	.capture = XR_ROW_GC | XR_ROW_PACKAGES,
	.open = whole__open,
	.profile = pprof__profile,
	.close = whole__close,
};
