/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Libraries that are asked about: some answer, some do not, and some cannot be read. */
#include <unistd.h>

#include "base/clock.h"
#include "os/proc.h"
#include "session/lifecycle.h"
#include "target/linux/answer_file.h"

#include "tap.h"

#define LIBRARIES 2u

static uint64_t words[XR_SLAB_WORDS], now = 100 * NS_PER_S;
static struct ask asked[32]; /* and not answered yet */
static size_t nasked;
static unsigned int updates, removes;
static struct xr_row updated; /* last */
static struct lifecycle l;
static struct process *p;

int __real_asker__ask(struct asker *a, const struct ask *q);
int __wrap_asker__ask(struct asker *a, const struct ask *q);
int __wrap_asker__ask(struct asker *a, const struct ask *q)
{
	if (a)
		return __real_asker__ask(a, q);
	memcpy(&asked[nasked++], q, ask__question(q->kind));
	return 0;
}

static int the_slab(struct engine *e, uint32_t slab, uint64_t **out)
{
	*out = words;
	return slab ? -E2BIG : 0;
}

static int update(struct engine *e, const struct xr_row *row)
{
	updates++;
	updated = *row;
	return 0;
}

static void remove_row(struct engine *e, uint32_t pid, uint32_t serial)
{
	removes++;
}

static void answer(struct ask a, int err, int fd)
{
	a.err = err;
	a.fd = fd;
	tap__bail_if(native__answered(&l, &a, now), "out of memory");
}

/* The answer to the first question: the first @n of the libraries /0.so and /1.so. */
static int mappings(uint32_t n)
{
	static const char texts[] = "/0.so\0/1.so";
	struct native_mapped maps[LIBRARIES] = {0};
	const struct native_maps_head head = {
		.magic = NATIVE_MAPS_MAGIC, .n = n, .texts = sizeof(texts)};
	const struct answer_part parts[] = {
		{&head, sizeof(head)}, {maps, n * sizeof(maps[0])}, {texts, sizeof(texts)}};

	for (uint32_t i = 0; i < LIBRARIES; i++)
		maps[i] = (struct native_mapped){.start = 4096 * (i + 1),
						 .end = 4096 * (i + 2),
						 .file.ino = i + 1,
						 .path = 6 * i};
	return answer_file__make(parts, COUNT(parts));
}

/* An answer about a library: it has the function f. */
static int library(void)
{
	const struct native_symbol f = {.pc = 16, .size = 16};
	const struct native_module_head head = {
		.magic = NATIVE_MODULE_MAGIC, .nsymbols = 1, .texts = 2};
	const struct answer_part parts[] = {{&head, sizeof(head)}, {&f, sizeof(f)}, {"f", 2}};

	return answer_file__make(parts, COUNT(parts));
}

/* What frames in both libraries are called, as "MODULE NAME MODULE NAME". */
static void are_called(const char *wanted, const char *what)
{
	for (uint64_t i = 1; i <= LIBRARIES; i++) {
		const struct xr_slot slot = {.word = (uint64_t)XR_FORM_NATIVE << XR_FORM_SHIFT | 20,
					     .more = i << 32};
		struct native_told told = {0};

		tap__bail_if(XR_NATIVE_MODULE(slot.more) != i, "not module %d", (int)i);
		records__native(&l, &slot, &told);
		tap__say("%s%s %s", i > 1 ? " " : "", told.module ? told.module : "-",
			 told.name ? told.name : "-");
	}
	tap__said(wanted, "%s", what);
}

BEFORE()
{
	static const struct engine_ops ops = {
		.slab = the_slab, .update = update, .remove = remove_row};
	static const struct session_config config = {.capture = XR_ROW_NATIVE};

	l = (struct lifecycle){.config = &config, .ops = &ops};
	natives__open(&l.natives, &ops, NULL, XR_ROW_NATIVE, 0, &config.notes);
	p = processes__add(&l.processes, 0, 1);
	p->state = PROCESS_SAMPLED;
	native__look(&l, p, now);
	answer(asked[0], 0, mappings(LIBRARIES));
	tap__bail_if(nasked != 1 + LIBRARIES || asked[1].at != 4096 || asked[1].file.ino != 1 ||
			     asked[2].at != 8192 || asked[2].file.ino != 2,
		     "not both are asked about");
	nasked = 0;
}

AFTER()
{
	native__forget(&l.natives, p, now);
	processes__remove(&l.processes, p);
	natives__close(&l.natives);
}

TEST(silent)
{
	const struct ask first = asked[1], second = asked[2];

	answer(first, -ETIMEDOUT, -1);
	answer(second, 0, library());
	are_called("/0.so - /1.so f", "one that does not answer: only the other one's are named");
	tap__ok(!nasked && !updates, "it is not asked at once");
	for (uint64_t wait = 1; wait < 60; wait *= 2) {
		tap__ok(native__due(&l.natives, p) == now + wait * NS_PER_S, "but in %d s",
			(int)wait);
		now = native__due(&l.natives, p);
		native__look(&l, p, now);
		tap__ok(nasked == 1 && asked[0].at == first.at, "it is");
		nasked = 0;
		answer(first, wait & 0x15 ? -EBUSY : -ETIMEDOUT, -1);
	}
	answer(first, 0, library());
	are_called("/0.so f /1.so f", "it answers");
	tap__ok(updates == 1 && p->native.space, "the sampler gets both");
}

