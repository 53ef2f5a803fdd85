/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The calls that an R is in: what sys.calls() has, as addresses.
 */
#ifndef XR_VALUES_CALLS_H
#define XR_VALUES_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem_reader.h"
#include "layout.h"

/* A context of a function (RCNTXT, Defn.h). */
struct call {
	uint64_t at;   /* of the context */
	uint64_t call; /* the code */
	uint64_t env;  /* its environment; of a builtin that of package base */
	bool builtin;
};

struct calls {
	struct call *list; /* innermost first */
	size_t n, cap;
	bool whole; /* they end at top level */
};

/*
 * calls__read - the functions that the R of @row is in, at most @max contexts deep.  If a context
 * changes while they are read they are read again, some times.  They may change meanwhile:
 * calls__still tells which did not.  0; -EFAULT: the first context cannot be read; -ENOMEM.
 */
int calls__read(const struct mem_reader *reader, const struct xr_row *row, size_t max,
		struct calls *out);

/*
 * calls__read_all - the same with the builtins that have a context: .Call() and its like, and all
 * while Rprof() is on (eval(), eval.c).
 */
int calls__read_all(const struct mem_reader *reader, const struct xr_row *row, size_t max,
		    struct calls *out);

/*
 * calls__still - is @call one of those that @now has?  A call whose environment was there before
 * and after something was read was running in between: its environment is its own.
 */
bool calls__still(const struct calls *now, const struct call *call);

void calls__free(struct calls *c);

#endif
