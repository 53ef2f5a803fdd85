/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `top` counts: by second, since it began, without wrappers, by process; and who called whom.
 */
#include "top_scene.h"

/* What is counted in @scope, and of which functions: "label self/total". */
static void counts(const struct top_scope *scope, const char *want, const char *what)
{
	unsigned long long all = top_model__count(model, scope);
	const struct function_row *list = model->functions.rows;

	tap__say("%llu:", all);
	for (size_t i = 0; i < model->functions.n; i++)
		if (list[i].total[0])
			tap__say(" %s %llu/%llu", list[i].label,
				 (unsigned long long)list[i].self[0],
				 (unsigned long long)list[i].total[0]);
	tap__said(want, "%s", what);
}

static const struct top_process *process(uint32_t serial)
{
	for (size_t i = 0; i < model->nprocesses; i++)
		if (model->processes[i].serial == serial)
			return &model->processes[i];
	return NULL;
}

static const struct top_scope window, since = {.since = true};
static const struct top_scope waits = {.type = PROFILE_TYPE_OFF_CPU};

AFTER()
{
	end();
}

TEST(seconds)
{
	begin(LIMIT_MEMORY, 2);
	take(&one, "inner outer", 3);
	take(&one, "outer", 1);
	tap__ok(!top_model__advance(model, now + NS_PER_S / 2), "no second is over yet");
	counts(&window, "0:", "and so nothing is counted");
	tap__ok(second(), "then it is");
	counts(&window, "4: inner 3/3 outer 1/4", "self and total");
	take(&one, "inner inner outer", 2);
	second();
	counts(&window, "6: inner 5/5 outer 1/6", "one that calls itself is in a sample once");
	second();
	counts(&window, "2: inner 2/2 outer 0/2", "what is older than the window is not in it");
	counts(&since, "6: inner 5/5 outer 1/6", "but since counting began");
	tap__ok(top_model__seconds(model, false) == 2 && top_model__seconds(model, true) == 3,
		"which took so long");
	second();
	counts(&window, "0:", "nothing is new");
	top_model__reset(model);
	counts(&since, "0:", "it restarts");
	take(&one, "inner", 1);
	second();
	counts(&since, "1: inner 1/1", "and counts on");
}

TEST(labels)
{
	begin(LIMIT_MEMORY, 5);
	take(&one, "", 3);
	take(&one, "a\x1b[2J\n\xff", 1);
	second();
	counts(&window, "4: <toplevel> 3/3 a\\x1b[2J\\n\\xff 1/1",
	       "no function at all is the top level, and labels are escaped");
}

TEST(processes)
{
	const struct top_scope second_one = {.serial = 2};

	begin(LIMIT_MEMORY, 5);
	sink__process(&sink, &one, PROFILE_BEGAN);
	take(&one, "f", 3);
	take(&two, "f g", 2);
	second();
	tap__ok(process(1)->samples == 3 && process(2)->samples == 2 &&
			!strcmp(process(2)->comm, "two"),
		"each process has separate counts");
	counts(&second_one, "2: f 2/2 g 0/2", "functions of one of them");
	take_of(&one, PROFILE_TYPE_ALLOC, 4096, "f", 3);
	second();
	tap__ok(process(1)->samples == 3, "allocated bytes do not add samples");
	sink__process(&sink, &two, PROFILE_ENDED);
	second();
	tap__ok(process(2) && process(2)->ended, "one that ended is shown");
	now = os__now() + 10 * NS_PER_S;
	second();
	tap__ok(!process(2) && process(1), "and forgotten");
	counts(&since, "5: f 5/5 g 0/2", "what it did is not");
	sink__process(&sink, &(struct profile_process){.serial = 9}, PROFILE_ENDED);
	tap__ok(!process(9), "nor does one come that was never seen");
}

TEST(fold)
{
	const struct top_scope fold = {.fold = true};

	begin(LIMIT_MEMORY, 5);
	take(&one, "work doTryCatch tryCatch lapply main", 4);
	take(&one, "lapply main", 1);
	second();
	counts(&window, "5: work 4/4 doTryCatch 0/4 tryCatch 0/4 lapply 1/5 main 0/5",
	       "wrappers are functions");
	counts(&fold, "5: work 4/4 lapply 1/1 main 0/5", "folded they have their own time alone");
}

