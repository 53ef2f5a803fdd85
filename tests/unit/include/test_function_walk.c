/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The package and the definition of functions, over images of R's memory: environments of every
 * kind and what hostile ones look like, every read made to fail.
 */
#include "lines_scene.h"

/* What there is in every R. */
static struct scene s;
static uint64_t sym_name, sym_other; /* symbols */
static uint64_t stats, a_r;	     /* a namespace; a srcfile */

/* An environment inside of @enclos. */
static uint64_t env(uint64_t enclos)
{
	return image__cell(&s.m, R_ENVSXP, s.m.nil, enclos, s.m.nil);
}

/* An environment whose attribute `name` is @name. */
static uint64_t named_by(uint64_t enclos, uint64_t name)
{
	uint64_t at = env(enclos);

	image__attribute(&s.m, at, sym_name, name);
	return at;
}

static uint64_t named(uint64_t enclos, const char *name)
{
	return named_by(enclos, image__string(&s.m, name));
}

/* The namespace of a package, as makeNamespace() makes it. */
static uint64_t namespace(const char *imports)
{
	return env(named(s.row.base_namespace, imports));
}

static uint64_t closure(uint64_t in)
{
	return image__cell(&s.m, R_CLOSXP, s.m.nil, s.m.nil, in);
}

/* A function of @in that was defined at line @line of a.R, @behind attributes. */
static uint64_t defined(uint64_t in, int32_t line, int behind)
{
	uint64_t at = closure(in);

	image__attribute(&s.m, at, s.row.sym_srcref, srcref(&s, a_r, line));
	while (behind--)
		image__attribute(&s.m, at, sym_other, s.m.nil);
	return at;
}

static void world__init(const struct xr_layout *layout)
{
	struct xr_row *row = &s.row;
	uint64_t empty;

	scene__free(&s);
	scene__init(&s, layout);
	row->flags = XR_ROW_PACKAGES;
	sym_name = row->sym_name = image__symbol(&s.m, "name");
	sym_other = image__symbol(&s.m, "path");
	row->sym_srcref = image__symbol(&s.m, "srcref");
	empty = env(s.m.nil);
	row->base_env = env(empty);
	row->global_env = env(row->base_env);
	row->base_namespace = env(row->global_env);
	stats = namespace("imports:stats");
	a_r = srcfile__list(&s, image__string(&s.m, "a.R"));
}

BEFORE()
{
	world__init(layout_now());
}

/* Push a call of @name, whose function is @fun. */
static uint64_t call(const char *name, uint64_t fun)
{
	uint64_t at = push(&s, name, 0);

	image__put64(&s.m, at + s.m.layout.callfun, fun);
	return at;
}

/* "f=package@file#line" for each frame, innermost first; what is not known is missing. */
static const char *run__functions(const struct recorded_walk *r)
{
	uint32_t step = r->walk.row.flags & XR_ROW_LINES ? 3 : 2;
	static char out[512];
	size_t len = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i + step <= r->nslots; i += step) {
		const struct xr_slot *function = &r->slots[i + step - 1];
		const char *package = function->word == XR_PACKAGE_BASE	    ? "base"
				      : function->word == XR_PACKAGE_GLOBAL ? ".GlobalEnv"
				      : function->word ? recorded_walk__text(r, function->word)
						       : "";

		len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%s=%s", len ? " " : "",
					recorded_walk__text(r, r->slots[i].word & XR_WORD_MASK),
					package);
		for (uint32_t p = 0; p < r->nplaces && function->more; p++)
			if (r->places[p].id == function->more)
				len += (size_t)snprintf(out + len, sizeof(out) - len, "@%s#%d",
							recorded_walk__text(r, r->places[p].file),
							(int32_t)r->places[p].line);
	}
	return out;
}

