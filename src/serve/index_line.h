/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A line of the index of a directory of profiles (linux/store.h): a process of a profile.
 */
#ifndef XR_SERVE_INDEX_LINE_H
#define XR_SERVE_INDEX_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "profile/aggregate.h"
#include "serve/interval_name.h"

#define INDEX_LABELS_MAX  32u	       /* of a line; further ones are left out */
#define INDEX_SAMPLES_MAX (1ULL << 53) /* of a line: what a number of JSON can say */

/* Strings point into the line. */
struct index_line {
	struct interval_name file;
	struct profile_process process; /* its labels are those below */
	struct profile_label labels[INDEX_LABELS_MAX];
	uint64_t samples;
	uint64_t interval_ns; /* what each stands for; 0: not known */
};

/*
 * index_line__parse - parse @text, which is terminated and is changed.  Of repeated fields the
 * first counts.  Strings that are not attributes (profile/attributes.h) are labels.  -EINVAL: not a
 * line of the index.
 */
int index_line__parse(struct index_line *line, char *text);

/*
 * index_line__all - append a line for each process of @sum that has samples, as of struct
 * store_interval: with its labels, and those of the run, @labels, that it does not have. @interval:
 * ns that a sample stands for; 0: not known.  -ENOMEM.
 */
int index_line__all(struct buf *out, const struct aggregate *sum,
		    const struct profile_label *labels, size_t nlabels, uint64_t interval);

#endif
