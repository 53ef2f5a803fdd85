/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "engine/bpf/open_waits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "engine/bpf/open_waits_read.h"
#include "os/os.h"
#include "os/rights.h"
#include "sampler.skel.h"

#define SILENT_NS (500 * NS_PER_MS) /* memory that has not been read by then does not respond */

/* Records lie one behind the other, aligned to 8.  The largest is a text. */
#define RECORD_ROOM(size) (((size_t)(size) + 7) & ~(size_t)7)
#define RECORD_MAX	  RECORD_ROOM(sizeof(struct xr_text) + XR_NAME_MAX)

_Static_assert(sizeof(struct xr_sample) + XR_CHUNK_SLOTS * sizeof(struct xr_slot) <= RECORD_MAX,
	       "room for a sample");

/* One call of open_waits__tell. */
struct telling {
	struct open_waits *o;
	struct sampler *skel;
	const struct bpf_slabs *slabs;
	uint64_t period, sample_ns, end;
	engine_sink sink;
	void *arg;
	struct open_wait *waits;
	size_t n, cap;
	size_t next;	/* which one the process is at */
	uint64_t heard; /* when it said something last, ns */
	int delivered;
};

static bool telling__mute(const struct telling *t, uint32_t tid, uint64_t since)
{
	bool mute = false;

	for (uint32_t i = 0; i < t->o->nmute; i++)
		mute = mute || (t->o->mute[i].tid == tid && t->o->mute[i].since == since);
	return mute;
}

/* Add thread @tid to those to be read, if it waits for long enough. */
static int telling__add(struct telling *t, uint32_t tid, uint64_t now)
{
	struct open_wait w = {.tid = tid};
	struct xr_wait_told told;

	if (bpf_map_lookup_elem(bpf_map__fd(t->skel->maps.waits), &tid, &w.wait) || !w.wait.since ||
	    telling__mute(t, tid, w.wait.since))
		return 0;
	w.from = w.wait.since;
	if (!bpf_map_lookup_elem(bpf_map__fd(t->skel->maps.waits_told), &tid, &told) &&
	    told.since == w.wait.since)
		w.from = told.until;
	if (w.from + t->period > now ||
	    bpf_map_lookup_elem(bpf_map__fd(t->skel->maps.rows), &w.wait.pid, &w.row) ||
	    !(w.row.flags & XR_ROW_OFF_CPU))
		return 0;
	if (array__room(&t->waits, t->n, &t->cap, sizeof(w)))
		return -ENOMEM;
	t->waits[t->n++] = w;
	return 0;
}

static int telling__list(struct telling *t)
{
	int fd = bpf_map__fd(t->skel->maps.waits), err = 0;
	uint32_t max = bpf_map__max_entries(t->skel->maps.waits), tid, *last = NULL;
	uint64_t now = os__now();

	for (uint32_t i = 0; i < max && !err && !bpf_map_get_next_key(fd, last, &tid); i++) {
		err = telling__add(t, tid, now);
		last = &tid;
	}
	return err;
}

/*
 * Wait @w counts up to @now, unless it is over.  The kernel's program is told before it is asked
 * whether it is: what is over in between it counts from @now on, so that nothing counts twice.
 */
static bool telling__holds(const struct telling *t, const struct open_wait *w, uint64_t now)
{
	struct xr_wait_told told = {.since = w->wait.since, .until = now};
	struct xr_wait is;

	t->skel->bss->any_told = true;
	if (bpf_map_update_elem(bpf_map__fd(t->skel->maps.waits_told), &w->tid, &told, BPF_ANY))
		return false;
	return !bpf_map_lookup_elem(bpf_map__fd(t->skel->maps.waits), &w->tid, &is) &&
	       is.since == w->wait.since;
}

/* The sample whose records were received. */
static void telling__deliver(struct telling *t, const struct open_wait *w, int result)
{
	uint64_t now = os__now(), *counts = t->o->counts;
	bool holds = telling__holds(t, w, now);
	struct buf *records = &t->o->records;
	size_t at = 0;

	if (!holds)
		result = 0;
	while (at < records->len) {
		struct xr_sample *s = (struct xr_sample *)(records->data + at);
		bool sample = s->head.type == XR_REC_SAMPLE;

		if (sample) {
			s->time = now;
			s->weight = now - w->from;
		}
		if (holds || !sample) { /* a text may be of use to the next one */
			t->sink(t->arg, s, s->head.size);
			t->delivered++;
		}
		at += RECORD_ROOM(s->head.size);
	}
	if (!holds)
		return;
	counts[XR_TICKS]++;
	counts[XR_WAITED_NS] += now - w->from;
	if (result < 0)
		counts[-result]++;
	else
		counts[XR_WRITTEN]++;
	if (result == -XR_NO_R_FRAMES && !(w->wait.flags & XR_F_PREEMPTED))
		counts[XR_WAITS_NONE_NS] += now - w->from;
	if (result > 0)
		counts[XR_TRUNCATED]++;
}

