/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/remote/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define BYTES_MAX    (1u << 30)
#define FAILURES_MAX 64u /* pieces of one fetch that may be unreadable; the rest is not tried */
#define TRIM_SLACK   1024u

void remote_memory__init(struct remote_memory *m, const struct mem_reader *reader)
{
	memset(m, 0, sizeof(*m));
	m->reader = *reader;
}

void remote_memory__free(struct remote_memory *m)
{
	free(m->pieces);
	free(m->index);
	free(m->bytes);
	m->pieces = NULL;
	m->index = NULL;
	m->bytes = NULL;
	m->cap = m->cap_bytes = 0;
	m->count = m->mask = m->nbytes = m->left = 0;
}

static uint32_t memory__hash(const struct remote_memory *m, uint64_t addr)
{
	return (uint32_t)((addr * 0x9e3779b97f4a7c15ULL) >> 32) & m->mask;
}

/* The place of @addr in the index, or the free one where it would go. */
static uint32_t memory__place(const struct remote_memory *m, uint64_t addr)
{
	uint32_t i = memory__hash(m, addr);

	while (m->index[i] && m->pieces[m->index[i] - 1].addr != addr)
		i = (i + 1) & m->mask;
	return i;
}

uint32_t remote_memory__find(const struct remote_memory *m, uint64_t addr, uint32_t len)
{
	uint32_t id;

	if (!m->index)
		return PIECE_NONE;
	id = m->index[memory__place(m, addr)];
	return id && m->pieces[id - 1].len >= len ? id - 1 : PIECE_NONE;
}

/* Rebuild the index for @cap pieces (a power of two). */
static int memory__reindex(struct remote_memory *m, uint32_t cap)
{
	uint32_t *index = calloc((size_t)cap * 2, sizeof(*index));

	if (!index)
		return -1;
	free(m->index);
	m->index = index;
	m->mask = cap * 2 - 1;
	for (uint32_t id = 0; id < m->count; id++)
		m->index[memory__place(m, m->pieces[id].addr)] = id + 1;
	return 0;
}

static int memory__grow(struct remote_memory *m)
{
	size_t cap = m->cap;

	if (array__room(&m->pieces, m->count, &cap, sizeof(*m->pieces)) ||
	    memory__reindex(m, (uint32_t)cap))
		return -1;
	m->cap = cap;
	return 0;
}

/* Room for @len bytes, twice.  UINT32_MAX: there is none. */
static uint32_t memory__room(struct remote_memory *m, uint32_t cap)
{
	uint32_t at = m->nbytes;

	if (cap > REMOTE_PIECE_MAX || m->nbytes > BYTES_MAX - 2 * cap)
		return UINT32_MAX;
	if (array__room(&m->bytes, m->nbytes + 2 * (size_t)cap - 1, &m->cap_bytes, 1))
		return UINT32_MAX;
	m->nbytes += 2 * cap;
	return at;
}

uint32_t remote_memory__put(struct remote_memory *m, uint64_t addr, uint32_t len)
{
	uint32_t cap = (len + 7) & ~7u, at, place;
	struct piece *p;

	if (m->count == m->cap && memory__grow(m))
		return PIECE_NONE;
	place = memory__place(m, addr);
	if (m->index[place] && m->pieces[m->index[place] - 1].len >= len)
		return m->index[place] - 1;
	at = memory__room(m, cap);
	if (at == UINT32_MAX)
		return PIECE_NONE;
	if (m->index[place]) { /* known, but shorter: it moves to where there is room */
		p = &m->pieces[m->index[place] - 1];
		m->left += 2 * p->cap;
	} else {
		p = &m->pieces[m->count];
		memset(p, 0, sizeof(*p));
		p->addr = addr;
		p->pos = UINT32_MAX;
		m->index[place] = ++m->count;
	}
	p->base_seq = p->fresh_seq = 0;
	p->len = len;
	p->cap = cap;
	p->at = at;
	return m->index[place] - 1;
}

uint8_t *remote_memory__base(const struct remote_memory *m, uint32_t id)
{
	return m->bytes + m->pieces[id].at;
}

