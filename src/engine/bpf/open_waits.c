/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "engine/bpf/open_waits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "engine/remote/linux/thread.h"
#include "engine/remote/remote_walk.h"
#include "os/linux/helper.h"
#include "os/os.h"
#include "os/proc.h"
#include "os/rights.h"
#include "sampler.skel.h"

#define SILENT_NS   (500 * NS_PER_MS) /* memory that has not been read by then does not respond */
#define RECORDS_MAX (16u << 20)	      /* bytes of one sample */
#define KEYS	    64u		      /* by which R's thread is found */

/* Records lie one behind the other, aligned to 8.  The largest is a text. */
#define RECORD_ROOM(size) (((size_t)(size) + 7) & ~(size_t)7)
#define RECORD_MAX	  RECORD_ROOM(sizeof(struct xr_text) + XR_NAME_MAX)

_Static_assert(sizeof(struct xr_sample) + XR_CHUNK_SLOTS * sizeof(struct xr_slot) <= RECORD_MAX,
	       "room for a sample");

/*
 * To the helper.  With a descriptor it is slab @slab, and nothing is answered.  Else read @wait,
 * which may hold up a process that runs for @sample_ns.
 */
struct open_wait_question {
	uint32_t slab;
	uint64_t sample_ns;
	struct open_wait wait;
};

/*
 * From the helper, after the records of the sample, which are one message each, of weight 1 and
 * with time 0.
 */
struct open_wait_done {
	struct xr_head head; /* type 0 */
	int32_t result;	     /* as remote_walk__finish() */
};

/* --- the helper process --- */

/* It reads the stacks: reading the memory of another process may never end (userfaultfd). */
struct answering {
	struct remote_native *native; /* NULL: no memory for it */
	uint64_t sample_ns;
	int to, err;
};

static void on_record(void *arg, const void *record, size_t size)
{
	struct answering *r = arg;

	if (!r->err)
		r->err = helper__send(r->to, record, size, -1, 0);
}

/* As task__syscall() of bpf/task.h: fs/proc/base.c, proc_pid_syscall(). */
static uint16_t thread__syscall(uint32_t pid, uint32_t tid)
{
	char name[64], text[128];
	long nr = -1;

	snprintf(name, sizeof(name), "task/%u/syscall", tid);
	if (proc__text((pid_t)pid, name, text, sizeof(text)) <= 0 || sscanf(text, "%ld", &nr) != 1)
		nr = -1;
	return nr >= 0 && nr < (long)XR_SYSCALLS_MAX ? (uint16_t)(nr + 1) : 0;
}

/* Is it R's thread?  As sample__is_r() of bpf/sample.h. */
static bool wait__is_r(const struct open_wait *w, struct remote_thread *t,
		       const struct remote_walk *rw)
{
	uint64_t keys[KEYS];

	if (remote_walk__elsewhere(rw))
		remote_thread__prove(t, keys, remote_walk__keys(rw, keys, KEYS));
	if (!t->proven && w->row.r_tid)
		return w->row.r_tid == w->tid;
	return (uint32_t)t->tid == w->tid;
}

/* Where it is the kernel says; the other registers are not known, and mostly not needed. */
static void wait__native(struct answering *r, const struct open_wait *w, struct remote_walk *rw)
{
	struct remote_thread t = {.pid = (pid_t)w->row.pid, .tid = (pid_t)w->tid};
	struct remote_regs regs = {.pc_mask = remote_thread__pc_mask()};
	struct proc proc;

	if (!(w->row.flags & XR_ROW_NATIVE) || !w->row.space_stamp)
		return;
	if (r->native && w->tid == w->row.pid && !remote_thread__waits(&t, &regs.pc, &regs.sp) &&
	    !proc__read(t.pid, &proc) && proc.stack) {
		regs.top = proc.stack;
		remote_walk__finish_native(rw, r->native, &regs);
	}
	if (!remote_walk__native(rw))
		remote_walk__no_native(rw);
}

