/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code and values read from memory that is made up: some that is right, and a lot that is not.
 * (live:dump_values compares with R itself.)
 */
#include <string.h>

#include "sexp.h"
#include "tap.h"
#include "values/calls.h"
#include "values/deparse.h"
#include "values/globals.h"
#include "values/locals.h"
#include "values/request.h"

#define BASE  0x100000ull
#define WORDS 4096u
#define READS 3000u

static uint64_t memory[WORDS];
static size_t used; /* words */

static int memory__read(void *arg, uint64_t addr, void *to, size_t len)
{
	if (addr < BASE || addr - BASE > sizeof(memory) || len > sizeof(memory) - (addr - BASE))
		return -EFAULT;
	memcpy(to, (char *)memory + (addr - BASE), len);
	return 0;
}

static const struct mem_reader reader = {.read = memory__read};
static struct xr_row row = {
	.nil = BASE,
	.layout = {.vector_data = 48,
		   .has_altrep = 1,
		   .read_plain = 64,
		   .call = 16,
		   .cloenv = 24,
		   .nextcontext = 0,
		   .callflag = 8},
};

static uint64_t object(uint64_t header, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t words[] = {header, row.nil, 0, 0, a, b, c};
	const uint64_t at = BASE + used * 8;

	memcpy(memory + used, words, sizeof(words));
	used += 7;
	return at;
}

static uint64_t chars(const char *text)
{
	const uint64_t at = object(HEAP_CHAR | 64u << 8, strlen(text), 0, 0);

	used--; /* its third word is the first of the text */
	memset(memory + used, 0, strlen(text) + 8);
	memcpy(memory + used, text, strlen(text));
	used += strlen(text) / 8 + 1;
	return at;
}

static uint64_t symbol(const char *name)
{
	return object(HEAP_SYMBOL, chars(name), row.nil, row.nil);
}

static uint64_t vector(unsigned int type, const void *data, size_t n, size_t size)
{
	const uint64_t at = object(type, n, 0, 0);

	used--;
	memcpy(memory + used, data, n * size);
	used += n * size / 8 + 1;
	return at;
}

static uint64_t cell(uint64_t type, uint64_t car, uint64_t cdr, uint64_t tag)
{
	return object(type, car, cdr, tag);
}

static void memory__begin(void)
{
	memset(memory, 0, sizeof(memory));
	used = 7; /* R_NilValue */
	memory[1] = memory[4] = memory[5] = memory[6] = BASE;
}

static void is_code(uint64_t at, size_t max, const char *want)
{
	struct buf b = {0};
	struct heap h;

	heap__init(&h, &reader, &row, READS);
	tap__ok(deparse__call(&h, at, &b, max) >= 0 && b.len == strlen(want) &&
			!memcmp(b.data, want, b.len),
		"%s", want);
	buf__free(&b);
}

TEST(code)
{
	const double real[] = {0.1, 100000, 1e-10, 123456};
	const int integer[] = {5};
	uint64_t x, args, call;

	memory__begin();
	x = symbol("x");
	args = cell(HEAP_PAIRLIST, vector(HEAP_INTEGER, integer, 1, 4), row.nil,
		    symbol("odd name"));
	args = cell(HEAP_PAIRLIST, vector(HEAP_REAL, real, 4, 8), args, row.nil);
	call = cell(HEAP_CALL, symbol("f"), args, row.nil);
	is_code(call, 500, "f(c(0.1, 1e+05, 1e-10, 123456), `odd name` = 5L)");
	is_code(call, 10, "f(c(0.1, 1...");
	args = cell(HEAP_PAIRLIST, call, cell(HEAP_PAIRLIST, x, row.nil, row.nil), row.nil);
	is_code(cell(HEAP_CALL, symbol("%in%"), args, row.nil), 500,
		"f(c(0.1, 1e+05, 1e-10, 123456), `odd name` = 5L) %in% x");
	is_code(BASE + 3, 500, "<?>");
	memory[(args - BASE) / 8 + 5] = args; /* a list that has no end */
	is_code(cell(HEAP_CALL, symbol("g"), args, row.nil), 20, "g(f(c(0.1, 1e+05, 1e...");
}

