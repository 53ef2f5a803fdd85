/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a walk read, and the file that keeps it.  The format is that of recorded.h. */
#ifndef XR_RECORD_IMAGE_H
#define XR_RECORD_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include "base/map.h"
#include "replay/recorded.h"
#include "target/target.h"

#include "oracle.h"

/* The reads of one walk, in order. */
struct pass {
	struct recorded_read *reads;
	uint8_t *bytes;
	uint32_t nreads, nbytes;
	size_t cap_reads, cap_bytes;
};

/* pass__add - a read of @len @bytes, or one that @failed, without any.  0 or -ENOMEM. */
int pass__add(struct pass *p, char kind, uint64_t addr, const void *bytes, uint32_t len,
	      bool failed);

/*
 * pass__same - did both passes read the same?  R's handler looks at attributes, and getAttrib()
 * marks what it gives out as not to be modified: the reference count in an object's header (bits 32
 * to 47).
 */
bool pass__same(const struct pass *a, const struct pass *b);

struct image {
	gzFile out;	 /* NULL: it is not open */
	struct map last; /* (address, length) to a copy of its bytes, as written last */
	bool told[RECORDED_FILES_MAX]; /* this source file is in it */
	uint32_t moments;
};

/* image__new - begin @path with what is known of @target; @note may be NULL.  0 or a negative
 * errno. */
int image__new(struct image *image, const char *path, const struct target *target,
	       const char *note);

/* image__moment - add the moment of which R said oracle->stack and a walk read @pass.  0 or
 * -ENOMEM. */
int image__moment(struct image *image, const struct oracle *oracle, const struct pass *pass);

/* image__end - the last line. */
void image__end(struct image *image);

/* image__close - whatever is in it.  0 or -EIO; 0 if it is not open. */
int image__close(struct image *image);

#endif
