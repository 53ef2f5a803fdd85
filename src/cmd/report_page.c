/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report --diff` as a page: a differential flame graph. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/report.h"
#include "base/log.h"
#include "layout.h"
#include "os/os.h"
#include "output/flamegraph.h"
#include "output/outputs.h"

/* Open the file, and have the page written. */
static int page__write(const struct report *r, struct files *files, const struct writer_config *w,
		       struct aggregate *const sides[2], struct errmsg *f)
{
	char path[STREAM_PATH_MAX];
	struct output_config to = {
		.files = files,
		.path = path,
		.max = r->max_file,
		.wait_ms = OUTPUT_STUCK_MS,
	};
	struct output *out = NULL;
	const char *written;
	bool numbered;
	int err;

	err = outputs__file(files, r->output ? r->output : "-", r->format, false, path,
			    &to.number_at, f);
	err = err ? err : output__open(&out, &to, f);
	if (err)
		return err;
	err = flamegraph__diff(out, w, sides[0], sides[1]);
	if (err == OUTPUT_DROPPED)
		err = -EFBIG;
	if (!err)
		err = output__finish(out);
	written = output__path(out, &numbered);
	if (numbered)
		log__line("%s already exists and is kept: writing %s instead", path, written);
	if (err && err != -EPIPE)
		errmsg__set(f, err, "cannot write to %s: %s", written, os__reason(err));
	output__close(out, NULL);
	return err == -EPIPE ? 0 : err;
}

int report_page(const struct report *r, struct files *files, const struct profile_about *about,
		struct aggregate *const sides[2], struct errmsg *f)
{
	char *command;
	const char *const both[] = {r->inputs[0].text, r->inputs[1].text};
	struct writer_config config = {
		.capture = XR_ROW_LINES | XR_ROW_GC | XR_ROW_PACKAGES,
		.about = {.host = about->host},
	};
	int err;

	command = report_read__text(both, 2);
	if (!command)
		return errmsg__set(f, -ENOMEM, "out of memory");
	config.about.command = command;
	/* rates may differ */
	config.about.clock = about->clock;
	config.about.no_ticks = about->no_ticks;
	memcpy(config.about.types, about->types, sizeof(about->types));
	err = page__write(r, files, &config, sides, f);
	free(command);
	return err;
}
