/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Single calls, told apart by samples.  Times are in ms. */
#include "base/clock.h"
#include "profile/calls.h"
#include "tap.h"

static struct intern names;
static struct call_finder finder;
static struct call_track *track;

/* The calls that the sink is given: NAME BEGAN-ENDED+-ERROR, with `cut` if it is. */
static int on_call(void *arg, const struct profile_process *p, const struct profile_call *call)
{
	tap__say("%s%s %u-%u+-%u%s%s", *tap__saying() ? ", " : "", call->name,
		 (unsigned int)(call->began / NS_PER_MS), (unsigned int)(call->ended / NS_PER_MS),
		 (unsigned int)(call->error / NS_PER_MS), call->cut ? " cut" : "",
		 call->request ? call->request : "");
	return 0;
}

static const struct sink_ops ops = {.call = on_call};
static const struct sink sink = {.ops = &ops};
static const struct profile_process process = {.serial = 1, .pid = 10};

static const struct name *name(const char *text)
{
	return intern__get(&names, text, strlen(text));
}

/* Look for the calls of @wanted, a NULL-ended list. */
static void look_for(const char *const *wanted)
{
	static struct calls_wanted list;

	list.n = 0;
	while (wanted[list.n]) {
		list.names[list.n] = wanted[list.n];
		list.n++;
	}
	finder = (struct call_finder){.wanted = &list, .period = 10 * NS_PER_MS};
	call_track__free(track);
	track = NULL;
}
#define LOOK_FOR(...) look_for((const char *const[]){__VA_ARGS__, NULL})

/*
 * A sample at @ms with this stack, outermost first: "pkg::f:ENV ...", ENV being the number of its
 * environment, with an `o` behind it if the environment is old; "-" is one that was cut.  The
 * innermost call that it is in, as CALL or CALL<OUTER; "" for none.
 */
static const char *sample_as(struct sample s, unsigned int ms, const char *stack)
{
	static struct frame frames[16];
	struct sample_call calls[16];
	const struct profile_call *call;
	static char text[256];
	char *save = NULL;
	uint32_t n = 0, cut = 0;
	int err;

	snprintf(text, sizeof(text), "%s", stack);
	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *env = strrchr(w, ':'), *colons;
		struct frame *f = &frames[n];

		if (!env) {
			cut++;
			continue;
		}
		*env++ = '\0';
		colons = strstr(w, "@");
		if (colons)
			*colons = '\0';
		*f = (struct frame){.function = name(w),
				    .package = colons ? name(colons + 1) : NULL};
		memmove(&calls[1], calls, n * sizeof(*calls));
		calls[0] = (struct sample_call){.frame = f,
						.env = (uint64_t)atoi(env),
						.context = 1000 - 10 * (n + cut),
						.old = strchr(env, 'o')};
		n++;
	}
	s.time = ms * NS_PER_MS;
	s.flags |= XR_F_CALLS | (cut ? XR_F_TRUNCATED : 0);
	s.calls = calls;
	s.ncalls = n;
	call = call_finder__sample(&finder, &track, &process, &s, &sink, &err);
	tap__bail_if(err, "out of memory");
	snprintf(text, sizeof(text), "%s%s%s", call ? call->name : "",
		 call && call->outer ? "<" : "", call && call->outer ? call->outer->name : "");
	return text;
}

static const char *sample(unsigned int ms, const char *stack)
{
	return sample_as((struct sample){.counted = true}, ms, stack);
}

/* The same after @collections. */
static const char *collected(uint32_t collections, unsigned int ms, const char *stack)
{
	return sample_as((struct sample){.counted = true, .collections = collections}, ms, stack);
}

TEST(durations)
{
	LOOK_FOR("f");
	sample(10, "main:1");
	tap__is(sample(20, "main:1 f:2"), "f", "a sample has its call");
	tap__is(sample(30, "main:1 f:2 g:3"), "f", "and one of what it calls");
	tap__is(sample(40, "main:1"), "", "it is over");
	tap__said("f 15-35+-10", "a call lasts from between two samples to between two others");
	sample(50, "main:1 f:4");
	sample(60, "main:1 f:5");
	sample(70, "main:1");
	tap__said("f 45-55+-10, f 55-65+-10", "the next call has another environment");
	LOOK_FOR("f");
	sample(20, "main:1 f:2");
	call_track__stop(track, &process, 40 * NS_PER_MS, &sink);
	tap__said("f 20-30+-10 cut", "a process that ends ends its calls");
	LOOK_FOR("f");
	sample(20, "main:1 f:2");
	sample(30, "main:1 f:2");
	call_track__stop(track, &process, 0, &sink);
	tap__said("f 20-0+-0 cut", "a profile that ends does not");
}

