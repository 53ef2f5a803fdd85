/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How much memory a profile may take, all in one place.  What finds no room is counted
 * (stats.h: names_dropped, stacks_dropped).  All in bytes.
 */
#ifndef XR_PROFILE_LIMITS_H
#define XR_PROFILE_LIMITS_H

/*
 * Names that the decoder keeps of one process: for as long as it lives, since the sampler sends
 * each only once.  Room for some 400,000 functions; R with all of its recommended packages has
 * 20,000 symbols.
 */
#define LIMIT_NAMES (48u << 20)

/* Of all processes together; but each may have LIMIT_RESERVE in any case. */
#define LIMIT_NAMES_ALL (192u << 20)
#define LIMIT_RESERVE	(64u << 10)

/*
 * What it makes of the names, frames and stacks: of one process, and of all (and LIMIT_RESERVE
 * here, too).  When half of that is taken it lets go what it has and makes it anew, so this is not
 * the place to spare: the deepest stack there can be, of different frames only, takes 5 MiB.
 */
#define LIMIT_MADE     (16u << 20)
#define LIMIT_MADE_ALL (64u << 20)

/* An aggregate that is written at the end: some 200,000 stacks of usual depth. */
#define LIMIT_AGGREGATE (128u << 20)

/* One that can be written in pieces: then it is written even before its time has come. */
#define LIMIT_PIECE (4u << 20)

/* The names of files that a writer of the rprof format has numbered; then it numbers them anew. */
#define LIMIT_FILES (8u << 20)

#endif
