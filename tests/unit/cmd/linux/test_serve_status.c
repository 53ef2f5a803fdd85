/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the front says of itself, whatever it sends. */
#include "base/clock.h"
#include "cmd/linux/serve_status.h"
#include "tap.h"

#define HOUR (3600 * NS_PER_S)

static struct session_gauges gauges;

/* In the place of session__gauges() (the linker sees to it). */
void __wrap_session__gauges(const struct session *s, struct session_gauges *g);
void __wrap_session__gauges(const struct session *s, struct session_gauges *g)
{
	*g = gauges;
}

/* What --max-cpu counts.  This process has taken less than an hour itself. */
TEST(use)
{
	struct governor_use use;

	gauges = (struct session_gauges){
		.kernel_ns = 3 * HOUR, .workers_ns = 7 * HOUR, .sampled_ns = 2 * HOUR};
	use = serve_status__use(NULL, 0, 5);
	tap__ok(use.now_ns == 5 && use.samples_ns == 5 * HOUR,
		"samples: in the kernel, and those of the engines that read from outside");
	tap__ok(use.own_ns >= 5 * HOUR && use.own_ns < 6 * HOUR,
		"besides: the profiler and its workers, without samples");
}

TEST(came)
{
	const struct serve_options options = {.front.to = {"d", NULL, "o"}};
	struct front_status sent, front;
	char line[1024];

	memset(&sent, 'x', sizeof(sent));
	tap__ok(serve_status__came(&front, &sent, sizeof(sent) - 1) == -EBADMSG &&
			serve_status__came(&front, &sent, sizeof(sent) + 1) == -EBADMSG,
		"a message of another size is rejected");
	tap__ok(!serve_status__came(&front, &sent, sizeof(sent)) &&
			strlen(front.ways[WAY_STORE].error) == sizeof(front.ways[0].error) - 1 &&
			strlen(front.ways[WAY_OTLP].error) == sizeof(front.ways[0].error) - 1,
		"texts end where they have to");
	serve_status__front(&options, &front, line, sizeof(line));
	tap__ok(strstr(line, "directory: ") == line && strstr(line, "; otlp: "), "%s", line);
}
