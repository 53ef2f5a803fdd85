/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session from its start to its end, on an engine and a sink that are made up, and on processes
 * that map a made-up libR.so: what is sampled, what is waited for, and how all that can fail does.
 */

#include "tap.h"

#include "clock.h"
#include "r_child.h"
#include "session_fakes.h"

static int err; /* what was returned last */
static enum session_state state;

static enum session_state poll_to_end(void)
{
	static const unsigned int never;

	return session__poll_until(&never, 1);
}

BEFORE()
{
	library__make();
}

TEST(life)
{
	struct child c = child__start("mvb");

	session__begin(&c.pid, 1);
	err = session__open_start();
	tap__ok(!err && fake.opened == 1 && sunk.begins == 1, "it starts: %s", session__reason());
	tap__ok(fake.adds == 1 && fake.row.pid == (uint32_t)c.pid && fake.row.serial == 1 &&
			fake.row.flags & XR_ROW_FOLLOW && sunk.began == 1,
		"the engine has the process named, and the sink knows of it");
	tap__ok(session__began(session), "it is sampled from now on");
	tap__ok(strstr(said, "a note of the engine"), "the engine's notes are passed on");
	send_sample(1, (uint32_t)c.pid);
	send_sample(1, (uint32_t)c.pid);
	tap__ok(session__poll_until(&sunk.samples, 2) == SESSION_RUNS &&
			sunk.pid == (uint32_t)c.pid,
		"samples come to the sink");
	tap__ok(!strcmp(sunk.says, "|") && !sunk.started && !sunk.known,
		"without rules of labels no process is described");
	tap__ok(sunk.ticks >= 1, "which gets a tick when all records were delivered");
	child__end(&c);
	tap__ok(poll_to_end() == SESSION_OVER && fake.removes == 1,
		"with its process the session is over");
	send_sample(1, 1);
	tap__ok(!session__finish() && fake.stops == 1 && sunk.finishes == 1, "it stops");
	tap__ok(sunk.samples == 3, "what was taken before is delivered");
	tap__ok(stats.processes == 1 && stats.written == 3 && stats.ticks == 3 &&
			stats.freq == 99 && sunk.about.freq == 50 &&
			!strcmp(stats.engine, "fake") && !strcmp(stats.event, "fake-event") &&
			stats.seconds > 0 && stats.first_sample > 0,
		"and counted");
	tap__ok(!memcmp(&stats, &sunk.stats, sizeof(stats)), "the sink has the same counts");
	session__end();
	tap__ok(fake.closes == 1, "the engine is closed");
}

/* One tick each millisecond of the CPU time that was used; @ticks of them came. */
static int stop_after(uint64_t ticks)
{
	struct child c = child__start("mvb");

	session__begin(&c.pid, 1);
	if (session__open_start())
		tap__bail("%s", session__reason());
	fake.freq = 1000;
	child__do(&c, "c");
	fake.ticks = ticks;
	return session__finish();
}

TEST(silent)
{
	err = stop_after(0);
	tap__ok(err == -ENODATA &&
			strstr(session__reason(),
			       "engine fake took no sample of 1 process that used ") &&
			strstr(session__reason(), "try another --engine"),
		"a process that computed, and no tick of it: an error: %s", session__reason());
	session__end();
	tap__ok(!stop_after(1), "one tick is enough");
	session__end();
}

TEST(rate)
{
	struct child c = child__start("mvb");
	struct session_gauges g;
	struct errmsg f;

	session__begin(&c.pid, 1);
	config.max_processes = 7;
	config.memory = 1 << 20;
	config.rate_changes = true;
	err = session__open_start();
	tap__ok(!err && session__freq(session) == 50, "the rate is what the engine says");
	tap__ok(fake.config.max_processes == 7 && fake.config.memory == 1 << 20 &&
			fake.config.rate_changes,
		"the engine knows how much there may be, and that the rate changes");
	tap__ok(!session__set_freq(session, 19, &f) && fake.freq == 19 &&
			session__freq(session) == 19,
		"it follows");
	tap__ok(!session__stats(session, &stats) && stats.freq == 19, "and is in the statistics");
	fake.set_freq_err = -EINVAL;
	tap__ok(session__set_freq(session, 99, &f) == -EINVAL &&
			!strcmp(f.text, "the fake keeps its rate") && session__freq(session) == 19,
		"or does not, and the reason is reported");
	send_sample(1, (uint32_t)c.pid);
	fake.spent = 1234;
	session__poll_until(&sunk.samples, 1);
	session__gauges(session, &g);
	tap__ok(g.freq == 19 && g.processes == 1 && g.max_processes == 7 && g.ticks == 1 &&
			g.kernel_ns == 1234,
		"what there is now");
	tap__ok(g.names > 0 && g.names < g.max_names && g.max_names <= 1 << 20,
		"names take %zu bytes of %zu", g.names, g.max_names);
	session__finish_end();
}

