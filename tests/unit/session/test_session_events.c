/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Samples at events, from an engine that is made up, to the sink: by their sample types, as the one
 * number that some formats have, and as lines.
 */

#include "tap.h"
#include "r_child.h"
#include "session_fakes.h"

static const struct engine_ops events_ops = {
	.name = "events", .open = fake__open, .events = true, FAKE_OPS};
static const struct engine_ops *const with_events[] = {&events_ops, NULL};

static struct event_list events;
static struct child child;

static int start(const struct engine_ops *const *with, bool one_type, bool lines,
		 const char *const *names)
{
	struct errmsg f;
	int err;

	session__begin(&child.pid, 1);
	events.n = 0;
	for (; *names; names++)
		tap__bail_if(event_list__add(&events, *names, &f), "%s", f.text);
	config.engines = with;
	config.one_type = one_type;
	config.lines = lines;
	config.events = &events;
	err = session__open_start();
	if (err)
		session__end();
	return err;
}

/* One sample: is it in the profile? */
static bool sends(uint32_t n, uint64_t weight, uint32_t unit)
{
	const unsigned int before = sunk.samples;
	struct xr_sample *s = (void *)fake.queue;

	send_sample(1, (uint32_t)child.pid);
	s->event = XR_EVENT_OTHER + n;
	s->weight = weight;
	s->unit = unit;
	session__poll(session, 0);
	return sunk.samples == before + 1;
}

BEFORE()
{
	library__make();
	child = child__start("mvb");
}

TEST(types)
{
	static const char *const names[] = {"page-faults", "cpu-clock", NULL};
	const struct profile_about *about = &sunk.about;
	struct buf json = {0};
	char line[512];

	start(with_events, false, false, names);
	tap__ok(fake.config.events == &events && fake.config.npids == 1,
		"the engine knows the events and the processes");
	tap__ok(about->no_ticks && !about__type(about, 0).name, "there are no ticks");
	tap__ok(!strcmp(about->types[PROFILE_TYPE_EVENTS].name, "page-faults") &&
			about->types[PROFILE_TYPE_EVENTS].unit == PROFILE_COUNT,
		"the first is a sample type");
	tap__ok(!strcmp(about->types[PROFILE_TYPE_EVENTS + 1].name, "cpu-clock") &&
			about->types[PROFILE_TYPE_EVENTS + 1].unit == PROFILE_NANOSECONDS &&
			!about->types[PROFILE_TYPE_EVENTS + 2].name,
		"the second is, in its unit, and no other");
	tap__ok(sends(0, 7, XR_UNIT_COUNT) && sunk.type == PROFILE_TYPE_EVENTS && sunk.weight == 7,
		"a sample of the first");
	tap__ok(sends(1, 1 << 30, XR_UNIT_NS) && sunk.type == PROFILE_TYPE_EVENTS + 1 &&
			sunk.weight == 1 << 30,
		"a sample of the second");
	sends(0, 5, XR_UNIT_COUNT);
	session__finish_end();
	tap__ok(stats.nevents == 2 && stats.events[0].samples == 2 &&
			stats.events[0].weight == 12 && stats.events[1].samples == 1 &&
			stats.events[1].weight == 1 << 30,
		"they are counted");
	stats__summary(&stats, line, sizeof(line));
	tap__ok(strstr(line, " (page-faults: 12, cpu-clock: 1073741824 ns) in "), "%s", line);
	stats__json(&stats, &json);
	tap__ok(json.data && strstr(json.data,
				    "\"name\": \"page-faults\", \"samples\": 2, \"weight\": 12"),
		"--stats has them");
	buf__free(&json);
}

TEST(one_number)
{
	static const char *const names[] = {"page-faults", NULL};

	start(with_events, true, false, names);
	tap__ok(sends(0, 7, XR_UNIT_COUNT) && sunk.type == PROFILE_TYPE_TICKS && sunk.weight == 7,
		"a format with one number has the number of events");
	session__finish_end();
}

TEST(lines)
{
	static const char *const names[] = {"page-faults", NULL};
	uint64_t lines = 0;

	start(with_events, true, true, names);
	for (int i = 0; i < 10; i++)
		lines += sends(0, 1000, XR_UNIT_COUNT) ? sunk.weight : 0;
	tap__ok(lines == 10, "samples that stand for as many each are a line each");
	session__finish_end();
	start(with_events, true, true, names);
	lines = 0;
	for (int i = 0; i < 1000; i++)
		lines += sends(0, i % 2 ? 10 : 30, XR_UNIT_COUNT) ? sunk.weight : 0;
	tap__ok(lines >= 990 && lines <= 1010, "others are as many lines as samples: %u",
		(unsigned int)lines);
	lines = 0;
	for (int i = 0; i < 10; i++)
		lines += sends(0, 200, XR_UNIT_COUNT) ? sunk.weight : 0;
	tap__ok(lines > 80 && lines <= 100, "one that stands for more is more lines: %u",
		(unsigned int)lines);
	session__finish_end();
}

TEST(refused)
{
	static const char *const names[] = {"page-faults", NULL};
	static const struct engine_ops *const both[] = {&events_ops, &fake_ops, NULL};

	tap__ok(start(engines, false, false, names) == -ENOTSUP && !fake.opened,
		"an engine that has none is not opened");
	tap__ok(!start(both, false, false, names), "one that has them is");
	session__finish_end();
}
