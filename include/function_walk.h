/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which function a context calls: the package it is of and where it was defined.  Reads the target
 * and keeps what it finds in struct functions.  Part of walk.h.
 *
 * The package is what topenv() of R finds from the function's environment outward, by addresses
 * and attributes alone: no variable of an environment is looked up.
 *
 *   - R_GlobalEnv, R_BaseEnv and R_BaseNamespace are known by their addresses.
 *   - A namespace is made with an environment for its imports as its enclosure, which has the
 *     attribute name = "imports:PACKAGE" and R_BaseNamespace as enclosure (makeNamespace in
 *     namespace.R).  So the environment whose enclosure that is, is a namespace.
 *   - The environment of an attached package has the attribute name = "package:PACKAGE".
 *
 * What cannot be read is not known; the sample does not fail.  These return 0; WALK_CUT or
 * -XR_LOST, which end the walk; or another -enum xr_error: something could not be read.
 */
#ifndef XR_FUNCTION_WALK_H
#define XR_FUNCTION_WALK_H

#include "walk_state.h"

/* function__prefixed - is the CHARSXP at @charsxp the name of a package, see above?  Send it. */
WALK_FN int function__prefixed(struct walk *w, __u64 charsxp)
{
	struct functions *f = &w->functions;
	__u64 first = 0, at = charsxp + w->row.layout.vector_data;
	__u32 len;
	int err;

	if (walk__cell(w, f->cell2, charsxp))
		return -XR_BAD_FUN;
	if (walk__type(f->cell2) != R_CHARSXP)
		return 0;
	len = (__u32)f->cell2[R_CAR];
	if (len <= 8 || len > XR_TEXT_MAX)
		return 0;
	if (walk__load(w, READ_OBJECT, &first, 8, at))
		return -XR_BAD_FUN;
	if (f->imports && first == LINES_WORD('i', 'm', 'p', 'o', 'r', 't', 's', ':')) {
		at += 8;
		len -= 8;
	} else if (first != LINES_WORD('p', 'a', 'c', 'k', 'a', 'g', 'e', ':')) {
		return 0;
	}
	err = walk__text(w, at, len);
	if (!err)
		f->package = w->hash;
	return err;
}

/*
 * function__env_name_slow - the package that an environment's attributes (functions.attrib) name,
 * to functions.package, which is 0 before.
 */
WALK_FN int function__env_name_slow(struct walk *w)
{
	struct functions *f = &w->functions;
	__u64 attrib = f->attrib, value;
	int i;

	for (i = 0; i < FUNCTION_ENV_ATTRIBS; i++) {
		if (attrib == w->row.nil || !attrib)
			return 0;
		if (walk__cell(w, f->cell2, attrib))
			return -XR_BAD_FUN;
		if (f->cell2[R_TAG] == w->row.sym_name)
			break;
		attrib = f->cell2[R_CDR];
	}
	if (i == FUNCTION_ENV_ATTRIBS)
		return 0;
	value = f->cell2[R_CAR];
	if (walk__cell(w, f->cell2, value))
		return -XR_BAD_FUN;
	if (walk__type(f->cell2) != R_STRSXP || lines__altrep(w, f->cell2) ||
	    !lines__length(w, f->cell2))
		return 0;
	if (walk__load(w, READ_OBJECT, &value, 8, value + w->row.layout.vector_data))
		return -XR_BAD_FUN;
	return function__prefixed(w, value);
}

/* function__env - where @env is remembered, or is to be */
WALK_FN struct function_env *function__env(struct walk *w, __u64 env)
{
	return &w->functions.envs[((env >> 3) ^ (env >> 9)) & (FUNCTION_ENVS - 1)];
}

WALK_FN void function__remember_env(struct walk *w, __u64 env)
{
	struct function_env *memo = function__env(w, env);

	memo->env = env;
	memo->package = w->functions.package;
	memo->generation = w->lines.generation;
}

/* function__known_env - is @env one whose package is known?  Then it is in functions.package. */
WALK_FN int function__known_env(struct walk *w, __u64 env)
{
	struct functions *f = &w->functions;
	const struct function_env *memo = function__env(w, env);

	if (env == w->row.base_namespace || env == w->row.base_env)
		f->package = XR_PACKAGE_BASE;
	else if (env == w->row.global_env)
		f->package = XR_PACKAGE_GLOBAL;
	else if (memo->env == env && memo->generation == w->lines.generation)
		f->package = memo->package;
	else
		return 0;
	return 1;
}