TEST(waiting)
{
	struct child c = child__start("mv");
	uint64_t at;

	clock__run(CLOCK_SLOW); /* it is waited for for two seconds, or five */
	session__begin(&c.pid, 1);
	tap__ok(!session__open_start() && !fake.adds, "an R that is starting is waited for");
	session__poll(session, 1);
	tap__ok(!session__began(session), "its time has not begun");
	child__do(&c, "b");
	at = os__now();
	state = session__poll_until(&fake.adds, 1);
	tap__ok(state == SESSION_RUNS && fake.row.nil == 0x20000,
		"and sampled %.1f ms after it has begun", (double)(os__now() - at) / 1e6);
	session__finish_end();

	c = child__start("m");
	session__begin(&c.pid, 1);
	err = session__open_start();
	child__end(&c);
	tap__ok(!err && poll_to_end() == SESSION_OVER && !session__finish() && !sunk.ended,
		"one that ends before it is sampled is unknown to the sink");
	session__end();

	clock__run(1);
	c = child__start("m");
	session__begin(&c.pid, 1);
	err = session__open_start();
	state = poll_to_end();
	tap__ok(!err && state == SESSION_OVER && strstr(session__reason(), "damaged"),
		"one whose variables never come is damaged: %s", session__reason());
	tap__ok(!session__finish() && !stats.processes, "nothing was profiled");
	session__end();

	c = child__start("");
	session__begin(&c.pid, 0);
	tap__ok(!session__open_start() && !session__add_workload(session, c.pid),
		"a workload that is not R yet");
	tap__ok(session__poll(session, 10) == SESSION_RUNS && !fake.adds, "is waited for");
	child__do(&c, "mvb");
	tap__ok(session__poll_until(&fake.adds, 1) == SESSION_RUNS, "until it is");
	session__finish_end();

	c = child__start("");
	session__begin(&c.pid, 1);
	config.follow = true;
	tap__ok(!session__open_start() && strstr(said, "no R process in process") &&
			session__poll(session, 10) == SESSION_RUNS,
		"one that is named need not be R where R may be below it");
	child__do(&c, "mvb");
	tap__ok(session__poll_until(&fake.adds, 1) == SESSION_RUNS, "and may become it");
	send_process(XR_PROCESS_EXEC, fake.row.serial, (uint32_t)c.pid, 0);
	tap__ok(session__poll_until(&fake.adds, 2) == SESSION_RUNS, "again and again");
	tap__ok(session__poll_until(&sunk.ended, 1) == SESSION_RUNS && *sunk.ended_as &&
			strcmp(sunk.ended_as, "told") != 0,
		"the profile of the first one keeps its name: %s", sunk.ended_as);
	session__finish();
	tap__ok(stats.programs == 2, "each time it is another program");
	session__end();
}

/* Its process is gone before its records are read: the profiler had no CPU, say. */
TEST(behind)
{
	struct child c = child__start("mvb");

	session__begin(&c.pid, 1);
	session__open_start();
	fake.behind = true;
	child__end(&c);
	poll_to_end();
	for (int i = 0; i < 5; i++)
		session__poll(session, 0);
	send_sample(1, (uint32_t)c.pid);
	session__poll(session, 0);
	tap__ok(sunk.samples == 1 && !sunk.ended,
		"while records are left a sample that comes late is in the profile");
	for (int i = 0; i < 250; i++)
		session__poll(session, 0);
	tap__ok(sunk.ended == 1, "but not for ever");
	session__finish_end();
}

/* The ring was full when the process executed another program. */
TEST(lost)
{
	struct child c = child__start("mvb");

	session__begin(&c.pid, 1);
	session__open_start();
	fake.lost = fake.gone = 1;
	tap__ok(session__poll_until(&fake.adds, 2) == SESSION_RUNS && fake.removes == 1,
		"R is looked for again in one whose row is gone");
	session__finish_end();
}

/* The engine did not report the end of the process. */
TEST(calls)
{
	static const struct calls_wanted wanted = {.names = {"*"}, .n = 1};
	struct child c = child__start("mvb");

	session__begin(&c.pid, 1);
	config.calls = &wanted;
	session__open_start();
	send_call(1, (uint32_t)c.pid);
	session__poll_until(&sunk.samples, 1);
	child__end(&c);
	poll_to_end();
	session__finish();
	tap__ok(sunk.calls == 1 && sunk.call_ended, "a call ends with its process");
	session__end();
}

