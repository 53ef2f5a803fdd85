/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile of pprof that is being read; for read_pprof.c and read_pprof_labels.c alone.
 */
#ifndef XR_PROFILE_READ_PPROF_H
#define XR_PROFILE_READ_PPROF_H

#include "pprof.pb-c.h"
#include "profile/read_parts.h"

/* Where an element is in the bytes; of a location with one line, its frame, too. */
struct part {
	uint32_t at, len;
	uint64_t generation; /* of the reader, when that was made */
	const struct frame *frame;
};

struct pprof_file {
	struct reading *r;
	struct budget budget; /* of the bytes and what is known of them */
	struct budget unpacked;
	ProtobufCAllocator allocator;
	struct map parts;     /* (id, kind) to struct part */
	struct map processes; /* (hash of labels, another) to struct reader_process */
	struct arena arena;   /* of them */
	struct part *strings; /* at and len */
	size_t nstrings, cap;
	struct {
		int64_t type, unit;
	} types[16]; /* more are none of ours */
	size_t ntypes;
	int64_t period, period_unit;
	int value;	   /* the index in a sample's values, VALUE_NONE: it has none */
	uint64_t divide;   /* what a tick is of them */
	uint64_t nsamples; /* so far */
};

/* read_pprof__string - the text of a string, which is not terminated; "" if there is none. */
const char *read_pprof__string(const struct pprof_file *p, int64_t string, size_t *len);
bool read_pprof__is(const struct pprof_file *p, int64_t string, const char *text);

/*
 * read_pprof__process - whose a sample is, by its labels, and of which thread (0: it does not say).
 * NULL: there is no room for another.
 * Labels of others, who do not say of which process a sample is, say something else of it.
 */
struct reader_process *read_pprof__process(struct pprof_file *p, const Pprof__Sample *s,
					   uint32_t *tid);

#endif
