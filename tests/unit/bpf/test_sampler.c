/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF programs on made-up tasks: which are sampled, how often, and what is sent. */
#include "abi.h"
#include "r_image.h"
#include "sampler.h"
#include "tap.h"
#include "target/layouts.h"

#define PID	 4711
#define TICK_NS	 10000000ull /* USER_HZ */
#define SECOND	 1000000000ull
#define PERIOD	 10101010ull /* of waits */
#define DEPTH	 300	     /* more than a part has */
#define APART_NS 50000	     /* between two collections that are samples */
#define CPU_BITS 3	     /* of the number of a CPU */

static struct image image;
static struct kernel_task r = {
	.pid = PID, .tid = PID, .start_ns = 50 * TICK_NS + 3, .threads = 1, .syscall = 6};
static struct kernel_task idle = {.start_ns = 1, .threads = 1};

static int read_image(void *arg, void *to, __u32 len, __u64 addr)
{
	return image__read(arg, to, len, addr);
}

static int read_nothing(void *arg, void *to, __u32 len, __u64 addr)
{
	return -EFAULT;
}

/* R with @flags, which executes calls that @depth deep. */
static void begin(uint32_t flags, unsigned int depth)
{
	struct xr_row row;
	uint64_t f;

	image__free(&image);
	image__init(&image, layouts__last(LAYOUTS_X86_64_LINUX), 1 << 20, 1 << 20);
	f = image__symbol(&image, "f");
	image__push(&image, 0, image.nil, 0);
	while (depth--)
		image__push(&image, R_CTXT_FUNCTION, image__call(&image, f, 0, 0), 0);
	row = image__row(&image);
	row.flags = flags;
	row.start_time = r.start_ns / TICK_NS;
	row.serial = 7;
	kernel.read = read_image;
	kernel.arg = &image;
	kernel.now = 100 * SECOND;
	r.sp = IMAGE_STACK_AT + image.stack_size - image.stack_used;
	r.top = IMAGE_STACK_AT + image.stack_size;
	r.state = flags & XR_ROW_OFF_CPU ? 1 : 0; /* it sleeps when it leaves its CPU */
	kernel__put(&row);
	kernel__runs(&r);
}

/* A tick of @t, as it is now. */
static void tick(struct kernel_task *t)
{
	kernel__runs(t);
	kernel__tick();
}

/* The next record of @type; NULL: there is none. */
static const void *record(uint32_t type)
{
	const struct xr_head *head;

	while ((head = kernel__record()))
		if (head->type == type)
			return head;
	return NULL;
}

/* The next sample; it is bailed out if there is none. */
static const struct xr_sample *sample(void)
{
	const struct xr_sample *s = record(XR_REC_SAMPLE);

	if (!s)
		tap__bail("no sample");
	return s;
}

/* Did each of @ticks ticks come to one end? */
static void conserved(uint64_t ticks)
{
	uint64_t ends = 0;

	for (uint32_t i = 0; i < XR_ERRORS; i++)
		ends += kernel__count(i);
	tap__ok(kernel__count(XR_TICKS) == ticks && ends == ticks, "%d ticks, and %d ends",
		(int)kernel__count(XR_TICKS), (int)ends);
}

TEST(tick)
{
	const struct xr_sample *s;

	begin(0, 2);
	kernel__tick();
	s = sample();
	tap__ok(s->nslots == 2 && s->weight == 1 && s->serial == 7 && s->pid == PID &&
			s->time == kernel.now && !s->flags,
		"a tick of R is a sample with its calls");
	tick(&idle);
	tap__ok(!record(XR_REC_SAMPLE), "a tick of another process makes no sample");
	/* a pid is used again: the row is of the process that started then */
	r.start_ns += TICK_NS;
	tick(&r);
	tap__ok(!record(XR_REC_SAMPLE), "nor of one with its pid that started later");
	r.start_ns -= 2 * TICK_NS;
	tick(&r);
	tap__ok(!record(XR_REC_SAMPLE), "or earlier");
	conserved(1);
}

