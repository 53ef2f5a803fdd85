/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The aggregate: what samples add up to, within its limit. */
#include "aggregate_maker.h"

static const struct profile_process one = {.serial = 1, .pid = 10, .parent_pid = 5, .comm = "R"};
static const struct profile_process two = {.serial = 2, .pid = 10, .comm = "R"};

static struct aggregate *a;

static void start_as(struct aggregate_config config)
{
	aggregate__free(a);
	a = aggregate__made(config);
}

static void start(size_t max, uint32_t labels)
{
	start_as((struct aggregate_config){.max = max, .labels = labels});
}

static int put(const struct profile_process *p, const char *function, uint32_t flags, uint32_t type,
	       uint64_t weight, uint64_t time)
{
	return aggregate__add(a, p,
			      &(struct sample){.time = time,
					       .weight = weight,
					       .type = type,
					       .flags = flags,
					       .stack = stack__one(function)});
}

static const struct aggregate_row *row(size_t i)
{
	size_t n;
	const struct aggregate_row *rows = aggregate__rows(a, &n);

	tap__bail_if(i >= n, "no row %zu", i);
	return &rows[i];
}

static size_t nrows(void)
{
	size_t n;

	aggregate__rows(a, &n);
	return n;
}

/* A tick of @p in @function, at @time. */
static int tick(const struct profile_process *p, const char *function, uint64_t time)
{
	return put(p, function, 0, PROFILE_TYPE_TICKS, 1, time);
}

/* The rows: "serial comm: function value in samples"; of a sample type, and with labels. */
static void rows_are(const char *want, const char *what)
{
	for (size_t i = 0; i < nrows(); i++) {
		const struct aggregate_row *r = row(i);
		const struct profile_process *p = aggregate__process(a, r->process);

		tap__say("%s%u %s: %s %llu in %llu", i ? ", " : "", p->serial, p->comm,
			 r->stack->frames[0]->function->text, (unsigned long long)r->value,
			 (unsigned long long)r->samples);
		if (r->type)
			tap__say(" type %u", r->type);
		if (r->labels)
			tap__say(" labels %u", r->labels == XR_F_KERNEL);
	}
	tap__said(want, "%s", what);
}

#define OF_ONE "1 R: f 4 in 2, 1 R: g 1 in 1, 1 R: f 70 in 1 type 1"

TEST(rows)
{
	struct profile_process renamed = one;
	uint64_t first, last;

	start(1 << 20, XR_F_KERNEL);
	aggregate__span(a, &first, &last);
	tap__ok(!nrows() && !first && !last, "it begins empty");
	tick(&one, "f", 500);
	put(&one, "g", XR_F_GC, PROFILE_TYPE_TICKS, 1, 100);
	put(&one, "f", XR_F_GC, PROFILE_TYPE_TICKS, 3, 900);
	put(&one, "f", 0, PROFILE_TYPE_OFF_CPU, 70, 600);
	rows_are(OF_ONE, "equal stacks add up, by sample type");
	tap__ok(row(0)->stack != stack__one("f") && row(2)->stack == row(0)->stack,
		"the aggregate has copies of the stacks, each once");
	put(&one, "f", XR_F_KERNEL, PROFILE_TYPE_TICKS, 1, 700);
	tick(&two, "f", 700);
	renamed.comm = "Rscript";
	tick(&renamed, "f", 700);
	tick(&renamed, "f", 700);
	rows_are(OF_ONE ", 1 R: f 1 in 1 labels 1, 2 R: f 1 in 1, 1 Rscript: f 2 in 2",
		 "labels and processes keep samples apart, by the name it had");
	tap__ok(row(4)->stack == row(0)->stack &&
			aggregate__process(a, row(0)->process)->parent_pid == 5,
		"the stack is the same one");
	aggregate__span(a, &first, &last);
	tap__ok(first == 100 && last == 900, "and all know when they were");
	tap__ok(aggregate__size(a) > 1000, "%zu bytes", aggregate__size(a));
	aggregate__clear(a);
	tap__ok(!nrows() && !aggregate__size(a), "it can be cleared");
	tick(&two, "g", 1);
	put(&two, "g", 0, PROFILE_TYPE_ALLOC, 4096, 1);
	put(&two, "g", 0, PROFILE_TYPE_ALLOC, 4096, 1);
	rows_are("2 R: g 1 in 1, 2 R: g 8192 in 0 type 2",
		 "and filled again; allocated bytes do not add samples");
}

