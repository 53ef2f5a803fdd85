/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "output/otlp_parts.h"
#include "output/writer.h"

/* The tables of the dictionary (otlp.proto). */
enum { MAPPINGS = 1, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS };

int otlp__pack(struct buf *out, const ProtobufCMessage *message)
{
	struct message_buffer to = message__buffer(out);

	protobuf_c_message_pack_to_buffer(message, &to.base);
	return to.err;
}

/* An element of @table more. */
static int otlp__put(struct otlp_dictionary *d, unsigned int table, const ProtobufCMessage *element)
{
	struct message_buffer to = message__buffer(&d->bytes);

	message__element(&to.base, table, element);
	return to.err;
}

static int otlp__new_string(struct otlp_dictionary *d, const char *text, size_t len)
{
	struct message_buffer to = message__buffer(&d->bytes);

	d->nstrings++;
	message__bytes(&to.base, STRINGS, text, len);
	return to.err;
}

static int otlp__string_of(struct otlp_dictionary *d, const char *text, size_t len, int32_t *index)
{
	const struct name *one;
	int err;

	*index = 0;
	if (!len)
		return 0;
	one = intern__get(&d->texts, text, len);
	if (!one)
		return -ENOMEM;
	*index = map__number(&d->strings, (uintptr_t)one, 0);
	if (*index)
		return 0;
	*index = d->nstrings;
	err = otlp__new_string(d, text, len);
	return err ? err : map__put_number(&d->strings, (uintptr_t)one, 0, *index);
}

int otlp__string(struct otlp_dictionary *d, const char *text, int32_t *index)
{
	return otlp__string_of(d, text, strlen(text), index);
}

/* As it is shown; NULL: "". */
static int otlp__name(struct otlp_dictionary *d, const struct name *name, int32_t *index)
{
	*index = 0;
	return name ? otlp__string_of(d, name->safe, name->safe_len, index) : 0;
}

int otlp__begin(struct otlp_dictionary *d)
{
	const Otlp__Mapping mapping = OTLP__MAPPING__INIT;
	const Otlp__Location location = OTLP__LOCATION__INIT;
	const Otlp__Function function = OTLP__FUNCTION__INIT;
	const Otlp__Link link = OTLP__LINK__INIT;
	const Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT;
	const Otlp__Stack stack = OTLP__STACK__INIT;
	int err;

	*d = (struct otlp_dictionary){.nattributes = 1,
				      .nfunctions = 1,
				      .nlocations = 1,
				      .nmappings = 1,
				      .nstacks = 1,
				      .nlinks = 1};
	intern__init(&d->texts, NULL);
	err = otlp__put(d, MAPPINGS, &mapping.base);
	err = err ? err : otlp__put(d, LOCATIONS, &location.base);
	err = err ? err : otlp__put(d, FUNCTIONS, &function.base);
	err = err ? err : otlp__put(d, LINKS, &link.base);
	err = err ? err : otlp__put(d, ATTRIBUTES, &attribute.base);
	err = err ? err : otlp__put(d, STACKS, &stack.base);
	return err ? err : otlp__new_string(d, "", 0);
}

void otlp__end(struct otlp_dictionary *d)
{
	map__free(&d->strings);
	map__free(&d->attributes);
	map__free(&d->functions);
	map__free(&d->locations);
	map__free(&d->modules);
	map__free(&d->stacks);
	map__free(&d->links);
	intern__free(&d->texts);
	buf__free(&d->bytes);
	buf__free(&d->label);
	free(d->ids);
}

/* The @size bytes that the text of an id stands for; false: it is not one, or all 0. */
static bool id__parse(const char *text, uint8_t *id, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t any = 0;

	if (!text || strlen(text) != 2 * size)
		return false;
	for (size_t i = 0; i < size; i++) {
		const char *high = strchr(digits, text[2 * i]);
		const char *low = strchr(digits, text[2 * i + 1]);

		if (!high || !low)
			return false;
		id[i] = (uint8_t)((high - digits) << 4 | (low - digits));
		any |= id[i];
	}
	return any;
}

