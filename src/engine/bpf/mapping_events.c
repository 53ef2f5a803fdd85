/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/mapping_events.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
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

struct mapping_events {
	struct perf_buffer *buffer;
	void (*each)(void *arg, uint32_t pid);
	void *arg;
};

static enum bpf_perf_event_ret on_event(void *events, int cpu, struct perf_event_header *head)
{
	const struct mapping_events *m = events;
	const struct mapped *r = (const void *)head;

	(void)cpu;
	if (head->type == PERF_RECORD_LOST)
		m->each(m->arg, 0);
	else if (head->type == PERF_RECORD_MMAP && head->size >= sizeof(*r) && r->pid &&
		 strncmp(r->name, "//anon", sizeof(r->name)))
		m->each(m->arg, r->pid);
	return LIBBPF_PERF_EVENT_CONT;
}

int mapping_events__new(struct mapping_events **out)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};
	struct mapping_events *m = calloc(1, sizeof(*m));
	/* libbpf wants a map for programs to write to: here nothing does but the kernel */
	int fd = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "mappings", sizeof(int), sizeof(int),
				(uint32_t)libbpf_num_possible_cpus(), NULL);
	int err = !m ? -ENOMEM : fd < 0 ? fd : 0;

	if (!err) {
		m->buffer = perf_buffer__new_raw(fd, DATA_PAGES, &attr, on_event, m, NULL);
		err = m->buffer ? 0 : -errno;
	}
	if (fd >= 0)
		close(fd);
	*out = err ? NULL : m;
	if (err)
		free(m);
	return err;
}

void mapping_events__drain(struct mapping_events *m, void (*each)(void *arg, uint32_t pid),
			   void *arg)
{
	m->each = each;
	m->arg = arg;
	perf_buffer__consume(m->buffer);
}

void mapping_events__free(struct mapping_events *m)
{
	if (m)
		perf_buffer__free(m->buffer);
	free(m);
}
