/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory that is read in small pieces, page by page: one call of the system for each page, or for
 * many pages that are wanted together.  What was read once may be out of date.
 */
#ifndef XR_BASE_PAGE_CACHE_H
#define XR_BASE_PAGE_CACHE_H

#include "base/mem_reader.h"

struct page_cache {
	const struct mem_reader *under; /* borrowed */
	uint64_t *tags;			/* by place: the address of its page, and what is known */
	char *data;
};

/* page_cache__open - 64 MiB for what @under reads.  -ENOMEM. */
int page_cache__open(struct page_cache *c, const struct mem_reader *under);
void page_cache__close(struct page_cache *c);

/* page_cache__reader - reads through the cache, as long as it is open. */
struct mem_reader page_cache__reader(struct page_cache *c);

/* page_cache__want - read the pages of @n addresses, at most MEM_SPANS_MAX, at once. */
void page_cache__want(struct page_cache *c, const uint64_t *addrs, size_t n);

#endif
