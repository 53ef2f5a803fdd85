/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as a request to a receiver of OTLP (profile/otlp.proto).  It is not a format of files,
 * so formats.c does not have it.
 *
 * There is a resource for each service.  It has host.name, service.name, the `resource` attributes
 * (profile/attributes.h), and the labels of the run and of its processes under their own names
 * (`service` and `host` are the first two).  A service without a label has the name of its
 * processes.  Receivers make a series of each resource, so attributes that differ between processes
 * of one service are attributes of samples: process.pid, process.executable.name and thread.id.
 *
 * A resource has a profile of each of its sample types: "samples", a count with the time of one as
 * period, of "cpu" or "wall"; "off_cpu" in nanoseconds, "alloc_space" in bytes, and events.
 * profile.frame.type of a location is "r", "native" or "kernel".
 */
#ifndef XR_OUTPUT_OTLP_H
#define XR_OUTPUT_OTLP_H

#include "output/writer.h"

extern const struct writer_ops writer_otlp;

#endif