static int wait__read(struct answering *r, const struct open_wait *w)
{
	struct mem_reader reader = proc__reader((pid_t)w->row.pid);
	struct xr_sample like = {
		.weight = 1,
		.unit = XR_UNIT_NS,
		.event = XR_EVENT_SWITCH,
		.flags = w->wait.flags | XR_F_KERNEL,
		.pid = w->row.pid,
		.tid = w->tid,
	};
	struct remote_state state;
	struct remote_thread t;
	struct remote_walk *rw = NULL;
	int result;

	if (remote_thread__open(&t, (pid_t)w->row.pid))
		return -XR_EXITING;
	result = remote_thread__look(&t, &state) ? -XR_EXITING : 0;
	if (result)
		goto cleanup;
	result = remote_walk__new(&rw, &w->row, &reader, os__now) ? -XR_LOST : 0;
	if (result)
		goto cleanup;
	remote_walk__limit(rw, r->sample_ns);
	remote_walk__sink(rw, on_record, r);
	remote_walk__stack(rw, t.low, t.high);
	result = remote_walk__ahead(rw);
	if (result >= 0 && !wait__is_r(w, &t, rw)) {
		like.flags |= XR_F_OTHER_THREAD;
		result = w->row.flags & XR_ROW_IDLE ? 0 : -XR_NO_R_FRAMES;
	} else if (result >= 0) {
		wait__native(r, w, rw);
		result = remote_walk__finish(rw);
		if (result == -XR_NO_R_FRAMES && w->row.flags & XR_ROW_IDLE)
			result = 0;
	}
	if (result >= 0) {
		if (result > 0)
			like.flags |= XR_F_TRUNCATED;
		like.detail = thread__syscall(w->row.pid, w->tid);
		remote_walk__send(rw, &like);
	}

cleanup:
	remote_walk__free(rw);
	remote_thread__close(&t);
	return result;
}

static void answering__slab(struct answering *r, uint32_t slab, int fd)
{
	uint64_t *words = r->native ? bpf_slabs__map(fd) : NULL;

	if (words)
		remote_native__lend(r->native, slab, words);
	close(fd);
}

static void open_waits_read__run(int fd, const void *arg)
{
	struct open_wait_done done = {.head = {.size = sizeof(done)}};
	struct answering r = {.to = fd};
	struct open_wait_question q;
	int slab;

	(void)arg;
	remote_native__new(&r.native);
	rights__raise(RIGHTS_TARGET);
	while (!r.err && helper__receive(fd, &q, sizeof(q), &slab, 0) == sizeof(q)) {
		if (slab >= 0) {
			answering__slab(&r, q.slab, slab);
			continue;
		}
		r.sample_ns = q.sample_ns;
		done.result = wait__read(&r, &q.wait);
		on_record(&r, &done, sizeof(done));
	}
	remote_native__free(r.native);
}

static const struct helper_job open_waits_read__job = {
	.name = "xrprof-waits",
	.flags = HELPER_LIMITED,
	.rights = RIGHTS_TARGET,
	.run = open_waits_read__run,
};

/* --- which waits are to be read --- */

/* One call of open_waits__read. */
struct reading {
	struct open_waits *o;
	struct sampler *skel;
	const struct bpf_slabs *slabs;
	uint64_t period, sample_ns, end;
	engine_sink sink;
	void *arg;
	struct open_wait *waits;
	size_t n, cap;
	size_t next; /* which one the helper is at */
	int delivered;
};

static bool reading__is_silent(const struct reading *r, uint32_t tid, uint64_t since)
{
	bool silent = false;

	for (uint32_t i = 0; i < r->o->nsilent; i++)
		silent = silent || (r->o->silent[i].tid == tid && r->o->silent[i].since == since);
	return silent;
}

/* Add thread @tid to those to be read, if it waits for long enough. */
static int reading__add(struct reading *r, uint32_t tid, uint64_t now)
{
	struct open_wait w = {.tid = tid};
	struct xr_wait_told told;

	if (bpf_map_lookup_elem(bpf_map__fd(r->skel->maps.waits), &tid, &w.wait) || !w.wait.since ||
	    reading__is_silent(r, tid, w.wait.since))
		return 0;
	w.from = w.wait.since;
	if (!bpf_map_lookup_elem(bpf_map__fd(r->skel->maps.waits_told), &tid, &told) &&
	    told.since == w.wait.since)
		w.from = told.until;
	if (w.from + r->period > now ||
	    bpf_map_lookup_elem(bpf_map__fd(r->skel->maps.rows), &w.wait.pid, &w.row) ||
	    !(w.row.flags & XR_ROW_OFF_CPU))
		return 0;
	if (array__room(&r->waits, r->n, &r->cap, sizeof(w)))
		return -ENOMEM;
	r->waits[r->n++] = w;
	return 0;
}

