/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk, written once: R's chain of contexts and the naming rule of R's own profiler, over a
 * supplied way to read the target's memory.  Compiled into the BPF object, into the engines that
 * read from outside, and into the unit tests.
 *
 * Facts: src/include/Defn.h (RCNTXT), src/main/eval.c (doprof, the naming rule), R 3.0 to 4.6.
 *
 * Whoever includes this file defines WALK_FN before it, which says how the functions of the walk
 * are declared, and the hooks below (WALK_HOOK, which says how the first seven are declared, is
 * WALK_FN unless defined).  Unless said otherwise a hook returns 0 for success or -enum xr_error.
 *
 * No libc, no `long`, no state but struct walk; each step reads a bounded amount, and all steps
 * together what struct walk_budget allows.
 */
#ifndef XR_WALK_H
#define XR_WALK_H

#include "layout.h"
#include "sexp.h"
#include "lines_state.h"
#include "function_state.h"

#ifndef WALK_HOOK
#define WALK_HOOK WALK_FN
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
 * is set that is no failure of the walk.
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

/* Add one slot to the sample. */
WALK_HOOK int walk__emit(struct walk *w, __u64 word, __u64 more);

/* The time in ns, of the clock that walk_budget's deadline is of. */
WALK_HOOK __u64 walk__now(struct walk *w);

/*
 * Each of these only calls the function of this header that is named beside it.  They are hooks so
 * that BPF can make each a function of its own, which is verified once.  With WALK_PLAIN defined
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
 * stack of R's thread.  (R_CStackStart does not tell: it is the first thread's, whoever calls
 * Rf_initialize_R(), unix/system.c.)
 */
enum walk_whose {
	WALK_NOBODY,	/* no call was met: R executes none */
	WALK_HERE,	/* the thread whose stack is [sp, sp_top) */
	WALK_ELSEWHERE, /* another thread */
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
	__u32 told;	   /* enum walk_filter: whether it is to be told */
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
	__u32 memory;	/* the first slots are `counts` */
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
};

/* walk__look_slow - is no time or no work left?  1 or 0; the next look is WALK_LOOK later. */
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

#include "name_walk.h"

WALK_FN void lines__begin(struct walk *w);
WALK_FN int memory__begin(struct walk *w);

/*
 * walk__begin - start at the innermost context.
 * 0; WALK_DONE: R is not initialised, there is no stack; or -enum xr_error.
 */
WALK_FN int walk__begin(struct walk *w)
{
	__u64 gc = 0;
	int err;

	w->sample++;
	w->contexts = 0;
	w->frames = 0;
	w->whose = WALK_NOBODY;
	w->gc = 0;
	w->unproven = 0;
	w->file = 0;
	w->line = 0;
	w->filter_from = 0;
	w->filter_eval = 0;
	w->lenient = 0;
	w->next = 0;
	w->budget.work = 0;
	w->budget.look_at = w->budget.reduced ? WALK_LOOK : WALK_LOOK_FIRST;
	w->budget.over = 0;
	if (walk__load(w, READ_GLOBAL, &w->next, 8, w->row.head_at))
		return -XR_BAD_HEAD;
	if ((w->row.flags & XR_ROW_GC) && w->row.gc_at) {
		if (walk__load(w, READ_GC, &gc, w->row.gc_size == 1 ? 1 : 4, w->row.gc_at))
			return -XR_BAD_HEAD;
		w->gc = gc != 0;
	}
	err = memory__begin(w);
	if (err)
		return err;
	if (w->next && (w->row.flags & (XR_ROW_LINES | XR_ROW_PACKAGES)))
		lines__begin(w);
	return w->next ? 0 : WALK_DONE;
}