/* What the walk says of the stack, twice: what is remembered must not stay. */
static void check_functions(const char *wanted, const char *what)
{
	struct recorded_walk *r = run__new(&s);
	const char *got = wanted;

	for (int i = 0; i < 2 && !strcmp(got, wanted); i++)
		got = recorded_walk__again(r) == WALK_DONE ? run__functions(r) : "(not done)";
	tap__is(got, wanted, "%s", what);
	run__free(r);
}

/* One call, of a function in environment @in. */
static void check_env(uint64_t in, const char *package, const char *what)
{
	uint64_t head = image__get64(&s.m, s.m.head_at);
	char wanted[64];

	call("f", closure(in));
	snprintf(wanted, sizeof(wanted), "f=%s", package);
	check_functions(wanted, what);
	image__put64(&s.m, s.m.head_at, head);
}

static uint64_t deep(uint64_t in, int levels)
{
	while (levels--)
		in = env(in);
	return in;
}

static void test_envs(const struct xr_layout *layout)
{
	const struct xr_row *row = &s.row;
	uint64_t global;

	world__init(layout);
	global = row->global_env;
	check_env(global, ".GlobalEnv", "the global environment");
	check_env(row->base_env, "base", "the base environment");
	check_env(row->base_namespace, "base", "the base namespace");
	check_env(stats, "stats", "a namespace");
	check_env(env(stats), "stats", "made by a function of a namespace");
	check_env(env(global), ".GlobalEnv", "made by a function of the user's");
	check_env(deep(stats, FUNCTION_CHAIN - 2), "stats", "as deep as is looked");
	check_env(deep(stats, FUNCTION_CHAIN), "", "deeper than is looked");
	check_env(deep(global, 30), ".GlobalEnv", "thirty environments");
	check_env(named(global, "package:datasets"), "package:datasets",
		  "the environment of an attached package");
	check_env(named(global, "mine"), ".GlobalEnv", "an environment with a name");
	check_env(named(named(row->base_env, "package:stats"), "mine"), "package:stats",
		  "and an attached one");
	check_env(env(s.m.nil), "", "one that leads nowhere");
}

TEST(odd)
{
	uint64_t imports, at, text, global;
	static char name[XR_TEXT_MAX + 64];

	global = s.row.global_env;
	imports = named(s.row.base_namespace, "imports:stats");
	check_env(imports, "base", "the imports of a namespace are base's, as topenv() has it");
	check_env(env(named(global, "imports:stats")), ".GlobalEnv", "they are somewhere else");
	check_env(namespace("imports:"), "base", "a namespace without a name");
	check_env(namespace("import:stats"), "base", "another name");
	check_env(namespace("imports"), "base", "a short one");
	check_env(named(global, "package:"), ".GlobalEnv", "a package without one");
	memset(name, 'x', sizeof(name) - 1);
	memcpy(name, "package:", 8);
	check_env(named(global, name), ".GlobalEnv", "a name that is longer than any");

	imports = named(s.row.base_namespace, "imports:late");
	for (int i = 1; i < FUNCTION_ENV_ATTRIBS; i++)
		image__attribute(&s.m, imports, sym_other, s.m.nil);
	check_env(env(imports), "late", "the name is the last of the attributes looked at");
	image__attribute(&s.m, imports, sym_other, s.m.nil);
	check_env(env(imports), "base", "and one behind them");

	check_env(named_by(global, image__int(&s.m, 1)), ".GlobalEnv", "a name that is a number");
	check_env(named_by(global, image__vector(&s.m, R_STRSXP, 0, "", 0)), ".GlobalEnv",
		  "one of no strings");
	text = image__string(&s.m, "package:altrep");
	image__put64(&s.m, text, R_STRSXP | R_ALTREP_BIT);
	check_env(named_by(global, text), ".GlobalEnv", "one that is kept elsewhere");
	check_env(named_by(global, 0x123), "", "one that cannot be read");
	at = env(global);
	image__put64(&s.m, at + 8, 0x123);
	check_env(at, "", "attributes that cannot be");
	check_env(env(0x123), "", "an enclosure that cannot be");
	check_env(0x123, "", "an environment that cannot be");
	check_env(0, "", "none");
	check_env(image__int(&s.m, 1), "", "an integer in place of an environment");
	at = env(0);
	image__put64(&s.m, at + 8 * R_CDR, at);
	check_env(at, "", "an environment in itself");
	text = image__cell(&s.m, 2, 0, 0, 0);
	image__put64(&s.m, at + 8, text);
	image__put64(&s.m, text + 8 * R_CDR, text);
	check_env(at, "", "with attributes in a circle");

	call("eval", image__cell(&s.m, R_BUILTINSXP, 0, 0, 0));
	check_functions("eval=base", "a builtin that has a context as closures have");
	call("quote", image__cell(&s.m, R_SPECIALSXP, 0, 0, 0));
	check_functions("quote=base eval=base", "and one that does not evaluate");
	call("f", image__int(&s.m, 1));
	call("g", 0x123);
	check_functions("g= f= quote=base eval=base",
			"objects that are not functions, and a wild address");
	image__push(&s.m, R_CTXT_BUILTIN, image__call(&s.m, image__symbol(&s.m, ".Call"), 0, 0), 0);
	check_functions(".Call=base g= f= quote=base eval=base", "a foreign call");
	s.row.global_env = s.row.base_env = s.row.base_namespace = 0;
	s.row.sym_name = s.row.sym_srcref = 0;
	call("f", closure(stats));
	check_functions("f= .Call=base g= f= quote=base eval=base",
			"an R that does not tell where they are");
}

