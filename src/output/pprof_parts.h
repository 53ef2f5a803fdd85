/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of the writer of pprof's format have in common: pprof.c, pprof_frames.c,
 * pprof_labels.c.
 */
#ifndef XR_OUTPUT_PPROF_PARTS_H
#define XR_OUTPUT_PPROF_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/table.h"
#include "output/encode.h"
#include "output/gzip.h"
#include "output/message.h"
#include "pprof.pb-c.h"

struct pprof {
	struct gzip gzip;
	const struct writer_config *config;
	const struct aggregate *aggregate;
	uint32_t places[PROFILE_TYPES_MAX]; /* of sample types among the values; 0: none */
	uint32_t nvalues;
	int64_t nstrings;
	uint64_t nlocations, nfunctions, nmappings;
	struct map names;     /* (address of a name, 0) to 1 + its string */
	struct map locations; /* (address of a frame, 0) to its location's id */
	struct map modules;   /* (addresses of two names) to its mapping's id */
	struct table functions;
	struct arena arena; /* of them */
	struct buf text;
	uint64_t *ids; /* of the locations of a sample */
	size_t cap;
	int64_t keys[ATTRIBUTES_MAX]; /* strings, by row of attributes.h; 0: not yet */
	/* of pprof_labels.c */
	struct map words;  /* (address of a text, 0) to 1 + its string */
	struct map labels; /* (number of a process, that of given labels or 0) to pprof_labels */
};

/* All return 0 or a negative errno. */

/* pprof__put - write a part of the profile.  pprof__element - an element of one of its fields. */
int pprof__put(struct pprof *p, const Pprof__Profile *part);
int pprof__element(struct pprof *p, unsigned int field, const ProtobufCMessage *element);

enum { PPROF_SAMPLE = 2, PPROF_MAPPING, PPROF_LOCATION, PPROF_FUNCTION, PPROF_STRING };

/* pprof__string, pprof__text - write a string: its number. */
int pprof__string(struct pprof *p, const char *text, size_t len, int64_t *string);
int pprof__text(struct pprof *p, const char *text, int64_t *string);

/* pprof__name - @name as it is shown, written once for each name; NULL: "". */
int pprof__name(struct pprof *p, const struct name *name, int64_t *string);

/* pprof__mapping - that of the module of @frame, written once; no module: R's own. */
int pprof__mapping(struct pprof *p, const struct frame *frame, uint64_t *id);

/* pprof__stack - write what `ids` then refers to, the locations of @stack: *@n of them. */
int pprof__stack(struct pprof *p, const struct stack *stack, size_t *n);

/* Attributes, labels of a process, and those of the run. */
#define PPROF_CALLS	 8u /* of a sample: the outermost ones */
#define PPROF_OF_SAMPLE	 (ATTRIBUTES_MAX + PPROF_CALLS * ATTRIBUTES_MAX)
#define PPROF_LABELS_MAX (PPROF_OF_SAMPLE + 2 * PROFILE_LABELS_MAX + XR_LABELS_MAX)

/* What the labels of a sample are in. */
struct pprof_row_labels {
	Pprof__Label of_sample[PPROF_OF_SAMPLE];
	size_t nof_sample;
	Pprof__Label *all[PPROF_LABELS_MAX];
	size_t n;
};

/* pprof__keys - write the keys that all samples have. */
int pprof__keys(struct pprof *p);

/* pprof__labels - those of @row; @labels is filled. */
int pprof__labels(struct pprof *p, const struct aggregate_row *row,
		  struct pprof_row_labels *labels);

#endif