static unsigned int left_out;

static void on_left_out(void *arg, enum notes_level level, const char *line)
{
	left_out += strstr(line, "is left out by a filter") != NULL;
}

TEST(filters)
{
	static struct filters filters;
	struct child c = child__start("mvb");
	struct errmsg f;

	session__begin(&c.pid, 1);
	config.all = true;
	config.filters = &filters;
	config.notes.line = on_left_out;
	tap__bail_if(filters__add(&filters, FILTER_COMM, "another", &f) || session__open_start(),
		     "the session does not start");
	send_process(XR_PROCESS_FORK, 0x80000001, (uint32_t)c.pid, 1);
	send_process(XR_PROCESS_EXEC, 0x80000001, (uint32_t)c.pid, 0);
	session__poll_until(&left_out, 1);
	tap__ok(left_out && fake.adds == 1, "a child that executed R is filtered");
	session__finish_end();
}

TEST(not_r)
{
	struct child c = child__start(""), r = child__start("mvb");
	const pid_t both[] = {c.pid, r.pid};

	session__begin(&c.pid, 1);
	err = session__open_start();
	tap__ok(err == -ENOEXEC && strstr(session__reason(), "does not run R"), "not R: %s",
		session__reason());
	tap__ok(!fake.opened && !sunk.begins, "then nothing is opened");
	tap__ok(session__finish() == -ENOEXEC && !sunk.finishes, "nor finished");
	session__end();
	session__begin(both, 2);
	tap__ok(!session__open_start() && fake.adds == 1 && strstr(said, "does not run R"),
		"of two, the one that is R is profiled, and the other is spoken of");
	tap__ok(session__poll(session, 1) == SESSION_RUNS, "it runs");
	session__finish_end();
}

static int refuse(struct engine **out, const struct engine_config *about, struct errmsg *f)
{
	return errmsg__set(f, -ENOTSUP, "the first is not for this machine");
}

TEST(engines)
{
	static const struct engine_ops refusing_ops = {.name = "refusing", .open = refuse};
	static const struct engine_ops *const two_engines[] = {&refusing_ops, &fake_ops, NULL};
	struct child c = child__start("mvb");

	session__begin(&c.pid, 1);
	config.engines = two_engines;
	tap__ok(!session__open_start() &&
			strstr(said, "using engine fake (cpu clock), because the first is not"),
		"the engine that works is used, and why the first is not");
	session__finish_end();

	session__begin(&c.pid, 1);
	config.engines = two_engines;
	fake.open_err = -EPERM;
	err = session__open_start();
	tap__ok(err == -ENOTSUP && strstr(session__reason(), "the first is not for this machine"),
		"when none works the first one's reason counts: %s", session__reason());
	session__finish_end();
}

/* Whatever fails, and when: the reason is kept, and the profile is finished. */
TEST(failures)
{
	enum { START, POLL, FINISH };
	static const struct {
		int *error, value, at;
		const char *why;
	} rows[] = {
		{&sunk.begin_err, -EACCES, START, "the sink failed: begin"},
		{&sunk.process_err, -ENOSPC, START, "the sink failed: process"},
		{&fake.add_err, -E2BIG, START, "the fake has no room"},
		{&fake.poll_err, -EIO, POLL, "engine fake stopped working"},
		{&sunk.tick_err, -ENOSPC, POLL, "the sink failed: tick"},
		{&fake.counters_err, -EIO, FINISH, "cannot read its counters"},
		{&sunk.finish_err, -EIO, FINISH, "the sink failed: finish"},
	};
	struct child c = child__start("mvb");

	for (size_t i = 0; i < COUNT(rows); i++) {
		session__begin(&c.pid, 1);
		if (rows[i].at == START)
			*rows[i].error = rows[i].value;
		err = session__open_start();
		tap__ok(err == (rows[i].at == START ? rows[i].value : 0), "%s: started: %d",
			rows[i].why, err);
		if (!err) {
			fake.poll_err = -EINTR;
			tap__ok(session__poll(session, 1) == SESSION_RUNS,
				"a signal is not a failure");
			fake.poll_err = 0;
			*rows[i].error = rows[i].value;
			state = rows[i].at == POLL ? SESSION_FAILED : SESSION_RUNS;
			tap__ok(session__poll(session, 1) == state &&
					session__poll(session, 1) == state,
				"it is known at once, and for good");
		}
		tap__ok(!sunk.begin_err || !fake.adds, "no row before the sink begins");
		err = session__finish();
		tap__ok(err == rows[i].value && strstr(session__reason(), rows[i].why) &&
				sunk.finishes == 1,
			"finished: %s", session__reason());
		tap__ok(stats.rows_full == !!fake.add_err, "what found no place is counted");
		session__end();
		tap__ok(fake.closes == 1, "the engine is closed");
	}
}