TEST(locals)
{
	const int numbers[] = {1, 0, HEAP_NA_INTEGER};
	uint64_t frame, env, chains[3];
	struct locals l;
	struct heap h;

	memory__begin();
	frame = cell(HEAP_PAIRLIST, vector(HEAP_LOGICAL, numbers, 3, 4), row.nil, symbol("b"));
	frame = cell(HEAP_PAIRLIST | 1u << 23, symbol("fun"), frame, symbol("active"));
	frame = cell(HEAP_PAIRLIST | (uint64_t)HEAP_INTEGER << 48, 7, frame, symbol("scalar"));
	frame = cell(HEAP_PAIRLIST,
		     cell(HEAP_PROMISE, cell(HEAP_SYMBOL, row.nil, 0, 0), symbol("y"), 0), frame,
		     symbol("a"));
	env = object(HEAP_ENVIRONMENT, frame, row.nil, row.nil);
	heap__init(&h, &reader, &row, READS);
	tap__bail_if(locals__read(&h, env, 100, 100, &l), "out of memory");
	tap__ok(l.n == 4 && !l.more && !l.damaged, "four variables");
	tap__ok(!strcmp(l.list[0].name, "a") && !strcmp(l.list[0].value, "<promise: y>"),
		"a promise is its expression");
	tap__ok(!strcmp(l.list[1].value, "<active binding>"), "an active binding is named as such");
	tap__ok(!strcmp(l.list[2].value, "logi [1:3] TRUE FALSE NA") && l.list[2].kind.length == 3,
		"a vector: %s", l.list[2].value);
	tap__ok(!strcmp(l.list[3].value, "int 7"), "a scalar in the binding: %s", l.list[3].value);
	locals__free(&l);
	heap__init(&h, &reader, &row, READS);
	tap__bail_if(locals__read(&h, env, 2, 100, &l), "out of memory");
	tap__ok(l.n == 2 && l.more, "no more than were asked for");
	locals__free(&l);

	for (int i = 0; i < 3; i++)
		chains[i] = cell(HEAP_PAIRLIST, row.nil, row.nil, symbol((char[]){'h' + i, 0}));
	env = object(HEAP_ENVIRONMENT, row.nil, row.nil, vector(HEAP_LIST, chains, 3, 8));
	heap__init(&h, &reader, &row, READS);
	tap__bail_if(locals__read(&h, env, 100, 100, &l), "out of memory");
	tap__ok(l.n == 3 && !strcmp(l.list[0].name, "h") && !strcmp(l.list[2].name, "j"),
		"of a hash table all chains: %zu", l.n);
	locals__free(&l);
}

static uint64_t string(const char *text)
{
	const uint64_t at = chars(text);

	return vector(HEAP_STRING, &at, 1, 8);
}

static void is_request(uint64_t env, int wanted, const char *line, const char *name)
{
	struct buf b = {0};
	struct heap h;
	int err;

	heap__init(&h, &reader, &row, REQUEST_READS);
	err = request__read(&h, env, &b);
	tap__ok(err == wanted && b.len == strlen(line) &&
			!memcmp(b.data ? b.data : "", line, b.len),
		"%s", name);
	buf__free(&b);
}

/* A call's environment with the argument `req`, whose value is @value. */
static uint64_t call_with(uint64_t value)
{
	uint64_t promise = cell(HEAP_PROMISE, value, symbol("req"), row.nil);

	return object(HEAP_ENVIRONMENT, cell(HEAP_PAIRLIST, promise, row.nil, symbol("req")),
		      row.nil, row.nil);
}

