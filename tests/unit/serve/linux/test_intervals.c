/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A profile cut into intervals: every sample in the interval it was taken in, each once. */
#define _GNU_SOURCE /* memmem, RTLD_NEXT */
#include "serve/linux/intervals.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "clock.h"
#include "gzip.h"
#include "os/os.h"
#include "profile/read.h"
#include "stack_maker.h"
#include "tap.h"

#define MINUTE	 (60 * NS_PER_S)
#define SENT_MAX 64

static struct {
	struct channel_head head;
	struct buf data, index; /* the last with a NUL */
} sent[SENT_MAX];
static int nsent, refuse; /* with what is larger than a head */

/* While this is true calloc(3) fails. A sanitizer's calloc stays. */
static bool no_memory;

#if defined(__SANITIZE_ADDRESS__)
#define CAN_FAIL false
#else
#define CAN_FAIL true
void *calloc(size_t n, size_t size)
{
	static void *(*next)(size_t n, size_t size);

	if (!next)
		next = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	return no_memory ? NULL : next(n, size);
}
#endif

static int clock_ahead; /* seconds by which the clock of the day was set */

/* In the place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int err = (int)syscall(SYS_clock_gettime, clock, t);

	if (!err && clock == CLOCK_REALTIME)
		t->tv_sec += clock_ahead;
	return err;
}

static int on_send(void *arg, const struct channel_head *head, const void *data, const char *index)
{
	if (refuse && head->size)
		return refuse;
	tap__bail_if(nsent == SENT_MAX, "too many messages");
	sent[nsent].head = *head;
	buf__add(&sent[nsent].data, data, (size_t)head->size);
	buf__add(&sent[nsent].index, index, (size_t)head->index_len);
	buf__add(&sent[nsent++].index, "", 1);
	return 0;
}

static struct intervals *intervals;
static struct sink sink;
static uint64_t began, weight = 1;

static void begin(const struct intervals_config *more)
{
	struct intervals_config config = *more;
	struct profile_about about = {.freq = 19, .engine = "bpf", .clock = "cpu"};

	config.interval = config.interval ? config.interval : MINUTE;
	config.memory = config.memory ? config.memory : 32 << 20;
	config.send = on_send;
	tap__bail_if(intervals__new(&intervals, &config), "no memory");
	sink = intervals__sink(intervals);
	about.began = began = os__now();
	about.began_real = os__real_time();
	tap__bail_if(sink__begin(&sink, &about), "it cannot begin");
}

static void end(void)
{
	struct stats stats = {0};

	tap__ok(!sink__finish(&sink, &stats) &&
			stats.stacks_dropped == intervals__counts(intervals).stackless,
		"it ends");
	intervals__free(intervals);
}

/* Process @pid, of which the service is known unless it is NULL; until the next call. */
static const struct profile_process *process(uint32_t pid, const char *service)
{
	static struct profile_label label;
	static struct profile_process p;

	label = (struct profile_label){"service", service};
	p = (struct profile_process){.serial = pid,
				     .pid = pid,
				     .comm = "R",
				     .r_version = "4.2.2",
				     .labels = &label,
				     .nlabels = service != NULL};
	return &p;
}

/* @n samples of @p and @type at @time, of a stack that is called @function. */
static int sample_of(uint32_t type, const struct profile_process *p, const char *function,
		     uint64_t time, int n)
{
	const struct sample s = {.time = time,
				 .weight = weight,
				 .tid = p->pid,
				 .type = type,
				 .stack = stack__one(function)};
	int err = 0;

	for (int i = 0; i < n && !err; i++)
		err = sink__sample(&sink, p, &s);
	return err;
}

static int sample(uint32_t pid, const char *function, uint64_t time, int n)
{
	return sample_of(PROFILE_TYPE_TICKS, process(pid, pid % 2 ? "odd" : "even"), function, time,
			 n);
}

static uint64_t samples_of(enum channel_kind kind)
{
	uint64_t n = 0;

	for (int i = 0; i < nsent; i++)
		if (sent[i].head.kind == kind)
			n += sent[i].head.samples;
	return n;
}

static int messages_of(enum channel_kind kind)
{
	int n = 0;

	for (int i = 0; i < nsent; i++)
		n += sent[i].head.kind == kind;
	return n;
}

/* What was sent, except what a client asked for: "samples ..." */
static void were_sent(const char *want, const char *what)
{
	for (int i = 0; i < nsent; i++)
		if (sent[i].head.kind != CHANNEL_PROFILE)
			tap__say("%s%llu", *tap__saying() ? " " : "",
				 (unsigned long long)sent[i].head.samples);
	tap__said(want, "%s", what);
}