TEST(definitions)
{
	static const char *const what[] = {"an object that is not a srcref", "one without a file",
					   "one that cannot be read"};
	uint64_t f, g, context, refs[3];
	struct recorded_walk *r;

	f = defined(stats, 12, 0);
	call("f", f);
	check_functions("f=stats@a.R#12", "a function with a srcref");
	g = defined(s.row.global_env, 3, FUNCTION_ATTRIBS - 1);
	context = call("g", g);
	check_functions("g=.GlobalEnv@a.R#3 f=stats@a.R#12", "a method has others before it");
	image__attribute(&s.m, g, sym_other, s.m.nil);
	check_functions("g=.GlobalEnv f=stats@a.R#12", "one more than is looked at");

	/* the place of the call is another thing */
	s.row.flags |= XR_ROW_LINES | XR_ROW_BC;
	image__put64(&s.m, context + s.m.layout.srcref, srcref(&s, a_r, 40));
	call("f", f);
	check_functions("f=stats@a.R#12 g=.GlobalEnv f=stats@a.R#12", "with lines");
	r = run__new(&s);
	recorded_walk__again(r);
	tap__ok(r->nslots == 9 && r->slots[4].more == 40 && !r->slots[1].word,
		"a frame is three slots, the second is from where it was called");
	tap__ok(r->nplaces == 2, "a place and its srcfile are sent once");
	run__free(r);

	world__init(layout_now());
	refs[0] = image__string(&s.m, "x");
	refs[1] = image__int(&s.m, 3);
	refs[2] = 0x123;
	for (int i = 0; i < 3; i++) {
		f = closure(stats);
		image__attribute(&s.m, f, s.row.sym_srcref, refs[i]);
		context = image__get64(&s.m, s.m.head_at);
		call("h", f);
		check_functions("h=stats", what[i]);
		image__put64(&s.m, s.m.head_at, context);
	}
}

/* Each read fails in turn: the stack is as long, and what it says of a function is true or nothing.
 */
