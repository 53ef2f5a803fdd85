/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/collections.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "engine/bpf/perf_events.h"
#include "engine/bpf/places.h"
#include "os/linux/proc_maps.h"
#include "os/linux/rights.h"
#include "os/os.h"

#define SWEEP_MIN  64u /* processes watched, from which on it is looked which are still needed */
#define PROBED_MAX 64u /* files with R in them */
#define UNUSED_NS  NS_PER_S /* between two sweeps for unused ones */

/* A process, with the children that inherited from it. */
struct watched {
	struct perf_events *events;
	uint64_t at;
	bool used; /* by some row, in collections__sweep() */
};

/* A file with R in it. */
struct probed {
	uint64_t inode, offset;
	uint32_t dev_major, dev_minor;
	struct places places;
	bool used; /* by some row, in collections__sweep_probed() */
};

/* A process with a row, and where it has R_gc_internal(). */
struct collecting {
	uint32_t pid;
	uint64_t at;
};

struct collections {
	const struct event_name *event;
	int watch_fd, probe_fd, rows_fd;
	struct watched *watched;
	size_t n, room, sweep_at;
	struct probed probed[PROBED_MAX];
	size_t nprobed;
	uint64_t probed_at; /* ns, of the last sweep */
	bool blind;	    /* watchpoints can be set here, and see nothing */
};

/* Why there is no watchpoint. */
static const char *watch__reason(int err)
{
	switch (-err) {
	case ENOSPC:
		return "all watchpoints of the CPU are in use";
	case EOPNOTSUPP:
	case ENOENT:
	case ENODEV:
		return "this CPU or virtual machine has no watchpoints";
	default:
		return strerror(-err);
	}
}

int collections__ask(struct errmsg *value)
{
	int err = perf_events__prove_watch();

	if (!err)
		return errmsg__set(value, 0, "a watchpoint");
	if (places__can_probe())
		return errmsg__set(value, 0, "a probe in R's file; no watchpoint: %s",
				   watch__reason(err));
	return errmsg__set(value, -ENOENT, "no watchpoint: %s; no probes in files either",
			   watch__reason(err));
}

int collections__new(struct collections **out, const struct event_name *event, int watch_fd,
		     int probe_fd, int rows_fd, struct errmsg *f)
{
	struct collections *c;
	int err = perf_events__prove_watch();

	if (err && probe_fd < 0)
		return errmsg__set(f, -ENOENT,
				   "--event %s: cannot detect collections: no watchpoint (%s), and "
				   "no probes in files (`info` has the reason)",
				   event->text, watch__reason(err));
	c = calloc(1, sizeof(*c));
	if (!c)
		return errmsg__set(f, -ENOMEM, "out of memory");
	*c = (struct collections){
		.event = event,
		.watch_fd = watch_fd,
		.probe_fd = probe_fd,
		.rows_fd = rows_fd,
		.sweep_at = SWEEP_MIN,
		.blind = err == -ENODEV,
	};
	*out = c;
	return 0;
}

/* Mark those that a process with a row has, or may have: its R_in_gc is at the same address. */
static void collections__mark(struct collections *c)
{
	uint64_t raised = rights__raise(RIGHTS_EVENTS);
	uint32_t pid, *last = NULL;
	struct xr_row row;

	while (!bpf_map_get_next_key(c->rows_fd, last, &pid)) {
		last = &pid;
		if (bpf_map_lookup_elem(c->rows_fd, &pid, &row))
			continue;
		for (size_t i = 0; i < c->n; i++)
			c->watched[i].used |= c->watched[i].at == row.gc_at;
	}
	rights__lower(raised);
}

/*
 * Forget those that have ended or execute another program, with all that inherited from them: that
 * ends with the event.
 */
static void collections__sweep(struct collections *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++)
		c->watched[i].used = false;
	collections__mark(c);
	for (size_t i = 0; i < c->n; i++) {
		if (c->watched[i].used)
			c->watched[kept++] = c->watched[i];
		else
			perf_events__free(c->watched[i].events);
	}
	c->n = kept;
	c->sweep_at = kept * 2 > SWEEP_MIN ? kept * 2 : SWEEP_MIN;
}

static int collections__watch(struct collections *c, const struct xr_row *row, struct errmsg *f)
{
	struct perf_events *events = NULL;
	int err;

	if (c->n >= c->sweep_at)
		collections__sweep(c);
	if (array__room(&c->watched, c->n, &c->room, sizeof(*c->watched)))
		return errmsg__set(f, -ENOMEM, "out of memory");
	err = perf_events__try_watch((pid_t)row->pid, row->gc_at, row->gc_size);
	if (!err)
		err = perf_events__watch(&events, row->gc_at, row->gc_size, c->watch_fd, f);
	if (!err)
		err = perf_events__add_process(events, (pid_t)row->pid, f);
	if (err) {
		perf_events__free(events);
		return err;
	}
	c->watched[c->n++] = (struct watched){
		.events = events,
		.at = row->gc_at,
	};
	return 0;
}

/* The file that process @pid has at @at, R_gc_internal(), and where: with a mapping's path. */
static int collections__file(uint32_t pid, uint64_t at, struct probed *p, char *path, size_t size)
{
	struct proc_map map;
	uint64_t raised;
	FILE *maps;
	int err;

	snprintf(path, size, "/proc/%" PRIu32 "/maps", pid);
	raised = rights__raise(RIGHTS_TARGET);
	maps = fopen(path, "re");
	err = maps ? 0 : -errno;
	if (!err && !proc_maps__at(maps, at, &map))
		err = -ENOENT;
	if (maps)
		fclose(maps);
	rights__lower(raised);
	if (err)
		return err;
	*p = (struct probed){
		.inode = map.inode,
		.offset = at - map.start + map.offset,
		.dev_major = map.dev_major,
		.dev_minor = map.dev_minor,
	};
	snprintf(path, size, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid, map.start,
		 map.end);
	return 0;
}

