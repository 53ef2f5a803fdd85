/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The package and the definition of functions, over images of R's memory: environments of every
 * kind and what hostile ones look like, every read made to fail.
 */
#include "lines_scene.h"

/* What there is in every R. */
struct world {
	struct scene s;
	uint64_t name, other; /* symbols */
	uint64_t stats, a_r;  /* a namespace; a srcfile */
};

/* An environment inside of @enclos. */
static uint64_t env(struct world *w, uint64_t enclos)
{
	return image__cell(&w->s.m, R_ENVSXP, w->s.m.nil, enclos, w->s.m.nil);
}

/* Give the object at @at one more attribute, before the others. */
static void attribute(struct world *w, uint64_t at, uint64_t tag, uint64_t value)
{
	uint64_t old = image__get64(&w->s.m, at + 8);

	image__put64(&w->s.m, at + 8, image__cell(&w->s.m, 2, value, old, tag));
}

/* An environment whose attribute `name` is @name. */
static uint64_t named_by(struct world *w, uint64_t enclos, uint64_t name)
{
	uint64_t at = env(w, enclos);

	attribute(w, at, w->name, name);
	return at;
}

static uint64_t named(struct world *w, uint64_t enclos, const char *name)
{
	return named_by(w, enclos, image__string(&w->s.m, name));
}

/* The namespace of a package, as makeNamespace() makes it. */
static uint64_t namespace(struct world *w, const char *imports)
{
	return env(w, named(w, w->s.row.base_namespace, imports));
}

static uint64_t closure(struct world *w, uint64_t in)
{
	return image__cell(&w->s.m, R_CLOSXP, w->s.m.nil, w->s.m.nil, in);
}

/* A function of @in that was defined at line @line of a.R, @behind attributes. */
static uint64_t defined(struct world *w, uint64_t in, int32_t line, int behind)
{
	uint64_t at = closure(w, in);

	attribute(w, at, w->s.row.sym_srcref, srcref(&w->s, w->a_r, line));
	while (behind--)
		attribute(w, at, w->other, w->s.m.nil);
	return at;
}

static void world__init(struct world *w, const struct xr_layout *layout)
{
	struct xr_row *row = &w->s.row;
	uint64_t empty;

	scene__init(&w->s, layout);
	row->flags = XR_ROW_PACKAGES;
	w->name = row->sym_name = image__symbol(&w->s.m, "name");
	w->other = image__symbol(&w->s.m, "path");
	row->sym_srcref = image__symbol(&w->s.m, "srcref");
	empty = env(w, w->s.m.nil);
	row->base_env = env(w, empty);
	row->global_env = env(w, row->base_env);
	row->base_namespace = env(w, row->global_env);
	w->stats = namespace(w, "imports:stats");
	w->a_r = srcfile__list(&w->s, image__string(&w->s.m, "a.R"));
}

/* Push a call of @name, whose function is @fun. */
static uint64_t call(struct world *w, const char *name, uint64_t fun)
{
	uint64_t at = push(&w->s, name, 0);

	image__put64(&w->s.m, at + w->s.m.layout.callfun, fun);
	return at;
}

/* "f=package@file#line" for each frame, innermost first; what is not known is missing. */
static const char *run__functions(const struct run *r)
{
	uint32_t step = r->walk.row.flags & XR_ROW_LINES ? 3 : 2;
	static char out[512];
	size_t len = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i + step <= r->nslots; i += step) {
		const struct xr_slot *function = &r->slots[i + step - 1];
		const char *package = function->word == XR_PACKAGE_BASE	    ? "base"
				      : function->word == XR_PACKAGE_GLOBAL ? ".GlobalEnv"
				      : function->word ? run__name(r, function->word)
						       : "";

		len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%s=%s", len ? " " : "",
					run__name(r, r->slots[i].word & XR_WORD_MASK), package);
		for (uint32_t p = 0; p < r->nplaces && function->more; p++)
			if (r->places[p].id == function->more)
				len += (size_t)snprintf(out + len, sizeof(out) - len, "@%s#%d",
							run__name(r, r->places[p].file),
							(int32_t)r->places[p].line);
	}
	return out;
}

