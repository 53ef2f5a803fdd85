/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Probes in files with R in them: their number is limited, and those that no process needs are
 * removed.  The source is included, and its calls of the kernel come here.
 */
#include <bpf/bpf.h>

#include "engine/bpf/places.h"
#include "os/os.h"
#include "tap.h"

static struct xr_row fake_row; /* the one there is; pid 0: none */
static uint64_t fake_now = 1000000000000;
static unsigned int fake_closed;

static int fake_next_key(int map, const void *last, void *key)
{
	if (last || !fake_row.pid)
		return -ENOENT;
	memcpy(key, &fake_row.pid, sizeof(fake_row.pid));
	return 0;
}

static int fake_lookup(int map, const void *key, void *row)
{
	memcpy(row, &fake_row, sizeof(fake_row));
	return 0;
}

static int fake_probe(struct places *p, const char *path, uint64_t offset, bool returns, int fd)
{
	return 0;
}

static void fake_close(struct places *p)
{
	fake_closed++;
}

static uint64_t fake_time(void)
{
	return fake_now;
}

#define bpf_map_get_next_key fake_next_key
#define bpf_map_lookup_elem  fake_lookup
#define places__probe	     fake_probe
#define places__close	     fake_close
#define os__now		     fake_time
/* the other tests of this room have the real ones */
#define collections__ask  fake__ask
#define collections__new  fake__new
#define collections__row  fake__row
#define collections__stop fake__stop
#define collections__free fake__free
#include "engine/bpf/collections.c" /* NOLINT(bugprone-suspicious-include) */

/* A row of this process with R's collector in the file that has @code. */
static struct xr_row row_of(const void *code)
{
	return (struct xr_row){.pid = (uint32_t)getpid(), .gc_begin = (uintptr_t)code};
}

TEST(probed)
{
	struct collections c = {.probe_fd = 1};
	const struct xr_row one = row_of((const void *)fake_close),
			    two = row_of((const void *)qsort);

	fake_row = one;
	tap__ok(!collections__probe(&c, &one) && c.nprobed == 1, "a file is probed");
	tap__ok(!collections__probe(&c, &one) && c.nprobed == 1, "once");
	while (c.nprobed < PROBED_MAX)
		c.probed[c.nprobed++] = (struct probed){.inode = c.nprobed + 1, .dev_major = 4095};
	tap__ok(!collections__probe(&c, &two) && c.nprobed == 2 && fake_closed == PROBED_MAX - 1,
		"if there are as many as may be, those that no process has are removed");
	tap__ok(!collections__probe(&c, &one) && c.nprobed == 2, "the one that is in use stays");
	while (c.nprobed < PROBED_MAX)
		c.probed[c.nprobed++] = (struct probed){.inode = c.nprobed + 1, .dev_major = 4095};
	fake_row.pid = 0;
	c.probed[1].inode++; /* not the one of `two` */
	tap__ok(collections__probe(&c, &two) == -E2BIG && c.nprobed == PROBED_MAX,
		"but they are not looked for again at once");
	fake_now += UNUSED_NS;
	tap__ok(!collections__probe(&c, &two) && c.nprobed == 1, "but later");
}