/* What samples took: all of the time from the first look at the clock to the last. */
TEST(spent)
{
	uint64_t before, one;

	begin(0, DEPTH);
	before = kernel.now;
	kernel.pace = 1000;
	kernel__tick();
	one = kernel__count(XR_SPENT_NS);
	tap__ok(one == kernel.now - before - kernel.pace, "a sample took %d of %d ns", (int)one,
		(int)(kernel.now - before));
	kernel.room = 0;
	kernel__tick();
	kernel.pace = 0;
	tap__ok(kernel__count(XR_SPENT_NS) > one, "one that did not fit is counted, too");
}

TEST(fork)
{
	struct kernel_task child = r;
	const struct xr_process *p;
	const struct xr_sample *s;
	uint32_t before;

	begin(XR_ROW_FOLLOW, 2);
	cfg_cpu_bits = CPU_BITS;
	kernel__row(PID)->r_tid = PID;
	child.pid = child.tid = PID + 1;
	child.start_ns += 7 * TICK_NS;
	kernel__fork(&child);
	p = record(XR_REC_PROCESS);
	tap__ok(p && p->event == XR_PROCESS_FORK && p->pid == PID + 1 && p->parent_serial == 7 &&
			p->parent_pid == PID && p->serial & 0x80000000u,
		"a fork is a record");
	tick(&child);
	s = sample();
	tap__ok(s->serial == p->serial && s->pid == PID + 1 && s->nslots == 2,
		"the child is sampled from its first instruction");
	tap__ok(!kernel__row(PID + 1)->r_tid && kernel__row(PID)->r_tid == PID,
		"which is R's thread is to be found out again");
	conserved(1);

	before = p->serial;
	child.pid = child.tid = PID + 3;
	kernel__runs(&r);
	kernel__fork(&child);
	p = record(XR_REC_PROCESS);
	tap__ok(p && p->serial == before + (1u << CPU_BITS),
		"a CPU's number takes as many bits of a serial number as CPUs need");

	child.pid = child.tid = PID + 2;
	kernel__row(PID)->flags = 0;
	kernel__fork(&child);
	tap__ok(!record(XR_REC_PROCESS) && !kernel__row(PID + 2), "not where that is not wanted");
}

TEST(gone)
{
	for (int exits = 0; exits < 2; exits++) {
		const char *name = exits ? "exit" : "exec";
		const struct xr_process *p;

		r.exiting = exits;
		begin(0, 2);
		kernel__gone(exits);
		p = record(XR_REC_PROCESS);
		tap__ok(p && p->event == (exits ? XR_PROCESS_EXIT : XR_PROCESS_EXEC) &&
				p->serial == 7 && !kernel__row(PID),
			"%s: no row", name);
		kernel__tick();
		tap__ok(!record(XR_REC_SAMPLE), "%s: no sample", name);
	}
}

/* One that ends has a row until all of its threads have. */
TEST(exiting)
{
	begin(0, 2);
	r.exiting = true;
	r.threads = 3;
	tick(&r);
	tap__ok(!record(XR_REC_SAMPLE) && kernel__count(XR_EXITING) == 1, "it is counted as that");
	kernel__gone(true);
	tap__ok(kernel__row(PID), "others of its threads are sampled");

	r.exiting = false;
	r.no_memory = true;
	tick(&r);
	tap__ok(!record(XR_REC_SAMPLE) && kernel__count(XR_EXITING) == 2,
		"so is one without memory");
	r.no_memory = false;
	r.in_exec = true;
	tick(&r);
	tap__ok(sample()->nslots == 2, "one that begins to execute another program is sampled");
	kernel.read = read_nothing;
	kernel__tick();
	tap__ok(kernel__count(XR_EXITING) == 3, "until it has other memory");
	r.in_exec = false;
	tick(&r);
	tap__ok(kernel__count(XR_BAD_HEAD) == 1, "memory of others that cannot be read is that");
	conserved(5);
}