/* What the walk says of the stack of @w, twice: what is remembered must not stay. */
static void check_functions(struct world *w, const char *wanted, const char *what)
{
	struct run *r = run__new(&w->s);
	const char *got = wanted;

	for (int i = 0; i < 2 && !strcmp(got, wanted); i++)
		got = run__walk(r) == WALK_DONE ? run__functions(r) : "(not done)";
	tap__is(got, wanted, "%s", what);
	free(r);
}

/* One call, of a function in environment @in. */
static void check_env(struct world *w, uint64_t in, const char *package, const char *what)
{
	uint64_t head = image__get64(&w->s.m, w->s.m.head_at);
	char wanted[64];

	call(w, "f", closure(w, in));
	snprintf(wanted, sizeof(wanted), "f=%s", package);
	check_functions(w, wanted, what);
	image__put64(&w->s.m, w->s.m.head_at, head);
}

static uint64_t deep(struct world *w, uint64_t in, int levels)
{
	while (levels--)
		in = env(w, in);
	return in;
}

static void test_envs(const struct xr_layout *layout)
{
	const struct xr_row *row;
	uint64_t global;
	struct world w;

	world__init(&w, layout);
	row = &w.s.row;
	global = row->global_env;
	check_env(&w, global, ".GlobalEnv", "the global environment");
	check_env(&w, row->base_env, "base", "the base environment");
	check_env(&w, row->base_namespace, "base", "the base namespace");
	check_env(&w, w.stats, "stats", "a namespace");
	check_env(&w, env(&w, w.stats), "stats", "made by a function of a namespace");
	check_env(&w, env(&w, global), ".GlobalEnv", "made by a function of the user's");
	check_env(&w, deep(&w, w.stats, FUNCTION_CHAIN - 2), "stats", "as deep as is looked");
	check_env(&w, deep(&w, w.stats, FUNCTION_CHAIN), "", "deeper than is looked");
	check_env(&w, deep(&w, global, 30), ".GlobalEnv", "thirty environments");
	check_env(&w, named(&w, global, "package:datasets"), "package:datasets",
		  "the environment of an attached package");
	check_env(&w, named(&w, global, "mine"), ".GlobalEnv", "an environment with a name");
	check_env(&w, named(&w, named(&w, row->base_env, "package:stats"), "mine"), "package:stats",
		  "and an attached one");
	check_env(&w, env(&w, w.s.m.nil), "", "one that leads nowhere");
	scene__free(&w.s);
}

