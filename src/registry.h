/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of engines and writers: the only place that knows which exist on this platform.
 */
#ifndef XR_REGISTRY_H
#define XR_REGISTRY_H

#include "engine.h"
#include "writer.h"

/* Each is defined in the file of its name: engine_bpf.c, writer_rprof.c and so on. */
extern const struct engine_ops engine_bpf, engine_ptrace, engine_vmread, engine_win32;
extern const struct writer_ops writer_rprof, writer_folded;

/*
 * registry__engines - all engines, ended by NULL, in the order in which `--engine auto` tries them.
 * registry__writers - all writers, ended by NULL; the first is the default.
 */
const struct engine_ops *const *registry__engines(void);
const struct writer_ops *const *registry__writers(void);

/* registry__engine, registry__writer - the one of that name, or NULL. */
const struct engine_ops *registry__engine(const char *name);
const struct writer_ops *registry__writer(const char *name);

#endif