static int fd__read(int fd, void *to, size_t size)
{
	char *at = to;

	while (size) {
		ssize_t n = read(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EPIPE;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

/*
 * The next record of the process.  What it has begun to write it writes at once: it is the same
 * program, and only its reading of others may not end.
 */
static int telling__record(struct telling *t, int fd)
{
	struct open_wait_done done = {0};
	struct buf *records = &t->o->records;
	char record[RECORD_MAX] = {0};
	struct xr_head head;
	int err = fd__read(fd, &head, sizeof(head));

	if (err)
		return err;
	if (!head.type) {
		err = fd__read(fd, (char *)&done + sizeof(head), sizeof(done) - sizeof(head));
		if (err || done.index != t->next || done.result <= -XR_ERRORS)
			return err ? err : -EPROTO;
		telling__deliver(t, &t->waits[t->next++], done.result);
		records->len = 0;
		return 0;
	}
	if (head.size < sizeof(head) || head.size > sizeof(record))
		return -EPROTO;
	memcpy(record, &head, sizeof(head));
	err = fd__read(fd, record + sizeof(head), head.size - sizeof(head));
	return err ? err : buf__add(records, record, RECORD_ROOM(head.size));
}

/* Until all are read, time is up, or the process is at one that does not respond. */
static void telling__receive(struct telling *t, int fd)
{
	uint64_t now = t->heard = os__now();

	while (t->next < t->n) {
		struct pollfd pfd = {.fd = fd, .events = POLLIN};
		uint64_t until = t->heard + SILENT_NS < t->end ? t->heard + SILENT_NS : t->end;
		int got = now < until ? poll(&pfd, 1, (int)((until - now) / NS_PER_MS) + 1) : 0;

		if (got > 0 && telling__record(t, fd))
			return;
		now = os__now();
		if (got > 0)
			t->heard = now;
		else if (now >= until)
			return;
	}
}

static int telling__process(struct telling *t)
{
	const pid_t parent = getpid();
	uint64_t raised;
	int ends[2], err;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	t->o->records.len = 0;
	raised = rights__raise(RIGHTS_TARGET);
	pid = fork();
	err = pid < 0 ? -errno : 0;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_IGN);
		close(ends[0]);
		if (getppid() != parent) /* it ended before that was asked for */
			_exit(0);
		open_waits_read__all(t->waits, t->n, t->next, t->slabs, t->sample_ns, ends[1]);
		_exit(0);
	}
	rights__lower(raised);
	close(ends[1]);
	if (!err) {
		telling__receive(t, ends[0]);
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	return err;
}

/* The one at which the process is does not respond. */
static void telling__silence(struct telling *t)
{
	struct open_waits *o = t->o;
	const struct open_wait *w = &t->waits[t->next++];
	uint32_t at = o->nmute < OPEN_WAITS_MUTE ? o->nmute++ : (uint32_t)w->tid % OPEN_WAITS_MUTE;

	o->counts[XR_WAITS_UNREAD]++;
	o->mute[at].tid = w->tid;
	o->mute[at].since = w->wait.since;
}

int open_waits__tell(struct open_waits *o, struct sampler *s, const struct bpf_slabs *slabs,
		     uint64_t period, uint64_t sample_ns, uint64_t limit_ns, engine_sink sink,
		     void *arg)
{
	struct telling t = {
		.o = o,
		.skel = s,
		.slabs = slabs,
		.period = period,
		.sample_ns = sample_ns,
		.end = os__now() + limit_ns,
		.sink = sink,
		.arg = arg,
	};
	uint64_t raised = rights__raise(RIGHTS_EVENTS);
	int err = telling__list(&t);

	while (!err && t.next < t.n && os__now() < t.end) {
		err = telling__process(&t);
		if (!err && t.next < t.n && os__now() >= t.heard + SILENT_NS)
			telling__silence(&t);
	}
	rights__lower(raised);
	o->counts[XR_WAITS_UNREAD] += t.n - t.next - o->left;
	o->left = t.n - t.next;
	free(t.waits);
	return err ? err : t.delivered;
}

void open_waits__free(struct open_waits *o)
{
	buf__free(&o->records);
}
