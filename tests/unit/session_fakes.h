/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An engine and a sink that are made up, for tests of a session: they count what they get,
 * send what a test queues, and fail where it wants.
 */
#ifndef XR_SESSION_FAKES_H
#define XR_SESSION_FAKES_H

#include "base/clock.h"
#include "engine/engine.h"
#include "os/os.h"
#include "profile/sink.h"
#include "session/session.h"
#include "session/stats.h"
#include "tap.h"

/* --- the engine --- */

static struct {
	int open_err, add_err, poll_err, counters_err, set_freq_err;
	uint32_t freq; /* as told; 0: not told */
	struct engine_config config;
	unsigned int room; /* rows at a time; 0: as many as come */
	unsigned int tries, opened, adds, removes, stops, closes;
	struct xr_row row; /* added last */
	uint64_t ticks;	   /* samples sent */
	uint64_t spent;	   /* ns that they took */
	uint64_t lost;	   /* events */
	bool gone;	   /* it has none of the rows any more */
	bool behind;
	uint64_t queue[256];
	size_t queued; /* bytes */
} fake;

static int fake__open(struct engine **out, const struct engine_config *config, struct errmsg *f)
{
	fake.opened++;
	fake.config = *config;
	config->note(config->note_arg, "a note of the engine");
	if (fake.open_err)
		return errmsg__set(f, fake.open_err, "the fake cannot be opened");
	*out = (struct engine *)&fake;
	return 0;
}

static int fake__add(struct engine *e, const struct xr_row *row, struct errmsg *f)
{
	fake.tries++;
	if (fake.room && fake.adds - fake.removes >= fake.room)
		return errmsg__set(f, -E2BIG, "the fake is full");
	if (fake.add_err)
		return errmsg__set(f, fake.add_err, "the fake has no room");
	fake.adds++;
	fake.row = *row;
	return 0;
}

static int fake__update(struct engine *e, const struct xr_row *row)
{
	return 0;
}

static uint32_t fake__freq(struct engine *e)
{
	return fake.freq ? fake.freq : 50; /* of 99 that are asked for */
}

static int fake__set_freq(struct engine *e, uint32_t freq, struct errmsg *f)
{
	if (fake.set_freq_err)
		return errmsg__set(f, fake.set_freq_err, "the fake keeps its rate");
	fake.freq = freq;
	return 0;
}

static bool fake__holds(struct engine *e, uint32_t pid, uint32_t serial)
{
	return !fake.gone;
}

static bool fake__behind(struct engine *e)
{
	return fake.behind;
}

static void fake__remove(struct engine *e, uint32_t pid, uint32_t serial)
{
	fake.removes++;
}

static int fake__poll(struct engine *e, int timeout_ms, engine_sink sink, void *arg)
{
	const uint8_t *at = (const uint8_t *)fake.queue, *end = at + fake.queued;
	int n = 0;

	if (fake.poll_err)
		return fake.poll_err;
	if (timeout_ms && !fake.queued)
		usleep(1000);
	fake.queued = 0;
	for (; at < end; n++) {
		uint32_t size = ((const struct xr_head *)at)->size;

		sink(arg, at, size);
		at += (size + 7) / 8 * 8;
	}
	return n;
}

static void fake__stop(struct engine *e)
{
	fake.stops++;
}

static int fake__counters(struct engine *e, uint64_t counts[XR_COUNTERS])
{
	memset(counts, 0, XR_COUNTERS * sizeof(*counts));
	counts[XR_TICKS] = fake.ticks;
	counts[XR_SPENT_NS] = fake.spent;
	counts[XR_EVENTS_LOST] = fake.lost;
	return fake.counters_err;
}

static const char *fake__event(struct engine *e)
{
	return "fake-event";
}

static void fake__close(struct engine *e)
{
	fake.closes++;
}

#define FAKE_OPS                                                                                   \
	.help = "", .clock = "cpu", .add = fake__add, .update = fake__update,                      \
	.remove = fake__remove, .poll = fake__poll, .stop = fake__stop, .freq = fake__freq,        \
	.holds = fake__holds, .set_freq = fake__set_freq, .counters = fake__counters,              \
	.behind = fake__behind, .event = fake__event, .close = fake__close

static const struct engine_ops fake_ops = {.name = "fake", .open = fake__open, FAKE_OPS};
static const struct engine_ops *const engines[] = {&fake_ops, NULL};

static void *queue__record(uint32_t type, uint32_t size)
{
	struct xr_head *head = (void *)((uint8_t *)fake.queue + fake.queued);

	memset(head, 0, size);
	head->type = type;
	head->size = size;
	fake.queued += (size + 7) / 8 * 8;
	return head;
}

static struct xr_sample *queue__sample(uint32_t serial, uint32_t pid, uint32_t nslots)
{
	struct xr_sample *s =
		queue__record(XR_REC_SAMPLE, sizeof(*s) + nslots * sizeof(struct xr_slot));

	s->time = os__now();
	s->weight = 1;
	s->serial = serial;
	s->pid = s->tid = pid;
	s->nslots = nslots;
	return s;
}

static inline void send_sample(uint32_t serial, uint32_t pid)
{
	queue__sample(serial, pid, 1)->slots[0].word = (uint64_t)XR_FORM_ANON << XR_FORM_SHIFT;
	fake.ticks++;
}

/* R executes no function: not a sample. */
static inline void send_none(uint32_t serial, uint32_t pid)
{
	queue__sample(serial, pid, 0)->flags = XR_F_NONE;
}