/*
 * function__package_slow - the package that the chain of environments from functions.env outward
 * ends in, to functions.package; 0: none.
 *
 * The answer for an environment is remembered, but not that for imports, which is base if the
 * chain begins there and another if it comes there from a namespace.
 */
WALK_FN int function__package_slow(struct walk *w)
{
	struct functions *f = &w->functions;
	__u64 env = f->env, before = 0;
	int i, err;

	f->package = 0;
	for (i = 0; i < FUNCTION_CHAIN && env; i++) {
		if (function__known_env(w, env))
			break;
		if (walk__over(w))
			return WALK_CUT;
		if (walk__cell(w, f->cell, env))
			return -XR_BAD_FUN;
		if (walk__type(f->cell) != R_ENVSXP)
			break;
		f->attrib = f->cell[1];
		if (f->attrib != w->row.nil && f->attrib && w->row.sym_name) {
			f->imports = before && f->cell[R_CDR] == w->row.base_namespace;
			err = walk__env_name(w);
			if (err)
				return err;
			if (f->package)
				break;
			if (!before && f->cell[R_CDR] == w->row.base_namespace) {
				f->package = XR_PACKAGE_BASE;
				return 0;
			}
		}
		before = env;
		env = f->cell[R_CDR];
	}
	if (before && i < FUNCTION_CHAIN)
		function__remember_env(w, before);
	function__remember_env(w, f->env);
	return 0;
}

/*
 * function__definition - where the closure with attributes @attrib was defined, to
 * functions.definition; 0: not known.  Writes w->file and w->line.
 */
WALK_FN int function__definition(struct walk *w, __u64 attrib)
{
	struct functions *f = &w->functions;
	__u64 id;
	int i, err;

	for (i = 0; i < FUNCTION_ATTRIBS; i++) {
		if (attrib == w->row.nil || !attrib)
			return 0;
		if (walk__cell(w, f->cell, attrib))
			return -XR_BAD_FUN;
		if (f->cell[R_TAG] == w->row.sym_srcref)
			break;
		attrib = f->cell[R_CDR];
	}
	if (i == FUNCTION_ATTRIBS)
		return 0;
	err = walk__lines_srcref(w, f->cell[R_CAR]);
	if (err || !w->file)
		return err;
	id = (w->file ^ w->line * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;
	id = (id ^ id >> 32) | 1; /* 0 stands for none */
	err = walk__send_place(w, id, w->file, w->line);
	if (!err)
		f->definition = id;
	return err;
}

/*
 * function__closure - the same of the function at functions.closure: package and definition.  It
 * may be a builtin: eval() and `[[` have contexts like closures while they evaluate or dispatch.
 */
WALK_FN int function__closure(struct walk *w)
{
	struct functions *f = &w->functions;
	__u64 attrib;
	int err;

	if (walk__cell(w, f->cell, f->closure))
		return -XR_BAD_FUN;
	if (walk__type(f->cell) == R_BUILTINSXP || walk__type(f->cell) == R_SPECIALSXP)
		f->package = XR_PACKAGE_BASE;
	if (walk__type(f->cell) != R_CLOSXP)
		return 0;
	attrib = f->cell[1];
	f->env = f->cell[R_TAG];
	err = function__known_env(w, f->env) ? 0 : walk__package(w);
	if (err || attrib == w->row.nil || !w->row.sym_srcref)
		return err;
	return function__definition(w, attrib);
}

/*
 * function__of_context - the function that the context in w->context calls, to functions.package
 * and functions.definition.  0; WALK_CUT; or -XR_LOST.
 */
WALK_FN int function__of_context(struct walk *w)
{
	struct functions *f = &w->functions;
	struct function_closure *memo;
	int err;

	f->package = XR_PACKAGE_BASE;
	f->definition = 0;
	if (!(walk__field32(w, w->row.layout.callflag) & R_CTXT_FUNCTION))
		return 0; /* a builtin */
	f->closure = walk__field(w, w->row.layout.callfun);
	memo = &f->closures[((f->closure >> 3) ^ (f->closure >> 9)) & (FUNCTION_CLOSURES - 1)];
	if (memo->closure == f->closure && memo->generation == w->lines.generation) {
		f->package = memo->package;
		f->definition = memo->definition;
		return 0;
	}
	f->package = 0;
	w->lenient = 1;
	err = function__closure(w);
	w->lenient = 0;
	if (err) /* perhaps the next time */
		return err == WALK_CUT || err == -XR_LOST ? err : 0;
	memo->closure = f->closure;
	memo->package = f->package;
	memo->definition = f->definition;
	memo->generation = w->lines.generation;
	return 0;
}

#endif