/* The callers of f: how far out, which, and how many samples. */
static void callers_of_f(const struct top_scope *scope, const char *want, const char *what)
{
	struct top_caller out[TOP_CALLERS_MAX];
	const struct function_table *t = &model->functions;
	uint32_t f = 0;
	int count;

	while (f < t->n && strcmp(t->rows[f].label, "f") != 0)
		f++;
	count = top_callers__of(model, scope, f, out);
	for (int i = 0; i < count; i++)
		tap__say("%u%s=%u ", out[i].depth, t->rows[out[i].function].label,
			 (unsigned int)out[i].samples);
	tap__said(want, "%s", what);
}

TEST(callers)
{
	const struct top_scope merged = {.merge = true};
	struct top_caller out[TOP_CALLERS_MAX];

	begin(LIMIT_MEMORY, 5);
	take(&one, "f a main", 60);
	take(&one, "x f f b main", 30);
	take(&one, "f b other", 20);
	take(&one, "f rare", 1);
	take(&one, "g main", 50);
	take(&one, "f", 5);
	second();
	callers_of_f(&window, "1a=60 2main=60 1b=50 2main=30 2other=20 ",
		     "the heaviest callers first, each with its own, rare ones left out");
	tap__ok(top_callers__of(model, &window, 9999, out) == 0, "no such function");
	end();

	begin(LIMIT_MEMORY, 5);
	take(&one, "f walk walk walk main", 60);
	take(&one, "f walk g walk main", 40);
	second();
	callers_of_f(&window, "1walk=100 2walk=60 3walk=60 4main=60 2g=40 3walk=40 4main=40 ",
		     "callers that call themselves");
	callers_of_f(&merged, "1walk=100 2main=100 ", "are one if they are merged");
}

/* Stacks and names without end: counting restarts, and what is taken is bounded. */
TEST(full)
{
	char names[128];
	unsigned int i;

	begin(4u << 20, 5);
	for (i = 0; i < 200000 && !model->restarts; i++) {
		snprintf(names, sizeof(names), "function_with_a_long_name_%u outer_%u", i, i / 2);
		if (take(&one, names, 1))
			break;
		if (i % 1000 == 999)
			second();
		if (i % 5000 == 4999)
			stack__free_all();
	}
	tap__ok(model->restarts == 1, "after %u stacks it restarts", i);
	take(&one, "f", 2);
	second();
	counts(&since, "2: f 2/2", "and goes on");
}

TEST(verdict)
{
	const struct profile_process self = {.serial = 3, .pid = (uint32_t)getpid(), .comm = "me"};
	static struct buf b;

	begin(LIMIT_MEMORY, 5);
	sink__process(&sink, &self, PROFILE_BEGAN);
	top_model__verdict(model, &b);
	tap__ok(!b.len, "no verdict at the start");
	now = os__now() + 3 * NS_PER_S;
	second();
	tap__bail_if(top_model__verdict(model, &b) || buf__add(&b, "", 1), "no memory");
	tap__ok(strstr(b.data, "s of CPU in ") && strstr(b.data, "--clock wall shows where"),
		"one that waits: %s", b.data);
}

/* Two sample types: each is counted by itself, in its unit. */
TEST(types)
{
	waiting = (struct profile_type){"off_cpu", PROFILE_NANOSECONDS};
	begin(LIMIT_MEMORY, 2);
	take(&one, "inner outer", 3);
	take(&one, "wait outer", 5);
	second();
	counts(&window, "3: inner 3/3 outer 0/3", "ticks alone");
	counts(&waits, "5000000000: outer 0/5000000000 wait 5000000000/5000000000",
	       "waiting alone, of more ns than 32 bits hold");
	tap__ok(process(1)->samples == 8, "of a process all samples are counted");
	tap__ok(top_model__next_type(model, 0) == 1 && top_model__next_type(model, 1) == 0 &&
			top_model__next_type(model, PROFILE_TYPES_MAX - 1) == 0,
		"one after the other");
	tap__ok(top_model__find_type(model, "cpu") == 0 &&
			top_model__find_type(model, "off_cpu") == 1 &&
			top_model__find_type(model, "wall") == PROFILE_TYPES_MAX,
		"by their names");
}