uint8_t *remote_memory__fresh(const struct remote_memory *m, uint32_t id)
{
	return m->bytes + m->pieces[id].at + m->pieces[id].cap;
}

void remote_memory__fetch(struct remote_memory *m, const uint32_t *ids, uint32_t n, bool fresh)
{
	struct mem_span spans[MEM_SPANS_MAX];
	uint32_t done = 0, failures = 0;

	while (done < n && failures < FAILURES_MAX && !m->gone) {
		uint32_t batch = n - done < MEM_SPANS_MAX ? n - done : MEM_SPANS_MAX;
		int got;

		for (uint32_t i = 0; i < batch; i++) {
			struct piece *p = &m->pieces[ids[done + i]];

			spans[i].addr = p->addr;
			spans[i].len = p->len;
			spans[i].to = m->bytes + p->at + (fresh ? p->cap : 0);
			*(fresh ? &p->fresh_seq : &p->base_seq) = 0;
		}
		got = mem_reader__read_spans(&m->reader, spans, batch);
		if (got < 0) {
			m->gone = got;
			return;
		}
		for (int i = 0; i < got; i++) {
			struct piece *p = &m->pieces[ids[done + (uint32_t)i]];

			*(fresh ? &p->fresh_seq : &p->base_seq) = ++m->seq;
		}
		done += (uint32_t)got;
		if ((uint32_t)got < batch) {
			failures++;
			done++;
		}
	}
}

bool remote_memory__at_once(struct remote_memory *m, const struct remote_look *looks, uint32_t n)
{
	struct mem_span spans[MEM_SPANS_MAX];
	int got;

	if (!n || n > MEM_SPANS_MAX)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct piece *p = &m->pieces[looks[i].id];

		spans[i].addr = p->addr;
		spans[i].len = p->len;
		spans[i].to = looks[i].to ? looks[i].to : m->bytes + p->at + p->cap;
		if (!looks[i].to)
			p->fresh_seq = 0;
	}
	got = mem_reader__read_spans(&m->reader, spans, n);
	if (got < 0)
		m->gone = got;
	if (got < (int)n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		m->seq++;
		if (!looks[i].to)
			m->pieces[looks[i].id].fresh_seq = m->seq;
	}
	return true;
}

int remote_memory__read(struct remote_memory *m, uint64_t addr, void *to, uint32_t len)
{
	struct mem_span span = {.addr = addr, .to = to, .len = len};
	int got = mem_reader__read_spans(&m->reader, &span, 1);

	if (got < 0)
		m->gone = got;
	return got == 1 ? 0 : -1;
}

void remote_memory__trim(struct remote_memory *m, uint64_t sample, uint32_t *ids, uint32_t n)
{
	uint32_t kept = 0, nbytes = 0;
	uint32_t *renumbered;
	uint8_t *bytes;

	if (m->count < 2 * n + TRIM_SLACK && m->left <= m->nbytes / 2)
		return;
	renumbered = malloc((size_t)m->count * sizeof(*renumbered));
	bytes = malloc(m->cap_bytes);
	if (!renumbered || !bytes)
		goto cleanup; /* another time */
	for (uint32_t id = 0; id < m->count; id++) {
		struct piece p = m->pieces[id];

		renumbered[id] = PIECE_NONE;
		if (p.used != sample)
			continue;
		memcpy(bytes + nbytes, m->bytes + p.at, 2 * (size_t)p.cap);
		p.at = nbytes;
		nbytes += 2 * p.cap;
		renumbered[id] = kept;
		m->pieces[kept++] = p;
	}
	m->count = kept;
	free(m->bytes);
	m->bytes = bytes;
	m->nbytes = nbytes;
	m->left = 0;
	bytes = NULL;
	memset(m->index, 0, ((size_t)m->mask + 1) * sizeof(*m->index));
	for (uint32_t id = 0; id < kept; id++)
		m->index[memory__place(m, m->pieces[id].addr)] = id + 1;
	for (uint32_t i = 0; i < n; i++)
		ids[i] = renumbered[ids[i]];

cleanup:
	free(renumbered);
	free(bytes);
}
