/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the decoder tells of a session's processes: their samples, which go on to the sink, and
 * their forks, execs and exits, which lifecycle__settle() acts on later.
 */
#ifndef XR_SESSION_RECORDS_H
#define XR_SESSION_RECORDS_H

#include "abi.h"
#include "profile/known.h"
#include "profile/profile.h"

/* As struct decoder_ops has them; @lifecycle: a struct lifecycle. */
void records__sample(void *lifecycle, const struct sample *sample);
void records__process(void *lifecycle, const struct xr_process *record);

/* What is known of a native frame, as native_teller. */
void records__native(void *lifecycle, const struct xr_slot *slot, struct native_told *told);

#endif
