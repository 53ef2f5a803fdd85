/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * meter PID FREQ SECONDS empty|reads   run a small BPF program on PID's ticks
 * meter switches SECONDS               run empty programs at each switch, of any process
 * meter watch NAME SECONDS             watch a loaded program called NAME
 *
 * Both print, from the kernel's own run-time statistics (BPF_ENABLE_STATS, Linux 5.8):
 *   ns_per_run R runs N [ns_per_read X failed F]
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meter.skel.h"
#include "engine/bpf/perf_events.h"
#include "target/target.h"

#define METER_READS 64 /* as meter.bpf.c has it */

struct reading {
	unsigned long long ns, runs;
};

/* The sums over all loaded programs whose name is @name. */
static int reading__take(const char *name, struct reading *r)
{
	__u32 id = 0;

	memset(r, 0, sizeof(*r));
	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &len) && !strcmp(info.name, name)) {
			r->ns += info.run_time_ns;
			r->runs += info.run_cnt;
		}
		close(fd);
	}
	return 0;
}

static int watch(const char *name, double seconds, struct reading *out)
{
	struct reading a, b;

	reading__take(name, &a);
	usleep(seconds * 1e6);
	reading__take(name, &b);
	out->ns = b.ns - a.ns;
	out->runs = b.runs - a.runs;
	return out->runs ? 0 : -ENODATA;
}

static int switches(double seconds)
{
	struct meter *skel = meter__open();
	struct bpf_link *leave, *back;
	int err;

	if (!skel)
		return -errno;
	err = meter__load(skel);
	leave = err ? NULL : bpf_program__attach(skel->progs.meter_leave);
	back = err ? NULL : bpf_program__attach(skel->progs.meter_back);
	if (!err && (!leave || !back))
		err = -errno;
	if (!err) {
		puts("attached");
		fflush(stdout);
		usleep(seconds * 1e6);
	}
	bpf_link__destroy(back);
	bpf_link__destroy(leave);
	meter__destroy(skel);
	return err;
}

static int run(pid_t pid, unsigned int freq, double seconds, bool reads, struct reading *out,
	       unsigned long long *failed)
{
	struct perf_events *events = NULL;
	struct meter *skel = NULL;
	struct target target;
	struct errmsg fault;
	const char *why;
	int err;

	err = target__find(pid, 0, &target, &fault);
	if (err) {
		fprintf(stderr, "meter: %s\n", fault.text);
		return err;
	}
	skel = meter__open();
	if (!skel)
		return -errno;
	skel->rodata->cfg_address = target.row.head_at;
	err = meter__load(skel);
	if (err)
		goto cleanup;
	err = perf_events__new(
		&events, freq,
		bpf_program__fd(reads ? skel->progs.meter_reads : skel->progs.meter_empty), &why,
		&fault);
	if (!err)
		err = perf_events__add_process(events, pid, &fault);
	if (!err)
		err = watch(reads ? "meter_reads" : "meter_empty", seconds, out);
	*failed = skel->bss->failed;

cleanup:
	perf_events__free(events);
	meter__destroy(skel);
	return err;
}

int main(int argc, char **argv)
{
	unsigned long long failed = 0;
	struct reading r = {};
	bool reads = argc == 5 && !strcmp(argv[4], "reads");
	int stats, err;

	if (argc == 3 && !strcmp(argv[1], "switches"))
		return switches(atof(argv[2])) ? 1 : 0;
	if (argc != 5 && !(argc == 4 && !strcmp(argv[1], "watch")))
		return 2;
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats < 0) {
		fprintf(stderr, "meter: bpf_enable_stats: %s\n", strerror(-stats));
		return 1;
	}
	if (argc == 4)
		err = watch(argv[2], atof(argv[3]), &r);
	else
		err = run(atoi(argv[1]), atoi(argv[2]), atof(argv[3]), reads, &r, &failed);
	close(stats);
	if (err) {
		fprintf(stderr, "meter: %s\n", strerror(-err));
		return 1;
	}
	printf("ns_per_run %.1f runs %llu", (double)r.ns / r.runs, r.runs);
	if (reads)
		printf(" ns_per_read %.2f failed %llu", (double)r.ns / r.runs / METER_READS,
		       failed);
	printf("\n");
	return 0;
}
