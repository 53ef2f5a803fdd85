/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where in an ELF file a function begins, or the places are that a provider marked (USDT, the notes
 * of <sys/sdt.h>).  Offsets are those in the file, which is how the kernel knows instructions.
 */
#ifndef XR_ENGINE_BPF_PROBE_FILE_H
#define XR_ENGINE_BPF_PROBE_FILE_H

#include <stdint.h>

#include "base/errmsg.h"
#include "engine/event_names.h"

#define PROBE_PLACES_MAX 512u /* of one probe */

struct probe_place {
	uint64_t offset;
	uint64_t semaphore; /* offset of a count, an unsigned short; 0: none */
};

/*
 * probe_file__places - those of @event in the file @path, each once: *@n, 1 at least, at *@out, to
 * be freed.  -ENOENT: it has none; -EBADMSG: it is not a valid ELF file; -E2BIG: there are more. @f
 * is filled.
 */
int probe_file__places(const char *path, const struct event_name *event, struct probe_place **out,
		       uint32_t *n, struct errmsg *f);

#endif
