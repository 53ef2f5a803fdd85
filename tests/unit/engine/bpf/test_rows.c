/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A row that is replaced keeps what the sampler has found out until that moment. */
#include <bpf/bpf.h>
#include <errno.h>

#include "engine/bpf/rows.h"
#include "tap.h"

TEST(rows)
{
	const uint32_t pid = 4711;
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "rows", sizeof(pid), sizeof(struct xr_row), 4,
				 NULL);
	struct xr_row row = {.pid = pid, .serial = 1, .start_time = 7}, is;

	if (map < 0) {
		tap__skip("BPF is not allowed here", "rows");
		return;
	}
	tap__ok(!bpf_rows__insert(map, &row) && bpf_rows__insert(map, &row) == -EEXIST,
		"a process has one row");
	bpf_rows__lookup(map, pid, &is);
	is.heap_base = 1000; /* the sampler's */
	is.r_tid = 4712;
	bpf_map_update_elem(map, &pid, &is, BPF_EXIST);
	row.labels_at = 8;
	tap__ok(!bpf_rows__replace(map, &row) && !bpf_rows__lookup(map, pid, &is) &&
			is.labels_at == 8 && is.heap_base == 1000 && is.r_tid == 4712 &&
			is.revision == 1,
		"what the sampler found out stays, and the revision is another");
	row.serial = 2;
	tap__ok(bpf_rows__replace(map, &row) == -ESRCH && bpf_rows__holds(map, pid, 1),
		"that of another process is left alone");
	bpf_rows__remove(map, pid, 1);
	tap__ok(bpf_rows__replace(map, &row) == -ESRCH && !bpf_rows__holds(map, pid, 1),
		"one that is gone is not made again");
}
