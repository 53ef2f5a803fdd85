/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waiting for work is not work: programs that serve others spend most of their time in a loop that
 * asks for the next request, and that says nothing about what is slow.
 */
#ifndef XR_PROFILE_IDLE_H
#define XR_PROFILE_IDLE_H

#include <stdbool.h>

#include "profile/profile.h"

/*
 * idle__stack - does a thread that waits with this stack wait for work: in the loops of httpuv (and
 * so of shiny and plumber), later, of parallel's workers and of Rserve, if R runs that?  What waits
 * at R's prompt, or in an Rserve that runs R, has no R function at all: who takes the sample knows
 * (bpf/sample.h).
 */
bool idle__stack(const struct stack *stack);

#endif
