/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of a walk (walk.h), the hooks by which it reads the target, and the small functions
 * that all its parts use.
 *
 * The includer defines WALK_FN before it includes this file: how the functions of the walk are
 * declared.  It also defines the hooks below.  WALK_HOOK says how the first seven are declared, and
 * is WALK_FN by default.  Unless stated otherwise a hook returns 0 for success or -enum xr_error.
 *
 * No libc, no `long`, no state but struct walk; each step reads a bounded amount, and all steps
 * together what struct walk_budget allows.
 */
#ifndef XR_WALK_STATE_H
#define XR_WALK_STATE_H

#include "layout.h"
#include "sexp.h"

#ifndef WALK_HOOK
#define WALK_HOOK WALK_FN
#endif

/* What any row may ask for.  BPF has a constant here: the verifier removes the code for the rest.
 */
#ifndef WALK_CAPTURE
#define WALK_CAPTURE XR_CAPTURE
#endif

/* What walk__read reads.  It says how long the bytes stay as they are. */
enum read_kind {
	READ_OBJECT,  /* a part of an R object: does not change while a live call refers to it */
	READ_CONTEXT, /* a context: lives on a stack, as long as its call */
	READ_GLOBAL,  /* R's variable that says where R is: R_GlobalContext, R_Srcref, ... */
	READ_GC,      /* R's variable that says what the collector does, or a count of memory */
	READ_PC,      /* the place in byte code, a local variable of R's interpreter */
};

struct walk;

/*
 * Copy @len bytes at @addr of the target to @dst.  0, or negative: not readable.  While w->lenient
 * is set the walk does not fail by that.
 */
WALK_HOOK int walk__read(struct walk *w, enum read_kind kind, void *dst, __u32 len, __u64 addr);

/* 1: @sym is a symbol, and its name was sent before. */
WALK_HOOK int walk__known(struct walk *w, __u64 sym);

/* Send the name of symbol @sym, @len bytes at @addr. */
WALK_HOOK int walk__send_symbol(struct walk *w, __u64 sym, __u64 addr, __u32 len);

/* Send the text of @len bytes at @addr; its hash goes to w->hash. */
WALK_HOOK int walk__send_hashed(struct walk *w, __u64 addr, __u32 len);

/* Send that @id stands for line @line of the file whose name's hash is @file (abi.h). */
WALK_HOOK int walk__send_place(struct walk *w, __u64 id, __u64 file, __u32 line);

/* Send the labels whose texts w->labels says, as XR_TEXT_LABELS; their hash goes to w->hash. */
WALK_HOOK int walk__send_labels(struct walk *w);

/* Add one slot to the sample. */
WALK_HOOK int walk__emit(struct walk *w, __u64 word, __u64 more);

/* The time in ns, of the clock that walk_budget's deadline is of. */
WALK_HOOK __u64 walk__now(struct walk *w);

/*
 * Each of these only calls the function of this header that is named beside it.  They are hooks so
 * that BPF can make each a separate function, which is verified once.  With WALK_PLAIN defined
 * they are defined here.
 */
WALK_FN int walk__name(struct walk *w, __u64 fun);	       /* walk__name_slow() */
WALK_FN int walk__text(struct walk *w, __u64 addr, __u32 len); /* walk__text_slow() */
WALK_FN int walk__location(struct walk *w);		       /* lines__of_context() */
WALK_FN int walk__lines_file(struct walk *w, __u64 env);       /* lines__file_slow() */
WALK_FN int walk__lines_tell(struct walk *w, __u64 env);       /* lines__tell_slow() */
WALK_FN int walk__lines_srcref(struct walk *w, __u64 ref);     /* lines__srcref_slow() */
WALK_FN int walk__lines_bc(struct walk *w);		       /* lines__bc_slow() */
WALK_FN int walk__look(struct walk *w);			       /* walk__look_slow() */
WALK_FN int walk__function(struct walk *w);		       /* function__of_context() */
WALK_FN int walk__package(struct walk *w);		       /* function__package_slow() */
WALK_FN int walk__env_name(struct walk *w);		       /* function__env_name_slow() */
WALK_FN int walk__which_call(struct walk *w);		       /* calls__of_context() */
WALK_FN int walk__filter(struct walk *w);		       /* walk__filter_slow() */

/* What a step returns, besides 0 (go on) and -enum xr_error. */
#define WALK_DONE 1
#define WALK_CUT  2 /* no more can be taken: the outer frames are missing */

/*
 * What a call was named in this very walk: recursion meets the same call again and again, and
 * nothing it leads to can change while the walk lasts.
 */
#define WALK_MEMO 64

struct walk_memo {
	__u64 call;
	__u64 word, more; /* word 0: not a call, no frame */
	__u32 sample;	  /* the walk it holds for */
	__u32 pad;
};

/* The hash of a text that was sent in this very walk. */
#define WALK_TEXTS 16

struct walk_text {
	__u64 addr, hash;
	__u32 len;
	__u32 sample;
};