/* Is @text in the first profile of @kind? */
static bool has(enum channel_kind kind, const char *text)
{
	static struct buf bytes;
	int i = 0;

	while (i < nsent && sent[i].head.kind != kind)
		i++;
	if (i == nsent)
		return false;
	bytes.len = 0;
	tap__bail_if(!gzip__unpack(&bytes, sent[i].data.data, sent[i].data.len),
		     "no whole gzip file");
	return memmem(bytes.data, bytes.len, text, strlen(text));
}

static const struct intervals_config store = {.intervals = true, .index = true};

/* What the clock of the day says where an interval begins. */
TEST(intervals)
{
	uint64_t at;

	begin(&store);
	tap__ok(intervals__due(intervals, began, 100000000) <= 60500,
		"the first ends within its length");
	sample(1, "f", began + 1, 3);
	at = began + (uint64_t)intervals__due(intervals, began, 100000000) * NS_PER_MS +
	     5 * NS_PER_S;
	tap__ok(!sample(1, "f", at, 5), "a sample of the next one");
	were_sent("3", "ends the one before");
	tap__ok(sent[0].head.kind == CHANNEL_INTERVAL && sent[0].head.ended % MINUTE == 0,
		"at a whole multiple of its length");
	sample(1, "f", at + MINUTE, 7);
	were_sent("3 5", "and so on");
	tap__ok(sent[1].head.began == sent[0].head.ended &&
			sent[1].head.ended == sent[1].head.began + MINUTE,
		"without a gap, of full length");
	tap__ok(!sink__tick(&sink, at + 2 * MINUTE), "time ends an interval, too");
	were_sent("3 5 7", "with its samples");
	tap__ok(!sink__tick(&sink, at + 20 * MINUTE), "a long halt");
	were_sent("3 5 7 0", "is one, empty");
	end();
	were_sent("3 5 7 0 0", "all samples are there once");
	tap__ok(sent[0].data.data[0] == '\x1f' && sent[0].head.size > 20, "each is a gzip file");
	tap__ok(strstr(sent[0].index.data, "\"pid\"") &&
			strstr(sent[0].index.data, "\"service\"") &&
			strchr(sent[0].index.data, '\n') ==
				sent[0].index.data + sent[0].head.index_len - 1,
		"with a line of the index: %s", sent[0].index.data);
}

/* The shortest: that two clocks are not read at once makes no further interval. */
TEST(seconds)
{
	uint64_t at;
	bool whole = true;

	begin(&(struct intervals_config){.intervals = true, .interval = NS_PER_S});
	at = began + (uint64_t)intervals__due(intervals, began, 2000) * NS_PER_MS;
	for (uint64_t i = 0; i < 20; i++)
		sink__tick(&sink, at + i * NS_PER_S);
	for (int i = 1; i < nsent; i++)
		whole = whole && sent[i].head.began == sent[i - 1].head.ended &&
			sent[i].head.ended == sent[i].head.began + NS_PER_S;
	tap__ok(nsent == 20 && whole, "each has a second, without a gap");
	end();
}

/* The clock of the day is set back, ahead, and right again. */
TEST(clock_set)
{
	static const int ahead[] = {-3570, 86410, 0};
	bool whole = true;
	uint64_t at;

	begin(&store);
	at = began;
	for (int i = 0; i < 6; i++) {
		clock_ahead = ahead[i / 2];
		at += (uint64_t)intervals__due(intervals, at, 100000000) * NS_PER_MS;
		sample(1, "f", at, 1);
	}
	end();
	were_sent("0 1 1 1 1 1 1", "every sample is there, once");
	for (int i = 1; i < nsent; i++) {
		const struct channel_head *before = &sent[i - 1].head;

		whole = whole && before->ended % MINUTE == 0 &&
			before->ended - before->began <= MINUTE;
		tap__say("%.0f ", (double)(int64_t)(sent[i].head.began - before->ended) / 1e9);
	}
	tap__said("-3570 0 89980 0 -86410 0 ", "each interval begins when the clock says");
	tap__ok(whole, "and ends at a whole minute of it");
}

TEST(turn)
{
	clock__run(CLOCK_SLOW); /* no full minute comes in between */
	begin(&store);
	sample(1, "f", began + 1, 3);
	tap__ok(!intervals__turn(intervals), "turned");
	were_sent("3", "ended at once");
	sample(1, "f", os__now(), 2);
	tap__ok(!intervals__freq(intervals, 10) && intervals__about(intervals)->freq == 10,
		"what follows has another rate");
	were_sent("3 2", "which ends it, too");
	tap__ok(intervals__counts(intervals).ended == 2, "two are counted");
	weight = 3;
	sample(1, "f", os__now(), 2);
	weight = 1;
	intervals__turn(intervals);
	were_sent("3 2 6", "a wait in ticks counts as that many");
	tap__ok(strstr(sent[2].index.data, "\"samples\": 6"), "as in the index: %s",
		sent[2].index.data);
	end();
}

