/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "output/otlp_parts.h"
#include "output/writer.h"

/* Where protobuf-c puts the bytes of a message. */
struct otlp_buffer {
	ProtobufCBuffer base;
	struct buf *out;
	int err;
};

static void otlp__append(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
	struct otlp_buffer *b = (struct otlp_buffer *)buffer;

	if (!b->err)
		b->err = buf__add(b->out, data, len);
}

int otlp__pack(struct buf *out, const ProtobufCMessage *message)
{
	struct otlp_buffer buffer = {{.append = otlp__append}, out, 0};

	protobuf_c_message_pack_to_buffer(message, &buffer.base);
	return buffer.err;
}

/* A part of the dictionary: fields of one message may stand in any number of pieces. */
static int otlp__put(struct otlp_dictionary *d, const Otlp__ProfilesDictionary *part)
{
	return otlp__pack(&d->bytes, &part->base);
}

static void *index__value(int32_t index)
{
	return (void *)(intptr_t)index;
}

static int32_t index__known(const struct map *m, const void *key, uint64_t other)
{
	return (int32_t)(intptr_t)map__get(m, (uintptr_t)key, other);
}

static int otlp__new_string(struct otlp_dictionary *d, const char *text, size_t len)
{
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	ProtobufCBinaryData data = {0};

	data.len = len;
	data.data = (uint8_t *)(uintptr_t)text;
	part.n_string_table = 1;
	part.string_table = &data;
	d->nstrings++;
	return otlp__put(d, &part);
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
	*index = index__known(&d->strings, one, 0);
	if (*index)
		return 0;
	*index = d->nstrings;
	err = otlp__new_string(d, text, len);
	return err ? err : map__put(&d->strings, (uintptr_t)one, 0, index__value(*index));
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
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Mapping mapping = OTLP__MAPPING__INIT, *mappings[] = {&mapping};
	Otlp__Location location = OTLP__LOCATION__INIT, *locations[] = {&location};
	Otlp__Function function = OTLP__FUNCTION__INIT, *functions[] = {&function};
	Otlp__Link link = OTLP__LINK__INIT, *links[] = {&link};
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT;
	Otlp__KeyValueAndUnit *attributes[] = {&attribute};
	Otlp__Stack stack = OTLP__STACK__INIT, *stacks[] = {&stack};
	int err;

	*d = (struct otlp_dictionary){.nattributes = 1,
				      .nfunctions = 1,
				      .nlocations = 1,
				      .nmappings = 1,
				      .nstacks = 1,
				      .nlinks = 1};
	intern__init(&d->texts, NULL);
	part.n_mapping_table = part.n_location_table = part.n_function_table = 1;
	part.n_link_table = part.n_attribute_table = part.n_stack_table = 1;
	part.mapping_table = mappings;
	part.location_table = locations;
	part.function_table = functions;
	part.link_table = links;
	part.attribute_table = attributes;
	part.stack_table = stacks;
	err = otlp__put(d, &part);
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
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Link link = OTLP__LINK__INIT, *links[] = {&link};
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
	*index = (int32_t)(intptr_t)map__get(&d->links, a, b);
	if (*index)
		return 0;
	link.trace_id = (ProtobufCBinaryData){sizeof(trace), trace};
	link.span_id = (ProtobufCBinaryData){sizeof(span), span};
	part.n_link_table = 1;
	part.link_table = links;
	*index = d->nlinks++;
	err = otlp__put(d, &part);
	return err ? err : map__put(&d->links, a, b, index__value(*index));
}

static int otlp__attribute(struct otlp_dictionary *d, int32_t key, Otlp__AnyValue *value,
			   int32_t *index)
{
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__KeyValueAndUnit attribute = OTLP__KEY_VALUE_AND_UNIT__INIT, *all[] = {&attribute};

	attribute.key_strindex = key;
	attribute.value = value;
	part.n_attribute_table = 1;
	part.attribute_table = all;
	*index = d->nattributes++;
	return otlp__put(d, &part);
}

