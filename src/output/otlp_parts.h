/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The dictionary of a request (otlp.h), which grows as samples need more of it.
 */
#ifndef XR_OUTPUT_OTLP_PARTS_H
#define XR_OUTPUT_OTLP_PARTS_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"
#include "output/encode.h"
#include "output/message.h"
#include "otlp.pb-c.h"

enum otlp_frame_type { OTLP_FRAME_R, OTLP_FRAME_NATIVE, OTLP_FRAME_KERNEL, OTLP_FRAME_TYPES };

struct otlp_dictionary {
	struct buf bytes; /* its fields, as they are sent */
	int32_t nstrings, nattributes, nfunctions, nlocations, nmappings, nstacks, nlinks;
	struct intern texts;		 /* all strings */
	struct map strings;		 /* (address of its text, 0) to its index; 0: "" */
	struct map attributes;		 /* (address of a text or a number, key) to its index */
	struct map functions;		 /* (its frame's definition, ...) see otlp_dictionary.c */
	struct map locations;		 /* (address of a frame, 0) */
	struct map modules;		 /* (addresses of two names) */
	struct map stacks;		 /* (address of a stack, 0) */
	struct map links;		 /* (hash of its ids, another) */
	int32_t types[OTLP_FRAME_TYPES]; /* attributes; 0: not yet */
	struct buf label;
	int32_t *ids; /* of the locations of a stack */
	size_t cap;
};

/* All return 0 or -ENOMEM. */

/* otlp__begin - with the elements 0; otlp__end - free what it holds, in any case. */
int otlp__begin(struct otlp_dictionary *d);
void otlp__end(struct otlp_dictionary *d);

/* otlp__string - @text, which is UTF-8, once for each. */
int otlp__string(struct otlp_dictionary *d, const char *text, int32_t *index);

/* otlp__number, otlp__text - an attribute, once for each. */
int otlp__number(struct otlp_dictionary *d, const char *key, int64_t value, int32_t *index);
int otlp__text(struct otlp_dictionary *d, const char *key, const char *value, int32_t *index);

/*
 * otlp__link - to the span that labels name by `trace_id` and `span_id`, in hexadecimal; 0: they
 * name none.
 */
int otlp__link(struct otlp_dictionary *d, const struct profile_given *given, int32_t *index);

/* otlp__stack - @stack, as @part has it. */
int otlp__stack(struct otlp_dictionary *d, const struct profile_part *part,
		const struct stack *stack, int32_t *index);

/* otlp__pack - append a message to @out. */
int otlp__pack(struct buf *out, const ProtobufCMessage *message);

#endif