TEST(memory)
{
	begin(&store);
	sample(1, "f", began + 1, 3);
	sample_of(PROFILE_TYPE_ALLOC, process(1, "odd"), "f", began + 1, 2);
	end();
	were_sent("3", "allocated bytes are not samples");
	tap__ok(nsent && strstr(sent[0].index.data, "\"samples\": 3, \"interval\": 52631579,"),
		"nor in the index");
	tap__ok(has(CHANNEL_INTERVAL, "samples: 3 taken"), "nor in the profile's comment");
}

/* An interval has 1,000 sets of labels: samples with further ones are counted. */
TEST(labels)
{
	const struct profile_process p = {.serial = 1, .pid = 1, .comm = "R"};
	char route[16];
	const struct profile_label label = {"route", route};
	struct sample s = {.weight = 1, .labels = &label, .nlabels = 1};

	clock__run(CLOCK_SLOW);
	begin(&store);
	s.time = began + 1;
	s.stack = stack__one("f");
	for (int i = 0; i < 1002; i++) {
		snprintf(route, sizeof(route), "/%d", i);
		tap__bail_if(sink__sample(&sink, &p, &s), "not taken");
	}
	tap__ok(intervals__counts(intervals).unlabelled == 2, "of the one that is open");
	intervals__turn(intervals);
	tap__ok(intervals__counts(intervals).unlabelled == 2, "and of those before it");
	end();
	were_sent("1002 0", "all are there");
}

TEST(index)
{
	const struct profile_label labels[] = {{"datacenter", "east"},
					       {"service", "of the run"},
					       {"samples", "none"},
					       {"datacenter", "west"}};

	begin(&(struct intervals_config){
		.intervals = true, .index = true, .labels = labels, .nlabels = 4});
	sample(1, "f", began + 1, 3);
	end();
	tap__ok(nsent == 1 && strstr(sent[0].index.data,
				     "\"service\": \"odd\", \"datacenter\": \"east\"}"),
		"labels of the process and of the run, each once: %s",
		nsent ? sent[0].index.data : "nothing");
}

TEST(asked)
{
	begin(&store);
	sample(1, "before", began + 1, 3);
	intervals__ask(intervals, 5, 30);
	tap__ok(intervals__due(intervals, os__now(), 1000000) <= 30000, "it is due in 30 seconds");
	sample(1, "during", os__now() + 1, 4);
	tap__ok(!sink__tick(&sink, began + 29 * NS_PER_S) && !messages_of(CHANNEL_PROFILE),
		"not before");
	for (uint64_t id = 6; id <= 9; id++)
		intervals__ask(intervals, id, 600);
	tap__ok(messages_of(CHANNEL_PROFILE) == 1 && sent[nsent - 1].head.id == 9 &&
			!sent[nsent - 1].head.size,
		"a fifth at a time is refused");
	intervals__forget(intervals, 8);
	intervals__ask(intervals, 10, 600);
	tap__ok(messages_of(CHANNEL_PROFILE) == 1, "when one is forgotten there is room");
	sink__tick(&sink, os__now() + 31 * NS_PER_S);
	for (int i = 0; i < nsent; i++)
		if (sent[i].head.id == 5)
			tap__ok(sent[i].head.samples == 4 && sent[i].head.size > 20,
				"the first has what was taken meanwhile");
	end();
	tap__ok(messages_of(CHANNEL_PROFILE) == 5, "the end answers all");
	tap__ok(samples_of(CHANNEL_INTERVAL) == 7, "and the intervals have everything");
}

TEST(refused)
{
	begin(&store);
	intervals__ask(intervals, 5, 30);
	sample(1, "during", os__now() + 1, 4);
	refuse = -EMSGSIZE;
	sink__tick(&sink, os__now() + 31 * NS_PER_S);
	tap__ok(nsent == 1 && sent[0].head.kind == CHANNEL_PROFILE && sent[0].head.id == 5 &&
			!sent[0].head.size,
		"a profile that cannot be handed on is refused");
	refuse = 0;
	end();
}

