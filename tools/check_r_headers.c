/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Our constants against R's own headers: compiled when they are installed (R_HEADERS=DIR), never
 * linked.  A context's flags and fields are not in R's public headers; those are checked on a
 * running R by the live tests.
 */
#include <stddef.h>

#include "sexp.h"

/* R 4.5 and later write `enum : int` if the compiler of R knew it; ours may not */
#include <Rconfig.h>
#undef HAVE_ENUM_BASE_TYPE
#include <Rversion.h>
#include <Rinternals.h>

#define SAME(ours, theirs) _Static_assert((ours) == (theirs), #ours " is not " #theirs)

SAME(R_NILSXP, NILSXP);
SAME(R_SYMSXP, SYMSXP);
SAME(R_CLOSXP, CLOSXP);
SAME(R_ENVSXP, ENVSXP);
SAME(R_LANGSXP, LANGSXP);
SAME(R_SPECIALSXP, SPECIALSXP);
SAME(R_BUILTINSXP, BUILTINSXP);
SAME(R_CHARSXP, CHARSXP);
SAME(R_INTSXP, INTSXP);
SAME(R_REALSXP, REALSXP);
SAME(R_STRSXP, STRSXP);
SAME(R_VECSXP, VECSXP);
SAME(R_BCODESXP, BCODESXP);
_Static_assert(R_TYPE_MASK >= FREESXP, "every SEXPTYPE fits under R_TYPE_MASK");

/* Vectors hold elements of these sizes, and their length is one word. */
SAME(sizeof(int), 4);
SAME(sizeof(double), 8);
SAME(sizeof(SEXP), 8);
SAME(sizeof(R_xlen_t), 8);

/* The variables that target.c reads hold SEXPs. */
#define IS_SEXP(variable)                                                                          \
	_Static_assert(__builtin_types_compatible_p(__typeof__(variable), SEXP),                   \
		       #variable " is a SEXP")
IS_SEXP(R_NilValue);
IS_SEXP(R_Srcref);
IS_SEXP(R_DoubleColonSymbol);
IS_SEXP(R_TripleColonSymbol);
IS_SEXP(R_DollarSymbol);
IS_SEXP(R_Bracket2Symbol);

/* layouts.c packs a version as R does. */
SAME(R_Version(4, 2, 2), 0x040202);
