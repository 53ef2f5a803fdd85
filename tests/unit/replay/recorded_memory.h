/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of one moment of a recorded image: what its reads make together. */
#ifndef XR_TEST_RECORDED_MEMORY_H
#define XR_TEST_RECORDED_MEMORY_H

#include "replay/recorded.h"

struct recorded_extent {
	uint64_t addr;
	uint32_t len, at;
};

/* What the reads of a moment make together: extents that neither touch nor overlap, in order. */
struct recorded_memory {
	struct recorded_extent *extents;
	uint32_t count;
	uint8_t *bytes;
	uint32_t nbytes;
};

static inline int recorded__order(const void *a, const void *b)
{
	const struct recorded_read *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->len < y->len ? 1 : x->len > y->len ? -1 : 0;
}

RECORDED_FN void recorded_memory__free(struct recorded_memory *m)
{
	free(m->extents);
	free(m->bytes);
	memset(m, 0, sizeof(*m));
}

/* recorded_memory__new - of moment @i.  -EBADMSG: two reads of the same place differ; -ENOMEM. */
RECORDED_FN int recorded_memory__new(struct recorded_memory *m, const struct recorded *r,
				     uint32_t i)
{
	const struct recorded_moment *moment = &r->moments[i];
	struct recorded_read *reads;
	uint64_t total = 0;
	uint32_t n = 0;
	int err = -ENOMEM;

	memset(m, 0, sizeof(*m));
	reads = malloc((moment->count + 1) * sizeof(*reads));
	m->extents = malloc((moment->count + 1) * sizeof(*m->extents));
	if (!reads || !m->extents)
		goto cleanup;
	for (uint32_t k = 0; k < moment->count; k++) {
		if (r->reads[moment->first + k].failed)
			continue;
		reads[n] = r->reads[moment->first + k];
		total += reads[n++].len;
	}
	if (total > RECORDED_TEXT_MAX)
		goto cleanup;
	m->bytes = malloc(total + 1);
	if (!m->bytes)
		goto cleanup;
	qsort(reads, n, sizeof(*reads), recorded__order);
	for (uint32_t k = 0; k < n; k++) {
		const struct recorded_read *read = &reads[k];
		const uint8_t *from = r->bytes + read->at;
		struct recorded_extent *e = m->count ? &m->extents[m->count - 1] : NULL;
		uint32_t old = 0;

		if (!e || read->addr > e->addr + e->len) {
			e = &m->extents[m->count++];
			*e = (struct recorded_extent){.addr = read->addr, .at = m->nbytes};
		}
		old = (uint32_t)(e->addr + e->len - read->addr);
		if (old > read->len)
			old = read->len;
		err = -EBADMSG;
		if (memcmp(m->bytes + e->at + (read->addr - e->addr), from, old))
			goto cleanup;
		err = -ENOMEM;
		memcpy(m->bytes + m->nbytes, from + old, read->len - old);
		m->nbytes += read->len - old;
		e->len += read->len - old;
	}
	free(reads);
	return 0;

cleanup:
	free(reads);
	recorded_memory__free(m);
	return err;
}

/* recorded_memory__at - where the @len bytes at @addr are, or NULL. */
RECORDED_FN uint8_t *recorded_memory__at(const struct recorded_memory *m, uint64_t addr,
					 uint32_t len)
{
	uint32_t low = 0, high = m->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->extents[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	addr -= m->extents[low - 1].addr;
	if (addr > m->extents[low - 1].len || len > m->extents[low - 1].len - addr)
		return NULL;
	return m->bytes + m->extents[low - 1].at + addr;
}

#endif
