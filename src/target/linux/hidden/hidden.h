/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Find R's variables that are not exported, in the ELF file that holds R (libR.so, or R itself
 * when it was linked statically): R_BCbody and R_BCpc, which hold the innermost source location
 * of byte code; R_in_gc, which is 1 while the collector runs; and the counters of R's memory that
 * Rprof(memory.profiling = TRUE) writes.
 *
 * Nothing here looks at a process.  Addresses are virtual addresses of the file, as in st_value:
 * the caller adds the load bias.
 *
 * Ways, in this order, each only for what is still missing:
 *  1. the file's own .symtab;
 *  2. the .symtab of a separate debug file (hidden__from_debug(); the caller opens it);
 *  3. the machine code of exported functions, x86_64 and aarch64:
 *     - Rf_begincontext (context.c) stores R_BCbody and R_BCpc into the new context, at the offsets
 *       `bcbody` and `bcpc` (R 3.4.0 and later).  The same code must store R_GlobalContext at
 *       offset 0 and R_Srcref a known way behind bcbody; both are exported.  Otherwise it is
 *       another structure, and nothing is returned;
 *     - R_gc_running (memory.c; exported up to R 4.2) returns the flag;
 *     - ALTSTRING_ELT and ALTVEC_DATAPTR (altrep.c, R 3.5.0 and later) call error("cannot get ...
 *       during GC") if the flag is not 0;
 *     - R_gc (memory.c) calls the collector.  Its message is "*** recursive gc invocation", and it
 *       prints the number of collections: "Garbage collection %d = %d";
 *     - get_current_mem (memory.c) is not exported.  It is the function before the exported
 *       vmaxget, or one of a few before that.  In a straight line it stores R_SmallVallocSize,
 *       R_LargeVallocSize and a multiple of R_NodesInUse through its three arguments, and does
 *       nothing else.  No other of these functions may look so;
 *     - Rf_duplicate (duplicate.c, if R was built with R_PROFILING, as by default) first adds 1 to
 *       duplicate_counter.
 * What is not recognised exactly stays 0.  An address that did not come from a symbol is a
 * supposition, until the checks of target/hidden_check.h have proven it in the live process.
 */
#ifndef XR_TARGET_LINUX_HIDDEN_HIDDEN_H
#define XR_TARGET_LINUX_HIDDEN_HIDDEN_H

#include <libelf.h>
#include <stdint.h>

/* What was found. 0: not found. */
struct hidden {
	uint64_t bc_body;    /* &R_BCbody: SEXP, 8 bytes */
	uint64_t bc_pc;	     /* &R_BCpc: void *, 8 bytes */
	uint64_t gc_running; /* &R_in_gc */
	uint64_t gc_count;   /* how many collections there were: int, 4 bytes */
	uint64_t gc_begin;   /* the collector's code, R_gc_internal without what it calls: */
	uint64_t gc_end;     /* [gc_begin, gc_end) */
	uint64_t small;	     /* &R_SmallVallocSize: size_t, 8 bytes, in units of 8 bytes */
	uint64_t large;	     /* &R_LargeVallocSize: the same */
	uint64_t nodes;	     /* &R_NodesInUse: size_t, 8 bytes */
	uint64_t dups; /* &duplicate_counter: unsigned long, 8 bytes; it alone may be missing */
	uint16_t node_size; /* bytes: sizeof(SEXPREC), which R multiplies R_NodesInUse with */
	uint16_t srcref;    /* offset of RCNTXT.srcref as this very file stores it; 0: not seen */
	uint8_t gc_size;    /* bytes of the flag: 1 or 4 */
	const char *how_lines;	/* how bc_body and bc_pc were found, a constant; NULL: not found */
	const char *how_gc;	/* the same for gc_running */
	const char *how_memory; /* the same for small, large and nodes: all, or none */
};

/*
 * hidden__run - search one open file in ways 1 and 3.
 * @elf: opened with ELF_C_READ or elf_memory(); not ELF_C_READ_MMAP if its owner may truncate it
 * @bcbody, @bcpc: offsets in RCNTXT (rows of layouts.c: 312 and 320 on x86_64 glibc, 424 and 432
 *	on aarch64 glibc); 0: this R has no such fields, do not look for the variables
 * @out: overwritten
 *
 * Returns 0, also when some or all was not found; -EBADMSG when the file is damaged, -ENOTSUP when
 * it is not a 64-bit little-endian executable or shared object for x86_64 or aarch64, -ENOMEM.
 * The time is bounded whatever the file holds.
 */
int hidden__run(Elf *elf, uint16_t bcbody, uint16_t bcpc, struct hidden *out);

/*
 * hidden__from_debug - way 2, after hidden__run(): replace in @out what the .symtab of @debug has,
 * the debug file of the same ELF file.  Symbols that exist twice with different values are not
 * used.  Returns as hidden__run().
 */
int hidden__from_debug(Elf *debug, struct hidden *out);

#endif
