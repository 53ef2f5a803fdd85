/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of a target, read from outside in few wide reads: a store of the pieces that the last
 * walk touched, all of which the next walk has read at once before it starts.
 *
 * Nothing here depends on the operating system: a struct mem_reader does the reading.
 */
#ifndef XR_ENGINE_REMOTE_MEMORY_H
#define XR_ENGINE_REMOTE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem_reader.h"

#define REMOTE_PIECE_MAX 512u /* bytes; longer reads are not kept */

/*
 * One piece of memory, read up to twice in a sample: ahead (`base`), while the target may be
 * running, and again (`fresh`).  Sequence numbers grow with every span read, over all pieces, and
 * so say which of two reads was the earlier; 0: not read.
 */
struct piece {
	uint64_t addr;
	uint64_t base_seq, fresh_seq;
	uint64_t used;	  /* number of the sample that asked for it last */
	uint64_t visited; /* number of the sample that read it ahead as a context */
	uint64_t walked;  /* number of the second look that walked it, if it is a context */
	uint64_t refused; /* 1 and the floor of the sample in which it could not be read */
	uint32_t len, cap;
	uint32_t at;	    /* its bytes: base at `at`, fresh at `at + cap` */
	uint32_t pos;	    /* its place in the order in which a walk asked */
	uint32_t kind;	    /* enum read_kind: what it was asked for as */
	uint32_t outermost; /* of the contexts it was asked for in a first look, 1 the innermost */
};

#define PIECE_NONE UINT32_MAX

struct remote_memory {
	struct mem_reader reader;
	struct piece *pieces;
	uint32_t count;
	size_t cap;
	uint32_t *index; /* open hash of addr to piece + 1; 0: free */
	uint32_t mask;
	uint8_t *bytes;
	uint32_t nbytes, left; /* `left`: bytes of it that pieces moved away from */
	size_t cap_bytes;
	uint64_t seq;
	int gone; /* the reader's last error: nothing of the target can be read; 0: it can */
};

void remote_memory__init(struct remote_memory *m, const struct mem_reader *reader);
void remote_memory__free(struct remote_memory *m);

/* remote_memory__find - the piece of @len or more bytes at @addr, or PIECE_NONE. */
uint32_t remote_memory__find(const struct remote_memory *m, uint64_t addr, uint32_t len);

/*
 * remote_memory__put - the same, made if need be, not read yet.  PIECE_NONE: out of memory.  What
 * remote_memory__base and __fresh returned is invalid afterwards.
 */
uint32_t remote_memory__put(struct remote_memory *m, uint64_t addr, uint32_t len);

/* The bytes of piece @id. */
uint8_t *remote_memory__base(const struct remote_memory *m, uint32_t id);
uint8_t *remote_memory__fresh(const struct remote_memory *m, uint32_t id);

/*
 * remote_memory__fetch - read pieces @ids in that order, as base or as @fresh; those that cannot be
 * read get sequence number 0.
 */
void remote_memory__fetch(struct remote_memory *m, const uint32_t *ids, uint32_t n, bool fresh);

/* Read piece @id again: as its fresh bytes, or (@to is not NULL) to somewhere else. */
struct remote_look {
	uint32_t id;
	uint8_t *to;
};

/*
 * remote_memory__at_once - take @n looks, at most MEM_SPANS_MAX, in that order and in one read.
 * Returns whether all could be read; if not, nothing counts as read.
 */
bool remote_memory__at_once(struct remote_memory *m, const struct remote_look *looks, uint32_t n);

/* remote_memory__read - past the store: @len bytes at @addr.  0 or negative. */
int remote_memory__read(struct remote_memory *m, uint64_t addr, void *to, uint32_t len);

/*
 * remote_memory__trim - when many pieces were not used by sample @sample, or most bytes are of no
 * piece, forget these.  @ids, the @n pieces that stay, are renumbered.
 */
void remote_memory__trim(struct remote_memory *m, uint64_t sample, uint32_t *ids, uint32_t n);

#endif