TEST(request)
{
	char path[2 * REQUEST_MAX];
	uint64_t chains[4], table, env;

	memory__begin();
	for (int i = 0; i < 4; i++)
		chains[i] = row.nil;
	chains[1] = cell(HEAP_PAIRLIST, string("GET"), row.nil, symbol("REQUEST_METHOD"));
	chains[1] = cell(HEAP_PAIRLIST, string("?token=1"), chains[1], symbol("QUERY_STRING"));
	chains[3] = cell(HEAP_PAIRLIST, string("/slow"), row.nil, symbol("PATH_INFO"));
	table = vector(HEAP_LIST, chains, 4, 8);
	env = object(HEAP_ENVIRONMENT, row.nil, row.nil, table);
	is_request(call_with(env), 0, "GET /slow", "a request, without its query");
	is_request(call_with(cell(HEAP_SYMBOL, row.nil, 0, 0)), -ENOENT, "",
		   "an argument that was not evaluated");
	is_request(call_with(string("GET /")), -ENOENT, "", "an argument of another type");
	is_request(env, -ENOENT, "", "a call without such an argument");
	is_request(BASE + 3, -ENOENT, "", "no call");
	chains[3] = row.nil;
	is_request(call_with(object(HEAP_ENVIRONMENT, row.nil, row.nil,
				    vector(HEAP_LIST, chains, 4, 8))),
		   -ENOENT, "", "half a request");
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	chains[3] = cell(HEAP_PAIRLIST, string(path), row.nil, symbol("PATH_INFO"));
	path[REQUEST_MAX] = '\0';
	memcpy(path, "GET ", 4);
	is_request(call_with(object(HEAP_ENVIRONMENT, row.nil, row.nil,
				    vector(HEAP_LIST, chains, 4, 8))),
		   0, path, "a long path is cut");
}

/* In Latin-1 a class of ALTREP has as many characters as in UTF-8, and twice as many bytes. */
TEST(alt_class)
{
	const char text[] = "int <ALTREP ééééééééééééééé>";
	char name[32] = "";
	struct buf b = {0};
	uint64_t names, class;
	struct heap h;

	memory__begin();
	memset(name, 0xe9, 31);
	class = chars(name);
	memory[(class - BASE) / 8] = HEAP_CHAR | 4u << 8; /* LATIN1_MASK */
	names = cell(HEAP_PAIRLIST, object(HEAP_SYMBOL, class, row.nil, row.nil), row.nil, row.nil);
	class = object(HEAP_RAW, 0, 0, 0);
	memory[(class - BASE) / 8 + 1] = names; /* its attributes */
	heap__init(&h, &reader, &row, READS);
	value__describe(&h, object(HEAP_INTEGER | R_ALTREP_BIT, row.nil, row.nil, class), &b, 100,
			NULL);
	tap__ok(b.len == strlen(text) && !memcmp(b.data, text, b.len), "%.*s", (int)b.len, b.data);
	buf__free(&b);
}

/* Numbers of which only the first two are there: what was read of the others is not shown. */
TEST(half_a_vector)
{
	const double real[] = {1.5, 2};
	struct buf b = {0};
	struct heap h;
	uint64_t at;

	memory__begin();
	used = WORDS - 8;
	at = vector(HEAP_REAL, real, 2, 8);
	memory[WORDS - 4] = 10;
	heap__init(&h, &reader, &row, READS);
	tap__bail_if(value__describe(&h, at, &b, 100, NULL), "out of memory");
	tap__ok(b.len == 20 && !memcmp(b.data, "num [1:10] 1.5 2 <?>", 20), "%.*s", (int)b.len,
		b.data);
	buf__free(&b);
}

static uint64_t now__none(void)
{
	return 0;
}

static const struct globals_limits limits = {.objects = 10000, .ns = 1, .now = now__none};

TEST(globals)
{
	const double real[] = {0.1, 2, 3};
	uint64_t numbers, list, env, two[2];
	struct globals g;

	memory__begin();
	numbers = vector(HEAP_REAL, real, 3, 8);
	two[0] = two[1] = numbers; /* one object, held twice */
	list = vector(HEAP_LIST, two, 2, 8);
	env = object(HEAP_ENVIRONMENT, row.nil, row.nil, row.nil);
	memory[(env - BASE) / 8 + 4] = cell(
		HEAP_PAIRLIST, list, cell(HEAP_PAIRLIST, env, row.nil, symbol("me")), symbol("l"));
	row.global_env = env;
	tap__bail_if(globals__find(&reader, &row, 0, &limits, &g), "out of memory");
	tap__ok(g.objects == 4 && !g.unreadable && g.bytes == 2 * 56 + (48 + 16) + (48 + 32),
		"each object once, in a circle: %d objects, %d bytes", (int)g.objects,
		(int)g.bytes);
	tap__ok(g.n == 1 && !strcmp(g.rows[0].path, "*"), "what is small is one row");
	globals__free(&g);
	memory[(numbers - BASE) / 8 + 4] = 1ull << 40; /* a length that cannot be right */
	memory[(list - BASE) / 8 + 7] = BASE + 3;      /* an element that is not an object */
	tap__bail_if(globals__find(&reader, &row, 0, &limits, &g), "out of memory");
	tap__ok(g.unreadable == 2 && g.bytes < 400, "what cannot be right is counted as such");
	globals__free(&g);
	tap__bail_if(globals__find(
			     &reader, &row, 0,
			     &(struct globals_limits){.objects = 2, .ns = 1, .now = now__none}, &g),
		     "out of memory");
	tap__ok(g.stopped && g.objects <= 2, "no more objects than were allowed");
	globals__free(&g);
}

