/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * R's RCNTXT (src/include/Defn.h) on 64-bit Windows, laid out by the compiler that R itself is
 * built with.  LAYOUT is 36 (R 3.4 to 3.6), 42 (4.0 to 4.3) or 44 (4.4 and later).  Written for the
 * tests, and compared with the offsets computed from R's own headers.
 */
#ifndef RCNTXT_H
#define RCNTXT_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

/* src/gnuwin32/fixed/h/psignal.h: the jump buffer with a saved signal mask */
struct sigjmp {
	jmp_buf buf;
	int mask_was_saved;
	int saved_mask;
};

struct rcntxt {
	struct rcntxt *nextcontext;
	int callflag;
	struct sigjmp cjmpbuf;
	int cstacktop;
	int evaldepth;
	void *promargs;
	void *callfun;
	void *sysparent;
	void *call;
	void *cloenv;
	void *conexit;
	void (*cend)(void *);
	void *cenddata;
	void *vmax;
	int intsusp;
	int gcenabled;
	int bcintactive;
	void *bcbody;
	void *bcpc;
#if LAYOUT >= 44
	ptrdiff_t relpc;
#endif
	void *handlerstack;
	void *restartstack;
	void *prstack;
	void *nodestack;
#if LAYOUT >= 42
	void *bcprottop;
#endif
#if LAYOUT >= 44
	void *bcframe;
#endif
	void *srcref;
	int browserfinish;
	void *return_value[LAYOUT >= 44 ? 2 : 1];
	struct rcntxt *jumptarget;
	int jumpmask;
};

/* x86_64-windows, R 3.4.0 to 3.6.3, 4.0.0 to 4.3.3, 4.4.0 to 4.6.1 */
#define AT(field, r36, r42, r44)                                                                   \
	_Static_assert(offsetof(struct rcntxt, field) == (LAYOUT == 36	 ? (r36)                   \
							  : LAYOUT == 42 ? (r42)                   \
									 : (r44)),                 \
		       #field)
AT(nextcontext, 0, 0, 0);
AT(callflag, 8, 8, 8);
AT(cjmpbuf, 16, 16, 16);
AT(cstacktop, 288, 288, 288);
AT(promargs, 296, 296, 296);
AT(callfun, 304, 304, 304);
AT(sysparent, 312, 312, 312);
AT(call, 320, 320, 320);
AT(cloenv, 328, 328, 328);
AT(bcbody, 384, 384, 384);
AT(bcpc, 392, 392, 392);
AT(handlerstack, 400, 400, 408);
AT(prstack, 416, 416, 424);
AT(nodestack, 424, 424, 432);
AT(srcref, 432, 440, 456);
AT(browserfinish, 440, 448, 464);
AT(return_value, 448, 456, 472);
AT(jumptarget, 456, 464, 488);
AT(jumpmask, 464, 472, 496);
_Static_assert(sizeof(struct rcntxt) == (LAYOUT == 44 ? 512 : 480), "RCNTXT");
#undef AT

#endif
