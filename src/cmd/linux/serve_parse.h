/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values of options that only `serve` has (struct option_row, `parse`).  0, or -EINVAL with @f
 * filled; @place is untouched then, except for what --keep had read before.
 */
#ifndef XR_CMD_LINUX_SERVE_PARSE_H
#define XR_CMD_LINUX_SERVE_PARSE_H

#include "base/errmsg.h"
#include "cmd/option_rows.h"

/* serve_parse__interval - a time from a second to a day: @place is a double, in seconds. */
int serve_parse__interval(const struct option_row *row, void *place, const char *arg,
			  struct errmsg *f);

/* serve_parse__keep - sizes and ages, with commas between them: @place is a struct store_keep. */
int serve_parse__keep(const struct option_row *row, void *place, const char *arg, struct errmsg *f);

/* serve_parse__percent - percent of a CPU: @place is a double, 1 is all of it. */
int serve_parse__percent(const struct option_row *row, void *place, const char *arg,
			 struct errmsg *f);

#endif