/*
 * What a walk may cost.  The target decides how much there is to read, so each walk has an end by
 * itself: work is counted, and every WALK_LOOK of it the time is looked at.  A walk that has none
 * left ends with WALK_CUT and sets `over`.
 *
 * The caller fills deadline, work_max and reduced before walk__begin(), which sets the rest.
 * Between two looks lies at most WALK_LOOK and what naming one call takes, two names of
 * XR_NAME_MAX. The first comes after WALK_LOOK_FIRST: an ordinary stack is through before, costs no
 * look, and is not cut because a hypervisor stopped the CPU in the middle of it.  If the budget is
 * reduced, the first comes after WALK_LOOK.
 */
#define WALK_LOOK_FIRST 256u
#define WALK_LOOK	64u
#define WALK_TEXT_SHIFT 6 /* a read is 1 of work, and so are 64 bytes of a text */

struct walk_budget {
	__u64 deadline; /* as walk__now() tells the time; 0: none */
	__u32 work_max; /* 0: any */
	__u32 work;	/* done so far */
	__u32 look_at;	/* the work from which it is looked whether any is left */
	__u32 over;	/* none was: the walk was cut */
	__u32 reduced;	/* the limits are smaller than usual (sample_budget.h) */
	__u32 pad;
};

/*
 * Whose stack is it?  R keeps its calls on the stack of the thread that runs it, in all versions:
 *   - A context is a local variable of the C function that began it (eval.c, errors.c, context.c),
 *   - or, from R 4.4 on, lies on byte code's stack in the heap (bcEval_loop() in eval.c).  Then its
 *     `bcpc` is R_BCpc: the address of a local variable of that bcEval_loop().
 * So each context but the outermost, the variable R_Toplevel, has its address or its `bcpc` on the
 * stack of R's thread.  (R_CStackStart does not tell: it is the first thread's, whichever calls
 * Rf_initialize_R(), unix/system.c.)
 */
enum walk_whose {
	WALK_NOBODY,	/* no call was met: R executes none */
	WALK_HERE,	/* the thread whose stack is [sp, sp_top) */
	WALK_ELSEWHERE, /* another thread */
};

/*
 * --- source locations ---
 *
 * They are those that Rprof(line.profiling = TRUE) gives: from real srcrefs, and through byte code.
 * lines_walk.h fills them.
 *
 * Facts: eval.c of R 4.0 to 4.6 (lineprof, R_findBCInterpreterLocation, findLocTable,
 * R_getCurrentSrcref), envir.c (R_HashGet, PJW hash).
 *
 * Everything is read with the sample: a byte-code object, a srcref and a srcfile may be freed and
 * their addresses reused at any time afterwards.  What is found is remembered for one generation:
 * until R collects garbage again, if its count of collections is known, else for one walk.  File
 * names are sent by a hash of their text.
 */
#define LINES_PLACES_BITS  8
#define LINES_PLACES	   (1 << LINES_PLACES_BITS)
#define LINES_BODIES	   16
#define LINES_FILES	   8
#define LINES_TABLE_SEARCH 4	     /* constants looked at from the end for the table of srcrefs */
#define LINES_BINDINGS	   16	     /* variables of a srcfile looked at */
#define LINES_FILENAME_PJW 0x2c42e5u /* R_Newhashpjw("filename"), envir.c */

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
	__u32 born;	    /* when that srcfile was made, as in struct xr_place */
	__u64 sym_filename; /* the symbol `filename`, once met in process row `serial` */
	__u32 serial;
	__u32 absolute; /* pc is an address, not an offset in units of 8 bytes */
	/* the class of tables of srcrefs, and its text, if met in generation class_generation */
	__u64 class_value, class_text;
	__u32 class_generation;
	__u32 young;	     /* `born` of what R made after its last collection; 0: not known */
	__u64 ref, body, pc; /* arguments of what is called below */
	__u64 cell[7], cell2[7];
};

/*
 * --- functions ---
 *
 * Which package each is of, and where it was defined.  function_walk.h fills it.
 *
 * Facts: envir.c of R 3.6 to 4.6 (topenv, R_IsPackageEnv, InitGlobalEnv), namespace.R
 * (makeNamespace, attachNamespace).
 *
 * What is found is remembered for one generation, as places are: a closure or an environment may be
 * freed and its address used again.
 */
#define FUNCTION_CLOSURES    64
#define FUNCTION_ENVS	     32
#define FUNCTION_CHAIN	     64 /* environments looked at from a function's own outward */
#define FUNCTION_ENV_ATTRIBS 4	/* attributes of each; the name comes first, behind it the path */
#define FUNCTION_ATTRIBS     12 /* of a function; a method of S4 has five besides its srcref */

/* A closure: its package and its definition, as a slot tells them (abi.h). */
struct function_closure {
	__u64 closure;
	__u64 package, definition;
	__u32 generation;
	__u32 pad;
};

/* The package that the chain of environments from @env outward ends in. */
struct function_env {
	__u64 env, package;
	__u32 generation;
	__u32 pad;
};