int otlp__link(struct otlp_dictionary *d, const struct profile_given *given, int32_t *index)
{
	Otlp__Link link = OTLP__LINK__INIT;
	uint8_t trace[16], span[8];
	uint64_t a, b;
	int err;

	*index = 0;
	if (!given ||
	    !id__parse(labels__value(given->labels, given->n, "trace_id"), trace, sizeof(trace)) ||
	    !id__parse(labels__value(given->labels, given->n, "span_id"), span, sizeof(span)))
		return 0;
	a = map__hash_bytes((const char *)trace, sizeof(trace));
	b = map__hash_bytes((const char *)span, sizeof(span));
	*index = map__number(&d->links, a, b);
	if (*index)
		return 0;
	link.trace_id = (ProtobufCBinaryData){sizeof(trace), trace};
	link.span_id = (ProtobufCBinaryData){sizeof(span), span};
	*index = d->nlinks++;
	err = otlp__put(d, LINKS, &link.base);
	return err ? err : map__put_number(&d->links, a, b, *index);
}

static int otlp__attribute(struct otlp_dictionary *d, int32_t key, Otlp__AnyValue *value,
			   int32_t *index)
{
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT;

	attribute.key_strindex = key;
	attribute.value = value;
	*index = d->nattributes++;
	return otlp__put(d, ATTRIBUTES, &attribute.base);
}

/* The key of a number is negative, that of a text is not. */
int otlp__number(struct otlp_dictionary *d, const char *key, int64_t number, int32_t *index)
{
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;
	int32_t key_index;
	int err = otlp__string(d, key, &key_index);

	if (err)
		return err;
	*index = map__number(&d->attributes, (uint64_t)number, (uint64_t) - (int64_t)key_index);
	if (*index)
		return 0;
	value.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	value.int_value = number;
	err = otlp__attribute(d, key_index, &value, index);
	return err ? err
		   : map__put_number(&d->attributes, (uint64_t)number,
				     (uint64_t) - (int64_t)key_index, *index);
}

int otlp__text(struct otlp_dictionary *d, const char *key, const char *text, int32_t *index)
{
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;
	size_t len = strlen(text);
	const struct name *one = intern__get(&d->texts, text, len);
	int32_t key_index;
	int err;

	err = one ? otlp__string(d, key, &key_index) : -ENOMEM;
	if (err)
		return err;
	*index = map__number(&d->attributes, (uintptr_t)one, (uint64_t)key_index);
	if (*index)
		return 0;
	value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value.string_value.data = (uint8_t *)(uintptr_t)text;
	value.string_value.len = len;
	err = otlp__attribute(d, key_index, &value, index);
	return err ? err
		   : map__put_number(&d->attributes, (uintptr_t)one, (uint64_t)key_index, *index);
}

static int otlp__frame_type(struct otlp_dictionary *d, const struct frame *frame, int32_t *index)
{
	static const char *const names[OTLP_FRAME_TYPES] = {"r", "native", "kernel"};
	enum otlp_frame_type type = OTLP_FRAME_R;
	int err = 0;

	*index = 0;
	if (frame->kind == FRAME_MARK)
		return 0;
	if (frame->kind == FRAME_KERNEL)
		type = OTLP_FRAME_KERNEL;
	else if (frame->kind == FRAME_NATIVE || frame->kind == FRAME_BUILTIN)
		type = OTLP_FRAME_NATIVE;
	if (!d->types[type])
		err = otlp__text(d, "profile.frame.type", names[type], &d->types[type]);
	*index = d->types[type];
	return err;
}

/* Equal functions are one: by their texts, which are numbers by then. */
static int otlp__function(struct otlp_dictionary *d, const struct frame *frame, int32_t *index)
{
	Otlp__Function function = OTLP__FUNCTION__INIT;
	const struct name *file = frame->defined.file ? frame->defined.file : frame->place.file;
	uint64_t a, b;
	int err;

	d->label.len = 0;
	err = frame__label(&d->label, frame, NAME_SAFE);
	if (!err)
		err = otlp__string_of(d, d->label.data, d->label.len, &function.name_strindex);
	if (!err)
		err = otlp__name(d, frame->function, &function.system_name_strindex);
	if (!err)
		err = otlp__name(d, file, &function.filename_strindex);
	if (err)
		return err;
	function.start_line = frame->defined.file ? (int32_t)frame->defined.line : 0;
	a = (uint64_t)function.name_strindex << 32 | (uint32_t)function.system_name_strindex;
	b = (uint64_t)function.filename_strindex << 32 | (uint32_t)function.start_line;
	*index = map__number(&d->functions, a, b);
	if (*index)
		return 0;
	*index = d->nfunctions++;
	err = otlp__put(d, FUNCTIONS, &function.base);
	return err ? err : map__put_number(&d->functions, a, b, *index);
}