/* The key of a number is negative, that of a text is not. */
int otlp__number(struct otlp_dictionary *d, const char *key, int64_t number, int32_t *index)
{
	Otlp__AnyValue value = OTLP__ANY_VALUE__INIT;
	int32_t key_index;
	int err = otlp__string(d, key, &key_index);

	if (err)
		return err;
	*index = (int32_t)(intptr_t)map__get(&d->attributes, (uint64_t)number,
					     (uint64_t) - (int64_t)key_index);
	if (*index)
		return 0;
	value.value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	value.int_value = number;
	err = otlp__attribute(d, key_index, &value, index);
	return err ? err
		   : map__put(&d->attributes, (uint64_t)number, (uint64_t) - (int64_t)key_index,
			      index__value(*index));
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
	*index = index__known(&d->attributes, one, (uint64_t)key_index);
	if (*index)
		return 0;
	value.value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value.string_value.data = (uint8_t *)(uintptr_t)text;
	value.string_value.len = len;
	err = otlp__attribute(d, key_index, &value, index);
	return err ? err
		   : map__put(&d->attributes, (uintptr_t)one, (uint64_t)key_index,
			      index__value(*index));
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
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Function function = OTLP__FUNCTION__INIT, *functions[] = {&function};
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
	*index = (int32_t)(intptr_t)map__get(&d->functions, a, b);
	if (*index)
		return 0;
	*index = d->nfunctions++;
	part.n_function_table = 1;
	part.function_table = functions;
	err = otlp__put(d, &part);
	return err ? err : map__put(&d->functions, a, b, index__value(*index));
}

/*
 * The mapping of the file that @frame is in.  R's functions and marks are in no file, and a mapping
 * must have a build id (opentelemetry.io/docs/specs/otel/profiles/mappings): the element 0 stands
 * for none.
 */
static int otlp__mapping(struct otlp_dictionary *d, const struct frame *frame, int32_t *index)
{
	const struct name *id = frame->hash ? frame->hash : frame->build_id;
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Mapping mapping = OTLP__MAPPING__INIT, *mappings[] = {&mapping};
	int32_t builds[2];
	int err;

	*index = 0;
	if (!frame->module || !id)
		return 0;
	*index = index__known(&d->modules, frame->module, (uintptr_t)id);
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
	part.n_mapping_table = 1;
	part.mapping_table = mappings;
	err = otlp__put(d, &part);
	return err ? err
		   : map__put(&d->modules, (uintptr_t)frame->module, (uintptr_t)id,
			      index__value(*index));
}

static int otlp__location(struct otlp_dictionary *d, const struct frame *frame, int32_t *index)
{
	Otlp__ProfilesDictionary part = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Location location = OTLP__LOCATION__INIT, *locations[] = {&location};
	Otlp__Line line = OTLP__LINE__INIT, *lines[] = {&line};
	int32_t type;
	int err;

	*index = index__known(&d->locations, frame, 0);
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
	part.n_location_table = 1;
	part.location_table = locations;
	err = otlp__put(d, &part);
	return err ? err : map__put(&d->locations, (uintptr_t)frame, 0, index__value(*index));
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
	Otlp__ProfilesDictionary message = OTLP__PROFILES_DICTIONARY__INIT;
	Otlp__Stack one = OTLP__STACK__INIT, *stacks[] = {&one};
	int err;

	*index = index__known(&d->stacks, stack, 0);
	if (*index)
		return 0;
	err = otlp__locations(d, part, stack, &one.n_location_indices);
	if (err)
		return err;
	one.location_indices = d->ids;
	*index = d->nstacks++;
	message.n_stack_table = 1;
	message.stack_table = stacks;
	err = otlp__put(d, &message);
	return err ? err : map__put(&d->stacks, (uintptr_t)stack, 0, index__value(*index));
}