static int reading__list(struct reading *r)
{
	int fd = bpf_map__fd(r->skel->maps.waits), err = 0;
	uint32_t max = bpf_map__max_entries(r->skel->maps.waits), tid, *last = NULL;
	uint64_t now = os__now();

	for (uint32_t i = 0; i < max && !err && !bpf_map_get_next_key(fd, last, &tid); i++) {
		err = reading__add(r, tid, now);
		last = &tid;
	}
	return err;
}

bool open_wait__counts(int waits, int told, const struct open_wait *w, uint64_t now)
{
	struct xr_wait_told entry;
	struct xr_wait is;
	bool used;

	/* a list begins again if the thread listed last ends meanwhile: this one was in it twice */
	if (!bpf_map_lookup_elem(told, &w->tid, &entry) && entry.since == w->wait.since &&
	    entry.until != w->from)
		return false;
	entry = (struct xr_wait_told){.since = w->wait.since, .until = now};
	if (bpf_map_update_elem(told, &w->tid, &entry, BPF_ANY))
		return false;
	if (!bpf_map_lookup_elem(waits, &w->tid, &is) && is.since == w->wait.since)
		return true;
	used = !bpf_map_lookup_elem(told, &w->tid, &entry) && !entry.since;
	bpf_map_delete_elem(told, &w->tid); /* the thread may have ended before it was made */
	return used;
}

