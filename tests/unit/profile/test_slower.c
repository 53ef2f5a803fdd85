/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The sink of `record --slower`: which samples it passes on, and what it counts. */
#include "base/clock.h"
#include "profile/slower.h"
#include "stack_maker.h"

static char label[8]; /* of the samples that come; "": none */
static struct stats stats;
static struct slower *slower;
static struct sink sink;

/* What came out: "PID:FUNCTION@CALL=LABEL" of samples, "call ID". */
static int on_sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	const struct profile_call *root = s->call;

	while (root->outer)
		root = root->outer;
	tap__say("%u:%s@%s%s%s%s%s ", p->pid, s->stack->frames[0]->function->text, s->call->name,
		 root != s->call ? "<" : "", root != s->call ? root->name : "",
		 s->nlabels ? "=" : "", s->nlabels ? s->labels[0].value : "");
	return 0;
}

static int on_call(void *arg, const struct profile_process *p, const struct profile_call *call)
{
	tap__say("call %u%s ", (unsigned int)call->id, call->ended ? "" : " runs");
	return 0;
}

static int on_finish(void *arg, struct stats *s)
{
	stats = *s;
	return 0;
}

static const struct sink_ops ops = {.sample = on_sample, .call = on_call, .finish = on_finish};

static void begin(unsigned int ms, size_t memory)
{
	tap__bail_if(slower__new(&slower, ms * NS_PER_MS, memory, (struct sink){.ops = &ops}),
		     "no memory");
	sink = slower__sink(slower);
}

static void end(void)
{
	struct stats none = {0};

	sink__finish(&sink, &none);
	slower__free(slower);
}

/* A call that began at @ms; its name is from memory that changes, as the finder's is. */
static struct profile_call call_at(uint64_t id, const char *name, unsigned int ms)
{
	return (struct profile_call){
		.id = id, .name = name, .began = ms * NS_PER_MS, .seen = ms * NS_PER_MS};
}

/* A sample of process @pid at @ms in @call, which may be NULL. */
static int sample(uint32_t pid, unsigned int ms, const char *function, struct profile_call *call)
{
	const struct profile_process p = {.serial = pid, .pid = pid};
	const struct profile_label given = {.key = "key", .value = label};
	const struct sample s = {
		.time = ms * NS_PER_MS,
		.weight = 1,
		.call = call,
		.stack = stack__one(function),
		.labels = &given,
		.nlabels = *label != 0,
	};

	for (struct profile_call *c = call; c; c = (struct profile_call *)(uintptr_t)c->outer)
		c->seen = s.time;
	return sink__sample(&sink, &p, &s);
}

/* The call ends at @ms; 0: the profile does. */
static void over(uint32_t pid, struct profile_call *call, unsigned int ms)
{
	const struct profile_process p = {.serial = pid, .pid = pid};

	call->ended = ms * NS_PER_MS;
	sink__call(&sink, &p, call);
}

TEST(passes)
{
	char name[] = "f";
	struct profile_call a = call_at(1, name, 10), b = call_at(2, "g", 100),
			    c = call_at(3, "h", 300), d = call_at(4, "k", 400);

	begin(50, 1 << 20);
	sample(1, 5, "outside", NULL);
	sample(1, 20, "x", &a);
	sample(1, 30, "y", &a);
	*name = '?';
	tap__said("", "samples of a call that runs wait");
	over(1, &a, 50);
	*label = 'l';
	sample(1, 110, "x", &b);
	sample(1, 120, "y", &b);
	*label = '\0';
	tap__said("", "those of one that was fast are left out");
	sample(1, 160, "z", &b);
	tap__said("1:x@g=l 1:y@g=l 1:z@g ",
		  "when a call has lasted long enough they go on, in order");
	sample(1, 170, "z", &b);
	over(1, &b, 175);
	tap__said("1:z@g call 2 ", "and later ones at once");
	sample(1, 310, "x", &c);
	over(1, &c, 360);
	tap__said("1:x@h call 3 ", "its end may show how long it was");
	sample(1, 410, "x", &d);
	over(1, &d, 0);
	end();
	tap__said("", "one that has not run long enough at the end is left out");
	tap__ok(stats.calls.slow == 2 && stats.calls.kept == 5 && stats.calls.fast == 3 &&
			stats.calls.outside == 1 && !stats.calls.dropped,
		"all of that is counted");
}

/* The stack of the first sample was cut: the next one shows a call outside of that call. */
TEST(found_outside)
{
	struct profile_call g = call_at(1, "g", 10), f = call_at(2, "f", 10);

	begin(50, 1 << 20);
	sample(1, 15, "x", &g);
	g.outer = &f;
	sample(1, 25, "y", &g);
	over(1, &g, 30);
	sample(1, 70, "z", &f);
	tap__said("1:x@g 1:y@g call 1 1:z@f ", "its samples wait for that one");
	over(1, &f, 0);
	end();
	tap__said("call 2 runs ", "which is slow");
	tap__ok(stats.calls.slow == 1 && stats.calls.kept == 3, "and has them");
}

TEST(nested)
{
	struct profile_call f = call_at(1, "f", 10), g = call_at(2, "g", 20),
			    h = call_at(3, "h", 30);

	begin(50, 1 << 20);
	g.outer = h.outer = &f;
	sample(1, 15, "x", &f);
	sample(1, 25, "y", &g);
	over(1, &g, 28);
	sample(1, 35, "z", &h);
	sample(1, 70, "z", &h);
	tap__said("1:x@f 1:y@g<f 1:z@h<f call 2 1:z@h<f ",
		  "calls inside of a slow one are passed on with it");
	over(1, &h, 71);
	over(1, &f, 0);
	end();
	tap__said("call 3 call 1 runs ", "it still runs");
	tap__ok(stats.calls.slow == 1, "it counts as slow");
}

TEST(processes)
{
	struct profile_call a = call_at(1, "f", 10), b = call_at(2, "g", 10);

	begin(50, 1 << 20);
	sample(1, 20, "x", &a);
	sample(2, 20, "x", &b);
	sample(1, 80, "y", &a);
	tap__said("1:x@f 1:y@f ", "processes do not wait for each other");
	sink__process(&sink, &(struct profile_process){.serial = 2, .pid = 2}, PROFILE_ENDED);
	end();
	tap__ok(stats.calls.fast == 1, "what waited for a process that is gone is counted");
}

TEST(full)
{
	struct profile_call a = call_at(1, "f", 10), b = call_at(2, "g", 11);
	char function[32];
	uint64_t all = 0;

	begin(100000, 256 << 10);
	for (unsigned int i = 0; i < 3000; i++) {
		snprintf(function, sizeof(function), "function_%u", i);
		sample(1 + i % 2, 20 + i, function, i % 2 ? &b : &a);
		all++;
	}
	tap__said("", "nothing has lasted long enough");
	over(1, &a, 200000);
	tap__ok(!strncmp(tap__saying(), "1:function_", 11) || !*tap__saying(),
		"what is left goes on");
	end();
	tap__ok(stats.calls.dropped &&
			stats.calls.kept + stats.calls.fast + stats.calls.dropped == all,
		"if memory is full samples are dropped, and each is counted: %u dropped, %u kept",
		(unsigned int)stats.calls.dropped, (unsigned int)stats.calls.kept);
}

TEST(none_fits)
{
	struct profile_call a = call_at(1, "f", 10);

	begin(100000, 16);
	sample(1, 20, "x", &a);
	over(1, &a, 200000);
	tap__said("call 1 ", "a slow call is reported without them");
	end();
	tap__ok(stats.calls.dropped == 1 && stats.calls.slow == 1, "its sample is counted");
}