static struct probed *collections__probed(struct collections *c, const struct probed *file)
{
	for (size_t i = 0; i < c->nprobed; i++) {
		struct probed *p = &c->probed[i];

		if (p->inode == file->inode && p->dev_major == file->dev_major &&
		    p->dev_minor == file->dev_minor && p->offset == file->offset)
			return p;
	}
	return NULL;
}

/* The processes with a row, and where each has R_gc_internal(); *@list is the caller's to free. */
static int collections__rows(const struct collections *c, struct collecting **list, size_t *n)
{
	uint64_t raised = rights__raise(RIGHTS_EVENTS);
	uint32_t pid, *last = NULL;
	size_t room = 0;
	struct xr_row row;
	int err = 0;

	*list = NULL;
	*n = 0;
	while (!err && !bpf_map_get_next_key(c->rows_fd, last, &pid)) {
		last = &pid;
		if (bpf_map_lookup_elem(c->rows_fd, &pid, &row) || !row.gc_begin)
			continue;
		err = array__room(list, *n, &room, sizeof(**list));
		if (!err)
			(*list)[(*n)++] = (struct collecting){pid, row.gc_begin};
	}
	rights__lower(raised);
	return err;
}

/* Remove the probes in files that no process with a row has: of an R that was replaced, say. */
static void collections__sweep_probed(struct collections *c)
{
	struct collecting *list;
	struct probed file, *p;
	size_t n, kept = 0;
	char path[96];
	int err = collections__rows(c, &list, &n);

	for (size_t i = 0; i < c->nprobed; i++)
		c->probed[i].used = false;
	for (size_t i = 0; i < n && !err; i++) {
		err = collections__file(list[i].pid, list[i].at, &file, path, sizeof(path));
		p = err ? NULL : collections__probed(c, &file);
		if (p)
			p->used = true;
		if (err == -ENOENT || err == -ESRCH) /* it has ended, or executes another program */
			err = 0;
	}
	free(list);
	for (size_t i = 0; i < c->nprobed; i++) {
		if (c->probed[i].used || err) /* not known: none is removed */
			c->probed[kept++] = c->probed[i];
		else
			places__close(&c->probed[i].places);
	}
	c->nprobed = kept;
	c->probed_at = os__now();
}

/* It waits for the mappings of all processes with that file, also for one in a page fault. */
static int collections__probe(struct collections *c, const struct xr_row *row)
{
	struct probed want, *p;
	char path[96];
	int err;

	if (c->probe_fd < 0 || !row->gc_begin)
		return -EOPNOTSUPP;
	err = collections__file(row->pid, row->gc_begin, &want, path, sizeof(path));
	if (err)
		return err;
	if (collections__probed(c, &want))
		return 0;
	if (c->nprobed == PROBED_MAX && os__now() - c->probed_at >= UNUSED_NS)
		collections__sweep_probed(c);
	if (c->nprobed == PROBED_MAX)
		return -E2BIG;
	p = &c->probed[c->nprobed];
	*p = want;
	err = places__probe(&p->places, path, p->offset, true, c->probe_fd);
	if (!err)
		err = places__probe(&p->places, path, p->offset, false, c->probe_fd);
	if (err)
		places__close(&p->places);
	else
		c->nprobed++;
	return err;
}

static bool row__counts(const struct xr_row *row)
{
	return row->small_at && row->large_at && row->nodes_at;
}

int collections__row(struct collections *c, const struct xr_row *old, const struct xr_row *row,
		     struct errmsg *f)
{
	int watch, probe;

	if (old && (!row__counts(row) || (row__counts(old) && old->gc_at == row->gc_at)))
		return 0;
	/* before it is known where R_in_gc is, any variable will do to see if there can be one */
	if (c->blind)
		watch = -ENODEV;
	else if (row__counts(row) && row->gc_at)
		watch = collections__watch(c, row, f);
	else
		watch = perf_events__try_watch((pid_t)row->pid, row->head_at, sizeof(uint64_t));
	if (!watch && (row->gc_at || !row__counts(row)))
		return 0;
	if (watch == -ESRCH)
		return errmsg__set(f, watch, "process %" PRIu32 " has ended", row->pid);
	if (watch == -ENOMEM)
		return errmsg__set(f, watch, "process %" PRIu32 ": --event %s: %s", row->pid,
				   c->event->text, strerror(-watch));
	probe = collections__probe(c, row);
	if (!probe)
		return 0;
	return errmsg__set(
		f, probe == -ESRCH ? probe : -ENOENT,
		"process %" PRIu32
		": cannot detect collections for --event %s: no watchpoint (%s), and no probe (%s)",
		row->pid, c->event->text, watch ? watch__reason(watch) : "R_in_gc was not found",
		probe == -EOPNOTSUPP ? "not possible here" : strerror(-probe));
}

void collections__stop(struct collections *c)
{
	for (size_t i = 0; i < c->n; i++)
		perf_events__stop(c->watched[i].events);
	for (size_t i = 0; i < c->nprobed; i++)
		places__close(&c->probed[i].places);
	c->nprobed = 0;
}

void collections__free(struct collections *c)
{
	if (!c)
		return;
	collections__stop(c);
	for (size_t i = 0; i < c->n; i++)
		perf_events__free(c->watched[i].events);
	free(c->watched);
	free(c);
}
