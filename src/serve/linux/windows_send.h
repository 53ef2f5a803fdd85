/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From the profile of an interval to the messages that take it to the front, a message for each way
 * out and what that takes at a time.
 */
#ifndef XR_SERVE_LINUX_WINDOWS_SEND_H
#define XR_SERVE_LINUX_WINDOWS_SEND_H

#include "base/buf.h"
#include "profile/aggregate.h"
#include "serve/linux/windows.h"

/* All borrowed. */
struct windows_profile {
	const struct windows_config *config;
	const struct profile_about *about;
	const struct aggregate *sum;
	const struct stats *stats;
	struct buf *body, *index; /* to work with; they are emptied */
	struct channel_head head; /* id, began, ended and samples */
};

/*
 * windows_send__profile - as enum windows_way says; @ways 0: as the answer to request `id`.
 * Returns the first error; what could be sent was.
 */
int windows_send__profile(struct windows_profile *p, unsigned int ways);

/*
 * windows_send__index - into @out: a line for each process of @sum that has samples, as of struct
 * store_window, with its labels and those of @config that it has not itself.  @interval: ns that
 * each stands for; 0: not known.  -ENOMEM.
 */
int windows_send__index(const struct windows_config *config, const struct aggregate *sum,
			uint64_t interval, struct buf *out);

/*
 * windows_send__name - into @out: `service{host=h1,key=value}`, by which Pyroscope knows a series.
 * What has a meaning there, and blanks, become `_`.  -ENOMEM.
 */
int windows_send__name(const char *service, const struct profile_label *labels, size_t nlabels,
		       struct buf *out);

#endif