/* walk__call - name the call at @call: w->word (0: not a call, so no frame) and w->more. */
WALK_FN int walk__call(struct walk *w, __u64 call)
{
	struct walk_memo *memo = &w->memo[((call >> 3) ^ (call >> 9)) & (WALK_MEMO - 1)];
	int err;

	if (memo->call == call && memo->sample == w->sample) {
		w->word = memo->word;
		w->more = memo->more;
		return 0;
	}
	if (walk__cell(w, w->cell, call))
		return -XR_BAD_CALL;
	w->more = 0;
	if (walk__type(w->cell) != R_LANGSXP) {
		w->word = 0;
	} else if (walk__known(w, w->cell[R_CAR])) {
		w->word =
			((__u64)XR_FORM_SYMBOL << XR_FORM_SHIFT) | (w->cell[R_CAR] & XR_WORD_MASK);
	} else {
		err = walk__name(w, w->cell[R_CAR]);
		if (err)
			return err;
	}
	memo->call = call;
	memo->word = w->word;
	memo->more = w->more;
	memo->sample = w->sample;
	return 0;
}

/* walk__frame - the context in w->context calls a function: name it and emit its slots. */
WALK_FN int walk__frame(struct walk *w)
{
	int err = walk__call(w, walk__field(w, w->row.layout.call));

	if (err || !w->word)
		return err;
	/* these first: they may be cut, and then there is no frame */
	if (w->row.flags & XR_ROW_PACKAGES) {
		err = walk__function(w);
		if (err)
			return err;
	}
	if (w->row.flags & XR_ROW_LINES) {
		err = walk__location(w);
		if (err)
			return err;
	}
	err = walk__emit(w, w->word, w->more);
	if (err)
		return err;
	w->frames++;
	if (w->row.flags & XR_ROW_LINES) {
		err = walk__emit(w, w->file, w->line);
		if (err)
			return err;
	}
	if (w->row.flags & XR_ROW_PACKAGES)
		return walk__emit(w, w->functions.package, w->functions.definition);
	return 0;
}

/*
 * walk__key - where on the stack [@sp, @top) the context read last belongs: its address, or its
 * `bcpc`.  @top 0: the end is not known.  0: nowhere.
 */
WALK_FN __u64 walk__key(const struct walk *w, __u64 sp, __u64 top)
{
	__u64 key = w->at;

	if (key >= sp && (!top || key < top))
		return key;
	key = w->row.layout.bcpc ? walk__field(w, w->row.layout.bcpc) : 0;
	return key >= sp && (!top || key < top) ? key : 0;
}

/* walk__context - read the context at @at into w->context. */
WALK_FN int walk__context(struct walk *w, __u64 at)
{
	__u32 len = w->row.flags & (XR_ROW_LINES | XR_ROW_NATIVE) || w->sp_top
			    ? w->row.layout.read_lines
			    : w->row.layout.read_plain;

	return walk__load(w, READ_CONTEXT, w->context, len & (XR_CONTEXT_MAX - 1), at)
		       ? -XR_BAD_CONTEXT
		       : 0;
}

/*
 * walk__filter - filter.callframes, findProfContext() of eval.c: from a context, the next one to
 * tell is the frame that its call was made from (whose cloenv is its sysparent), or, if that was
 * a call of eval(), the frame eval() evaluates in; if there is none, the outermost one.
 *
 * Returns what to do with w->context, or -enum xr_error.
 */
enum walk_filter {
	WALK_PASS, /* go on outward */
	WALK_TELL,
	WALK_TELL_LAST, /* it is now the outermost one; after it the walk is done */
	WALK_END,	/* do not tell it, the walk is done */
};

WALK_FN int walk__filter(struct walk *w, __u64 at, __u32 flag)
{
	__u64 cloenv = walk__field(w, w->row.layout.cloenv);
	__u64 callfun = walk__field(w, w->row.layout.callfun);
	__u64 last = w->filter_last;
	int found = 0;

	w->filter_last = at;
	if (!flag && w->filter_from) { /* the toplevel context: nothing was found */
		if (last == w->filter_from)
			return WALK_END;
		return walk__context(w, last) ? -XR_BAD_CONTEXT : WALK_TELL_LAST;
	}
	if (!w->filter_from) { /* the innermost */
		if (!flag)
			return WALK_END;
		found = 1;
	} else if ((flag & R_CTXT_FUNCTION) && cloenv == w->filter_env) {
		if (!w->filter_eval && w->row.eval_fun && callfun == w->row.eval_fun)
			w->filter_eval = 1;
		else
			found = 1;
	}
	if (!found)
		return WALK_PASS;
	w->filter_from = at;
	w->filter_env = walk__field(w, w->row.layout.sysparent);
	/* the search begins with the context itself: eval() in its own frame */
	w->filter_eval = (flag & R_CTXT_FUNCTION) && cloenv == w->filter_env && w->row.eval_fun &&
			 callfun == w->row.eval_fun;
	return WALK_TELL;
}

