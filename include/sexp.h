/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* R's objects and contexts, as far as they are the same in all releases from 3.0 on. */
#ifndef XR_SEXP_H
#define XR_SEXP_H

/* SEXPTYPE, Rinternals.h; checked against R's headers at build time (check_r_headers.c). */
#define R_NILSXP     0u
#define R_SYMSXP     1u
#define R_LISTSXP    2u
#define R_CLOSXP     3u
#define R_ENVSXP     4u
#define R_LANGSXP    6u
#define R_SPECIALSXP 7u
#define R_BUILTINSXP 8u
#define R_CHARSXP    9u
#define R_INTSXP     13u
#define R_REALSXP    14u
#define R_STRSXP     16u
#define R_VECSXP     19u
#define R_BCODESXP   21u
#define R_TYPE_MASK  31u
#define R_ALTREP_BIT 0x80u	/* struct sxpinfo_struct: type:5 scalar:1 obj:1 alt:1 */
#define R_MARK_BIT   (1u << 24) /* type:5, three flags, gp:16, mark:1 */

/* CTXT_*, Defn.h */
#define R_CTXT_FUNCTION 4u
#define R_CTXT_BUILTIN	64u

/* A cell is a SEXPREC: header, attrib, next, prev, and three words. */
#define R_CELL_WORDS 7
#define R_CELL_BYTES 56u
#define R_CAR	     4 /* also PRINTNAME of a symbol, and length of a vector */
#define R_CDR	     5
#define R_TAG	     6

#define R_ACTIVE_BINDING (1u << 23) /* gp bit 15 of a binding's cell */
#define R_ATTRIBS	 4	    /* attributes of an object that are looked at */

#endif
