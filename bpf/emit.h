/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of what is found: texts and the parts of a stack, and the ends of processes, records
 * in the ring.  A sampler that counts stacks instead would differ here and nowhere else.
 */
#ifndef XR_EMIT_H
#define XR_EMIT_H

#include "maps.h"

#define WAKE_NS 1000000 /* user space is woken at most this often by one CPU and level */

/* Wake user space only when much is waiting: a wake-up costs more than a sample. */
static __always_inline __u64 ring__flags(struct scratch *s)
{
	__u64 now;

	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < cfg_wake_at)
		return BPF_RB_NO_WAKEUP;
	now = clock__now();
	if (now - s->wake_ns < WAKE_NS)
		return BPF_RB_NO_WAKEUP;
	s->wake_ns = now;
	return BPF_RB_FORCE_WAKEUP;
}

/*
 * @n with no bits but those of @mask, for an offset or a length.  The compiler leaves out a mask
 * that a branch before it made superfluous; verifiers from 5.10 to 6.18 lose what the branch told
 * them when another copy of @n was tested than is used.  So it is hidden from the compiler.
 */
static __always_inline __u64 masked(__u64 n, __u64 mask)
{
	asm volatile("" : "+r"(n));
	return n & mask;
}

static __always_inline struct known *known__slot(struct scratch *s, __u64 sym)
{
	/* a cell is 56 bytes: bits 3 and up differ between neighbours */
	return &s->known[((sym >> 3) ^ (sym >> 12)) & (KNOWN_SLOTS - 1)];
}

static __always_inline int walk__known(struct walk *w, __u64 sym)
{
	struct known *k = known__slot(scratch__of(w), sym);

	return k->sym == sym && k->serial == w->row.serial;
}

static __always_inline void known__add(struct walk *w, __u64 sym)
{
	struct known *k = known__slot(scratch__of(w), sym);

	k->sym = sym;
	k->serial = w->row.serial;
}

/* Read @len bytes at @addr into the text record. */
static __always_inline int text__read(struct text_record *t, __u64 addr, __u32 len)
{
	__u64 n = len > XR_NAME_MAX ? XR_NAME_MAX : len;

	t->text.len = n;
	n = masked(n, TEXT_BYTES - 1);
	if (n && bpf_probe_read_user(t->bytes, n, (const void *)addr))
		return -XR_BAD_SYMBOL;
	return 0;
}

static __always_inline bool text__sent(const struct sent_key *key)
{
	return bpf_map_lookup_elem(&sent, key);
}

/* Put the text record into the ring, as the text of @key. */
static __always_inline int text__put(struct scratch *s, struct text_record *t,
				     const struct sent_key *key)
{
	struct tally *tally = tally__get(s->level);
	__u32 size = t->text.len;

	if (size > XR_NAME_MAX)
		return -XR_BAD_SYMBOL;
	size += sizeof(struct xr_text);
	t->text.head.type = XR_REC_TEXT;
	t->text.head.size = size;
	t->text.id = key->id;
	t->text.serial = key->serial;
	t->text.kind = key->kind;
	t->text.pad = 0;
	if (bpf_ringbuf_output(&ring, &t->text, size, ring__flags(s)))
		return -XR_LOST;
	if (tally)
		tally->counts[XR_SYMBOLS_SENT]++;
	return 0;
}

/*
 * Send the text record as the text of @key.  It is marked as sent only when it is in the ring, and
 * only at the lowest level: the update takes locks that what was interrupted may hold, and before
 * Linux 5.11 nothing kept a non-maskable interrupt from waiting for them for ever.  A text that is
 * not marked is sent again.
 */
static __always_inline int text__send(struct scratch *s, struct text_record *t,
				      const struct sent_key *key)
{
	__u8 one = 1;
	int err = text__put(s, t, key);

	if (!err && s->level == 0)
		bpf_map_update_elem(&sent, key, &one, BPF_ANY);
	return err;
}

static __always_inline int walk__send_symbol(struct walk *w, __u64 sym, __u64 addr, __u32 len)
{
	struct sent_key key = {.id = sym, .serial = w->row.serial, .kind = XR_TEXT_SYMBOL};
	struct scratch *s = scratch__of(w);
	struct text_record *t;
	int err;

	if (!text__sent(&key)) {
		t = text__get(s->level);
		if (!t)
			return -XR_BAD_SYMBOL;
		err = text__read(t, addr, len);
		if (!err)
			err = text__send(s, t, &key);
		if (err)
			return err;
	}
	known__add(w, sym);
	return 0;
}