static uint32_t random_next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	return *state ^= *state << 5;
}

/* Words that are likely to be taken for something: types, addresses, lengths. */
static void memory__scramble(uint32_t *state)
{
	for (size_t i = 7; i < WORDS; i++) {
		const uint32_t r = random_next(state), s = random_next(state);

		switch (r % 4) {
		case 0:
			memory[i] = s & 0x1fff; /* a header, or a small number */
			break;
		case 1:
			memory[i] = (uint64_t)s << 32 | random_next(state);
			break;
		default:
			memory[i] = BASE + s % WORDS * 8;
		}
	}
}

/* The call that is read first ends: the next read finds other words where its context was. */
static unsigned int reads;
static uint64_t *changing;

static int memory__changes(void *arg, uint64_t addr, void *to, size_t len)
{
	*changing = ++reads % 8 < 4 ? 1 : BASE + 8 * 8;
	return memory__read(arg, addr, to, len);
}

TEST(calls_change)
{
	const struct mem_reader changes = {.read = memory__changes};
	struct calls c;

	memset(memory, 0, 24 * 8);
	for (size_t i = 0; i < 3; i++) {
		memory[i * 8] = i < 2 ? BASE + (i + 1) * 64 : 0;
		memory[i * 8 + 1] = R_CTXT_FUNCTION;
	}
	memory[24] = BASE;
	row.head_at = BASE + 24 * 8;
	changing = &memory[0];
	tap__bail_if(calls__read(&changes, &row, 1000, &c), "no calls");
	tap__ok(c.whole && c.n == 3, "calls that change while they are read are read again: %zu",
		c.n);
	calls__free(&c);
	*changing = 1;
	tap__bail_if(calls__read(&reader, &row, 1000, &c), "no calls");
	tap__ok(!c.whole && c.n == 1, "if they always do, those that were read are there: %zu",
		c.n);
	calls__free(&c);
}

/* Whatever lies there: what is read, and what comes out, has its limit. */
TEST(hostile)
{
	uint32_t state = 20261127;
	unsigned int over = 0;
	struct buf b = {0};
	struct calls c;
	struct globals g;
	struct locals l;
	struct heap h;

	for (unsigned int i = 0; i < 3000; i++) {
		const uint64_t at = BASE + random_next(&state) % WORDS * 8;

		if (i % 10 == 0)
			memory__scramble(&state);
		heap__init(&h, &reader, &row, READS);
		b.len = 0;
		deparse__call(&h, at, &b, 200);
		over += b.len > 203;
		b.len = 0;
		value__describe(&h, at, &b, 100, NULL);
		over += b.len > 103;
		heap__init(&h, &reader, &row, READS);
		locals__read(&h, at, 50, 60, &l);
		over += l.n > 50;
		for (size_t k = 0; k < l.n; k++)
			over += strlen(l.list[k].value) > 63;
		locals__free(&l);
		row.head_at = at;
		calls__read(&reader, &row, 1000, &c);
		over += c.n > 1000;
		calls__free(&c);
		row.global_env = at;
		if (i % 10 == 0 && !globals__find(&reader, &row, BASE, &limits, &g))
			over += g.objects > WORDS;
		if (i % 10 == 0)
			globals__free(&g);
	}
	buf__free(&b);
	tap__ok(!over, "limits hold in memory of any content (%u of 3000 did not)", over);
}
