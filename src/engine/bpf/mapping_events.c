/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/mapping_events.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of each CPU, and one more for its head: some 250 records, between two polls. */
#define DATA_PAGES 8u

/* struct perf_record_mmap up to the file's name (include/uapi/linux/perf_event.h). */
struct mapped {
	struct perf_event_header head;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	char name[8]; /* its first bytes; what is in no file is called //anon */
};

struct cpu_events {
	int fd; /* -1: none */
	struct perf_event_mmap_page *page;
};

struct mapping_events {
	size_t page, bytes; /* of memory; of the data of each CPU */
	int ncpus;
	struct cpu_events cpus[];
};

static int cpu_events__open(struct mapping_events *m, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};
	struct cpu_events *c = &m->cpus[cpu];
	void *page;

	c->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (c->fd < 0)
		return errno == ENODEV ? 0 : -errno; /* it is not online */
	page = mmap(NULL, m->page + m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	c->page = page;
	return 0;
}

int mapping_events__new(struct mapping_events **out)
{
	int ncpus = libbpf_num_possible_cpus(), err = 0;
	struct mapping_events *m;

	*out = NULL;
	if (ncpus < 1)
		return ncpus;
	m = calloc(1, sizeof(*m) + (size_t)ncpus * sizeof(m->cpus[0]));
	if (!m)
		return -ENOMEM;
	m->page = (size_t)sysconf(_SC_PAGESIZE);
	m->bytes = DATA_PAGES * m->page;
	m->ncpus = ncpus;
	for (int i = 0; i < ncpus; i++)
		m->cpus[i].fd = -1;
	for (int i = 0; i < ncpus && !err; i++)
		err = cpu_events__open(m, i);
	if (err) {
		mapping_events__free(m);
		return err;
	}
	*out = m;
	return 0;
}

/* @len bytes of the ring from @at on. */
static void cpu_events__copy(const struct mapping_events *m, const struct cpu_events *c,
			     uint64_t at, void *to, size_t len)
{
	const char *data = (const char *)c->page + m->page;

	for (size_t i = 0; i < len; i += 8) /* records are aligned to it */
		memcpy((char *)to + i, data + (at + i) % m->bytes, 8);
}

static void cpu_events__drain(struct mapping_events *m, struct cpu_events *c,
			      void (*each)(void *arg, uint32_t pid), void *arg)
{
	const uint64_t head = __atomic_load_n(&c->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = c->page->data_tail;

	while (head - tail >= sizeof(struct perf_event_header)) {
		struct mapped r = {0};

		cpu_events__copy(m, c, tail, &r.head, sizeof(r.head));
		if (r.head.size < sizeof(r.head) || r.head.size > head - tail)
			break;
		if (r.head.type == PERF_RECORD_LOST)
			each(arg, 0);
		if (r.head.type == PERF_RECORD_MMAP && r.head.size >= sizeof(r)) {
			cpu_events__copy(m, c, tail, &r, sizeof(r));
			if (r.pid && strncmp(r.name, "//anon", sizeof(r.name)))
				each(arg, r.pid);
		}
		tail += r.head.size;
	}
	__atomic_store_n(&c->page->data_tail, head, __ATOMIC_RELEASE);
}

void mapping_events__drain(struct mapping_events *m, void (*each)(void *arg, uint32_t pid),
			   void *arg)
{
	for (int i = 0; i < m->ncpus; i++)
		if (m->cpus[i].page)
			cpu_events__drain(m, &m->cpus[i], each, arg);
}

void mapping_events__free(struct mapping_events *m)
{
	for (int i = 0; m && i < m->ncpus; i++) {
		if (m->cpus[i].page)
			munmap(m->cpus[i].page, m->page + m->bytes);
		if (m->cpus[i].fd >= 0)
			close(m->cpus[i].fd);
	}
	free(m);
}