/* The hash that names a text: its words, mixed by multiplication. */
static __always_inline __u64 text__hash(const struct text_record *t)
{
	__u32 len = t->text.len & (2 * XR_TEXT_MAX - 1), i;
	__u64 h = len * 0x9e3779b97f4a7c15ULL, word;

	for (i = 0; i < XR_TEXT_MAX / 8; i++) {
		if (i * 8 >= len)
			break;
		word = *(__u64 *)(t->bytes + i * 8);
		if (len - i * 8 < 8)
			word &= (1ULL << (((len - i * 8) & 7) * 8)) - 1;
		h = (h ^ word) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	return h | 1; /* 0 stands for no text */
}

static __always_inline int walk__send_hashed(struct walk *w, __u64 addr, __u32 len)
{
	struct sent_key key = {.serial = w->row.serial, .kind = XR_TEXT_HASHED};
	struct scratch *s = scratch__of(w);
	struct text_record *t = text__get(s->level);
	int err;

	if (!t)
		return -XR_BAD_SYMBOL;
	err = text__read(t, addr, len > XR_TEXT_MAX ? XR_TEXT_MAX : len);
	if (err)
		return err;
	w->hash = key.id = text__hash(t);
	return text__sent(&key) ? 0 : text__send(s, t, &key);
}

/*
 * They are sent each time that they are read (struct xr_row): the decoder keeps those sent last, of
 * which there may be one for each request, and so they are not marked as sent.
 */
static __always_inline int walk__send_labels(struct walk *w)
{
	struct sent_key key = {.serial = w->row.serial, .kind = XR_TEXT_LABELS};
	struct scratch *s = scratch__of(w);
	struct text_record *t = text__get(s->level);
	__u32 len = 0, n, i;

	if (!t)
		return -XR_BAD_SYMBOL;
	for (i = 0; i < 2 * XR_LABELS_MAX; i++) {
		if (i >= w->labels.n)
			break;
		n = masked(w->labels.len[i], 2 * XR_LABEL_VALUE_MAX - 1);
		len = masked(len, XR_TEXT_MAX - 1);
		if (n && bpf_probe_read_user(t->bytes + len, n, (const void *)w->labels.at[i]))
			return -XR_BAD_SYMBOL;
		t->bytes[len + n] = 0;
		len += n + 1;
	}
	t->text.len = masked(len, XR_TEXT_MAX - 1);
	w->hash = key.id = text__hash(t);
	return text__put(s, t, &key);
}

static __always_inline int walk__send_place(struct walk *w, __u64 id, __u64 file, __u32 line)
{
	/* an address may be used again, for another file */
	struct sent_key key = {.id = id ^ file ^ line * 0x9e3779b97f4a7c15ULL,
			       .serial = w->row.serial,
			       .kind = SENT_PLACE};
	struct scratch *s = scratch__of(w);
	struct xr_place place = {};
	__u8 one = 1;

	if (text__sent(&key))
		return 0;
	place.head.type = XR_REC_PLACE;
	place.head.size = sizeof(place);
	place.id = id;
	place.file = file;
	place.serial = key.serial;
	place.line = line;
	if (bpf_ringbuf_output(&ring, &place, sizeof(place), ring__flags(s)))
		return -XR_LOST;
	if (s->level == 0)
		bpf_map_update_elem(&sent, &key, &one, BPF_ANY);
	return 0;
}

/* Send the slots gathered so far as one part.  @flags: XR_F_*. */
static __always_inline int part__send(struct scratch *s, __u32 flags)
{
	__u32 n = s->part.nslots;
	int err;

	if (n > XR_CHUNK_SLOTS)
		return -XR_LOST;
	s->part.flags = (s->part.flags & ~XR_F_MORE) | flags;
	s->part.head.size = sizeof(struct xr_sample) + n * sizeof(struct xr_slot);
	err = bpf_ringbuf_output(&ring, &s->part,
				 sizeof(struct xr_sample) + n * sizeof(struct xr_slot),
				 ring__flags(s));
	s->part.part++;
	s->part.nslots = 0;
	return err ? -XR_LOST : 0;
}

/* Make room for the slots of a frame.  0 or -XR_LOST. */
static __always_inline int part__room(struct scratch *s)
{
	return s->part.nslots >= XR_CHUNK_FULL ? part__send(s, XR_F_MORE) : 0;
}

/* There is room: part__room() was called for this frame. */
static __always_inline int walk__emit(struct walk *w, __u64 word, __u64 more)
{
	struct scratch *s = scratch__of(w);
	__u32 n = s->part.nslots;
	struct xr_slot *slot;

	if (cfg_twice && !XR_FORM_IS_NATIVE(word >> XR_FORM_SHIFT))
		s->sum = (s->sum ^ word ^ (more << 1)) * 0x9e3779b97f4a7c15ULL;
	slot = &s->slots[masked(n, XR_CHUNK_SLOTS - 1)];
	slot->word = word;
	slot->more = more;
	s->part.nslots = n + 1;
	return 0;
}

/* Forget the parts of this sample that were sent. */
static __always_inline void sample__discard(struct scratch *s)
{
	if (s->part.part)
		part__send(s, XR_F_DISCARD);
	s->part.flags &= ~XR_F_DISCARD;
	s->part.part = 0;
	s->part.nslots = 0;
}

/*
 * Tell user space what became of a process.  It waits for nothing else in the ring, so it is woken
 * at once.
 */
static __always_inline void process__tell(struct task_struct *task, __u32 event, __u32 serial,
					  __u32 pid, __u32 parent_serial, __u32 parent_pid)
{
	struct xr_process p = {};

	p.head.type = XR_REC_PROCESS;
	p.head.size = sizeof(p);
	p.time = clock__now();
	p.event = event;
	p.serial = serial;
	p.pid = pid;
	p.parent_serial = parent_serial;
	p.parent_pid = parent_pid;
	BPF_CORE_READ_STR_INTO(&p.comm, task, comm);
	if (bpf_ringbuf_output(&ring, &p, sizeof(p), BPF_RB_FORCE_WAKEUP))
		count(XR_EVENTS_LOST);
}

#endif
