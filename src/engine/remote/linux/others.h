/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads of a target that are not R's: samples of their native frames alone.
 */
#ifndef XR_ENGINE_REMOTE_LINUX_OTHERS_H
#define XR_ENGINE_REMOTE_LINUX_OTHERS_H

#include "engine/remote/linux/loop.h"

/* remote_others__sample - thread @tid of @t, whose native code is known. */
void remote_others__sample(struct engine *e, const struct remote_kind *kind, struct loop_target *t,
			   pid_t tid);

/* remote_others__each - each thread but that of R, as far as there is time. */
void remote_others__each(struct engine *e, const struct remote_kind *kind, struct loop_target *t);

#endif
