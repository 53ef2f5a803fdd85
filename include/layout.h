/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Everything that differs between R builds and processes, as data: the walk has no branch on a
 * version.  One `struct xr_row` describes one process with R in it; it is the value of the BPF
 * map `rows`, and what the engines that read from outside get.
 */
#ifndef XR_LAYOUT_H
#define XR_LAYOUT_H

#include "abi.h"

/*
 * Offsets in bytes into an RCNTXT (src/include/Defn.h) and into vectors (Rinternals.h).  An
 * offset of 0 where 0 cannot be right (bcbody, bcpc, relpc, srcref): this R has no such field.
 */
struct xr_layout {
	__u16 read_plain; /* bytes of a context to read for names: up to cloenv and its 8 bytes */
	__u16 read_lines; /* and for lines: up to srcref and its 8 bytes */
	__u16 nextcontext;
	__u16 callflag;
	__u16 sysparent;
	__u16 call;
	__u16 cloenv;
	__u16 bcbody;
	__u16 bcpc;
	__u16 relpc;
	__u16 srcref;
	__u16 vector_data; /* 48 from R 3.5.0 on, 40 before */
	__u16 has_altrep;  /* 1 from R 3.5.0 on */
	__u16 callfun;
	/*
	 * 1: the real subscript in a[[2.7]] is written without its fraction (R 4.3.0: pb_dbl() in
	 * eval.c); 0: rounded (printf's %.0f).
	 */
	__u16 real_whole;
	__u16 cstacktop; /* of R_PPStackTop, an int */
	__u16 nodestack; /* of R_BCNodeStackTop */
	__u16 pad[3];
};

#define XR_CONTEXT_MAX 512u /* read_plain and read_lines are at most this */

/* What a row asks for, and what is known of it. */
#define XR_ROW_LINES	0x01u /* source lines are wanted */
#define XR_ROW_GC	0x02u /* GC marks are wanted: from gc_at, or gc_begin and gc_end */
#define XR_ROW_FILTER	0x04u /* filter.callframes */
#define XR_ROW_BC	0x08u /* bc_body and bc_pc were proven: the innermost location may use them */
#define XR_ROW_FOLLOW	0x10u  /* forked children get a copy of this row */
#define XR_ROW_THREADED 0x20u  /* reserved */
#define XR_ROW_PACKAGES 0x40u  /* the package and the definition of functions are wanted */
#define XR_ROW_NATIVE	0x80u  /* native frames are wanted */
#define XR_ROW_LEAF	0x100u /* of these only those inside of the innermost function of R */
#define XR_ROW_KERNEL	0x200u /* frames of the kernel are wanted */
#define XR_ROW_OFF_CPU	0x400u /* time not on a CPU is wanted, */
#define XR_ROW_IDLE	0x800u /* also of threads that are not R's, and of R that has nothing to do */
#define XR_ROW_MEMORY	0x1000u /* R's counts of its memory are wanted: from small_at and so on */
#define XR_ROW_COLLECTIONS                                                                         \
	0x2000u /* collections are an event: gc_at is wanted, and the counts of memory */
#define XR_ROW_CALLS 0x4000u /* which call each frame is, is wanted */

#define XR_ROW_LABELS 0x8000u /* the labels that the R program sets are wanted: from labels_at */

/*
 * What a user may ask to have captured with each frame or sample, as one set: the options, the
 * engines' and the writers' configuration and the rows carry it.
 */
#define XR_CAPTURE                                                                                 \
	(XR_ROW_LINES | XR_ROW_GC | XR_ROW_FILTER | XR_ROW_PACKAGES | XR_ROW_NATIVE |              \
	 XR_ROW_LEAF | XR_ROW_KERNEL | XR_ROW_OFF_CPU | XR_ROW_IDLE | XR_ROW_MEMORY |              \
	 XR_ROW_COLLECTIONS | XR_ROW_CALLS | XR_ROW_LABELS)

/*
 * One process.  Addresses are in the target; those named `*_at` hold a variable, the others are
 * values read from exported variables after R was initialised (they never change afterwards).
 */
