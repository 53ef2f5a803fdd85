/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places in code that a program is attached to, for the whole machine: a tracepoint of the kernel,
 * or instructions of a file.  A perf event on one CPU keeps each, also if that CPU goes offline.
 * It counts nothing.
 *
 * Why not bpf_program__attach_uprobe_opts() and bpf_program__attach_usdt() of libbpf 1.1:
 *
 *   - With a function's name the former attaches to one place, and fails if several functions have
 *     it.  It fails if CPU 0 is offline, and does not check an offset against the function's size.
 *   - The latter needs two maps of bpf/usdt.bpf.h in the object.  Before Linux 5.15, which has BPF
 *     cookies, it refuses shared libraries, such as libR.so, for the whole machine.  A note with
 *     arguments that it does not know makes it refuse the probe.
 */
#ifndef XR_ENGINE_BPF_PLACES_H
#define XR_ENGINE_BPF_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errmsg.h"
#include "engine/engine.h"

/* Starts zeroed. */
struct places {
	int *fds;
	uint32_t n;
};

/*
 * places__open - attach program @prog_fd to all places of @event, not of kind EVENT_PERF.  A file
 * is looked for as it is named, and then as the processes of @config see it.  -ENOENT, -EACCES,
 * ...: there is none, or it may not be, and @f says why.  In any case places__close.
 */
int places__open(struct places *p, const struct event_name *event,
		 const struct engine_config *config, int prog_fd, struct errmsg *f);

/*
 * places__probe - attach it to the instruction at @offset of the file @path: as it is about to be
 * executed, or, @returns, when the function that begins there returns.  0 or a negative errno.
 */
int places__probe(struct places *p, const char *path, uint64_t offset, bool returns, int prog_fd);

void places__close(struct places *p);

/* places__tracefs - where the kernel lists tracepoints: a static path, or NULL: it does not. */
const char *places__tracefs(void);

/* places__may_probe - may this user have probes in files? */
bool places__may_probe(void);

/* places__can_probe - and does the kernel have them? */
bool places__can_probe(void);

/* places__uprobe_type - perf's type of such events, or a negative errno. */
int places__uprobe_type(uint32_t *type);

#endif