/*
 * walk__context_at - read the next context outward, and decide whether it is told.
 * 0: walk__tell() is next; WALK_DONE; WALK_CUT; or -enum xr_error.
 */
WALK_FN int walk__context_at(struct walk *w)
{
	int told = WALK_TELL;

	w->at = w->next;
	if (w->contexts >= XR_CONTEXTS_MAX || walk__over(w))
		return WALK_CUT;
	if (walk__context(w, w->at))
		return -XR_BAD_CONTEXT;
	w->contexts++;
	w->next = walk__field(w, w->row.layout.nextcontext);
	if (w->sp_top && w->next && w->whose != WALK_HERE)
		w->whose = walk__key(w, w->sp, w->sp_top) ? WALK_HERE : WALK_ELSEWHERE;
	w->flag = walk__field32(w, w->row.layout.callflag);
	if (w->row.flags & XR_ROW_FILTER) {
		told = walk__filter(w, w->at, w->flag);
		if (told < 0)
			return told;
		if (told == WALK_END)
			return WALK_DONE;
		if (told == WALK_TELL_LAST)
			w->next = 0;
	}
	w->told = told;
	return 0;
}

/*
 * walk__tell - emit the frame of the context that was read, if it has one.
 * 0: there is a further one; WALK_DONE; or -enum xr_error.
 */
WALK_FN int walk__tell(struct walk *w)
{
	int err;

	if (w->told != WALK_PASS &&
	    (walk__field32(w, w->row.layout.callflag) & (R_CTXT_FUNCTION | R_CTXT_BUILTIN))) {
		err = walk__frame(w);
		if (err)
			return err;
	}
	if (w->next)
		return 0;
	return w->flag ? -XR_BAD_CHAIN : WALK_DONE; /* the outermost context is a toplevel one */
}

/*
 * walk__step - read one context, emit its frame if it has one, go outward.
 * 0: call again; WALK_DONE; WALK_CUT; or -enum xr_error.
 */
WALK_FN int walk__step(struct walk *w)
{
	int err = walk__context_at(w);

	return err ? err : walk__tell(w);
}

#include "memory_walk.h"
#include "lines_walk.h"
#include "function_walk.h"

#ifdef WALK_PLAIN
WALK_FN int walk__name(struct walk *w, __u64 fun)
{
	return walk__name_slow(w, fun);
}

WALK_FN int walk__text(struct walk *w, __u64 addr, __u32 len)
{
	return walk__text_slow(w, addr, len);
}

WALK_FN int walk__location(struct walk *w)
{
	return lines__of_context(w);
}

WALK_FN int walk__lines_file(struct walk *w, __u64 env)
{
	return lines__file_slow(w, env);
}

WALK_FN int walk__lines_tell(struct walk *w, __u64 env)
{
	return lines__tell_slow(w, env);
}

WALK_FN int walk__lines_srcref(struct walk *w, __u64 ref)
{
	return lines__srcref_slow(w, ref);
}

WALK_FN int walk__lines_bc(struct walk *w)
{
	return lines__bc_slow(w);
}

WALK_FN int walk__look(struct walk *w)
{
	return walk__look_slow(w);
}

WALK_FN int walk__function(struct walk *w)
{
	return function__of_context(w);
}

WALK_FN int walk__package(struct walk *w)
{
	return function__package_slow(w);
}

WALK_FN int walk__env_name(struct walk *w)
{
	return function__env_name_slow(w);
}
#endif

#endif
