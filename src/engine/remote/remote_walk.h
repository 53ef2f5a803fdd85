/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk (walk.h) as the engines run it that read from outside the target: over a store of its
 * memory, in two looks.
 *
 * The first look, ahead, reads the whole stack while the target may be running; what it finds may
 * be mixed from several moments.  The second reads from R_GlobalContext outward again until it
 * meets a call that the first look saw too, byte for byte.  That call was live all the time
 * between: its context names its environment and its arguments, which R allocates again for each
 * call (and what calls that returned leave on the stack has mostly no environment).  A live call
 * keeps all contexts outside it, and what they refer to, as they are; and as the first look read
 * inner contexts before outer ones, what it saw of them holds.  So a target is stopped for a few
 * short reads however deep its stack, and one that is never stopped has to leave its innermost call
 * alone for as long only.
 *
 * Nothing here depends on the operating system.
 */
#ifndef XR_ENGINE_REMOTE_REMOTE_WALK_H
#define XR_ENGINE_REMOTE_REMOTE_WALK_H

#include "engine/engine.h"
#include "layout.h"
#include "engine/remote/memory.h"
#include "engine/remote/native.h"

/* The walks of one target. */
struct remote_walk;

/*
 * remote_walk__new - for the process of @row, which @reader reads; both are copied.  @now: a clock
 * that never goes back, ns.  -ENOMEM.
 */
int remote_walk__new(struct remote_walk **out, const struct xr_row *row,
		     const struct mem_reader *reader, uint64_t (*now)(void));
void remote_walk__free(struct remote_walk *rw); /* NULL is allowed */

/*
 * remote_walk__sink - where records go from now on: samples, and names as text records, each before
 * the first sample that uses it.
 */
void remote_walk__sink(struct remote_walk *rw, engine_sink sink, void *arg);

/*
 * remote_walk__limit - from now on remote_walk__still takes @ns, and each of the others
 * REMOTE_LOOKS times that at most, for no thread waits for them: what is not read by then is cut.
 * remote_walk__still takes 5 ms at most even if @ns is more.
 * 0, as at first: they take what they take.
 */
#define REMOTE_LOOKS 20u
void remote_walk__limit(struct remote_walk *rw, uint64_t ns);

/*
 * remote_walk__cpu - @cpu: CPU time of the calling thread, ns.  From now on what no thread waits
 * for is limited by CPU time and a hundredth of elapsed time, as a reader that gets no CPU costs
 * nothing.
 */
void remote_walk__cpu(struct remote_walk *rw, uint64_t (*cpu)(void));

/* remote_walk__over - was the sample cut that was finished last, for it took too long? */
bool remote_walk__over(const struct remote_walk *rw);

/* remote_walk__row - more became known of the process; same serial. */
void remote_walk__row(struct remote_walk *rw, const struct xr_row *row);

/*
 * A sample is taken by remote_walk__ahead, then remote_walk__still or remote_walk__moving, unless
 * it is known that the target's thread did not run meanwhile; then remote_walk__finish.  All return
 * 0 or more to go on, or -enum xr_error: what has become of the sample.
 */

/* remote_walk__ahead - the first look. */
int remote_walk__ahead(struct remote_walk *rw);

/* remote_walk__still - the second, the target standing still.  It may run again afterwards. */
int remote_walk__still(struct remote_walk *rw);

/*
 * remote_walk__moving - the second, the target running; both are repeated some times if the stack
 * changed meanwhile.  -XR_TORN: it always did.
 */
int remote_walk__moving(struct remote_walk *rw);

/* remote_walk__collecting - this sample's thread was in the collector's code (row.gc_begin). */
void remote_walk__collecting(struct remote_walk *rw);

/*
 * remote_walk__finish - make the sample of what was read.  0; 1: outer frames are missing;
 * -XR_NO_R_FRAMES; or another -enum xr_error.
 */
int remote_walk__finish(struct remote_walk *rw);

/*
 * remote_walk__finish_native - before remote_walk__finish, with native frames; the thread stands
 * still at @regs until this returns.  If that takes longer than the limit, nothing is changed.
 * Otherwise remote_walk__finish has nothing left to do.  Returns as that does, or 0.
 */
int remote_walk__finish_native(struct remote_walk *rw, struct remote_native *n,
			       const struct remote_regs *regs);

/*
 * remote_walk__other - in place of all these: the sample is the native frames of a thread that is
 * not R's and stands still at @regs; NULL: they are not known.
 */
void remote_walk__other(struct remote_walk *rw, struct remote_native *n,
			const struct remote_regs *regs);

/* remote_walk__again - what remote_walk__finish_native made is of no use: the thread ran. */
void remote_walk__again(struct remote_walk *rw);

/* remote_walk__no_native - the sample should have native frames, and they could not be had. */
void remote_walk__no_native(struct remote_walk *rw);
bool remote_walk__lacks_native(const struct remote_walk *rw);

/* remote_walk__native - whose native frames the sample has; NULL: it has none. */
struct remote_native *remote_walk__native(struct remote_walk *rw);

/*
 * remote_walk__send - hand on the sample, as one record or several.  @like gives time, weight,
 * unit, event, detail, pid, tid, cpu and flags; the rest is filled in.
 */
void remote_walk__send(struct remote_walk *rw, const struct xr_sample *like);

/* remote_walk__send_none - the target executes no function of R: if calls are wanted, send that. */
void remote_walk__send_none(struct remote_walk *rw, const struct xr_sample *like);

/* remote_walk__gone - nothing of the target can be read: the reader's error; 0: it can. */
int remote_walk__gone(const struct remote_walk *rw);

/*
 * remote_walk__stack - from the next look ahead on: R's thread is taken to be the one whose stack
 * is [@low, @high).  0, 0, as at first: it is the only one.
 */
void remote_walk__stack(struct remote_walk *rw, uint64_t low, uint64_t high);

/* remote_walk__elsewhere - R was seen ahead to run on another stack (walk.h, enum walk_whose). */
bool remote_walk__elsewhere(const struct remote_walk *rw);

/*
 * remote_walk__keys - addresses on the stack of the thread that R was seen ahead to run on,
 * innermost first, at most @max.  Returns how many.
 */
uint32_t remote_walk__keys(const struct remote_walk *rw, uint64_t *keys, uint32_t max);

/* remote_walk__texts - texts sent so far. */
uint64_t remote_walk__texts(const struct remote_walk *rw);

#endif
