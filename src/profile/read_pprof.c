/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pprof's files (pprof.proto), ours and others'.  A profile is one message, whose elements come in
 * any order, so all of it is kept, decompressed, within a limit.  Each element is unpacked by
 * itself and when it is needed, in memory that has a limit, too: an element of n bytes may take
 * many times n.
 *
 * read_pprof_types.c finds what the values of samples are.  A function is what its system_name says
 * if its name is that with more around it, as in ours (output/pprof.c); else its name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "profile/names.h"
#include "profile/read_pprof.h"
#include "profile/read_wire.h"

/* Kinds of elements that have ids. */
enum { PPROF_MAPPING = 3, PPROF_LOCATION = 4, PPROF_FUNCTION = 5 };

static int pprof__damaged(struct pprof_file *p, const char *what)
{
	return errmsg__set(p->r->f, -EINVAL, "%s is not a pprof profile, or damaged: %s",
			   p->r->in->name, what);
}

static int pprof__full(struct pprof_file *p)
{
	return errmsg__set(p->r->f, -ENOMEM, "%s does not fit into memory; raise --max-memory",
			   p->r->in->name);
}

bool read_pprof__head(const char *data, size_t len)
{
	const uint8_t *at = (const uint8_t *)data;
	uint64_t tag;

	return wire__varint(&at, at + len, &tag) && tag >> 3 && tag >> 3 <= 15 &&
	       ((tag & 7) == WIRE_VARINT || (tag & 7) == WIRE_BYTES);
}

static const uint8_t *pprof__bytes(const struct pprof_file *p)
{
	return (const uint8_t *)p->r->bytes.data;
}

static int pprof__add_string(struct pprof_file *p, const struct wire_field *f)
{
	size_t cap = p->cap ? p->cap * 2 : 1024;
	struct part *grown;

	if (p->nstrings == p->cap) {
		if (!budget__take(&p->budget, (cap - p->cap) * sizeof(*grown)))
			return pprof__full(p);
		grown = realloc(p->strings, cap * sizeof(*grown));
		if (!grown)
			return pprof__full(p);
		p->strings = grown;
		p->cap = cap;
	}
	p->strings[p->nstrings++] =
		(struct part){.at = (uint32_t)(f->data - pprof__bytes(p)), .len = (uint32_t)f->len};
	return 0;
}

/* The id of an element, its first field; 0: none. */
static uint64_t part__id(const struct wire_field *f)
{
	const uint8_t *at = f->data, *end = at + f->len;
	struct wire_field inner;

	while (at < end && wire__field(&at, end, &inner))
		if (inner.number == 1)
			return inner.data ? 0 : inner.value;
	return 0;
}

static int pprof__add_part(struct pprof_file *p, const struct wire_field *f)
{
	uint64_t id = part__id(f);
	struct part *part;

	if (!id || map__get(&p->parts, id, f->number))
		return 0;
	part = arena__alloc(&p->arena, sizeof(*part));
	/* three times, for a map that grows */
	if (!part || !budget__take(&p->budget, 3 * sizeof(struct map_entry)))
		return pprof__full(p);
	*part = (struct part){.at = (uint32_t)(f->data - pprof__bytes(p)), .len = (uint32_t)f->len};
	return map__put(&p->parts, id, f->number, part) ? pprof__full(p) : 0;
}

#define UNPACK(p, type, data, len) pprof__##type##__unpack(&(p)->allocator, len, data)
#define FREE(p, type, message)	   pprof__##type##__free_unpacked(message, &(p)->allocator)

static int pprof__value_type(struct pprof_file *p, const struct wire_field *f, int64_t *type,
			     int64_t *unit)
{
	Pprof__ValueType *t = UNPACK(p, value_type, f->data, f->len);

	if (!t)
		return pprof__damaged(p, "one of its types cannot be read");
	*type = t->type;
	*unit = t->unit;
	FREE(p, value_type, t);
	return 0;
}

/* More than ours has are left out. */
static void pprof__add_comment(struct pprof_file *p, int64_t string)
{
	if (p->ncomments < PPROF_COMMENTS_MAX)
		p->comments[p->ncomments++] = string;
}