TEST(odd)
{
	uint64_t imports, at, text, global;
	static char name[XR_TEXT_MAX + 64];
	struct world w;

	world__init(&w, layout_now());
	global = w.s.row.global_env;
	imports = named(&w, w.s.row.base_namespace, "imports:stats");
	check_env(&w, imports, "base", "the imports of a namespace are base's, as topenv() has it");
	check_env(&w, env(&w, named(&w, global, "imports:stats")), ".GlobalEnv",
		  "they are somewhere else");
	check_env(&w, namespace(&w, "imports:"), "base", "a namespace without a name");
	check_env(&w, namespace(&w, "import:stats"), "base", "another name");
	check_env(&w, namespace(&w, "imports"), "base", "a short one");
	check_env(&w, named(&w, global, "package:"), ".GlobalEnv", "a package without one");
	memset(name, 'x', sizeof(name) - 1);
	memcpy(name, "package:", 8);
	check_env(&w, named(&w, global, name), ".GlobalEnv", "a name that is longer than any");

	imports = named(&w, w.s.row.base_namespace, "imports:late");
	for (int i = 1; i < FUNCTION_ENV_ATTRIBS; i++)
		attribute(&w, imports, w.other, w.s.m.nil);
	check_env(&w, env(&w, imports), "late", "the name is the last of the attributes looked at");
	attribute(&w, imports, w.other, w.s.m.nil);
	check_env(&w, env(&w, imports), "base", "and one behind them");

	check_env(&w, named_by(&w, global, image__int(&w.s.m, 1)), ".GlobalEnv",
		  "a name that is a number");
	check_env(&w, named_by(&w, global, image__vector(&w.s.m, R_STRSXP, 0, "", 0)), ".GlobalEnv",
		  "one of no strings");
	text = image__string(&w.s.m, "package:altrep");
	image__put64(&w.s.m, text, R_STRSXP | R_ALTREP_BIT);
	check_env(&w, named_by(&w, global, text), ".GlobalEnv", "one that is kept elsewhere");
	check_env(&w, named_by(&w, global, 0x123), "", "one that cannot be read");
	at = env(&w, global);
	image__put64(&w.s.m, at + 8, 0x123);
	check_env(&w, at, "", "attributes that cannot be");
	check_env(&w, env(&w, 0x123), "", "an enclosure that cannot be");
	check_env(&w, 0x123, "", "an environment that cannot be");
	check_env(&w, 0, "", "none");
	check_env(&w, image__int(&w.s.m, 1), "", "an integer in place of an environment");
	at = env(&w, 0);
	image__put64(&w.s.m, at + 8 * R_CDR, at);
	check_env(&w, at, "", "an environment in itself");
	text = image__cell(&w.s.m, 2, 0, 0, 0);
	image__put64(&w.s.m, at + 8, text);
	image__put64(&w.s.m, text + 8 * R_CDR, text);
	check_env(&w, at, "", "with attributes in a circle");

	call(&w, "eval", image__cell(&w.s.m, R_BUILTINSXP, 0, 0, 0));
	check_functions(&w, "eval=base", "a builtin that has a context as closures have");
	call(&w, "quote", image__cell(&w.s.m, R_SPECIALSXP, 0, 0, 0));
	check_functions(&w, "quote=base eval=base", "and one that does not evaluate");
	call(&w, "f", image__int(&w.s.m, 1));
	call(&w, "g", 0x123);
	check_functions(&w, "g= f= quote=base eval=base",
			"objects that are not functions, and a wild address");
	image__push(&w.s.m, R_CTXT_BUILTIN,
		    image__call(&w.s.m, image__symbol(&w.s.m, ".Call"), 0, 0), 0);
	check_functions(&w, ".Call=base g= f= quote=base eval=base", "a foreign call");
	w.s.row.global_env = w.s.row.base_env = w.s.row.base_namespace = 0;
	w.s.row.sym_name = w.s.row.sym_srcref = 0;
	call(&w, "f", closure(&w, w.stats));
	check_functions(&w, "f= .Call=base g= f= quote=base eval=base",
			"an R that does not tell where they are");
	scene__free(&w.s);
}

TEST(definitions)
{
	static const char *const what[] = {"an object that is not a srcref", "one without a file",
					   "one that cannot be read"};
	uint64_t f, g, context, refs[3];
	struct world w;
	struct run *r;

	world__init(&w, layout_now());
	f = defined(&w, w.stats, 12, 0);
	call(&w, "f", f);
	check_functions(&w, "f=stats@a.R#12", "a function with a srcref");
	g = defined(&w, w.s.row.global_env, 3, FUNCTION_ATTRIBS - 1);
	context = call(&w, "g", g);
	check_functions(&w, "g=.GlobalEnv@a.R#3 f=stats@a.R#12", "a method has others before it");
	attribute(&w, g, w.other, w.s.m.nil);
	check_functions(&w, "g=.GlobalEnv f=stats@a.R#12", "one more than is looked at");

	/* the place of the call is another thing */
	w.s.row.flags |= XR_ROW_LINES | XR_ROW_BC;
	image__put64(&w.s.m, context + w.s.m.layout.srcref, srcref(&w.s, w.a_r, 40));
	call(&w, "f", f);
	check_functions(&w, "f=stats@a.R#12 g=.GlobalEnv f=stats@a.R#12", "with lines");
	r = run__new(&w.s);
	run__walk(r);
	tap__ok(r->nslots == 9 && r->slots[4].more == 40 && !r->slots[1].word,
		"a frame is three slots, the second is from where it was called");
	tap__ok(r->nplaces == 2, "a place and its srcfile are sent once");
	free(r);
	scene__free(&w.s);

	world__init(&w, layout_now());
	refs[0] = image__string(&w.s.m, "x");
	refs[1] = image__int(&w.s.m, 3);
	refs[2] = 0x123;
	for (int i = 0; i < 3; i++) {
		f = closure(&w, w.stats);
		attribute(&w, f, w.s.row.sym_srcref, refs[i]);
		context = image__get64(&w.s.m, w.s.m.head_at);
		call(&w, "h", f);
		check_functions(&w, "h=stats", what[i]);
		image__put64(&w.s.m, w.s.m.head_at, context);
	}
	scene__free(&w.s);
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
	struct world w;

	world__init(&w, layout_now());
	call(&w, "f", defined(&w, env(&w, named(&w, w.s.row.global_env, "package:x")), 7, 0));
	call(&w, "g", defined(&w, env(&w, w.stats), 5, 0));
	check_functions(&w, right, "what is to be damaged");
	/* the first time none fails */
	for (uint64_t n = 0; n <= reads; n++) {
		int result, found = 0;
		struct run *r = run__failing(&w.s, n, &result);
		const char *got;
		char wanted[128];

		reads = n ? reads : w.s.m.reads;
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
		ok = ok && run__walk(r) == WALK_DONE && !strcmp(run__functions(r), right);
		free(r);
	}
	tap__ok(ok && less > 20 && errors < 16,
		"each of %d reads fails in turn: %d times the sample, %d times a function is not "
		"known",
		(int)reads, (int)errors, (int)less);
	scene__free(&w.s);
}

