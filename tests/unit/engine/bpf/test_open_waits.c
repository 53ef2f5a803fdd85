/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A wait that ends while user space tells how much of it is counted: nothing is lost, or counts
 * twice. */
#include <bpf/bpf.h>

#include "abi.h"
#include "engine/bpf/open_waits.h"
#include "tap.h"

enum {
	TID = 4711,
	SINCE = 1000,
	NOW = 5000,
};

static const uint32_t tid = TID;
static int waits, told;

/*
 * Not NULL: right after the entry for the wait was made, the wait ends, and the thread waits again
 * since then; 0: it does not.
 */
static const uint64_t *meanwhile;

static void set(uint64_t since)
{
	const struct xr_wait wait = {.since = since, .pid = TID};

	bpf_map_update_elem(waits, &tid, &wait, BPF_ANY);
}

int __real_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags);
int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags);

int __wrap_bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	const uint64_t *again = meanwhile;
	int err = __real_bpf_map_update_elem(fd, key, value, flags);
	struct xr_wait_told entry = {0};

	meanwhile = NULL;
	if (again) {
		/* wait__from() of bpf/wait.h finds the entry */
		bpf_map_lookup_elem(told, &tid, &entry);
		entry.since = 0;
		bpf_map_update_elem(told, &tid, &entry, BPF_ANY);
		set(*again);
	}
	return err;
}

static bool is_told(void)
{
	struct xr_wait_told entry;

	return !bpf_map_lookup_elem(told, &tid, &entry) && entry.since == SINCE &&
	       entry.until == NOW;
}

static const struct open_wait listed = {
	.wait = {.since = SINCE, .pid = TID}, .from = SINCE, .tid = TID};

static bool counts(uint64_t since, const uint64_t *again)
{
	bpf_map_delete_elem(told, &tid);
	set(since);
	meanwhile = again;
	return open_wait__counts(waits, told, &listed, NOW);
}

TEST(open_waits)
{
	waits = bpf_map_create(BPF_MAP_TYPE_HASH, "waits", sizeof(uint32_t), sizeof(struct xr_wait),
			       4, NULL);
	told = bpf_map_create(BPF_MAP_TYPE_HASH, "told", sizeof(uint32_t),
			      sizeof(struct xr_wait_told), 4, NULL);
	if (waits < 0 || told < 0) {
		tap__skip("BPF is not allowed here", "open waits");
		return;
	}
	tap__ok(counts(SINCE, NULL) && is_told(), "one that goes on counts, and has an entry");
	tap__ok(!open_wait__counts(waits, told, &listed, NOW + 1) && is_told(),
		"it does not count twice");
	tap__ok(!counts(0, NULL) && !is_told(), "one that was over before does not count");
	tap__ok(counts(SINCE, &(uint64_t){0}) && !is_told(),
		"one that ends right after its entry was made counts");
	tap__ok(counts(SINCE, &(uint64_t){NOW + 10}), "also if the thread waits again");
	close(waits);
	close(told);
}
