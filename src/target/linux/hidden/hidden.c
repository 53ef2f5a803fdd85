/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/hidden/hidden.h"

#include <errno.h>
#include <string.h>

#include "target/linux/hidden/hidden_parts.h"

#define HOW_SYMBOL  "symbol table"
#define HOW_DEBUG   "debug file"
#define HOW_CONTEXT "code of Rf_begincontext"
#define HOW_RUNNING "code of R_gc_running"
#define HOW_ALTREP  "code of ALTSTRING_ELT"
#define HOW_ALTVEC  "code of ALTVEC_DATAPTR"

void seen__add(struct derive_seen *seen, const struct flow_value *value)
{
	if (seen->n == SEEN_NONE) {
		seen->value = *value;
		seen->n = SEEN_ONE;
	} else if (!flow__same(&seen->value, value)) {
		seen->n = SEEN_MANY;
	}
}

static bool seen__variable(const struct derive_seen *seen, uint64_t at)
{
	return seen->n == SEEN_ONE && seen->value.kind == CODE_VAR && seen->value.at == at;
}

uint64_t hidden__exported(struct elf_image *file, const char *name, int type, uint64_t *size)
{
	struct elf_symbol symbol;

	if (size)
		*size = 0;
	if (!elf_image__symbol(file, SHT_DYNSYM, name, type, &symbol) &&
	    !elf_image__symbol(file, SHT_SYMTAB, name, type, &symbol))
		return 0;
	if (size)
		*size = symbol.size;
	return symbol.value;
}

bool hidden__is_variable(const struct elf_image *file, const struct flow_value *value,
			 unsigned int size)
{
	return value->kind == CODE_VAR && value->size == size && !(value->at % size) &&
	       elf_image__writable(file, value->at, size);
}

/*
 * Rf_begincontext. `at[]` are places in the context: what is stored there, whichever way.
 */
enum { AT_NEXT, AT_BODY, AT_PC, AT_COUNT };

struct context_watch {
	struct flow_watch watch;
	uint64_t offset[AT_COUNT];
	struct derive_seen at[AT_COUNT];
	uint64_t srcref_at;	   /* &R_Srcref */
	struct derive_seen srcref; /* where it is stored */
};

static void context__store(struct flow_watch *watch, const struct flow_value *to, unsigned int size,
			   const struct flow_value *value)
{
	struct context_watch *c = (struct context_watch *)watch;

	if (to->kind != CODE_ARG || to->by)
		return;
	for (int i = 0; i < AT_COUNT; i++) {
		if (to->at >= c->offset[i] + 8 || to->at + size <= c->offset[i])
			continue;
		if (to->at == c->offset[i] && size == 8)
			seen__add(&c->at[i], value);
		else
			c->at[i].n = SEEN_MANY;
	}
	if (value->kind == CODE_VAR && value->at == c->srcref_at && size == 8)
		seen__add(&c->srcref, to);
}

static int hidden__lines(struct elf_image *file, uint16_t bcbody, uint16_t bcpc, struct hidden *out)
{
	struct context_watch c = {
		.watch.store = context__store,
		.offset = {0, bcbody, bcpc},
	};
	uint64_t size, begin = hidden__exported(file, "Rf_begincontext", STT_FUNC, &size);
	uint64_t head = hidden__exported(file, "R_GlobalContext", STT_OBJECT, NULL);
	const struct flow_value *body = &c.at[AT_BODY].value, *pc = &c.at[AT_PC].value;
	int err;

	c.srcref_at = hidden__exported(file, "R_Srcref", STT_OBJECT, NULL);
	if (!begin || !head || !c.srcref_at || bcbody < 16 || bcpc != bcbody + 8)
		return 0;
	err = flow__run(file, begin, size ? size : CODE_LIMIT, &c.watch);
	if (err)
		return err == -ENOENT ? 0 : err;
	if (!seen__variable(&c.at[AT_NEXT], head))
		return 0;
	if (c.srcref.n != SEEN_ONE || c.srcref.value.at <= bcpc ||
	    c.srcref.value.at > bcpc + 128u || c.srcref.value.at % 8)
		return 0;
	out->srcref = (uint16_t)c.srcref.value.at;
	if (out->bc_body && out->bc_pc) /* from symbols */
		return 0;
	if (c.at[AT_BODY].n != SEEN_ONE || c.at[AT_PC].n != SEEN_ONE ||
	    !hidden__is_variable(file, body, 8) || !hidden__is_variable(file, pc, 8) ||
	    body->at == pc->at || body->at == c.srcref_at || pc->at == c.srcref_at)
		return 0;
	out->bc_body = body->at;
	out->bc_pc = pc->at;
	out->how_lines = HOW_CONTEXT;
	return 0;
}