/* The record of a fork of `p` comes: its child, which has this process' pid. */
static struct process *fork_of_it(void)
{
	const struct xr_process fork = {.event = XR_PROCESS_FORK,
					.serial = 0x80000001,
					.pid = (uint32_t)getpid(),
					.parent_serial = p->serial};

	records__process(&l, &fork);
	return processes__find(&l.processes, fork.serial);
}

/* A child has another start than its parent: by that the sampler knows it. */
TEST(forked)
{
	struct process *child;

	answer(asked[1], 0, library());
	answer(asked[2], 0, library());
	p->mine = true;
	updates = 0;
	child = fork_of_it();
	tap__bail_if(!child || child->native.space != p->native.space, "the fork made no child");
	tap__ok(updates == 1 && updated.pid == (uint32_t)getpid() && updated.space_stamp &&
			updated.space_stamp == p->target.row.space_stamp,
		"what its parent got after the fork is in its row");
	updates = 0;
	native__look(&l, child, now);
	answer(asked[0], 0, mappings(LIBRARIES));
	tap__ok(updates == 1 && updated.space_stamp == p->target.row.space_stamp,
		"a child has mapped the same: its row leads to where its parent's leads now");
	updates = 0;
	nasked = 0;
	native__look(&l, child, now);
	answer(asked[0], 0, mappings(1));
	tap__ok(updates == 1 && updated.pid == (uint32_t)getpid(), "then something else");
	tap__ok(updated.start_time && updated.start_time == proc__start_time(getpid()),
		"its row has its own start");
	native__forget(&l.natives, child, now);
	processes__remove(&l.processes, child);
}

/* A process that may not be looked at has forked before its row was taken away. */
TEST(refused)
{
	struct process *child;

	p->mine = p->refused = true;
	child = fork_of_it();
	tap__ok(child && child->refused && child->state == PROCESS_ENDED && removes == 1,
		"its child is not looked at either");
	processes__remove(&l.processes, child);
}

TEST(unreadable)
{
	const struct ask first = asked[1];

	answer(asked[2], 0, library());
	for (int i = 0; i < 3; i++) {
		tap__ok(!updates && (!i || nasked == 1), "it is asked about");
		nasked = 0;
		answer(first, i ? -EACCES : -ENOMEM, -1);
	}
	tap__ok(!nasked && updates == 1 && p->native.space, "three times: the sampler gets both");
	are_called("/0.so - /1.so f", "frames in it have its name");
}

/* One is unloaded: a sample that began before still has the row that leads to the old space. */
TEST(unloaded)
{
	const struct ask first = asked[1], second = asked[2];
	uint64_t *old;
	uint32_t stamp;

	answer(first, 0, library());
	answer(second, 0, library());
	old = &words[p->target.row.space_first];
	stamp = p->target.row.space_stamp;
	native__look(&l, p, now);
	answer(asked[0], 0, mappings(1));
	tap__ok(updates == 2 && p->target.row.space_stamp != stamp, "the sampler gets the new one");
	tap__ok(stamp && (uint32_t)*old == stamp, "what it began with is there to its end");
	natives__tend(&l.natives, now + NS_PER_S - 1);
	tap__ok((uint32_t)*old == stamp, "as long as it may take");
	natives__tend(&l.natives, now + NS_PER_S);
	tap__ok(!(uint32_t)*old, "then it is gone");
}

/* That a process has ended, or has unloaded it, says nothing of the file. */
TEST(gone)
{
	struct ask of_other = asked[1];

	answer(asked[2], 0, library());
	of_other.tag = of_other.tag >> 32 << 32 | (p->serial + 1);
	for (int i = 0; i < 4; i++) {
		nasked = 0;
		answer(of_other, -ESRCH, -1);
		tap__ok(nasked == 1 && asked[0].at == 4096 && !updates,
			"one that was asked has ended: another is");
	}
	nasked = 0;
	answer(asked[0], -ESRCH, -1);
	tap__ok(!nasked && !updates, "it is unloaded there: it is not asked about again");
	now = native__due(&l.natives, p);
	native__look(&l, p, now);
	tap__ok(nasked == 1 && asked[0].kind == ASK_MAPS, "but what is mapped now");
}

/* What cannot be understood may have changed while it was read: it is read again. */
TEST(damaged)
{
	native__forget(&l.natives, p, now);
	native__look(&l, p, now);
	answer(asked[0], 0, library());
	tap__ok(native__due(&l.natives, p) == now + NS_PER_S, "a second later");
}