/* A reader that has gone wants no more: then nothing is missing. */
TEST(sink_fails)
{
	struct child c = child__start("mvb");

	for (int full = 0; full < 2; full++) {
		const int fails = full ? -ENOSPC : -EPIPE;
		struct xr_sample *wait;

		session__begin(&c.pid, 1);
		config.one_type = true;
		session__open_start();
		sunk.sample_err = fails;
		for (int i = 0; i < 3; i++)
			send_sample(1, (uint32_t)c.pid);
		tap__ok(session__poll(session, 1) == SESSION_FAILED && sunk.samples == 1,
			"one that fails gets nothing more");
		for (int i = 0; i < 2; i++)
			send_sample(1, (uint32_t)c.pid);
		wait = (void *)((uint8_t *)fake.queue + fake.queued);
		send_sample(1, (uint32_t)c.pid);
		wait->event = XR_EVENT_SWITCH;
		wait->unit = XR_UNIT_NS;
		wait->weight = NS_PER_S;
		send_none(1, (uint32_t)c.pid);
		tap__ok(session__finish() == fails && sunk.finishes == 1 && stats.ticks == 6 &&
				stats__conserved(&stats) && stats.unwritten == (full ? 4 + 50 : 0),
			"but the counts of all, to the end; a wait of a second is 50 ticks");
		session__end();
	}
}

TEST(records)
{
	struct child c = child__start("mvb");
	const uint32_t serial = 0x80000001u;
	pid_t pid = c.pid;
	const char *told;

	session__begin(&pid, 1);
	session__open_start();
	send_process(XR_PROCESS_FORK, serial, (uint32_t)c.pid, 1);
	send_process(XR_PROCESS_FORK, serial + 1, (uint32_t)c.pid, 1);
	session__poll(session, 1);
	send_sample(serial, (uint32_t)c.pid);
	tap__ok(session__poll_until(&sunk.samples, 1) == SESSION_RUNS && !strcmp(sunk.comm, "told"),
		"a child that the engine reported is known by its name");
	for (int i = 0; i < 3; i++)
		send_process(XR_PROCESS_REDUCED, serial, (uint32_t)c.pid, 0);
	send_process(XR_PROCESS_REDUCED, 4711, 4711, 0);
	session__poll(session, 1);
	session__poll(session, 1);
	told = strstr(said, "only the innermost frames, below <truncated> (--max-sample-time");
	tap__ok(told && !strstr(told + 5, "only the innermost") && strstr(said, " 1000 micro"),
		"that most samples have the innermost frames only is printed once");
	send_process(XR_PROCESS_EXIT, serial, (uint32_t)c.pid, 0);
	tap__ok(session__poll_until(&sunk.ended, 1) == SESSION_RUNS, "and its end is reported");
	send_process(XR_PROCESS_EXIT, serial + 1, (uint32_t)c.pid, 0);
	send_process(XR_PROCESS_EXIT, 12345, 12345, 0);
	session__poll_until(&sunk.ended, 2);
	send_sample(serial + 7, (uint32_t)c.pid);
	tap__ok(session__poll_until(&sunk.samples, 2) == SESSION_RUNS,
		"one that was not announced is taken");
	send_process(XR_PROCESS_EXIT, serial + 7, (uint32_t)c.pid, 0);
	session__poll_until(&sunk.ended, 3);
	send_sample(4711, (uint32_t)c.pid);
	session__poll(session, 1);
	tap__ok(sunk.samples == 2, "a sample of a row that the session has forgotten is dropped");
	send_process(XR_PROCESS_EXEC, 1, (uint32_t)c.pid, 0);
	tap__ok(session__poll_until(&fake.adds, 2) == SESSION_RUNS &&
			strstr(said, "executed another program"),
		"one that executed R again is profiled again");
	err = session__finish();
	tap__ok(!err && stats.processes == 4 && stats.programs == 2,
		"children count that had a sample: %llu in all",
		(unsigned long long)stats.processes);
	tap__ok(!stats.decoder.malformed, "all records were good");
	session__end();
}