/* A long stack comes in parts, in order. */
TEST(parts)
{
	const struct xr_sample *s;
	uint32_t part = 0, slots = 0;
	bool order = true;

	begin(0, DEPTH);
	kernel__tick();
	do {
		s = sample();
		order = order && s->part == part++;
		slots += s->nslots;
	} while (s->flags & XR_F_MORE);
	tap__ok(order && part == 2 && slots == DEPTH, "%d calls in %d parts", (int)slots,
		(int)part);
	conserved(1);
}

/* The ring is full: a text counts as sent when it is there.  Samples are taken at all levels. */
TEST(lost)
{
	const struct xr_text *text;

	begin(0, 2);
	kernel.room = 0;
	kernel__tick();
	tap__ok(!kernel__record() && kernel__count(XR_LOST) == 1, "a full ring: a lost sample");
	kernel.room = sizeof(*text) + 1;
	kernel__tick();
	text = record(XR_REC_TEXT);
	tap__ok(text && text->len == 1 && text->text[0] == 'f' && kernel__count(XR_LOST) == 2,
		"the name is sent then, though not the sample");
	kernel.room = 1 << 16;
	kernel__tick();
	tap__ok(!record(XR_REC_TEXT), "and not again");
	kernel__busy(true);
	kernel__tick();
	tap__ok(!record(XR_REC_SAMPLE) && kernel__count(XR_LOST) == 3, "no level is free: lost");
	kernel__busy(false);
	kernel__row(PID)->strikes = 28; /* as many as there are */
	kernel__row(PID)->reduced = 5;
	kernel__tick();
	tap__ok(sample()->nslots == 2 && kernel__row(PID)->reduced == 4,
		"a smaller budget leaves out no tick");
	conserved(5);
}

/* Another thread of its process. */
static struct kernel_task beside_r(void)
{
	struct kernel_task other = r;

	other.task = NULL;
	other.tid = PID + 1;
	other.sp = 0x7fff00001000;
	other.top = 0x7fff00002000;
	return other;
}

/* Of a thread that is not R's nothing of R's stack is sent, if R may have moved. */
TEST(threads)
{
	const struct xr_sample *s;
	struct kernel_task other;

	begin(0, 2);
	r.threads = 2;
	tick(&r);
	tap__ok(sample()->nslots == 2 && kernel__row(PID)->r_tid == PID, "R's thread is proven");
	other = beside_r();
	tick(&other);
	s = sample();
	tap__ok(!s->nslots && s->flags == XR_F_OTHER_THREAD && s->tid == PID + 1,
		"a sample of another thread has no frames and is marked");
	other.leader = &r;
	r.off = true;
	tick(&other);
	s = sample();
	tap__ok(s->nslots == 2 && s->flags == XR_F_ELSEWHERE, "but those of R that waits");
	conserved(3);

	begin(XR_ROW_GC, 0);
	image__put32(&image, image.gc_at, 1);
	kernel__row(PID)->r_tid = PID + 1;
	kernel__row(PID)->revision++;
	tick(&other);
	tap__ok(sample()->flags == XR_F_GC, "R's thread is the one proven last, if it has no call");
}

/* Labels that the program set are those of R's thread. */
TEST(labels)
{
	struct kernel_task other;
	struct xr_row *row;
	uint64_t value, names;

	begin(XR_ROW_LABELS, 2);
	r.threads = 2;
	row = kernel__row(PID);
	row->labels_tag = image__symbol(&image, "xrprof.labels");
	row->sym_names = image__symbol(&image, "names");
	value = image__string(&image, "/predict");
	names = image__string(&image, "route");
	names = image__cell(&image, R_LISTSXP, names, image.nil, row->sym_names);
	image__put64(&image, value + 8, names);
	value = image__cell(&image, R_LISTSXP, value, image.nil, row->labels_tag);
	row->labels_at = image__cell(&image, R_LISTSXP, 0, value, 0);
	tick(&r);
	tap__ok(sample()->slots[0].word, "a sample of it has them");
	other = beside_r();
	tick(&other);
	tap__ok(!sample()->slots[0].word, "one of another thread does not");
}