TEST(waits)
{
	const struct sample wait = {.event = XR_EVENT_SWITCH, .weight = 60 * NS_PER_MS};
	const struct sample brief = {.event = XR_EVENT_SWITCH, .weight = 10 * NS_PER_MS};

	LOOK_FOR("f");
	sample(10, "main:1");
	sample_as(wait, 80, "main:1 f:2");
	sample_as(wait, 142, "main:1");
	tap__said("f 15-81+-6", "a wait has a beginning");
	LOOK_FOR("f");
	sample(10, "main:1");
	sample_as(brief, 20, "main:1 f:2");
	sample_as(brief, 30, "main:1");
	tap__said("f 15-25+-10", "of a short one only the end is known");
}

TEST(lag)
{
	const struct sample late = {.counted = true, .lag = 8 * NS_PER_MS};

	LOOK_FOR("f");
	sample(10, "main:1");
	sample_as(late, 20, "main:1 f:2");
	sample_as(late, 30, "main:1 f:3");
	sample_as(late, 40, "main:1");
	tap__said("f 15-21+-14, f 21-31+-18",
		  "a stack that was read some time before may have changed since");
}

TEST(collections)
{
	LOOK_FOR("f");
	sample(10, "f:2");
	tap__ok(*collected(1, 20, "f:2o") && *collected(3, 30, "f:2o") && !*tap__saying(),
		"an environment that survived is the same call");
	collected(4, 40, "f:2");
	tap__said("f 10-35+-5 cut", "a young one at the same address is another");
	collected(4, 50, "f:2");
	tap__said("", "without a collection in between it is the same");
	sample_as((struct sample){.counted = true, .collections = 5, .flags = XR_F_GC}, 60, "f:2");
	tap__said("", "while the collector runs, marks say nothing");
	collected(5, 70, "f:2o");
	tap__said("", "afterwards it is the same");
	collected(6, 80, "main:1 f:2o");
	tap__said("f 35-75+-10", "called from elsewhere it is another");
	tap__ok(!finder.uncounted, "all of that was known");
	sample_as((struct sample){0}, 90, "main:1 f:2");
	tap__ok(finder.uncounted == 1,
		"what was decided without a count of collections is counted");
}

TEST(nested)
{
	LOOK_FOR("f", "g");
	sample(10, "main:1");
	tap__is(sample(20, "f:2 g:3"), "g<f", "the innermost of two calls, and the other one");
	tap__is(sample(30, "f:2 g:4"), "g<f", "another one in the same outer call");
	tap__is(sample(40, "f:2"), "f", "the outer one alone");
	sample(50, "main:1");
	tap__said("g 15-25+-10, g 25-35+-10, f 15-45+-10", "the inner ones end first");
	LOOK_FOR("f");
	sample(10, "main:1");
	sample(20, "f:2 f:3 f:4");
	sample(30, "f:2 f:3");
	sample(40, "f:2 f:5");
	sample(50, "main:1");
	tap__said("f 15-25+-10, f 15-35+-10, f 35-45+-10, f 15-45+-10", "recursion");
}

TEST(cut)
{
	LOOK_FOR("f", "g");
	sample(10, "main:1");
	sample(20, "f:2 g:3");
	tap__is(sample(30, "- - x:7"), "g<f", "a cut stack does not end calls that it may lack");
	sample(40, "f:2 g:3");
	tap__said("", "so they go on");
	sample_as((struct sample){.flags = XR_F_OTHER_THREAD}, 50, "");
	sample(60, "f:2 g:3");
	tap__said("", "nor does a sample of another thread");
	sample_as((struct sample){.flags = XR_F_NONE}, 70, "");
	tap__said("g 15-65+-10, f 15-65+-10", "that R executes no function does");

	/* f returned, and its caller calls another f */
	sample(80, "main:1 f:2 g:3");
	tap__is(sample(90, "- f:4 g:5"), "g<f", "a cut stack has a call in the place of one");
	tap__said("g 75-85+-10, f 75-85+-10", "that one is over, with all inside of it");
	sample(100, "main:1 f:4 g:5");
	tap__said("", "the other goes on in the next whole stack");
	tap__is(sample(110, "- x:6"), "", "where no call is looked for now, none runs");
	tap__said("g 85-105+-10, f 85-105+-10", "it is over");

	/* a cut stack that may lack a call does not tell when it began or ended */
	sample(120, "main:1");
	sample(130, "- - x:7");
	sample(140, "main:1 f:8");
	sample(150, "main:1");
	tap__said("f 130-145+-15", "nor that one has not begun");
	sample(160, "main:1 f:9");
	tap__is(sample(170, "- - x:7"), "f", "one that ran is assumed to run");
	sample(180, "main:1");
	tap__said("f 155-170+-15", "but may have ended before");
}