/* All but the samples. */
static int pprof__element(struct pprof_file *p, const struct wire_field *f)
{
	if (!f->data) {
		if (f->number == 9)
			p->began = (int64_t)f->value;
		else if (f->number == 10)
			p->duration = (int64_t)f->value;
		else if (f->number == 12)
			p->period = (int64_t)f->value;
		else if (f->number == 13)
			pprof__add_comment(p, (int64_t)f->value);
		return 0;
	}
	switch (f->number) {
	case 1:
		if (p->ntypes == PPROF_TYPES_MAX) {
			p->more++;
			return 0;
		}
		p->ntypes++;
		return pprof__value_type(p, f, &p->types[p->ntypes - 1].type,
					 &p->types[p->ntypes - 1].unit);
	case PPROF_MAPPING:
	case PPROF_LOCATION:
	case PPROF_FUNCTION:
		return pprof__add_part(p, f);
	case 6:
		return pprof__add_string(p, f);
	case 13:
		for (const uint8_t *at = f->data, *end = at + f->len; at < end;) {
			uint64_t string;

			if (!wire__varint(&at, end, &string))
				break;
			pprof__add_comment(p, (int64_t)string);
		}
		return 0;
	case 11:
		return pprof__value_type(p, f, &p->period_type, &p->period_unit);
	default:
		return 0;
	}
}

/* Is it what R calls a builtin, as our own writer tells them? */
static bool pprof__is_builtin(const char *system, size_t len)
{
	const size_t begin = strlen(PPROF_BUILTIN), end = strlen(PPROF_BUILTIN_END);

	return len > begin + end && !memcmp(system, PPROF_BUILTIN, begin) &&
	       !memcmp(system + len - end, PPROF_BUILTIN_END, end);
}

/* Of @frame the function and package that a label and R's own name tell.  False: no room. */
static bool pprof__name(struct pprof_file *p, const Pprof__Function *f, struct frame *frame)
{
	size_t name_len, system_len;
	const char *name = read_pprof__string(p, f->name, &name_len);
	const char *system = read_pprof__string(p, f->system_name, &system_len);
	struct reading *r = p->r;
	struct frame_label label;

	if (pprof__is_builtin(system, system_len)) {
		*frame = (struct frame){
			.kind = FRAME_BUILTIN,
			.function = reading__name(r, name, name_len),
		};
		return frame->function;
	}
	if (!name_len)
		return reading__function(r, system, system_len, frame);
	if (!frame_label__parse(&label, name, name_len, system, system_len))
		return reading__function(r, name, name_len, frame);
	if (label.disguised)
		*frame = (struct frame){.kind = FRAME_R,
					.function = reading__name(r, system, system_len)};
	else if (!reading__function(r, system, system_len, frame))
		return false;
	if (label.package)
		frame->package = reading__name(r, name, label.package);
	return frame->function && (!label.package || frame->package);
}

/* What function @id is: of @frame all but the line being executed.  False: no room. */
static bool pprof__function(struct pprof_file *p, uint64_t id, struct frame *frame)
{
	const struct part *part = map__get(&p->parts, id, PPROF_FUNCTION);
	struct reading *r = p->r;
	Pprof__Function *f;
	const char *file;
	size_t file_len;
	bool ok;

	f = part ? UNPACK(p, function, pprof__bytes(p) + part->at, part->len) : NULL;
	if (!f)
		return false;
	file = read_pprof__string(p, f->filename, &file_len);
	ok = pprof__name(p, f, frame);
	if (ok && file_len && frame->kind != FRAME_MARK)
		frame->place.file = reading__name(r, file, file_len);
	if (ok && frame->place.file && f->start_line)
		frame->defined = (struct place){frame->place.file, (uint32_t)f->start_line};
	FREE(p, function, f);
	return ok;
}

/* What has no function: code at an address. */
static bool pprof__address(struct pprof_file *p, const Pprof__Location *l, struct frame *frame)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)l->address);
	*frame = (struct frame){.kind = FRAME_NATIVE, .address = l->address};
	frame->function = reading__name(p->r, text, strlen(text));
	return frame->function;
}

