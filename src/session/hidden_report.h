/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What people are told of hidden variables that could not be had (verify_hidden.h): the first
 * processes of a file one by one, all of them in numbers.
 */
#ifndef XR_SESSION_HIDDEN_REPORT_H
#define XR_SESSION_HIDDEN_REPORT_H

#include "profile/stats.h"
#include "session/notes.h"
#include "session/verify_hidden.h"

/*
 * hidden_report__say - say of @h's process, which is sampled, what is missing; each thing once.
 * @by_code: the engine knows where a sample's thread executes.
 */
void hidden_report__say(const struct notes *notes, struct hidden_proof *h, const struct target *t,
			bool by_code);

/* hidden_report__sample - a sample of @h's process came without its innermost line. */
void hidden_report__sample(const struct notes *notes, struct hidden_proof *h,
			   const struct target *t);

/* hidden_report__count - add @h's process, which was profiled, to @s. */
void hidden_report__count(const struct hidden_proof *h, const struct target *t, bool by_code,
			  struct hidden_stats *s);

#endif