/* What a cut stack showed goes on inside of what the next whole one has outside of it. */
TEST(cut_outside)
{
	LOOK_FOR("f", "g", "h");
	sample(10, "main:1");
	tap__is(sample(20, "- - h:4"), "h", "a cut stack without the outer calls");
	tap__is(sample(30, "main:1 f:2 h:4 g:5"), "g<h", "the next is whole");
	tap__said("", "and ends none");
	tap__is(sample(40, "main:1 f:2 h:4"), "h<f", "the call goes on in the one outside of it");
	sample(50, "main:1");
	tap__said("g 20-35+-15, h 15-45+-10, f 15-45+-10", "which began no later");
	sample(60, "main:1 f:6");
	sample(70, "- f:6 g:7 h:8");
	sample(80, "main:1 f:6 g:9 h:8");
	sample(90, "main:1");
	tap__said("h 65-75+-10, g 65-75+-10, h 70-85+-15, g 70-85+-15, f 55-85+-10",
		  "in other calls it is another");
}

/* The same where the next is cut as well, further out. */
TEST(cut_twice)
{
	LOOK_FOR("f", "g", "h");
	sample(10, "main:1");
	sample(20, "- - - h:4");
	tap__is(sample(30, "- - g:3 h:4"), "h<g", "the call goes on in the one outside of it");
	sample(40, "main:1 f:2 g:3 h:4");
	tap__said("", "a whole stack ends none");
	sample(50, "main:1");
	tap__said("h 15-45+-10, g 15-45+-10, f 15-45+-10", "each is one call");
	sample(60, "main:1 f:5");
	sample(70, "- - - h:7");
	tap__is(sample(80, "- - g:6 h:7"), "h<g", "inside of one that a whole stack showed");
	sample(90, "main:1 f:5 g:6 h:7");
	tap__said("", "too");
	sample(100, "main:1");
	tap__said("h 65-95+-10, g 65-95+-10, f 55-95+-10", "each is one call");
}

/* A first stack that was cut lacks calls that ran before, and those that did not. */
TEST(cut_first)
{
	LOOK_FOR("f");
	sample(10, "- - x:7 y:8");
	sample(20, "main:1 f:2 x:7 y:9");
	sample(30, "main:1");
	tap__said("f 10-25+-5 cut",
		  "a call with one inside that the first stack showed ran before");
	LOOK_FOR("f");
	sample(10, "- - x:7 y:8");
	sample(20, "main:1 f:2 x:9");
	sample(30, "main:1");
	tap__said("f 15-25+-10", "of another it is not known");
	LOOK_FOR("f");
	sample(10, "- - x:7");
	sample(20, "main:1 g:3");
	collected(1, 30, "main:1 f:2 x:7");
	sample(40, "main:1");
	tap__said("f 25-35+-10", "after a whole stack it is");
	LOOK_FOR("f");
	collected(0, 10, "- - x:7");
	collected(1, 20, "- - y:9");
	collected(1, 30, "main:1 f:2 x:7");
	collected(1, 40, "main:1");
	tap__said("f 20-35+-15", "nor where a collection may have given its memory to another");
}

TEST(names)
{
	static const char *const good[] = {"f", "pkg::f", "pkg:::f", "*", "predict*", "[[", "::"};
	bool ok = true;

	LOOK_FOR("stats::pr?dict*");
	tap__is(sample(10, "predict@stats:1"), "predict", "a glob, of a package");
	tap__is(sample(20, "predict@other:2"), "", "not of another");
	tap__is(sample(30, "stats::predict.lm:3"), "stats::predict.lm", "as R names it");
	tap__is(sample(40, "predict:4"), "", "nor where the package is not known");
	LOOK_FOR("f");
	tap__is(sample(10, "f@any:1"), "f", "a name of any package");
	tap__is(sample(20, "ff:2"), "", "but not a part of one");
	LOOK_FOR("<observer*");
	tap__is(sample(10, "<observer:p::f>:1"), "<observer:p::f>", "a name of shiny, as a whole");
	LOOK_FOR(CALLS_OUTERMOST);
	tap__is(sample(10, "a:1 b:2"), "a", "the outermost");
	tap__is(sample(20, "Rserve::run.Rserve:1 c:2 d:3"), "c", "in a child of run.Rserve()");
	tap__is(sample(30, "Rserve::run.Rserve:1"), "", "which is not a request");
	tap__is(sample(40, "e:1 Rserve::run.Rserve:2 f:3"), "f<e", "even if it was called");
	LOOK_FOR(CALLS_TASK);
	tap__is(sample(10, "workLoop@parallel:1 do.call@base:2 do.call@base:3"), "do.call",
		"what a worker of parallel runs");
	sample(20, "workLoop@parallel:1 do.call@base:2 g:4 do.call@base:5");
	sample(30, "workLoop@parallel:1 recvData@parallel:6");
	tap__ok(strstr(tap__saying(), "do.call 10-25+-5"), "and not what is called in it");
	tap__is(sample(40, "g:1 do.call@base:2"), "", "nor elsewhere");
	for (size_t i = 0; i < 6; i++)
		ok = ok && call_name__ok(good[i]);
	tap__ok(ok && !call_name__ok("") && !call_name__ok("pkg::") && !call_name__ok("::f"),
		"names that functions can have");
}