TEST(faults)
{
	static const char right[] = "g=stats@a.R#5 f=package:x@a.R#7";
	static const char *const gs[] = {"g=stats@a.R#5", "g=stats", "g="};
	static const char *const fs[] = {"f=package:x@a.R#7", "f=package:x", "f="};
	uint64_t reads = 1, less = 0, errors = 0;
	bool ok = true;

	call("f", defined(env(named(s.row.global_env, "package:x")), 7, 0));
	call("g", defined(env(stats), 5, 0));
	check_functions(right, "what is to be damaged");
	/* the first time none fails */
	for (uint64_t n = 0; n <= reads; n++) {
		int result, found = 0;
		struct recorded_walk *r = run__failing(&s, n, &result);
		const char *got;
		char wanted[128];

		reads = n ? reads : s.m.reads;
		got = run__functions(r);
		for (int i = 0; i < 9; i++) {
			snprintf(wanted, sizeof(wanted), "%s %s", gs[i % 3], fs[i / 3]);
			found += !strcmp(got, wanted);
		}
		errors += result < 0;
		less += result >= 0 && strcmp(got, right) != 0;
		if (result >= 0 && (!found || r->walk.lenient)) {
			tap__diag("read %d failed: %s", (int)n, got);
			ok = false;
		}
		ok = ok && recorded_walk__again(r) == WALK_DONE &&
		     !strcmp(run__functions(r), right);
		run__free(r);
	}
	tap__ok(ok && less > 20 && errors < 16,
		"each of %d reads fails in turn: %d times the sample, %d times a function is not "
		"known",
		(int)reads, (int)errors, (int)less);
}

/* What is remembered: within a walk, and as long as the number of collections stays the same. */
TEST(memory)
{
	uint64_t count_at, reads, first, again;
	struct recorded_walk *r;

	count_at = image__alloc(&s.m, 8);
	for (int i = 0; i < 20; i++)
		call("f", closure(env(stats)));
	r = run__new(&s);
	recorded_walk__again(r);
	first = s.m.reads;
	/* 20 times a context, a call, its function and its name, the closure and its environment */
	tap__ok(first < 20 * 7 + 20, "the namespace is looked at once: %d reads", (int)first);
	r->walk.row.gc_count_at = count_at;
	r->walk.steady = 1;
	recorded_walk__again(r);
	reads = s.m.reads;
	recorded_walk__again(r);
	again = s.m.reads - reads;
	tap__ok(again + 38 <= first, "the next walk reads no closure and no environment: %d reads",
		(int)again);
	image__put32(&s.m, count_at, 1);
	reads = s.m.reads;
	recorded_walk__again(r);
	tap__ok(s.m.reads - reads >= first, "after a collection it does");
	run__free(r);
}

/* A closure of an imports environment belongs to base. A closure of a namespace belongs to the
 * package that its imports name. */
TEST(imports)
{
	uint64_t own, inner;

	for (int order = 0; order < 2; order++) {
		world__init(layout_now());
		own = image__get64(&s.m, stats + 8 * R_CDR);
		inner = env(stats);
		call("f", closure(order ? own : inner));
		call("g", closure(order ? inner : own));
		check_functions(order ? "g=stats f=base" : "g=base f=stats",
				order ? "imports after a namespace" : "imports before a namespace");
	}
}

TEST(budget)
{
	struct recorded_walk *r;
	int result;

	for (int i = 0; i < 20; i++)
		call("f", closure(deep(stats, FUNCTION_CHAIN - 4)));
	r = run__new(&s);
	r->walk.budget.work_max = 600;
	result = recorded_walk__again(r);
	tap__ok(result == WALK_CUT && r->walk.budget.over && r->walk.frames > 4 &&
			r->walk.frames < 12 && r->nslots == 2 * r->walk.frames &&
			r->walk.budget.work < 600 + WALK_LOOK + 64,
		"a walk is cut between environments: %u frames, %u of work", r->walk.frames,
		r->walk.budget.work);
	run__free(r);
}

TEST(envs)
{
	test_envs(layout_now());
	test_envs(layouts__find(LAYOUTS_X86_64_LINUX, LAYOUTS_VERSION(3, 4, 0)));
}
