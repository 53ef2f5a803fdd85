/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/mem_reader.h"

#include <errno.h>

int mem_reader__read(const struct mem_reader *m, uint64_t addr, void *to, size_t len)
{
	struct mem_span span = {.addr = addr, .to = to, .len = (uint32_t)len};
	int got;

	if (m->read)
		return m->read(m->arg, addr, to, len);
	if (len > UINT32_MAX)
		return -EFAULT;
	got = m->read_spans(m->arg, &span, 1);
	return got < 0 ? got : got == 1 ? 0 : -EFAULT;
}

int mem_reader__read_spans(const struct mem_reader *m, const struct mem_span *spans, uint32_t n)
{
	if (n > MEM_SPANS_MAX)
		return -EINVAL;
	if (m->read_spans)
		return m->read_spans(m->arg, spans, n);
	for (uint32_t i = 0; i < n; i++) {
		int err = m->read(m->arg, spans[i].addr, spans[i].to, spans[i].len);

		if (err)
			return err == -EFAULT ? (int)i : err;
	}
	return (int)n;
}