struct functions {
	struct function_closure closures[FUNCTION_CLOSURES];
	struct function_env envs[FUNCTION_ENVS];
	__u64 package, definition; /* results */
	/* arguments of what is called below */
	__u64 closure, env, attrib;
	__u32 imports; /* the environment with `attrib` may be the imports of a namespace */
	__u32 pad;
	__u64 cell[7], cell2[7];
};

/*
 * --- labels ---
 *
 * What the R program says that it is doing.  labels_walk.h fills it.
 */
#define LABELS_ATTRIBS 8 /* attributes of the option's value that are looked at */

struct labels {
	__u64 at[2 * XR_LABELS_MAX];  /* texts: a key, its value, the next key, ... */
	__u32 len[2 * XR_LABELS_MAX]; /* bytes of each */
	__u32 n;		      /* texts */
	__u32 pad;
	__u64 cell[7];
};

/*
 * The state of one walk.  The caller fills `row`, the limits of `budget`, and `sp` and `sp_top`
 * when it wants to know whether R runs on that stack; walk__begin() the rest.  Everything a later
 * step needs is here, so a walk can be left and taken up again.
 */
struct walk {
	struct xr_row row;
	__u64 next;	   /* context to read next */
	__u64 at;	   /* the one in `context` */
	__u32 flag;	   /* its callflag */
	__u32 told;	   /* enum walk_filter: whether it is emitted */
	__u64 sp, sp_top;  /* a thread's stack, [sp, sp_top); 0, 0: `whose` is not asked for */
	__u64 filter_env;  /* filter.callframes: the frame called from here is looked for, */
	__u64 filter_from; /* the context that was called from it, */
	__u64 filter_last; /* and the context read before */
	__u32 filter_eval; /* a call of eval() with that environment was passed already */
	__u32 steady;	   /* the caller says: R does not run while this walk lasts */
	__u64 hash;	   /* result of walk__text */
	__u64 word, more;  /* result of walk__name */
	__u64 file;	   /* result of walk__location; after walk__begin, the innermost one */
	__u32 line;
	__u32 contexts; /* read so far */
	__u32 frames;	/* emitted so far */
	__u32 whose;	/* enum walk_whose, by the contexts read so far */
	__u32 gc;	/* the collector was running */
	__u32 unproven; /* the innermost location is where the row does not lead (XR_ROW_BC) */
	__u32 sample;	/* number of the sample, for what is remembered within it */
	__u32 lenient;	/* what is being read may be unreadable */
	__u32 first;	/* XR_F_MEMORY, XR_F_CALLS, XR_F_LABELS: what comes before the frames */
	struct xr_memory counts;
	struct walk_budget budget;
	__u64 cell[R_CELL_WORDS];
	__u64 cell2[R_CELL_WORDS];
	__u64 cell3[R_CELL_WORDS];
	__u8 context[XR_CONTEXT_MAX];
	struct walk_memo memo[WALK_MEMO];
	struct walk_text texts[WALK_TEXTS];
	struct lines lines;
	struct functions functions;
	struct labels labels;
};

/* walk__look_slow - has the time or the work run out?  1 or 0; the next look is WALK_LOOK later. */
WALK_FN int walk__look_slow(struct walk *w)
{
	struct walk_budget *b = &w->budget;

	if ((b->work_max && b->work >= b->work_max) || (b->deadline && walk__now(w) >= b->deadline))
		b->over = 1;
	b->look_at = b->work + WALK_LOOK;
	return (int)b->over;
}

/* walk__over - the same, looked at when enough was done since the last look. */
WALK_FN int walk__over(struct walk *w)
{
	return w->budget.work >= w->budget.look_at ? walk__look(w) : 0;
}

/* walk__load - walk__read(), and it is work. */
WALK_FN int walk__load(struct walk *w, enum read_kind kind, void *dst, __u32 len, __u64 addr)
{
	w->budget.work++;
	return walk__read(w, kind, dst, len, addr);
}

/* walk__wants - does the row ask for one of @capture, of XR_CAPTURE? */
WALK_FN int walk__wants(const struct walk *w, __u32 capture)
{
	return (w->row.flags & WALK_CAPTURE & capture) != 0;
}

/* walk__field - the word at byte @off of the context read last; bounded for the verifier. */
WALK_FN __u64 walk__field(const struct walk *w, __u32 off)
{
	return *(const __u64 *)(w->context + (off & (XR_CONTEXT_MAX - 8)));
}

WALK_FN __u32 walk__field32(const struct walk *w, __u32 off)
{
	return *(const __u32 *)(w->context + (off & (XR_CONTEXT_MAX - 4)));
}

/* walk__cell - read the cell at @addr.  0, or negative: not readable. */
WALK_FN int walk__cell(struct walk *w, __u64 *cell, __u64 addr)
{
	return walk__load(w, READ_OBJECT, cell, R_CELL_BYTES, addr);
}

/* walk__type - SEXPTYPE of a cell, from its header word */
WALK_FN __u32 walk__type(const __u64 *cell)
{
	return (__u32)cell[0] & R_TYPE_MASK;
}

#endif
