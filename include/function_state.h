/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the walk remembers of functions: which package each is of, and where it was defined.  Part
 * of struct walk; function_walk.h fills it.
 *
 * Facts: envir.c of R 3.6 to 4.6 (topenv, R_IsPackageEnv, InitGlobalEnv), namespace.R
 * (makeNamespace, attachNamespace).
 *
 * What is found is remembered for one generation, as places are (lines_state.h): a closure or an
 * environment may be freed and its address used again.
 */
#ifndef XR_FUNCTION_STATE_H
#define XR_FUNCTION_STATE_H

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

#endif