/* The name that a string stands for, if it is not empty.  False: no room. */
static bool pprof__name_of(struct pprof_file *p, int64_t string, const struct name **name)
{
	size_t len;
	const char *text = read_pprof__string(p, string, &len);

	if (len)
		*name = reading__name(p->r, text, len);
	return !len || *name;
}

/* The module of @frame, by its mapping.  False: no room. */
static bool pprof__module(struct pprof_file *p, uint64_t id, struct frame *frame)
{
	const struct part *part = map__get(&p->parts, id, PPROF_MAPPING);
	Pprof__Mapping *m = part ? UNPACK(p, mapping, pprof__bytes(p) + part->at, part->len) : NULL;
	bool ok;

	if (!m)
		return true;
	ok = pprof__name_of(p, m->filename, &frame->module) &&
	     pprof__name_of(p, m->build_id, &frame->build_id) &&
	     pprof__name_of(p, m->htlhash, &frame->hash);
	FREE(p, mapping, m);
	return ok;
}

/* Of @frame what there is to know of native code, if that is what it is.  False: no room. */
static bool pprof__code(struct pprof_file *p, const Pprof__Location *l, struct frame *frame)
{
	struct frame code = *frame;
	bool kernel;

	if (!pprof__module(p, l->mapping_id, &code))
		return false;
	kernel = code.module && !strcmp(code.module->text, KERNEL_MODULE);
	if (!kernel && !l->address)
		return true;
	*frame = code;
	frame->address = l->address;
	if (frame->kind != FRAME_BUILTIN)
		frame->kind = kernel ? FRAME_KERNEL : FRAME_NATIVE;
	return true;
}

/* The frame of line @i of a location; NULL: no room. */
static const struct frame *pprof__line(struct pprof_file *p, const Pprof__Location *l, size_t i)
{
	const Pprof__Line *line = i < l->n_line ? l->line[i] : NULL;
	struct frame frame = {0};

	if (line && line->function_id ? !pprof__function(p, line->function_id, &frame)
				      : !pprof__address(p, l, &frame))
		return NULL;
	if (line && line->line && frame.place.file)
		frame.place.line = (uint32_t)line->line;
	else
		frame.place = (struct place){0};
	if (frame.kind != FRAME_MARK && !pprof__code(p, l, &frame))
		return NULL;
	return stacks__frame(&p->r->reader->stacks, &frame);
}

static bool frame__is_toplevel(const struct frame *frame)
{
	return frame->kind == FRAME_UNNAMED &&
	       mark__find(frame->function->text, frame->function->len) == &mark_toplevel;
}

/* Put the frames of location @id on the stack.  0; 1: no room; or a negative errno. */
static int pprof__location(struct pprof_file *p, uint64_t id)
{
	struct part *part = map__get(&p->parts, id, PPROF_LOCATION);
	struct reading *r = p->r;
	const struct frame *frame;
	Pprof__Location *l;
	size_t n;
	int err = 0;

	if (part && part->frame && part->generation == r->reader->generation)
		return reading__frame_add(r, part->frame);
	if (!part)
		return pprof__damaged(p, "a sample has a location that does not exist");
	l = UNPACK(p, location, pprof__bytes(p) + part->at, part->len);
	if (!l)
		return pprof__damaged(p, "one of its locations cannot be read");
	n = l->n_line ? l->n_line : 1;
	for (size_t i = 0; i < n && !err; i++) {
		frame = pprof__line(p, l, i);
		if (!frame)
			err = 1;
		else if (!frame__is_toplevel(frame))
			err = reading__frame_add(r, frame);
		if (frame && n == 1 && !frame__is_toplevel(frame)) {
			part->frame = frame;
			part->generation = r->reader->generation;
		}
	}
	FREE(p, location, l);
	return err;
}

static int pprof__stack(struct pprof_file *p, const Pprof__Sample *s, const struct stack **stack)
{
	int err = reading__make_room(p->r);

	p->r->reader->nframes = 0;
	for (size_t i = 0; i < s->n_location_id && !err; i++)
		err = pprof__location(p, s->location_id[i]);
	if (err >= 0)
		*stack = reading__stack(p->r, (struct place){0}, !err);
	return err < 0 ? err : 0;
}