/* A function that returns the flag, or calls error() with a known text when the flag is set. */
struct flag_watch {
	struct flow_watch watch;
	const char *text;
	bool spoken; /* the text was an argument of some call */
	struct derive_seen flag;
	uint64_t first_call;
};

static void flag__end(struct flow_watch *watch, const struct flow_value *result)
{
	seen__add(&((struct flag_watch *)watch)->flag, result);
}

static void flag__call(struct flow_watch *watch, struct flow_run *run, uint64_t target)
{
	struct flag_watch *f = (struct flag_watch *)watch;

	if (!f->first_call)
		f->first_call = target;
	for (unsigned int i = 0; f->text && i < CODE_ARGS; i++) {
		const struct flow_value *arg = &run->state.reg[run->arch->arg[i]];

		if (arg->kind != CODE_CONST || !elf_image__string(run->file, arg->at, f->text))
			continue;
		f->spoken = true;
		seen__add(&f->flag, &run->state.nonzero);
	}
}

/* The flag as function @name shows it. @text: see struct flag_watch; NULL: by its return value */
static int hidden__flag(struct elf_image *file, const char *name, const char *text,
			struct flow_value *flag)
{
	struct flag_watch f = {.text = text};
	uint64_t size, begin = hidden__exported(file, name, STT_FUNC, &size);
	int err;

	memset(flag, 0, sizeof(*flag));
	if (!begin)
		return 0;
	if (text)
		f.watch.call = flag__call;
	else
		f.watch.end = flag__end;
	err = flow__run(file, begin, size && size < CODE_LIMIT ? size : CODE_LIMIT, &f.watch);
	if (err)
		return err == -ENOENT ? 0 : err;
	if (f.flag.n == SEEN_ONE && (hidden__is_variable(file, &f.flag.value, 4) ||
				     hidden__is_variable(file, &f.flag.value, 1)))
		*flag = f.flag.value;
	return 0;
}

static int hidden__gc(struct elf_image *file, struct hidden *out)
{
	static const struct {
		const char *name, *text, *how;
	} way[] = {
		{"R_gc_running", NULL, HOW_RUNNING},
		{"ALTSTRING_ELT", "cannot get ALTSTRING_ELT during GC", HOW_ALTREP},
		{"ALTVEC_DATAPTR", "cannot get ALTVEC DATAPTR during GC", HOW_ALTVEC},
	};
	struct flow_value flag, found = {0};
	const char *how = NULL;

	for (unsigned int i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		int err = hidden__flag(file, way[i].name, way[i].text, &flag);

		if (err)
			return err;
		if (!flag.kind)
			continue;
		if (how && !flow__same(&flag, &found))
			return 0; /* they contradict each other: believe neither */
		if (!how)
			how = way[i].how;
		found = flag;
	}
	if (how) {
		out->gc_running = found.at;
		out->gc_size = found.size;
		out->how_gc = how;
	}
	return 0;
}

/* The collector: its message, and the number that it prints. */
struct collector_watch {
	struct flow_watch watch;
	bool spoken;
	struct derive_seen count;
};

static void collector__call(struct flow_watch *watch, struct flow_run *run, uint64_t target)
{
	struct collector_watch *c = (struct collector_watch *)watch;
	const struct flow_value *number = &run->state.reg[run->arch->arg[1]];

	(void)target;
	for (unsigned int i = 0; i < CODE_ARGS; i++) {
		const struct flow_value *arg = &run->state.reg[run->arch->arg[i]];

		if (arg->kind != CODE_CONST)
			continue;
		if (elf_image__string(run->file, arg->at, "*** recursive gc invocation\n"))
			c->spoken = true;
		if (!i && elf_image__string(run->file, arg->at, "Garbage collection %d = %d"))
			seen__add(&c->count, number);
	}
}

