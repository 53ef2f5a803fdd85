/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/rows.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "os/rights.h"

/*
 * Where only the privileged may use bpf(2), that holds for entries of maps, too, before Linux 5.19.
 */
int bpf_rows__lookup(int map, uint32_t pid, struct xr_row *row)
{
	uint64_t raised = rights__raise(RIGHTS_EVENTS);
	int err = bpf_map_lookup_elem(map, &pid, row);

	rights__lower(raised);
	return err;
}

static int rows__put(int map, const struct xr_row *row, uint64_t flags)
{
	uint64_t raised = rights__raise(RIGHTS_EVENTS);
	int err = bpf_map_update_elem(map, &row->pid, row, flags);

	rights__lower(raised);
	return err;
}

int bpf_rows__insert(int map, const struct xr_row *row)
{
	int err = rows__put(map, row, BPF_NOEXIST);
	struct xr_row old;

	if (err != -EEXIST)
		return err;
	if (!bpf_rows__lookup(map, row->pid, &old) && old.start_time == row->start_time)
		return -EEXIST;
	return rows__put(map, row, BPF_ANY);
}

/* What the sampler changes between look-up and put is lost: at worst, the bytes of one collection.
 */
int bpf_rows__replace(int map, const struct xr_row *row)
{
	struct xr_row new = *row, old;

	if (bpf_rows__lookup(map, row->pid, &old) || old.serial != row->serial)
		return -ESRCH;
	new.r_tid = old.r_tid;
	new.strikes = old.strikes;
	new.reduced = old.reduced;
	new.asked = old.asked;
	new.heap_base = old.heap_base;
	new.collected_at = old.collected_at;
	new.labels_value = old.labels_value;
	new.labels_stamp = old.labels_stamp;
	new.labels_hash = old.labels_hash;
	new.revision = old.revision + 1;
	/* never a new one: the process may just have become another program */
	return rows__put(map, &new, BPF_EXIST) ? -ESRCH : 0;
}

bool bpf_rows__holds(int map, uint32_t pid, uint32_t serial)
{
	struct xr_row row;

	return !bpf_rows__lookup(map, pid, &row) && row.serial == serial;
}

void bpf_rows__remove(int map, uint32_t pid, uint32_t serial)
{
	uint64_t raised;

	if (!bpf_rows__holds(map, pid, serial))
		return;
	raised = rights__raise(RIGHTS_EVENTS);
	bpf_map_delete_elem(map, &pid);
	rights__lower(raised);
}