/* No memory for the next interval: it begins when there is some. */
TEST(no_memory)
{
	uint64_t now, lost;

	if (!CAN_FAIL) {
		tap__skip("this build has a sanitizer's calloc", "no memory for an interval");
		return;
	}
	begin(&store);
	sample(1, "f", began + 1, 3);
	no_memory = true;
	tap__ok(intervals__turn(intervals) == -ENOMEM, "no memory for the next interval");
	tap__ok(intervals__due(intervals, os__now(), 1000) == 1000, "nothing is due then");
	no_memory = false;
	now = os__now();
	tap__ok(!sample(1, "f", now, 5), "a sample begins it");
	no_memory = true;
	tap__ok(intervals__freq(intervals, 10) == -ENOMEM && sink__tick(&sink, os__now()),
		"there is none, and none yet");
	no_memory = false;
	tap__ok(!sink__tick(&sink, os__now()) && !sample(1, "f", os__now(), 7), "a tick begins it");
	lost = intervals__counts(intervals).dropped_samples;
	end();
	tap__ok(samples_of(CHANNEL_INTERVAL) + lost == 15, "all samples are there, or counted");
}

/* What was handed on to a front that ended. */
TEST(lost)
{
	begin(&store);
	intervals__ask(intervals, 1, 30);
	intervals__ask(intervals, 2, 30);
	intervals__forget_all(intervals);
	intervals__lost(intervals, &(struct channel_lost){.intervals = 2, .samples = 9});
	tap__ok(intervals__counts(intervals).dropped == 2 &&
			intervals__counts(intervals).dropped_samples == 9,
		"what did not get there is counted");
	end();
	tap__ok(!messages_of(CHANNEL_PROFILE), "a forgotten client gets no answer");
}

/* What a process is known to be by @event, after its samples. */
static void tell(uint32_t pid, const char *service, enum profile_event event)
{
	tap__bail_if(sink__process(&sink, process(pid, service), event),
		     "the sink refuses a process");
}

/* A sample of a process of which nothing is known. */
static void sample_early(uint32_t pid)
{
	tap__bail_if(sample_of(PROFILE_TYPE_TICKS, process(pid, NULL), "f", os__now(), 1),
		     "no sample");
}

TEST(known_late)
{
	clock__run(CLOCK_SLOW); /* no full minute comes in between */
	begin(&store);
	intervals__ask(intervals, 5, 600);
	sample_early(1);
	tell(1, "early", PROFILE_BEGAN);
	tell(1, "known", PROFILE_KNOWN);
	sample(1, "f", os__now(), 1);
	sample_early(2);
	tell(2, "ended", PROFILE_ENDED);
	sample_early(3);
	tell(3, "stopped", PROFILE_STOPPED);
	tell(4, "silent", PROFILE_KNOWN);
	intervals__turn(intervals);
	tap__ok(has(CHANNEL_INTERVAL, "known") && !has(CHANNEL_INTERVAL, "early"),
		"all samples of a process have what is known when the interval ends");
	tap__ok(has(CHANNEL_INTERVAL, "ended") && has(CHANNEL_INTERVAL, "stopped"),
		"even if that is at the end of the process, or of the profile");
	tap__ok(sent[0].index.data && strstr(sent[0].index.data, "\"known\"") &&
			!strstr(sent[0].index.data, "silent"),
		"who has no sample is not in it: %s", sent[0].index.data);
	intervals__turn(intervals);
	tap__ok(messages_of(CHANNEL_INTERVAL) == 2 && !samples_of(CHANNEL_PROFILE),
		"nothing is left for the next one");
	end();
	tap__ok(has(CHANNEL_PROFILE, "known") && has(CHANNEL_PROFILE, "ended") &&
			!has(CHANNEL_PROFILE, "silent"),
		"a profile that was asked for has it, too");
}

TEST(limits)
{
	char name[32];
	int err = 0;

	begin(&(struct intervals_config){.intervals = true, .index = true, .max_stacks = 100});
	for (int i = 0; i < 1000 && !err; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		err = sample(3, name, began + 1, 2);
	}
	tap__ok(!err && intervals__counts(intervals).stacks <= 101,
		"no more stacks are kept than the limit");
	tap__ok(intervals__counts(intervals).stackless == 1800,
		"samples of the others are counted");
	refuse = -ENOBUFS;
	tap__ok(!intervals__turn(intervals),
		"an interval that is not taken does not end the service");
	tap__ok(intervals__counts(intervals).dropped == 1 &&
			intervals__counts(intervals).dropped_samples == 2000,
		"but is counted, with its samples");
	refuse = 0;
	sample(3, "f", os__now(), 1);
	tap__ok(intervals__counts(intervals).stackless == 1800, "and stay counted");
	end();
	tap__ok(samples_of(CHANNEL_INTERVAL) == 1, "the next one is there");
}
