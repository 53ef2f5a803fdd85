/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a profile page knows: the text of its <script type="application/json">, one object.  Arrays
 * of numbers are flat; texts are numbers, places in `strings`, 0 being "".  What reads it is
 * src/output/page/model.js.
 *
 *	meta       {program, version, command, host, engine, clock, event, freq, types [{name, unit}
 *	           or {}, by number], began (ms since 1970, 0: not known), diff, counts (those of
 *	           --stats that it shows; null: not known)}
 *	processes  [{pid, parent, comm, r, container, cpu, elapsed (s), before}]
 *	nodes      the calls as one tree, outermost first, each before those it made: how far its
 *	           caller is further out than the node before it (0: that one called it), frame.
 *	           Node 0 is not written: it is what all is in.
 *	rows       the value of a node in a process: nodes since the row before, process, value,
 *	           type.  Those of processes with `before` are what it is
 *	           compared with.
 *	time       {begin (s after meta.began), width (s), entries: spans since the entry before
 *	           (may be negative), row, value}, null: not known
 *	calls      {list: name and request (places in `texts`, 0: none), start (after the profile's)
 *	           and duration in us, by how much that may be wrong, its state (bits: 1, it runs;
 *	           2, it had begun before the profile; 4, it may be two calls), and the one
 *	           outside of it (0: none, else from 1 on in the list, before it); rows: the
 *	           innermost call of each; texts}; missing: none
 *	labels     {rows: the number of the set of labels of each, 0: none; sets: from 1 on, each of
 *	           pairs of key and value, which are texts}; missing: none
 *	frames     function, package, module, kind (enum frame_kind), file and line of its
 *	           definition, file and line that it executed, 1: a wrapper (fold.h).
 *	           Frame 0 stands for no function.
 *	strings    texts as the other formats show them
 *	sources    [{file (a string), text, or why it is missing}]
 */
#ifndef XR_OUTPUT_PAGE_DATA_H
#define XR_OUTPUT_PAGE_DATA_H

#include "output/writer.h"

struct page_config {
	const struct profile_about *about;
	const struct aggregate *profile;
	const struct aggregate *before; /* NULL: it is compared with nothing */
	const struct stats *stats;	/* NULL: not known */
	struct source_texts *sources;	/* NULL: there are none; what has no text is noted there */
};

/* page_data__write - 0, or a negative errno.  Nothing is committed. */
int page_data__write(struct output *out, const struct page_config *config);

#endif
