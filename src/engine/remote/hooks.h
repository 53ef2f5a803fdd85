/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the remote engines' walk reads, what it remembers and how it sends: the hooks of walk.h over
 * a remote_memory.  Private to remote_walk.c and hooks.c.
 */
#ifndef XR_ENGINE_REMOTE_HOOKS_H
#define XR_ENGINE_REMOTE_HOOKS_H

#include "engine/engine.h"
#include "base/map.h"
#include "engine/remote/memory.h"
#include "engine/remote/native.h"

#define WALK_FN static inline __attribute__((unused))
#define WALK_HOOK
#define WALK_PLAIN

#include "walk.h"

/* AHEAD and TOP only read; FINAL makes the sample of what they read. */
enum remote_phase { REMOTE_AHEAD, REMOTE_TOP, REMOTE_FINAL };

/* Contexts from R_GlobalContext to the innermost call, which are read twice of a moving target. */
#define VERIFY_MAX 32u

/* A list of pieces. */
struct plan {
	uint32_t *ids;
	uint32_t count;
	size_t cap;
};

struct remote_walk {
	struct walk walk; /* the first member: the hooks get it */
	struct remote_memory memory;
	uint64_t (*now)(void); /* ns */
	uint64_t (*cpu)(void); /* ns of CPU time of the reader; NULL: not known */
	bool waited;	       /* the target's thread waits for the look: its limit is of time */
	struct map known;      /* (symbol, 0): its name was sent; also of other texts and places */
	uint64_t texts;
	engine_sink sink;
	void *sink_arg;

	enum remote_phase phase;
	uint64_t pass;	      /* number of the pass; `used` and `visited` of pieces refer to it */
	uint64_t ahead_pass;  /* that of the last look ahead */
	uint64_t began;	      /* when, ns */
	uint64_t limit;	      /* what a look may take that holds the target up, ns; 0: any */
	bool over;	      /* a look of this sample was cut, for it took too long */
	uint64_t trusted;     /* for how long from then on what was read ahead is, ns */
	uint64_t floor;	      /* what was read in this sample has a greater number */
	uint64_t top_floor;   /* the same in its second look */
	uint64_t look;	      /* number of the second look; `walked` of pieces refers to it */
	uint64_t context_seq; /* of the context read last */
	uint64_t call_seq;    /* when the first look read the call that the second met */
	uint32_t contexts;    /* that the look ahead came to so far */
	uint32_t call_at;     /* which of them the second look met */
	struct plan plan;     /* pieces in the order in which the last pass asked for them */
	struct plan last;     /* and the one before */
	struct plan top;      /* and the second look */
	uint32_t window;      /* contexts and cells to read at once where the plan failed */
	bool whole;	      /* the look ahead came to the end of the chain */
	bool elsewhere;	      /* it saw R on another stack than the one given */
	bool matched;	      /* the second look met a call that the first saw */
	bool loose;	      /* it asked for more than was read at once */
	bool dead;	      /* it met what can be no live call */
	bool missed;	      /* the last pass asked for something not read */
	bool early;	      /* it used what only the look ahead read */
	bool collecting;      /* the thread was in the collector's code */
	bool direct;	      /* reads go past the store: the thread stands still */
	bool finished;	      /* the sample is made already, with native frames; `result` */
	int result;
	bool no_native;			/* it should have native frames, and has none */
	struct remote_native *native;	/* while it is made with native frames, and afterwards */
	const struct remote_regs *regs; /* while it is made */
	bool call_seen;			/* the innermost call was read */
	uint32_t verify[VERIFY_MAX], nverify;
	uint64_t file; /* the innermost location */
	uint32_t line;

	struct xr_slot *slots;
	uint32_t nslots;
	size_t cap_slots;
	uint32_t first; /* XR_F_MEMORY, XR_F_CALLS, XR_F_LABELS: what comes before the frames */
	uint64_t labels_sent; /* the hash of the labels sent last */
	union {
		struct xr_sample sample;
		struct xr_text text;
		struct xr_place place;
		uint8_t bytes[sizeof(struct xr_sample) + XR_CHUNK_SLOTS * sizeof(struct xr_slot) +
			      XR_NAME_MAX];
	} record;
};

_Static_assert(sizeof(struct xr_text) + XR_NAME_MAX <= sizeof(((struct remote_walk *)0)->record),
	       "room for a text");

/*
 * kind__is_volatile - may what is of @kind change while the calls around it are live?  The flag
 * that the collector runs may, and the place in byte code: a variable of a C function that stands
 * still as long as its call lasts, and so must be read after the call's context.
 */
bool kind__is_volatile(enum read_kind kind);

/* --- between remote_walk.c and others --- */

/* remote__clock - what the deadline of the look is of, ns. */
uint64_t remote__clock(const struct remote_walk *rw);

/*
 * remote_walk__top - a second look, once what is likely needed was read.  It reads itself what else
 * it needs.  The walk's result.
 */
int remote_walk__top(struct remote_walk *rw);

/*
 * remote_walk__try - one second look at a target that moves, for which the first @n pieces of @plan
 * are likely needed.  Whether the target stood still for it; *@result: of remote_walk__top.
 */
bool remote_walk__try(struct remote_walk *rw, const struct plan *plan, uint32_t n, int *result);

#endif