/* A stack that its maker frees and makes again has another id there. Here it is the same. */
TEST(ids)
{
	start(1 << 20, 0);
	for (int i = 0; i < 300; i++) {
		tick(&one, "f", 1);
		tick(&one, "g", 1);
		stack__free_all();
	}
	tap__ok(nrows() == 2 && row(0)->samples == 300 && row(1)->samples == 300,
		"stacks are known by what they are, not by their maker's ids");
}

TEST(full)
{
	const size_t max = 1 << 20;
	uint64_t sum = 0, full = 0, first_full = 0;
	const struct aggregate_row *rows;
	char name[64];
	size_t n;
	int err;

	start(max, 0);
	for (int i = 0; i < 50000; i++) {
		snprintf(name, sizeof(name), "function number %d", i % 25000);
		err = put(&one, name, 0, PROFILE_TYPE_TICKS, 2, 1);
		if (err && err != -ENOSPC)
			tap__bail("it failed: %s", strerror(-err));
		if (!err)
			continue;
		if (!full++)
			first_full = (uint64_t)i;
		aggregate__drop(a, &two, &(struct sample){.weight = 2, .time = 1});
	}
	tap__ok(first_full > 1000 && first_full < 10000 && aggregate__size(a) <= max,
		"%llu stacks in 1 MiB, and no more", (unsigned long long)first_full);
	rows = aggregate__rows(a, &n);
	for (size_t i = 0; i < n; i++)
		sum += rows[i].value;
	tap__ok(sum == 100000, "every tick is in a row: %llu", (unsigned long long)sum);
	tap__ok(aggregate__dropped(a) == 2 * full && full > 0,
		"%llu without their stack, of two ticks each", (unsigned long long)full);
	n = 0;
	while (row(n)->stack != stacks__none())
		n++;
	tap__ok(row(n)->samples == full, "which has a separate row");
	aggregate__clear(a);
	tap__ok(tick(&one, "f", 1) == 0 && aggregate__dropped(a) == 2 * full,
		"once cleared there is room; what was dropped stays counted");

	start(0, 0);
	tap__ok(tick(&one, "f", 1) == -ENOSPC, "no room at all");
	aggregate__drop(a, &one, &(struct sample){.weight = 1});
	tap__ok(aggregate__dropped(a) == 1, "is counted, too");
}

TEST(full_of_calls)
{
	struct profile_call call = {.name = "predict", .began = 1};
	uint64_t with_call = 0, without = 0;
	const struct aggregate_row *rows;
	size_t n;

	start_as((struct aggregate_config){.max = 1 << 18, .calls = true});
	for (call.id = 1; call.id <= 5000; call.id++) {
		struct sample s = {.stack = stack__one(call.id % 2 ? "f" : "g"),
				   .call = &call,
				   .weight = 1,
				   .time = 1};

		if (aggregate__take(a, &one, &s))
			tap__bail("a sample was not taken");
	}
	rows = aggregate__rows(a, &n);
	for (size_t i = 0; i < n; i++)
		*(rows[i].call ? &with_call : &without) += rows[i].samples;
	aggregate__calls(a, &n);
	tap__ok(n == with_call && n > 100, "%zu calls have their samples", n);
	tap__ok(without == aggregate__uncalled(a) && with_call + without == 5000 &&
			!aggregate__dropped(a),
		"no sample of the others loses its stack, and %llu are counted as without call",
		(unsigned long long)without);
}