/* Hand on what a sample has of each type. */
static int pprof__give(struct pprof_file *p, const Pprof__Sample *s,
		       const uint64_t values[PROFILE_TYPES_MAX], uint64_t count)
{
	/* with --clock wall, ticks have what a thread waited for, too */
	const bool waits = values[PROFILE_TYPE_OFF_CPU] || p->wall;
	struct reading *r = p->r;
	struct sample to = {0};
	struct profile_label labels[XR_LABELS_MAX];
	struct reader_process *process;
	uint32_t flags, tid;
	int err;

	err = pprof__stack(p, s, &to.stack);
	if (err)
		return err;
	flags = reading__flags(r);
	process = read_pprof__process(p, s, waits, &tid);
	to.call = read_pprof__call(p, s);
	to.nlabels = read_pprof__given(p, s, labels);
	to.labels = labels;
	for (uint32_t i = 0; i < PROFILE_TYPES_MAX && !err; i++) {
		if (!values[i])
			continue;
		to.type = i;
		to.weight = values[i];
		to.flags = flags;
		to.detail = 0;
		to.tid = tid;
		to.samples = count;
		if (i == PROFILE_TYPE_OFF_CPU || (i == PROFILE_TYPE_TICKS && p->wall))
			read_pprof__wait(p, s, &to);
		if (i == PROFILE_TYPE_TICKS)
			reading__ticks(r, NULL);
		err = reading__value(r, process, to);
	}
	return err;
}

static int pprof__sample(struct pprof_file *p, const struct wire_field *f)
{
	struct reading *r = p->r;
	uint64_t values[PROFILE_TYPES_MAX], count, all = 0;
	Pprof__Sample *s = UNPACK(p, sample, f->data, f->len);
	int err = 0;

	r->number = ++p->nsamples;
	if (!s)
		return pprof__damaged(p, "one of its samples cannot be read");
	if (read_pprof__values(p, s, values, &count)) {
		for (uint32_t i = 0; i < PROFILE_TYPES_MAX; i++)
			all |= values[i];
		err = all ? pprof__give(p, s, values, count) : 0;
	} else {
		reading__bad(r, 1);
	}
	FREE(p, sample, s);
	return err;
}

/* All fields of the profile: its @samples, or all else. */
static int pprof__fields(struct pprof_file *p, bool samples)
{
	const uint8_t *at = pprof__bytes(p), *end = at + p->r->bytes.len;
	struct wire_field f;
	int err = 0;

	while (at < end && !err) {
		if (!wire__field(&at, end, &f))
			return pprof__damaged(p, "it ends early, or is something else");
		if (samples ? f.number == 2 && f.data : f.number != 2)
			err = samples ? pprof__sample(p, &f) : pprof__element(p, &f);
	}
	return err;
}

/* Have all of it in the reader's bytes. */
static int pprof__take_all(struct pprof_file *p)
{
	struct reading *r = p->r;
	size_t taken = 0;
	int more;

	do {
		/* a buffer that grows is there twice for a moment */
		if (r->bytes.len >= UINT32_MAX - READ_PIECE ||
		    !budget__take(&p->budget, r->bytes.cap - taken))
			return pprof__full(p);
		taken = r->bytes.cap;
		more = reading__more(r);
	} while (more > 0);
	return more;
}

int read_pprof__file(struct reading *r)
{
	size_t memory = r->reader->config.memory ? r->reader->config.memory : LIMIT_MEMORY;
	struct pprof_file p = {
		.r = r,
		.budget.max = LIMIT_NAMES(memory),
		.unpacked.max = LIMIT_RESERVES(memory),
		.allocator = wire__allocator(&p.unpacked),
	};
	int err;

	p.arena.budget = &p.budget;
	err = pprof__take_all(&p);
	if (!err)
		err = pprof__fields(&p, false);
	if (!err && !p.ntypes)
		err = pprof__damaged(&p, "it has no sample type");
	if (!err)
		read_pprof__types(&p);
	if (!err)
		read_pprof__made(&p);
	if (!err)
		err = reading__begin(r);
	if (!err)
		err = pprof__fields(&p, true);
	map__free(&p.parts);
	map__free(&p.processes);
	map__free(&p.syscalls);
	map__free(&p.calls);
	arena__free(&p.arena);
	free(p.strings);
	return err;
}
