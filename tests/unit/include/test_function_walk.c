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
	uint64_t old;

	memcpy(&old, image__at(&w->s.m, at + 8, 8), 8);
	image__put64(&w->s.m, at + 8, image__cell(&w->s.m, 2, value, old, tag));
}

/* An environment with a name. */
static uint64_t named(struct world *w, uint64_t enclos, const char *name)
{
	uint64_t at = env(w, enclos);

	attribute(w, at, w->name, image__string(&w->s.m, name));
	return at;
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

static void out__name(const struct run *r, uint64_t package, char *out, size_t size)
{
	size_t len = strlen(out);

	if (package == XR_PACKAGE_BASE || package == XR_PACKAGE_GLOBAL)
		snprintf(out + len, size - len, "%s",
			 package == XR_PACKAGE_BASE ? "base" : ".GlobalEnv");
	else if (package)
		snprintf(out + len, size - len, "%s", run__name(r, package));
}

/* "f=package@file#line" for each frame, innermost first; what is not known is missing. */
static void run__functions(const struct run *r, char *out, size_t size)
{
	const struct walk_image *b = &r->base;
	uint32_t step = b->walk.row.flags & XR_ROW_LINES ? 3 : 2;

	out[0] = '\0';
	for (uint32_t i = 0; i + step <= b->nslots; i += step) {
		const struct xr_slot *function = &b->slots[i + step - 1];
		size_t len = strlen(out);

		snprintf(out + len, size - len, "%s%s=", len ? " " : "",
			 run__name(r, b->slots[i].word & XR_WORD_MASK));
		out__name(r, function->word, out, size);
		for (uint32_t p = 0; p < b->nplaces && function->more; p++) {
			len = strlen(out);
			if (b->places[p].id == function->more)
				snprintf(out + len, size - len, "@%s#%d",
					 run__name(r, b->places[p].file),
					 (int32_t)b->places[p].line);
		}
	}
}

/* What the walk says of the stack of @w, twice: what is remembered must not stay. */
static void check_functions(struct world *w, const char *wanted, const char *what)
{
	struct run *r = run__new(&w->s.m);
	char got[512];
	int result;

	r->base.walk.row = w->s.row;
	for (int i = 0; i < 2; i++) {
		result = run__walk(r);
		run__functions(r, got, sizeof(got));
		if (result != WALK_DONE || strcmp(got, wanted))
			break;
	}
	if (!tap__ok(result == WALK_DONE && !strcmp(got, wanted), "%s", what))
		tap__diag("result %d, got <%s>", result, got);
	free(r);
}

/* One call, of a function in environment @in. */
static void check_env(struct world *w, uint64_t in, const char *package, const char *what)
{
	uint64_t head;
	char wanted[64];

	memcpy(&head, image__at(&w->s.m, w->s.m.head_at, 8), 8);
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
	struct world w;

	world__init(&w, layout);
	row = &w.s.row;
	check_env(&w, row->global_env, ".GlobalEnv", "the global environment");
	check_env(&w, row->base_env, "base", "the base environment");
	check_env(&w, row->base_namespace, "base", "the base namespace");
	check_env(&w, w.stats, "stats", "a namespace");
	check_env(&w, env(&w, w.stats), "stats", "made by a function of a namespace");
	check_env(&w, env(&w, row->global_env), ".GlobalEnv", "made by a function of the user's");
	check_env(&w, deep(&w, w.stats, FUNCTION_CHAIN - 2), "stats", "as deep as is looked");
	check_env(&w, deep(&w, w.stats, FUNCTION_CHAIN), "", "deeper than is looked");
	check_env(&w, deep(&w, row->global_env, 30), ".GlobalEnv", "thirty environments");
	check_env(&w, named(&w, row->global_env, "package:datasets"), "package:datasets",
		  "the environment of an attached package");
	check_env(&w, named(&w, row->global_env, "mine"), ".GlobalEnv",
		  "an environment with a name");
	check_env(&w, named(&w, named(&w, row->base_env, "package:stats"), "mine"), "package:stats",
		  "and an attached one");
	check_env(&w, env(&w, w.s.m.nil), "", "one that leads nowhere");
	scene__free(&w.s);
}

TEST(odd)
{
	uint64_t imports, at, text, long_name, fun;
	static char name[XR_TEXT_MAX + 64];
	const struct xr_row *row;
	struct world w;

	world__init(&w, layout_now());
	row = &w.s.row;
	imports = named(&w, row->base_namespace, "imports:stats");
	check_env(&w, imports, "base", "the imports of a namespace are base's, as topenv() has it");
	check_env(&w, env(&w, named(&w, row->global_env, "imports:stats")), ".GlobalEnv",
		  "they are somewhere else");
	check_env(&w, namespace(&w, "imports:"), "base", "a namespace without a name");
	check_env(&w, namespace(&w, "import:stats"), "base", "another name");
	check_env(&w, namespace(&w, "imports"), "base", "a short one");
	check_env(&w, named(&w, row->global_env, "package:"), ".GlobalEnv",
		  "a package without one");
	memset(name, 'x', sizeof(name) - 1);
	memcpy(name, "package:", 8);
	long_name = named(&w, row->global_env, name);
	check_env(&w, long_name, ".GlobalEnv", "a name that is longer than any");

	imports = env(&w, row->base_namespace);
	attribute(&w, imports, w.name, image__string(&w.s.m, "imports:late"));
	for (int i = 1; i < FUNCTION_ENV_ATTRIBS; i++)
		attribute(&w, imports, w.other, w.s.m.nil);
	check_env(&w, env(&w, imports), "late", "the name is the last of the attributes looked at");
	attribute(&w, imports, w.other, w.s.m.nil);
	check_env(&w, env(&w, imports), "base", "and one behind them");

	at = env(&w, row->global_env);
	attribute(&w, at, w.name, image__int(&w.s.m, 1));
	check_env(&w, at, ".GlobalEnv", "a name that is a number");
	at = env(&w, row->global_env);
	attribute(&w, at, w.name, image__vector(&w.s.m, R_STRSXP, 0, "", 0));
	check_env(&w, at, ".GlobalEnv", "one of no strings");
	at = env(&w, row->global_env);
	text = image__string(&w.s.m, "package:altrep");
	image__put64(&w.s.m, text, R_STRSXP | R_ALTREP_BIT);
	attribute(&w, at, w.name, text);
	check_env(&w, at, ".GlobalEnv", "one that is kept elsewhere");
	at = env(&w, row->global_env);
	attribute(&w, at, w.name, 0x123);
	check_env(&w, at, "", "one that cannot be read");
	at = env(&w, row->global_env);
	image__put64(&w.s.m, at + 8, 0x123);
	check_env(&w, at, "", "attributes that cannot be");
	check_env(&w, env(&w, 0x123), "", "an enclosure that cannot be");
	check_env(&w, 0x123, "", "an environment that cannot be");
	check_env(&w, 0, "", "none");
	check_env(&w, image__int(&w.s.m, 1), "", "what is no environment");
	at = env(&w, 0);
	image__put64(&w.s.m, at + 8 * R_CDR, at);
	check_env(&w, at, "", "an environment in itself");
	image__put64(&w.s.m, at + 8, image__cell(&w.s.m, 2, 0, 0, 0));
	memcpy(&text, image__at(&w.s.m, at + 8, 8), 8);
	image__put64(&w.s.m, text + 8 * R_CDR, text);
	check_env(&w, at, "", "with attributes in a circle");

	call(&w, "eval", image__cell(&w.s.m, R_BUILTINSXP, 0, 0, 0));
	check_functions(&w, "eval=base", "a builtin that has a context as closures have");
	call(&w, "quote", image__cell(&w.s.m, R_SPECIALSXP, 0, 0, 0));
	check_functions(&w, "quote=base eval=base", "and one that does not evaluate");
	call(&w, "f", image__int(&w.s.m, 1));
	call(&w, "g", 0x123);
	check_functions(&w, "g= f= quote=base eval=base",
			"what is no function, and what cannot be");
	fun = image__call(&w.s.m, image__symbol(&w.s.m, ".Call"), 0, 0);
	image__push(&w.s.m, R_CTXT_BUILTIN, fun, 0);
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
	uint64_t f, g, context;
	struct world w;

	world__init(&w, layout_now());
	f = closure(&w, w.stats);
	attribute(&w, f, w.s.row.sym_srcref, srcref(&w.s, w.a_r, 12));
	call(&w, "f", f);
	check_functions(&w, "f=stats@a.R#12", "a function with a srcref");
	g = closure(&w, w.s.row.global_env);
	attribute(&w, g, w.s.row.sym_srcref, srcref(&w.s, w.a_r, 3));
	for (int i = 1; i < FUNCTION_ATTRIBS; i++)
		attribute(&w, g, w.other, w.s.m.nil);
	context = call(&w, "g", g);
	check_functions(&w, "g=.GlobalEnv@a.R#3 f=stats@a.R#12", "a method has others before it");
	attribute(&w, g, w.other, w.s.m.nil);
	check_functions(&w, "g=.GlobalEnv f=stats@a.R#12", "one more than is looked at");

	/* the place of the call is another thing */
	w.s.row.flags |= XR_ROW_LINES | XR_ROW_BC;
	image__put64(&w.s.m, context + w.s.m.layout.srcref, srcref(&w.s, w.a_r, 40));
	call(&w, "f", f);
	check_functions(&w, "f=stats@a.R#12 g=.GlobalEnv f=stats@a.R#12", "with lines");
	{
		struct run *r = run__new(&w.s.m);
		char line[256];

		r->base.walk.row = w.s.row;
		run__walk(r);
		tap__ok(r->base.nslots == 9 && r->base.slots[4].more == 40 &&
				!r->base.slots[1].word,
			"a frame is three slots, the second is from where it was called");
		run__functions(r, line, sizeof(line));
		tap__ok(r->base.nplaces == 2, "a place and its srcfile are told once");
		free(r);
	}
	w.s.row.flags &= ~(uint32_t)XR_ROW_LINES;
	for (int i = 0; i < 3; i++) {
		static const char *const what[] = {"a srcref that is none", "one without a file",
						   "one that cannot be read"};
		const uint64_t refs[] = {image__string(&w.s.m, "x"), image__int(&w.s.m, 3), 0x123};
		uint64_t h = closure(&w, w.stats);

		attribute(&w, h, w.s.row.sym_srcref, refs[i]);
		call(&w, "h", h);
		image__put64(&w.s.m, w.s.m.head_at, call(&w, "h", h));
		check_functions(
			&w,
			(const char *[]){
				"h=stats h=stats f=stats@a.R#12 g=.GlobalEnv f=stats@a.R#12",
				"h=stats h=stats h=stats h=stats f=stats@a.R#12 g=.GlobalEnv "
				"f=stats@a.R#12",
				"h=stats h=stats h=stats h=stats h=stats h=stats f=stats@a.R#12 "
				"g=.GlobalEnv f=stats@a.R#12"}[i],
			what[i]);
	}
	scene__free(&w.s);
}

/* Each read fails in turn: the stack is as long, and what it says of a function is true or nothing.
 */
TEST(faults)
{
	static const char right[] = "g=stats@a.R#5 f=package:x@a.R#7";
	uint64_t f, g, reads, less = 0, errors = 0;
	bool ok = true;
	struct world w;
	struct run *r;
	char got[512];

	world__init(&w, layout_now());
	f = closure(&w, env(&w, named(&w, w.s.row.global_env, "package:x")));
	attribute(&w, f, w.s.row.sym_srcref, srcref(&w.s, w.a_r, 7));
	g = closure(&w, env(&w, w.stats));
	attribute(&w, g, w.s.row.sym_srcref, srcref(&w.s, w.a_r, 5));
	call(&w, "f", f);
	call(&w, "g", g);
	check_functions(&w, right, "what is to be damaged");
	r = run__new(&w.s.m);
	r->base.walk.row = w.s.row;
	w.s.m.reads = 0;
	run__walk(r);
	reads = w.s.m.reads;
	for (uint64_t n = 1; n <= reads; n++) {
		static const char *const gs[] = {"g=stats@a.R#5", "g=stats", "g="};
		static const char *const fs[] = {"f=package:x@a.R#7", "f=package:x", "f="};
		int result, found = 0;
		char wanted[128];

		free(r);
		r = run__new(&w.s.m);
		r->base.walk.row = w.s.row;
		w.s.m.reads = 0;
		w.s.m.fail_at = n;
		result = run__walk(r);
		w.s.m.fail_at = 0;
		run__functions(r, got, sizeof(got));
		for (int i = 0; i < 9; i++) {
			snprintf(wanted, sizeof(wanted), "%s %s", gs[i % 3], fs[i / 3]);
			found += !strcmp(got, wanted);
		}
		errors += result < 0;
		less += result >= 0 && strcmp(got, right) != 0;
		if (result >= 0 && (!found || r->base.walk.lenient)) {
			tap__diag("read %d failed: %s", (int)n, got);
			ok = false;
		}
		result = run__walk(r);
		run__functions(r, got, sizeof(got));
		ok = ok && result == WALK_DONE && !strcmp(got, right);
	}
	tap__ok(ok && less > 20 && errors < 16,
		"each of %d reads fails in turn: %d times the sample, %d times a function is not "
		"known",
		(int)reads, (int)errors, (int)less);
	free(r);
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
	r = run__new(&w.s.m);
	r->base.walk.row = w.s.row;
	run__walk(r);
	first = w.s.m.reads;
	/* 20 times a context, a call, its function and its name, the closure and its environment */
	tap__ok(first < 20 * 7 + 20, "the namespace is looked at once: %d reads", (int)first);
	w.s.row.gc_count_at = count_at;
	r->base.walk.row = w.s.row;
	r->base.walk.steady = 1;
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

/* Imports are base's for a function of their own, and say which package a namespace is of. */
TEST(imports)
{
	struct world w;
	uint64_t own;

	for (int order = 0; order < 2; order++) {
		world__init(&w, layout_now());
		memcpy(&own, image__at(&w.s.m, w.stats + 8 * R_CDR, 8), 8);
		call(&w, "f", closure(&w, order ? own : env(&w, w.stats)));
		call(&w, "g", closure(&w, order ? env(&w, w.stats) : own));
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
	r = run__new(&w.s.m);
	r->base.walk.row = w.s.row;
	r->base.walk.budget.work_max = 600;
	result = run__walk(r);
	tap__ok(result == WALK_CUT && r->base.walk.budget.over && r->base.walk.frames > 4 &&
			r->base.walk.frames < 12 && r->base.nslots == 2 * r->base.walk.frames &&
			r->base.walk.budget.work < 600 + WALK_LOOK + 64,
		"a walk is cut between environments: %u frames, %u of work", r->base.walk.frames,
		r->base.walk.budget.work);
	free(r);
	scene__free(&w.s);
}

TEST(envs)
{
	test_envs(layout_now());
	test_envs(layouts__find(LAYOUTS_X86_64_LINUX, LAYOUTS_VERSION(3, 4, 0)));
}
