/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the decoder knows of processes: the names that the sampler sent, and the frames that its
 * slots stand for.  Within limits.h; what does not fit is counted.
 */
#ifndef XR_PROFILE_KNOWN_H
#define XR_PROFILE_KNOWN_H

#include "abi.h"
#include "base/buf.h"
#include "base/map.h"
#include "profile/label_sets.h"
#include "profile/stacks.h"
#include "profile/stats.h"

/*
 * What is known of one process row.  Names stay as long as it does: each is sent only once.  All
 * the rest is made of them, and made again when it was let go.
 */
struct known {
	struct budget room, made; /* for the names; for what is made of them */
	struct intern names;
	struct map ids; /* (id, enum xr_text_kind) to the name; (id, KNOWN_PLACE) to the place */
	struct arena places; /* struct known_place */
	struct label_sets labels;
	struct stacks stacks; /* frames, stacks, and names put together */
	struct table slots;   /* struct slot */
	struct arena arena;   /* of the slots */
	uint32_t pending;     /* samples of it that are being put together */
};

/* What is known of a native frame.  Strings are borrowed, and not kept. */
struct native_told {
	const char *name;     /* NULL: not known */
	const char *module;   /* the file, as the process names it; NULL: not known */
	const char *build_id; /* hexadecimal; NULL */
	const char *hash;     /* hexadecimal, process.executable.build_id.htlhash; NULL */
	uint64_t address;     /* as the file counts */
};

/*
 * Fill @told, which is zeroed, for the slot of a native frame (abi.h).  If @told has a number in
 * R_FunTab, the name is that of the builtin.
 */
typedef void (*native_teller)(void *arg, const struct xr_slot *slot, struct native_told *told);

/* All processes, and what they share. */
struct knowledge {
	struct decoder_stats *stats; /* unnamed and names_dropped are counted here; borrowed */
	size_t memory;		     /* of which the limits are shares */
	struct budget room, made;
	struct budget reserves; /* for the first names of processes */
	uint64_t last_id;	/* of a stack */
	uint64_t keys[6];	/* random and odd: they make the hash of a frame */
	struct map processes;	/* (serial, 0) to struct known */
	struct buf name;	/* the one being rendered */
	native_teller teller;	/* NULL: native frames are not known */
	void *teller_arg;
	bool raw; /* native frames are kept by instruction, not by function */
};

/* known__init - @memory: bytes, of which the limits are shares. */
void known__init(struct knowledge *all, struct decoder_stats *stats, size_t memory);

/* known__of - what is known of row @serial, made if there is nothing yet; NULL: no memory. */
struct known *known__of(struct knowledge *all, uint32_t serial);

/* known__text - keep a name; the record is all there.  -EBADMSG: it cannot be; -ENOMEM. */
int known__text(struct knowledge *all, const struct xr_text *r);

/*
 * known__labels - the labels of @id that the R program had set: *@n of them.  If their text never
 * came there are none, and that is counted.
 */
const struct profile_label *known__labels(struct knowledge *all, struct known *k, uint64_t id,
					  size_t *n);

/* known__told_place - keep a place: 1; 0: it is known already, or does not fit; the same errors. */
int known__told_place(struct knowledge *all, const struct xr_place *r);

/*
 * known__source - what the srcfile at @id of row @serial is called (names.h); NULL: not known, or
 * one of very many of that name.
 */
const struct name *known__source(struct knowledge *all, uint32_t serial, uint64_t id);

/* A frame as the sampler tells it: its slots, and the place being executed in it. */
struct known_frame {
	struct xr_slot name, function; /* abi.h; function 0, 0: not told */
	uint64_t file;		       /* hash, 0: not known */
	uint32_t line;
	bool named; /* set by known__native: the frame has a name */
};

/* known__frame - the frame that @told describes.  -EBADMSG: there is no such form; -ENOMEM. */
int known__frame(struct knowledge *all, struct known *k, const struct known_frame *told,
		 const struct frame **out);

/*
 * known__native - the frame of the slot of a native frame.  *@named: whether it has a name.  As
 * known__frame.
 */
int known__native(struct knowledge *all, struct known *k, const struct xr_slot *slot,
		  const struct frame **out, bool *named);

/* known__leaf - the frame that stands for R's own code; NULL: no room. */
const struct frame *known__leaf(struct known *k);

/* known__place - the same for a place alone. */
struct place known__place(struct knowledge *all, struct known *k, uint64_t file, uint32_t line);

/*
 * known__make_room - before a sample of @k: let go what can be made again, if there is half as much
 * of it as there may be.  Frames of samples that are being put together stay.
 */
void known__make_room(struct knowledge *all, struct known *k);

/* known__forget - the process of row @serial is gone. */
void known__forget(struct knowledge *all, uint32_t serial);

void known__free_all(struct knowledge *all);

#endif