TEST(update)
{
	const struct profile_label service = {"service", "shop"};
	struct profile_process known = one, stranger = two;
	const struct profile_process *all;
	char text[16384];
	size_t n, size;

	start_as((struct aggregate_config){.max = 1 << 20, .describe = true});
	tick(&one, "f", 1);
	known.comm = "Rscript";
	tick(&known, "f", 1);
	known.labels = stranger.labels = &service;
	known.nlabels = stranger.nlabels = 1;
	known.command = "R --file=shop.R";
	known.started = 7;
	aggregate__update(a, &known);
	aggregate__update(a, &stranger);
	all = aggregate__processes(a, &n);
	tap__ok(n == 2 && !strcmp(all[0].comm, "R") && !strcmp(all[1].comm, "Rscript"),
		"an update adds no process, and changes no name");
	for (size_t i = 0; i < n; i++) {
		const char *label = process__label(&all[i], "service");

		tap__ok(label && !strcmp(label, "shop") && all[i].started == 7 && all[i].command &&
				!strcmp(all[i].command, "R --file=shop.R"),
			"%s has what became known", all[i].comm);
	}
	size = aggregate__size(a);
	aggregate__update(a, &known);
	tap__ok(aggregate__size(a) == size, "the same update again takes no memory");
	known.labels = NULL;
	known.nlabels = 0;
	aggregate__update(a, &known);
	tap__ok(process__label(aggregate__process(a, row(0)->process), "service"),
		"labels stay if an update has none");

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	known = one;
	known.command = text;
	start_as((struct aggregate_config){.max = 8000, .describe = true});
	tick(&one, "f", 1);
	aggregate__update(a, &known);
	tap__ok(nrows() == 1 && aggregate__size(a) <= 8000 &&
			!aggregate__process(a, row(0)->process)->command,
		"a command that does not fit is dropped: %zu bytes", aggregate__size(a));
}

/* Entries of the timeline that row @i has, and what they add up to. */
static size_t entries(size_t i, uint64_t *sum)
{
	const struct timeline *t = aggregate__timeline(a);
	size_t n = 0;

	*sum = 0;
	for (size_t k = 0; k < t->n; k++) {
		n += t->entries[k].row == i;
		*sum += t->entries[k].row == i ? t->entries[k].value : 0;
	}
	return n;
}

TEST(waits)
{
	const uint64_t wait = 100 * TIMELINE_WIDTH, end = 1000 * TIMELINE_WIDTH;
	struct sample ticks = {.time = end, .weight = 10, .stack = stack__one("f")};
	uint64_t sum;
	size_t n;

	start_as((struct aggregate_config){
		.max = 1 << 20, .timeline = true, .interval_ns = wait / 10});
	put(&one, "f", 0, PROFILE_TYPE_OFF_CPU, wait, end);
	n = entries(0, &sum);
	tap__ok(n > 90 && n < 110 && sum == wait && aggregate__timeline(a)->begin == end - wait,
		"a wait is over the time it took, in %zu entries", n);
	ticks.event = XR_EVENT_SWITCH;
	aggregate__add(a, &one, &ticks);
	n = entries(1, &sum);
	tap__ok(n == 10 && sum == 10, "in ticks, too: %zu entries", n);
	ticks.event = XR_EVENT_TICK;
	ticks.stack = stack__one("g");
	aggregate__add(a, &one, &ticks);
	tap__ok(entries(2, &sum) == 1 && sum == 10, "what ran is where it was seen");
	put(&one, "h", 0, PROFILE_TYPE_OFF_CPU, 50, 20);
	tap__ok(entries(3, &sum) == 1 && sum == 50, "a time that cannot be is a moment");
	tap__ok(row(0)->value == wait && row(1)->value == 10, "values are as they came");
}

/* A call that is met again lasts longer, and so do those outside of it. */
TEST(calls)
{
	struct profile_call outer = {.id = 1, .name = "batch", .began = 5, .seen = 10};
	struct profile_call inner = {
		.id = 2, .name = "deal", .outer = &outer, .began = 5, .seen = 10};
	const struct sample s = {.weight = 1, .call = &inner, .stack = stack__one("f")};
	struct profile_call *const *all;
	size_t n;

	start_as((struct aggregate_config){.max = 1 << 20, .calls = true});
	tap__bail_if(aggregate__add(a, &one, &s), "no room");
	outer.seen = inner.seen = 70;
	tap__bail_if(aggregate__add(a, &one, &s), "no room");
	all = aggregate__calls(a, &n);
	tap__bail_if(n != 2, "%zu calls", n);
	tap__ok(call__ns(all[1]) == 65 && all[1]->outer == all[0], "the call");
	tap__ok(call__ns(all[0]) == 65, "and the one outside of it, of which no other sample is");
}