/* R waits for @ns. */
static void away(uint64_t ns, bool preempted)
{
	kernel__switch(&idle, preempted);
	kernel.now += ns;
	kernel__switch(&r, false);
	kernel.now += 500; /* the rest of the switch */
	kernel__back();
}

/* Waits are sampled by how long they are. */
TEST(waits)
{
	const struct xr_sample *s;

	begin(XR_ROW_OFF_CPU, 2);
	kernel.random = 1u << 31;
	away(2 * PERIOD + 5, false);
	s = sample();
	tap__ok(s->weight == 2 * PERIOD + 5 && s->unit == XR_UNIT_NS &&
			s->event == XR_EVENT_SWITCH && s->detail == 7 && s->nslots == 2 &&
			s->flags == XR_F_KERNEL,
		"a long one stands for itself: %d ns", (int)s->weight);
	away(PERIOD / 2 + 1000, false);
	s = sample();
	tap__ok(s->weight == PERIOD, "one of more than half a period is one: %d ns",
		(int)s->weight);
	away(PERIOD / 2 - 1000, false);
	tap__ok(!record(XR_REC_SAMPLE), "or none, by chance");
	tap__ok(kernel__count(XR_WAITS) == 3 && kernel__count(XR_WAITED_NS) == 3 * PERIOD + 5,
		"all are counted: %d ns", (int)kernel__count(XR_WAITED_NS));
	away(PERIOD, true);
	s = sample();
	tap__ok(s->flags == (XR_F_KERNEL | XR_F_PREEMPTED) && !s->detail, "it had no CPU");
	conserved(3);
}

/* What user space has counted of a wait is not counted again, and it learns that this was used. */
TEST(waits_told)
{
	const struct xr_wait_told *told;

	begin(XR_ROW_OFF_CPU, 2);
	kernel__switch(&idle, false);
	told = kernel__tell(PID, kernel.now, kernel.now + 3 * PERIOD);
	kernel.now += 5 * PERIOD;
	kernel__switch(&r, false);
	kernel__back();
	tap__ok(sample()->weight == 2 * PERIOD && !told->since, "a wait counts from there on");
	told = kernel__tell(PID, kernel.now - 1, kernel.now + PERIOD);
	away(2 * PERIOD, false);
	tap__ok(sample()->weight == 2 * PERIOD && told->since, "the entry of another wait stays");
}

/* Bytes that R says are in use. */
static void heap(uint64_t at, uint32_t flag, uint64_t nodes)
{
	image__put64(&image, at, nodes);
	image__put32(&image, image.gc_at, flag);
	kernel.now += APART_NS / 5;
	kernel__tick();
}

/* A collection stands for what was allocated since the last one. */
TEST(collections)
{
	const struct xr_sample *s;
	uint64_t nodes;

	begin(0, 2);
	nodes = image__alloc(&image, 8);
	kernel__row(PID)->small_at = kernel__row(PID)->large_at = image__alloc(&image, 8);
	kernel__row(PID)->nodes_at = nodes;
	kernel__row(PID)->node_size = 56;
	cfg_collections = true;
	cfg_event = XR_EVENT_OTHER;
	cfg_unit = XR_UNIT_BYTES;
	heap(nodes, 1, 1000);
	heap(nodes, 0, 600);
	tap__ok(!record(XR_REC_SAMPLE), "before the first it is not known");
	heap(nodes, 1, 1600);
	s = sample();
	tap__ok(s->weight == 56000 && s->unit == XR_UNIT_BYTES && s->nslots == 2,
		"the second stands for %d bytes", (int)s->weight);
	kernel.now += APART_NS;
	heap(nodes, 1, 1700);
	tap__ok(!record(XR_REC_SAMPLE), "two signs of one count once");
	heap(nodes, 0, 700);
	heap(nodes, 1, 701);
	tap__ok(sample()->weight == 56, "the next one is a sample");
	heap(nodes, 0, 700);
	heap(nodes, 1, 1700);
	tap__ok(!record(XR_REC_SAMPLE) && kernel__count(XR_THROTTLED) == 1,
		"one that comes too soon is counted");
	conserved(2);
}