/*
 * The mapping of the file that @frame is in.  R's functions and marks are in no file, and a mapping
 * must have a build id (opentelemetry.io/docs/specs/otel/profiles/mappings): the element 0 stands
 * for none.
 */
static int otlp__mapping(struct otlp_dictionary *d, const struct frame *frame, int32_t *index)
{
	const struct name *id = frame->hash ? frame->hash : frame->build_id;
	Otlp__Mapping mapping = OTLP__MAPPING__INIT;
	int32_t builds[2];
	int err;

	*index = 0;
	if (!frame->module || !id)
		return 0;
	*index = map__number(&d->modules, (uintptr_t)frame->module, (uintptr_t)id);
	if (*index)
		return 0;
	err = otlp__name(d, frame->module, &mapping.filename_strindex);
	if (!err && frame->build_id)
		err = otlp__text(d, "process.executable.build_id.gnu", frame->build_id->text,
				 &builds[mapping.n_attribute_indices++]);
	if (!err && frame->hash)
		err = otlp__text(d, "process.executable.build_id.htlhash", frame->hash->text,
				 &builds[mapping.n_attribute_indices++]);
	if (err)
		return err;
	mapping.attribute_indices = builds;
	*index = d->nmappings++;
	err = otlp__put(d, MAPPINGS, &mapping.base);
	return err ? err
		   : map__put_number(&d->modules, (uintptr_t)frame->module, (uintptr_t)id, *index);
}

static int otlp__location(struct otlp_dictionary *d, const struct frame *frame, int32_t *index)
{
	Otlp__Location location = OTLP__LOCATION__INIT;
	Otlp__Line line = OTLP__LINE__INIT, *lines[] = {&line};
	int32_t type;
	int err;

	*index = map__number(&d->locations, (uintptr_t)frame, 0);
	if (*index)
		return 0;
	err = otlp__mapping(d, frame, &location.mapping_index);
	err = err ? err : otlp__function(d, frame, &line.function_index);
	err = err ? err : otlp__frame_type(d, frame, &type);
	if (err)
		return err;
	line.line = (int32_t)frame->place.line;
	location.address = frame->address;
	location.n_lines = 1;
	location.lines = lines;
	location.n_attribute_indices = type ? 1 : 0;
	location.attribute_indices = &type;
	*index = d->nlocations++;
	err = otlp__put(d, LOCATIONS, &location.base);
	return err ? err : map__put_number(&d->locations, (uintptr_t)frame, 0, *index);
}

/* The locations of @stack into `ids`: *@n of them. */
static int otlp__locations(struct otlp_dictionary *d, const struct profile_part *part,
			   const struct stack *stack, size_t *n)
{
	uint32_t nframes = part__frames(part, stack->nframes);
	const struct frame *frame;
	int32_t *ids;
	int err = 0;

	*n = nframes + stack__is_toplevel(stack);
	if (array__room(&d->ids, *n, &d->cap, sizeof(*ids)))
		return -ENOMEM;
	ids = d->ids;
	for (uint32_t i = 0; i < nframes && !err; i++) {
		frame = stack->frames[i];
		if (nframes < stack->nframes && i == nframes - 1)
			frame = &mark_truncated;
		err = otlp__location(d, frame, &ids[i]);
	}
	if (!err && *n > nframes)
		err = otlp__location(d, &mark_toplevel, &ids[nframes]);
	return err;
}

int otlp__stack(struct otlp_dictionary *d, const struct profile_part *part,
		const struct stack *stack, int32_t *index)
{
	Otlp__Stack one = OTLP__STACK__INIT;
	int err;

	*index = map__number(&d->stacks, (uintptr_t)stack, 0);
	if (*index)
		return 0;
	err = otlp__locations(d, part, stack, &one.n_location_indices);
	if (err)
		return err;
	one.location_indices = d->ids;
	*index = d->nstacks++;
	err = otlp__put(d, STACKS, &one.base);
	return err ? err : map__put_number(&d->stacks, (uintptr_t)stack, 0, *index);
}