/* The collector: what R_gc calls first, if it has the collector's message. */
static int hidden__collector(struct elf_image *file, struct hidden *out)
{
	struct flag_watch gc = {.watch.call = flag__call};
	struct collector_watch internal = {.watch.call = collector__call};
	uint64_t size, end, begin = hidden__exported(file, "R_gc", STT_FUNC, &size);
	int err;

	if (!begin)
		return 0;
	err = flow__run(file, begin, size && size < CODE_LIMIT ? size : CODE_LIMIT, &gc.watch);
	if (err)
		return err == -ENOENT ? 0 : err;
	end = gc.first_call ? elf_image__extent(file, gc.first_call) : 0;
	if (end <= gc.first_call || end - gc.first_call > CODE_SIZE_MAX)
		return 0;
	err = flow__run(file, gc.first_call, end - gc.first_call, &internal.watch);
	if (err)
		return err == -ENOENT ? 0 : err;
	if (internal.spoken) {
		out->gc_begin = gc.first_call;
		out->gc_end = end;
		if (!out->gc_count && internal.count.n == SEEN_ONE &&
		    hidden__is_variable(file, &internal.count.value, 4))
			out->gc_count = internal.count.value.at;
	}
	return 0;
}

/* What .symtab of @file says, in place of what @out has from code. */
static void hidden__symbols(struct elf_image *file, const char *how, struct hidden *out)
{
	struct elf_symbol body, pc, flag, gc, count;

	if (elf_image__symbol(file, SHT_SYMTAB, "R_BCbody", STT_OBJECT, &body) && body.size == 8 &&
	    elf_image__symbol(file, SHT_SYMTAB, "R_BCpc", STT_OBJECT, &pc) && pc.size == 8 &&
	    elf_image__writable(file, body.value, 8) && elf_image__writable(file, pc.value, 8)) {
		out->bc_body = body.value;
		out->bc_pc = pc.value;
		out->how_lines = how;
	}
	if (elf_image__symbol(file, SHT_SYMTAB, "R_in_gc", STT_OBJECT, &flag) &&
	    (flag.size == 4 || flag.size == 1) &&
	    elf_image__writable(file, flag.value, flag.size)) {
		out->gc_running = flag.value;
		out->gc_size = (uint8_t)flag.size;
		out->how_gc = how;
	}
	if (elf_image__symbol(file, SHT_SYMTAB, "gc_count", STT_OBJECT, &count) &&
	    count.size == 4 && elf_image__writable(file, count.value, 4))
		out->gc_count = count.value;
	if (!out->gc_begin && elf_image__symbol(file, SHT_SYMTAB, "R_gc_internal", STT_FUNC, &gc) &&
	    gc.size && gc.value + gc.size > gc.value) {
		out->gc_begin = gc.value;
		out->gc_end = gc.value + gc.size;
	}
	counters__by_symbols(file, how, out);
}

int hidden__run(Elf *elf, uint16_t bcbody, uint16_t bcpc, struct hidden *out)
{
	struct elf_image file;
	int err;

	memset(out, 0, sizeof(*out));
	err = elf_image__open(&file, elf);
	if (err)
		return err;
	hidden__symbols(&file, HOW_SYMBOL, out);
	if (bcbody)
		err = hidden__lines(&file, bcbody, bcpc, out);
	if (!err && !out->gc_running)
		err = hidden__gc(&file, out);
	if (!err && (!out->gc_begin || !out->gc_count))
		err = hidden__collector(&file, out);
	if (!err)
		err = counters__by_code(&file, out);
	if (err)
		memset(out, 0, sizeof(*out));
	return err;
}

int hidden__from_debug(Elf *debug, struct hidden *out)
{
	struct elf_image file;
	int err = elf_image__open(&file, debug);

	if (!err)
		hidden__symbols(&file, HOW_DEBUG, out);
	return err;
}
