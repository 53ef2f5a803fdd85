/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the walk remembers of source locations, which are those that Rprof(line.profiling = TRUE)
 * gives: from real srcrefs, and through byte code.  Part of struct walk; lines_walk.h fills it.
 *
 * Facts: eval.c of R 4.0 to 4.6 (lineprof, R_findBCInterpreterLocation, findLocTable,
 * R_getCurrentSrcref), envir.c (R_HashGet, PJW hash).
 *
 * Everything is read with the sample: a byte-code object, a srcref and a srcfile may be freed and
 * their addresses reused at any time afterwards.  What is found is remembered for one generation:
 * until R collects garbage again, if its count of collections is known, else for one walk.  File
 * names are sent by a hash of their text.
 */
#ifndef XR_LINES_STATE_H
#define XR_LINES_STATE_H

#define LINES_PLACES_BITS  8
#define LINES_PLACES	   (1 << LINES_PLACES_BITS)
#define LINES_BODIES	   16
#define LINES_FILES	   8
#define LINES_TABLE_SEARCH 4	     /* constants looked at from the end for the table of srcrefs */
#define LINES_ATTRIBS	   4	     /* attributes looked at */
#define LINES_BINDINGS	   16	     /* variables of a srcfile looked at */
#define LINES_FILENAME_PJW 0x2c42e5u /* R_Newhashpjw("filename"), envir.c */

#define R_ACTIVE_BINDING (1u << 23) /* gp bit 15 of a binding's cell */

/* What was found of (object, pc) in a generation; pc of a srcref is all ones. */
struct lines_place {
	__u64 object, pc;
	__u64 file;
	__u32 line;
	__u32 generation;
};

/* A byte-code object: where its code, constants and table of srcrefs are.  table 0: it has none. */
struct lines_body {
	__u64 body, code, consts, table;
	__u64 nconsts, ntable;
	__u32 generation;
	__u32 pad;
};

struct lines_file {
	__u64 env, file;
	__u32 generation;
	__u32 pad;
};

struct lines {
	struct lines_place places[LINES_PLACES];
	struct lines_body bodies[LINES_BODIES];
	struct lines_file files[LINES_FILES];
	__u64 stamp; /* of the generation: process row and number of collections */
	__u32 generation;
	__u32 nameless; /* the name that was read last is not a file's: see lines__file_name */
	__u64 name_at;	/* that name, 0: none is to be sent */
	__u32 name_len;
	__u32 pad2;
	__u64 sym_filename; /* the symbol `filename`, once met in process row `serial` */
	__u32 serial;
	__u32 absolute; /* pc is an address, not an offset in units of 8 bytes */
	/* the class of tables of srcrefs, and its text, if met in generation class_generation */
	__u64 class_value, class_text;
	__u32 class_generation;
	__u32 pad;
	__u64 ref, body, pc; /* arguments of what is called below */
	__u64 cell[7], cell2[7];
};

#endif