struct xr_row {
	__u64 start_time;  /* of the process: clock ticks since boot, /proc/PID/stat field 22 */
	__u64 head_at;	   /* &R_GlobalContext */
	__u64 nil;	   /* R_NilValue */
	__u64 sym_colon2;  /* R_DoubleColonSymbol */
	__u64 sym_colon3;  /* R_TripleColonSymbol */
	__u64 sym_dollar;  /* R_DollarSymbol */
	__u64 sym_item;	   /* R_Bracket2Symbol */
	__u64 sym_srcfile; /* R_SrcfileSymbol */
	__u64 sym_class;   /* R_ClassSymbol */
	__u64 eval_fun;	   /* INTERNAL(R_EvalSymbol), 0: not known */
	/* for packages; 0: this R does not tell */
	__u64 global_env;     /* R_GlobalEnv */
	__u64 base_env;	      /* R_BaseEnv */
	__u64 base_namespace; /* R_BaseNamespace */
	__u64 sym_name;	      /* R_NameSymbol */
	__u64 sym_srcref;     /* R_SrcrefSymbol */
	/*
	 * For labels.  The option `xrprof.labels` is a cell of the list .Options: that whose
	 * address is the CDR of the cell at labels_at, if its TAG is labels_tag.  labels_at 0: the
	 * program has set none so far, or this R does not tell.
	 */
	__u64 labels_at;
	__u64 labels_tag;  /* the symbol `xrprof.labels` */
	__u64 sym_names;   /* R_NamesSymbol */
	__u64 in_bc;	   /* R_InBCInterpreter, the marker; 0: this R has none */
	__u64 srcref_at;   /* &R_Srcref */
	__u64 bc_body_at;  /* &R_BCbody, 0: not found */
	__u64 bc_pc_at;	   /* &R_BCpc */
	__u64 gc_at;	   /* the flag R_gc_running() reads, 0: not found */
	__u64 gc_count_at; /* the number of collections so far, an int; 0: not found */
	__u64 gc_begin;	   /* the collector's code, when gc_at is 0: [gc_begin, gc_end) */
	__u64 gc_end;
	/*
	 * R's counts of its memory (memory.c, duplicate.c), 8 bytes each; 0: not found, or not
	 * proven. Vectors are counted in units of 8 bytes; of nodes there are `node_size` bytes
	 * each.
	 */
	__u64 small_at; /* R_SmallVallocSize: vectors allocated from pages */
	__u64 large_at; /* R_LargeVallocSize: vectors allocated one by one */
	__u64 nodes_at; /* R_NodesInUse */
	__u64 dups_at;	/* duplicate_counter: calls of duplicate(); 0: it alone was not found */
	/* for builtins; 0: this R does not tell */
	__u64 fun_tab;	 /* R_FunTab */
	__u64 bc_top_at; /* &R_BCNodeStackTop */
	__u64 pp_at;	 /* &R_PPStack */
	__u64 pp_top_at; /* &R_PPStackTop */
	/* what is known of its address space (space.h); stamp 0: nothing */
	__u32 space_slab, space_first, space_stamp;
	__u32 gc_size;	/* bytes of the flag */
	__u32 serial;	/* unique in a run; bit 31 set: given by the kernel side */
	__u32 flags;	/* XR_ROW_* */
	__u32 r_tid;	/* thread proven to be R's, 0: not yet */
	__u32 pid;	/* thread group id, as the profiler sees it */
	__u32 revision; /* changes when user space changes the row */
	/* the sampler's own (sample_budget.h), as r_tid is */
	__u32 strikes; /* its samples were over their budget */
	__u32 reduced; /* samples to take with a smaller budget now */
	__u32 asked;   /* the stale space_stamp for which unknown code was reported */
	__u32 node_size;
	__u64 heap_base; /* bytes in use when the last collection ended, 0: not known (collection.h)
			  */
	/* the labels read last, while R had made this number of collections (labels_walk.h) */
	__u64 labels_value, labels_stamp, labels_hash;
	__u64 collected_at; /* ns, CLOCK_MONOTONIC: when the last one began that is a sample */
	struct xr_layout layout;
};

_Static_assert(sizeof(struct xr_layout) == 40, "xr_layout");
_Static_assert(sizeof(struct xr_row) == 408, "xr_row");

#endif
