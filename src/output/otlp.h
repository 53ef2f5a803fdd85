/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as a request to a receiver of OTLP (profile/otlp.proto): not a file's format, so it is
 * none of formats.h.
 *
 * A resource for each service: its attributes are host.name, service.name, container.id,
 * process.runtime.name and .version, and the labels of the run and of its processes under their own
 * names (`service` and `host` are the first two).  A service without a label is called as its
 * processes are.  What tells processes of one service apart is said of each sample, as series of
 * profiles go by resources: process.pid, process.executable.name and thread.id.
 *
 * Each resource has a profile of each sample type that it has samples of: "samples", a count of
 * them, with the time that each stands for as period, of "cpu" or "wall"; "off_cpu" in nanoseconds,
 * "alloc_space" in bytes, and events.  A location says by profile.frame.type whether it is of "r",
 * "native" or "kernel".
 */
#ifndef XR_OUTPUT_OTLP_H
#define XR_OUTPUT_OTLP_H

#include "output/writer.h"

extern const struct writer_ops writer_otlp;

#endif