/* What is remembered: within a walk, and as long as the number of collections stays the same. */
TEST(memory)
{
	uint64_t count_at, reads, first, again;
	struct world w;
	struct run *r;

	world__init(&w, layout_now());
	count_at = image__alloc(&w.s.m, 8);
	for (int i = 0; i < 20; i++)
		call(&w, "f", closure(&w, env(&w, w.stats)));
	r = run__new(&w.s);
	run__walk(r);
	first = w.s.m.reads;
	/* 20 times a context, a call, its function and its name, the closure and its environment */
	tap__ok(first < 20 * 7 + 20, "the namespace is looked at once: %d reads", (int)first);
	r->walk.row.gc_count_at = count_at;
	r->walk.steady = 1;
	run__walk(r);
	reads = w.s.m.reads;
	run__walk(r);
	again = w.s.m.reads - reads;
	tap__ok(again + 38 <= first, "the next walk reads no closure and no environment: %d reads",
		(int)again);
	image__put32(&w.s.m, count_at, 1);
	reads = w.s.m.reads;
	run__walk(r);
	tap__ok(w.s.m.reads - reads >= first, "after a collection it does");
	free(r);
	scene__free(&w.s);
}

/* A closure of an imports environment belongs to base. A closure of a namespace belongs to the
 * package that its imports name. */
TEST(imports)
{
	struct world w;
	uint64_t own, inner;

	for (int order = 0; order < 2; order++) {
		world__init(&w, layout_now());
		own = image__get64(&w.s.m, w.stats + 8 * R_CDR);
		inner = env(&w, w.stats);
		call(&w, "f", closure(&w, order ? own : inner));
		call(&w, "g", closure(&w, order ? inner : own));
		check_functions(&w, order ? "g=stats f=base" : "g=base f=stats",
				order ? "imports after a namespace" : "imports before a namespace");
		scene__free(&w.s);
	}
}

/* A chain that costs more than a sample may. */
TEST(budget)
{
	struct world w;
	struct run *r;
	int result;

	world__init(&w, layout_now());
	for (int i = 0; i < 20; i++)
		call(&w, "f", closure(&w, deep(&w, w.stats, FUNCTION_CHAIN - 4)));
	r = run__new(&w.s);
	r->walk.budget.work_max = 600;
	result = run__walk(r);
	tap__ok(result == WALK_CUT && r->walk.budget.over && r->walk.frames > 4 &&
			r->walk.frames < 12 && r->nslots == 2 * r->walk.frames &&
			r->walk.budget.work < 600 + WALK_LOOK + 64,
		"a walk is cut between environments: %u frames, %u of work", r->walk.frames,
		r->walk.budget.work);
	free(r);
	scene__free(&w.s);
}

TEST(envs)
{
	test_envs(layout_now());
	test_envs(layouts__find(LAYOUTS_X86_64_LINUX, LAYOUTS_VERSION(3, 4, 0)));
}
