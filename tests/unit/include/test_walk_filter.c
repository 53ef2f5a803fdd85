/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* filter.callframes in the walk, over images of R's memory. */
#include "lines_scene.h"

/* Contexts with chosen environments: E(0) is the global environment. */
#define E(n) (IMAGE_ENV + 0x10000ull * (n))

static struct scene s;

BEFORE()
{
	scene__init(&s, layout_now());
}

static uint64_t push_env(const char *name, uint32_t flag, uint64_t cloenv, uint64_t sysparent,
			 uint64_t callfun)
{
	const struct xr_layout *l = &s.m.layout;
	uint64_t call = image__call(&s.m, image__symbol(&s.m, name), 0, 0);
	uint64_t at = image__push(&s.m, flag, call, 0);

	image__put64(&s.m, at + l->cloenv, cloenv);
	image__put64(&s.m, at + l->sysparent, sysparent);
	image__put64(&s.m, at + l->callfun, callfun);
	return at;
}

TEST(filter)
{
	const uint32_t F = R_CTXT_FUNCTION;
	const uint64_t evalfun = 0x5000;

	s.row.flags = XR_ROW_FILTER;
	s.row.eval_fun = evalfun;
	check(&s, "", "nothing is being called");

	/* f calls g(h()): h is a promise, evaluated in f's frame when g asks for it */
	push_env("f", F, E(1), E(0), 1);
	push_env("g", F, E(2), E(1), 2);
	push_env("h", F, E(3), E(1), 3);
	check(&s, "h f ", "a promise hides the function that asked for it");
	s.row.flags = 0;
	check(&s, "h g f ", "but not without the filter");
	s.row.flags = XR_ROW_FILTER;

	/* eval(quote(k()), E(2)) called by h: k's caller is the frame of g, not of eval */
	push_env("eval", F, E(4), E(3), 4);
	push_env("eval", F, E(2), E(3), evalfun);
	push_env("k", F, E(5), E(2), 5);
	check(&s, "k g f ", "eval() in the frame of another function");
	push_env("eval", F, E(5), E(5), evalfun);
	push_env("m", F, E(6), E(5), 6);
	check(&s, "m k g f ", "eval() in its own frame");
	s.row.eval_fun = 0;
	check(&s, "m eval k eval h f ", "eval() is reported if its address is not known");
	s.row.eval_fun = evalfun;

	/* called from the global environment: the outermost function is all that is left */
	push_env("top", F, E(7), E(0), 7);
	check(&s, "top f ", "called from top level, deep inside");
	/* a loop's context is not reported, but the walk begins there */
	push_env("for", 1, E(0), IMAGE_ENV - 8, 0);
	check(&s, "f ", "a loop");
	/* R_ToplevelExec(): what is outside of it is not gone through */
	push_env("", 0, 0, 0, 0);
	check(&s, "", "a new top level");
	push_env("callback", F, E(8), E(0), 8);
	push_env("inside", F, E(9), E(8), 9);
	check(&s, "inside callback ", "functions below a new top level");
}
