/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the front says of itself, whatever it sends. */
#include "cmd/linux/serve_status.h"
#include "tap.h"

TEST(came)
{
	const struct serve_options options = {.dir = "d", .otlp = "o"};
	struct front_status sent, front;
	char line[1024];

	memset(&sent, 'x', sizeof(sent));
	tap__ok(serve_status__came(&front, &sent, sizeof(sent) - 1) == -EBADMSG &&
			serve_status__came(&front, &sent, sizeof(sent) + 1) == -EBADMSG,
		"a message of another size is none");
	tap__ok(!serve_status__came(&front, &sent, sizeof(sent)) &&
			strlen(front.store.error) == sizeof(front.store.error) - 1 &&
			strlen(front.pyroscope.error) == sizeof(front.pyroscope.error) - 1 &&
			strlen(front.otlp.error) == sizeof(front.otlp.error) - 1,
		"texts end where they have to");
	serve_status__front(&options, &front, line, sizeof(line));
	tap__ok(strstr(line, "directory: ") == line && strstr(line, "; otlp: "), "%s", line);
}
