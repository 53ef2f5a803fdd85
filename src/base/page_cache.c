/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/page_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE	   4096u
#define PLACES	   16384u
#define PRESENT	   1u /* in a tag: the page is here */
#define UNREADABLE 2u /* or cannot be read */

static size_t page__place(uint64_t addr)
{
	return addr / PAGE % PLACES;
}

int page_cache__open(struct page_cache *c, const struct mem_reader *under)
{
	*c = (struct page_cache){
		.under = under,
		.tags = calloc(PLACES, sizeof(*c->tags)),
		.data = malloc((size_t)PLACES * PAGE),
	};
	if (c->tags && c->data)
		return 0;
	page_cache__close(c);
	return -ENOMEM;
}

void page_cache__close(struct page_cache *c)
{
	free(c->tags);
	free(c->data);
	*c = (struct page_cache){0};
}

/* The page at @page; NULL: it cannot be read. */
static const char *page_cache__page(struct page_cache *c, uint64_t page)
{
	const size_t place = page__place(page);
	char *data = c->data + place * PAGE;

	if (c->tags[place] == (page | PRESENT))
		return data;
	if (c->tags[place] == (page | UNREADABLE))
		return NULL;
	c->tags[place] = page | UNREADABLE;
	if (mem_reader__read(c->under, page, data, PAGE))
		return NULL;
	c->tags[place] = page | PRESENT;
	return data;
}

static int page_cache__read(void *cache, uint64_t addr, void *to, size_t len)
{
	char *at = to;

	while (len) {
		const size_t skip = addr % PAGE, n = PAGE - skip < len ? PAGE - skip : len;
		const char *page = page_cache__page(cache, addr - skip);

		if (!page)
			return -EFAULT;
		memcpy(at, page + skip, n);
		at += n;
		addr += n;
		len -= n;
	}
	return 0;
}

struct mem_reader page_cache__reader(struct page_cache *c)
{
	return (struct mem_reader){.read = page_cache__read, .arg = c};
}

void page_cache__want(struct page_cache *c, const uint64_t *addrs, size_t n)
{
	struct mem_span spans[MEM_SPANS_MAX];
	uint32_t wanted = 0, read = 0;
	int got = 0;

	for (size_t i = 0; i < n && wanted < MEM_SPANS_MAX; i++) {
		const uint64_t page = addrs[i] - addrs[i] % PAGE;
		const size_t place = page__place(page);

		if ((c->tags[place] & ~(uint64_t)(PAGE - 1)) == page && c->tags[place])
			continue;
		c->tags[place] = page | PRESENT;
		spans[wanted++] = (struct mem_span){page, c->data + place * PAGE, PAGE};
	}
	while (read < wanted) {
		got = mem_reader__read_spans(c->under, spans + read, wanted - read);
		read += got > 0 ? (uint32_t)got : 0;
		if (read == wanted)
			break;
		/* one that was not read: it is asked for alone, when it is needed */
		c->tags[page__place(spans[read++].addr)] = 0;
		while (got < 0 && read < wanted)
			c->tags[page__place(spans[read++].addr)] = 0;
	}
}
