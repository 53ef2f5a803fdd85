/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads that are away when their process is added are noted in slices, and each is noted. */
#include <bpf/bpf.h>
#include <glob.h>
#include <limits.h>

#include "abi.h"
#include "engine/bpf/waits.h"
#include "tap.h"
#include "threads.h"

#define THREADS (2 * BPF_WAITS_SLICE + 10)

static unsigned int noted(int map)
{
	unsigned int n = 0;
	uint32_t tid, *last = NULL;

	while (!bpf_map_get_next_key(map, last, &tid)) {
		last = &tid;
		n++;
	}
	return n;
}

/* How many threads of this process sleep: one that has run may not have got there yet. */
static unsigned int sleep_now(void)
{
	unsigned int n = 0;
	glob_t stats;

	tap__bail_if(glob("/proc/self/task/*/stat", 0, NULL, &stats), "no threads");
	for (size_t i = 0; i < stats.gl_pathc; i++) {
		const char *text = tap__read(stats.gl_pathv[i], NULL);

		n += text && strstr(text, ") S ");
	}
	globfree(&stats);
	return n;
}

TEST(waits)
{
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "waits", sizeof(uint32_t),
				 sizeof(struct xr_wait), 2 * THREADS, NULL);
	struct bpf_waits_begun begun = {0};
	unsigned int turns = 1, before = 0, most = 0, now;

	if (map < 0) {
		tap__skip("BPF is not allowed here", "waits");
		return;
	}
	threads__start(THREADS);
	while (sleep_now() < THREADS)
		usleep(1000);
	tap__ok(!bpf_waits__begin(&begun, map, getpid()), "the threads of a process are looked at");
	tap__ok(!bpf_waits__begin(&begun, map, INT_MAX), "one that is gone is skipped");
	for (now = noted(map); bpf_waits__pending(&begun); now = noted(map)) {
		most = now - before > most ? now - before : most;
		before = now;
		bpf_waits__go_on(&begun, map);
		turns++;
	}
	tap__ok(turns > 2 && most <= BPF_WAITS_SLICE, "in %u turns, at most %u threads in each",
		turns, most);
	tap__ok(now == THREADS, "threads that sleep are noted: %u of %u", now, THREADS);
	tap__ok(!bpf_waits__begin(&begun, map, getpid()) && bpf_waits__pending(&begun),
		"the next process is looked at at once");
	bpf_waits__free(&begun);
	close(map);
}