/* A sample in a call, of <Anonymous>. */
static inline void send_call(uint32_t serial, uint32_t pid)
{
	struct xr_sample *s = queue__sample(serial, pid, 3);

	s->flags = XR_F_CALLS;
	s->slots[1].word = (uint64_t)XR_FORM_ANON << XR_FORM_SHIFT;
	s->slots[2] = (struct xr_slot){0x1000, 0x2000};
	fake.ticks++;
}

static inline void send_process(uint32_t event, uint32_t serial, uint32_t pid,
				uint32_t parent_serial)
{
	struct xr_process *p = queue__record(XR_REC_PROCESS, sizeof(*p));

	p->event = event;
	p->serial = serial;
	p->pid = pid;
	p->parent_serial = parent_serial;
	snprintf(p->comm, sizeof(p->comm), "told");
}

/* --- the sink --- */

static struct {
	int begin_err, process_err, sample_err, tick_err, finish_err;
	unsigned int begins, began, known, ended, samples, ticks, finishes, calls;
	uint64_t call_ended;	 /* of the last call */
	unsigned int unlabelled; /* events of processes after their begin, without labels */
	uint32_t pid;		 /* of the last sample */
	char comm[16];
	char ended_as[16]; /* the name of the last process that ended */
	char says[1024];   /* of the process of the last event: "command|key=value;" */
	uint64_t started;
	struct profile_about about;
	uint64_t weight; /* of the last sample, and */
	uint32_t type;
	struct stats stats;
	struct errmsg why;
} sunk;

static int sunk__result(int err, const char *what)
{
	return err ? errmsg__set(&sunk.why, err, "the sink failed: %s", what) : 0;
}

static int sunk__begin(void *arg, const struct profile_about *about)
{
	sunk.about = *about;
	sunk.begins++;
	return sunk__result(sunk.begin_err, "begin");
}

static void sunk__take(const struct profile_process *p)
{
	size_t n =
		(size_t)snprintf(sunk.says, sizeof(sunk.says), "%s|", p->command ? p->command : "");

	for (size_t i = 0; i < p->nlabels && n < sizeof(sunk.says); i++)
		n += (size_t)snprintf(sunk.says + n, sizeof(sunk.says) - n, "%s=%s;",
				      p->labels[i].key, p->labels[i].value);
	sunk.started = p->started;
}

static int sunk__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	sunk__take(p);
	if (event == PROFILE_BEGAN)
		sunk.began++;
	else if (event == PROFILE_KNOWN)
		sunk.known++;
	else
		sunk.ended++;
	if (event == PROFILE_ENDED)
		snprintf(sunk.ended_as, sizeof(sunk.ended_as), "%s", p->comm);
	sunk.unlabelled += event != PROFILE_BEGAN && !p->nlabels;
	return sunk__result(sunk.process_err, "process");
}

static int sunk__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	sunk.samples++;
	sunk.weight = s->weight;
	sunk.type = s->type;
	sunk.pid = p->pid;
	snprintf(sunk.comm, sizeof(sunk.comm), "%s", p->comm);
	sunk__take(p);
	return sunk__result(sunk.sample_err, "sample");
}

static int sunk__call(void *arg, const struct profile_process *p, const struct profile_call *call)
{
	sunk.calls++;
	sunk.call_ended = call->ended;
	return 0;
}

static int sunk__tick(void *arg, uint64_t now)
{
	sunk.ticks++;
	return sunk__result(sunk.tick_err, "tick");
}

static int sunk__finish(void *arg, struct stats *stats)
{
	sunk.finishes++;
	sunk.stats = *stats;
	return sunk__result(sunk.finish_err, "finish");
}

static const struct errmsg *sunk__why(void *arg)
{
	return &sunk.why;
}

static const struct sink_ops sink_ops = {
	.begin = sunk__begin,
	.process = sunk__process,
	.sample = sunk__sample,
	.call = sunk__call,
	.tick = sunk__tick,
	.finish = sunk__finish,
	.why = sunk__why,
};

/* --- a session with both --- */

static struct session_config config;
static struct session *session;
static struct stats stats; /* of the one that was finished last */
static char said[8192];	   /* notes for the user, one a line */

static inline void on_note(void *arg, enum notes_level level, const char *line)
{
	size_t len = strlen(said);

	if (level == NOTES_USER)
		snprintf(said + len, sizeof(said) - len, "%s\n", line);
}

/* session__begin - what is to be started: the test may change config. */
static inline void session__begin(const pid_t *pids, size_t npids)
{
	memset(&fake, 0, sizeof(fake));
	memset(&sunk, 0, sizeof(sunk));
	said[0] = '\0';
	config = (struct session_config){
		.pids = pids,
		.npids = npids,
		.engines = engines,
		.freq = 99,
		.notes = {.line = on_note, .lowest = NOTES_DEBUG},
	};
}

static inline int session__open_start(void)
{
	struct errmsg f;

	if (session__open(&session, &config, (struct sink){.ops = &sink_ops}, &f))
		tap__bail("%s", f.text);
	return session__start(session);
}

static inline int session__finish(void)
{
	return session__stop(session, &stats);
}

static inline void session__end(void)
{
	session__free(session);
	session = NULL;
}

static inline void session__finish_end(void)
{
	session__finish();
	session__end();
}

static inline const char *session__reason(void)
{
	return session__why(session)->text;
}

/* Poll until @count, which polling raises, is @want; the last state, or SESSION_FAILED after 60 s.
 */
static inline enum session_state session__poll_until(const unsigned int *count, unsigned int want)
{
	uint64_t limit = os__now() + 60 * NS_PER_S;
	enum session_state state = SESSION_RUNS;

	while (state == SESSION_RUNS && *count < want) {
		state = session__poll(session, 100);
		if (os__now() > limit)
			return SESSION_FAILED;
	}
	return state;
}

#endif