TEST(requests)
{
	uint64_t env, id;

	LOOK_FOR("f", CALLS_HTTP);
	sample(10, "f:1 rookCall@httpuv:2");
	tap__ok(!call_track__unread(track, &env), "a call that was met once may be over");
	sample(20, "f:1 rookCall@httpuv:2");
	id = call_track__unread(track, &env);
	tap__ok(id == 2 && env == 2 && !call_track__unread(track, &env),
		"one that serves a request is read once it was met twice");
	tap__ok(!call_track__read(track, id, "GET /", 25 * NS_PER_MS), "it is read");
	sample(24, "f:1 rookCall@httpuv:2");
	sample(40, "f:1");
	tap__ok(!strstr(tap__saying(), "GET"),
		"a call that ended before is not known to be the one read: %s", tap__saying());
	sample(50, "f:1 rookCall@httpuv:2");
	sample(60, "f:1 rookCall@httpuv:2");
	id = call_track__unread(track, &env);
	call_track__read(track, id, "GET /", 65 * NS_PER_MS);
	sample(70, "f:1 rookCall@httpuv:2");
	sample(80, "f:1");
	tap__ok(strstr(tap__saying(), "GET /"), "one that goes on is: %s", tap__saying());
}

/* A request that is read when the call is over is that of another one, if R reuses its memory. */
TEST(requests_unproven)
{
	uint64_t env;

	LOOK_FOR(CALLS_HTTP);
	sample(10, "rookCall@httpuv:2");
	sample(20, "rookCall@httpuv:2");
	call_track__read(track, call_track__unread(track, &env), "GET /", 25 * NS_PER_MS);
	sample(30, "- - x:7");
	sample(40, "main:1");
	tap__ok(!strstr(tap__saying(), "GET"), "a stack that lacks the call does not prove it: %s",
		tap__saying());
	LOOK_FOR(CALLS_HTTP);
	sample(10, "rookCall@httpuv:2");
	sample(20, "rookCall@httpuv:2");
	call_track__read(track, call_track__unread(track, &env), "GET /", 25 * NS_PER_MS);
	sample_as((struct sample){.lag = 8 * NS_PER_MS}, 30, "rookCall@httpuv:2");
	sample(40, "main:1");
	tap__ok(!strstr(tap__saying(), "GET"), "nor one that may be from before: %s",
		tap__saying());
}

TEST(requests_again)
{
	uint64_t env, id;

	LOOK_FOR("f", CALLS_HTTP);
	sample(10, "f:1 rookCall@httpuv:2");
	sample(20, "f:1 rookCall@httpuv:2");
	id = call_track__unread(track, &env);
	call_track__unanswered(track, id);
	sample(30, "f:1 rookCall@httpuv:2");
	tap__ok(!call_track__unread(track, &env), "what could not be read is not asked at once");
	sample(40, "f:1 rookCall@httpuv:2");
	tap__ok(id && call_track__unread(track, &env) == id && env == 2, "but later");
	call_track__unanswered(track, id + 1);
	tap__ok(!call_track__unread(track, &env), "an answer to another question changes nothing");
}

TEST(deep)
{
	struct sample_call calls[CALLS_DEPTH_MAX + 2];
	struct sample s = {.time = NS_PER_MS, .flags = XR_F_CALLS, .calls = calls};
	struct frame frame = {.function = name("f")};
	int err;

	LOOK_FOR("f");
	s.ncalls = CALLS_DEPTH_MAX + 2;
	for (uint32_t i = 0; i < s.ncalls; i++)
		calls[i] = (struct sample_call){.frame = &frame, .env = 1000 - i, .context = i + 1};
	call_finder__sample(&finder, &track, &process, &s, &sink, &err);
	tap__ok(!err && finder.too_deep == 2 && finder.last_id == CALLS_DEPTH_MAX,
		"calls that are too deep are counted");
}