/* The sample whose records were received. */
static void reading__deliver(struct reading *r, const struct open_wait *w, int result)
{
	uint64_t now = os__now(), *counts = r->o->counts;
	bool counted;
	struct buf *records = &r->o->records;
	size_t at = 0;

	r->skel->bss->any_told = true;
	counted = open_wait__counts(bpf_map__fd(r->skel->maps.waits),
				    bpf_map__fd(r->skel->maps.waits_told), w, now);
	if (!counted)
		result = 0;
	while (at < records->len) {
		struct xr_sample *s = (struct xr_sample *)(records->data + at);
		bool sample = s->head.type == XR_REC_SAMPLE;

		if (sample) {
			s->time = now;
			s->weight = now - w->from;
		}
		if (counted || !sample) { /* another sample may use a text */
			r->sink(r->arg, s, s->head.size);
			r->delivered++;
		}
		at += RECORD_ROOM(s->head.size);
	}
	if (!counted)
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

/* --- the helper --- */

static void reader__drop(struct open_waits *o)
{
	if (o->fd < 0)
		return;
	helper_pool__kill(o->pool, o->id);
	close(o->fd);
	o->fd = -1;
}

/* The next message, if one comes until @until: its length; 0: the helper has ended; -ETIMEDOUT. */
static ssize_t reader__next(const struct open_waits *o, void *to, size_t size, uint64_t until)
{
	struct pollfd pfd = {.fd = o->fd, .events = POLLIN};
	uint64_t now;
	int got;

	do {
		now = os__now();
		if (now >= until)
			return -ETIMEDOUT;
		got = poll(&pfd, 1, (int)((until - now) / NS_PER_MS) + 1);
	} while (got < 0 && errno == EINTR);
	return got > 0 ? helper__receive(o->fd, to, size, NULL, MSG_DONTWAIT) : -ETIMEDOUT;
}

/* Have a helper that waits for questions.  -ETIMEDOUT: it has not begun yet. */
static int reader__ready(struct reading *r)
{
	struct open_waits *o = r->o;
	struct pollfd pfd = {.fd = o->fd, .events = POLLIN};
	struct helper_hello hello;
	ssize_t n = 0;

	/* it sends nothing unasked: it has ended */
	if (o->fd >= 0 && o->greeted && poll(&pfd, 1, 0) > 0)
		reader__drop(o);
	if (o->fd < 0) {
		memset(o->has_slab, 0, sizeof(o->has_slab));
		o->greeted = false;
		o->fd = helper_pool__start(o->pool, &open_waits_read__job, &o->id);
		if (o->fd < 0)
			return o->fd;
	}
	if (!o->greeted) {
		n = reader__next(o, &hello, sizeof(hello), r->end);
		o->greeted = n == sizeof(hello);
	}
	if (o->greeted || n == -ETIMEDOUT)
		return o->greeted ? 0 : -ETIMEDOUT;
	reader__drop(o); /* it could not be forked */
	return -EAGAIN;
}

static int reader__ask(struct reading *r, const struct open_wait *w)
{
	struct open_wait_question q = {.sample_ns = r->sample_ns, .wait = *w};
	struct open_waits *o = r->o;

	for (uint32_t i = 0; i < BPF_SLABS_MAX; i++) {
		if (o->has_slab[i] || !r->slabs->shared || !r->slabs->words[i])
			continue;
		q.slab = i;
		o->has_slab[i] =
			!helper__send(o->fd, &q, sizeof(q), r->slabs->fds[i], MSG_DONTWAIT);
	}
	return helper__send(o->fd, &q, sizeof(q), -1, MSG_DONTWAIT);
}

/* The records of a sample, and its result.  -ETIMEDOUT, -EPROTO: the helper is of no more use. */
static int reader__answer(struct reading *r, int *result)
{
	struct buf *records = &r->o->records;
	char message[RECORD_MAX] __attribute__((aligned(8)));
	struct open_wait_done done;
	struct xr_head head;
	int err = 0;

	records->len = 0;
	while (!err) {
		const uint64_t silent = os__now() + SILENT_NS;
		ssize_t n = reader__next(r->o, message, sizeof(message),
					 silent < r->end ? silent : r->end);

		if (n < (ssize_t)sizeof(head))
			return n == -ETIMEDOUT ? -ETIMEDOUT : -EPROTO;
		memcpy(&head, message, sizeof(head));
		if (head.size != n || records->len > RECORDS_MAX ||
		    (head.type == XR_REC_SAMPLE && head.size < sizeof(struct xr_sample)))
			return -EPROTO;
		if (!head.type && head.size == sizeof(done)) {
			memcpy(&done, message, sizeof(done));
			*result = done.result;
			return done.result > -XR_ERRORS ? 0 : -EPROTO;
		}
		memset(message + n, 0, RECORD_ROOM(n) - (size_t)n);
		err = buf__add(records, message, RECORD_ROOM(n));
	}
	return err;
}

/* The memory of @w does not respond, or reading it ends the helper. */
static void reading__silent(struct reading *r, const struct open_wait *w)
{
	struct open_waits *o = r->o;
	uint32_t at = o->nsilent < OPEN_WAITS_SILENT ? o->nsilent++ : w->tid % OPEN_WAITS_SILENT;

	o->counts[XR_WAITS_UNREAD]++;
	o->silent[at].tid = w->tid;
	o->silent[at].since = w->wait.since;
}

static int reading__next(struct reading *r)
{
	const struct open_wait *w = &r->waits[r->next];
	int result = 0, err = reader__ready(r);

	err = err ? err : reader__ask(r, w);
	if (err)
		return err == -ETIMEDOUT ? 0 : err;
	err = reader__answer(r, &result);
	if (!err)
		reading__deliver(r, w, result);
	else
		reader__drop(r->o);
	if (err == -ETIMEDOUT && os__now() >= r->end)
		return 0; /* there is no time left */
	r->next++;
	if (err)
		reading__silent(r, w);
	return 0;
}

/* --- what the engine calls --- */

void open_waits__init(struct open_waits *o, struct helper_pool *pool)
{
	*o = (struct open_waits){.pool = pool, .fd = -1};
}

int open_waits__read(struct open_waits *o, struct sampler *s, const struct bpf_slabs *slabs,
		     uint64_t period, uint64_t sample_ns, uint64_t limit_ns, engine_sink sink,
		     void *arg)
{
	struct reading r = {
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
	int err = reading__list(&r);

	while (!err && r.next < r.n && os__now() < r.end)
		err = reading__next(&r);
	rights__lower(raised);
	o->counts[XR_WAITS_UNREAD] += r.n - r.next - o->left;
	o->left = r.n - r.next;
	free(r.waits);
	return err ? err : r.delivered;
}

void open_waits__free(struct open_waits *o)
{
	reader__drop(o);
	buf__free(&o->records);
}
