/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code and values read from memory that is made up: some that is right, and a lot that is not.
 * (live:dump_values compares with R itself.)
 */
#include "r_image.h"
#include "some.h"
#include "tap.h"
#include "values/calls.h"
#include "values/deparse.h"
#include "values/globals.h"
#include "values/locals.h"
#include "values/request.h"

#define WORDS 4096u /* of memory */
#define READS 3000u

static struct image m;
static struct xr_row row;

static int memory__read(void *arg, uint64_t addr, void *to, size_t len)
{
	return image__read(&m, to, len, addr) ? -EFAULT : 0;
}

static const struct mem_reader reader = {.read = memory__read};

/* For @reads reads from now on. */
static struct heap *heap_of(uint32_t reads)
{
	static struct heap h;

	heap__init(&h, &reader, &row, reads);
	return &h;
}

BEFORE()
{
	image__init_plain(&m, 8 * (size_t)WORDS, 4096);
	row = image__row(&m);
}

/* One whose header has more than its type. */
static uint64_t cell(uint64_t header, uint64_t car, uint64_t cdr, uint64_t tag)
{
	const uint64_t at = image__cell(&m, 0, car, cdr, tag);

	image__put64(&m, at, header);
	return at;
}

static uint64_t environment(uint64_t frame, uint64_t table)
{
	return cell(HEAP_ENVIRONMENT, frame, row.nil, table);
}

/* A list of one, that goes on with @next; @name NULL: it has no name. */
static uint64_t item(uint64_t value, uint64_t next, const char *name)
{
	return cell(HEAP_PAIRLIST, value, next, name ? image__symbol(&m, name) : row.nil);
}

static void is_code(uint64_t at, size_t max, const char *want)
{
	struct buf b = {0};

	tap__ok(deparse__call(heap_of(READS), at, &b, max) >= 0 && b.len == strlen(want) &&
			!memcmp(b.data, want, b.len),
		"%s", want);
	buf__free(&b);
}

TEST(code)
{
	const double real[] = {0.1, 100000, 1e-10, 123456};
	uint64_t args, call;

	args = item(image__int(&m, 5), row.nil, "odd name");
	args = item(image__vector(&m, HEAP_REAL, 4, real, sizeof(real)), args, NULL);
	call = cell(HEAP_CALL, image__symbol(&m, "f"), args, row.nil);
	is_code(call, 500, "f(c(0.1, 1e+05, 1e-10, 123456), `odd name` = 5L)");
	is_code(call, 10, "f(c(0.1, 1...");
	args = item(call, item(image__symbol(&m, "x"), row.nil, NULL), NULL);
	is_code(cell(HEAP_CALL, image__symbol(&m, "%in%"), args, row.nil), 500,
		"f(c(0.1, 1e+05, 1e-10, 123456), `odd name` = 5L) %in% x");
	is_code(row.nil + 3, 500, "<?>");
	image__put64(&m, args + 8 * R_CDR, args); /* a list that has no end */
	is_code(cell(HEAP_CALL, image__symbol(&m, "g"), args, row.nil), 20,
		"g(f(c(0.1, 1e+05, 1e...");
}

TEST(long_range)
{
	static int numbers[READS + 100];
	uint64_t args, vector;

	for (int i = 0; i < (int)COUNT(numbers); i++)
		numbers[i] = i + 1;
	vector = image__vector(&m, HEAP_INTEGER, COUNT(numbers), numbers, sizeof(numbers));
	args = item(vector, item(image__symbol(&m, "x"), row.nil, NULL), NULL);
	args = cell(HEAP_CALL, image__symbol(&m, "f"), args, row.nil);
	is_code(args, 500, "f(1:3100, x)");
	image__put32(&m, vector + 48 + 4 * 2000, 7);
	is_code(args, 15, "f(c(1L, 2L, 3L,...");
}

/* The variables of @env, of which @max are asked for, with the length of each value. */
static void has(uint64_t env, size_t max, const char *want, const char *what)
{
	struct locals l;

	tap__bail_if(locals__read(heap_of(READS), env, max, 100, &l), "out of memory");
	for (size_t i = 0; i < l.n; i++)
		tap__say("%s: %s, %d; ", l.list[i].name, l.list[i].value,
			 (int)l.list[i].kind.length);
	tap__say("%s%s", l.more ? "more" : "all", l.damaged ? ", damaged" : "");
	tap__said(want, "%s", what);
	locals__free(&l);
}

TEST(locals)
{
	const int numbers[] = {1, 0, HEAP_NA_INTEGER};
	uint64_t frame, env, promise, chains[3];

	promise = cell(HEAP_PROMISE, cell(HEAP_SYMBOL, row.nil, 0, 0), image__symbol(&m, "y"), 0);
	frame = item(image__vector(&m, HEAP_LOGICAL, 3, numbers, sizeof(numbers)), row.nil, "b");
	frame = cell(HEAP_PAIRLIST | R_ACTIVE_BINDING, image__symbol(&m, "fun"), frame,
		     image__symbol(&m, "active"));
	frame = cell(HEAP_PAIRLIST | (uint64_t)HEAP_INTEGER << 48, 7, frame,
		     image__symbol(&m, "scalar"));
	env = environment(item(promise, frame, "a"), row.nil);
	has(env, 100,
	    "a: <promise: y>, 1; active: <active binding>, 1; "
	    "b: logi [1:3] TRUE FALSE NA, 3; scalar: int 7, 1; all",
	    "four variables, none of them evaluated");
	has(env, 2, "a: <promise: y>, 1; scalar: int 7, 1; more", "no more than were asked for");
	for (int i = 0; i < 3; i++)
		chains[i] = item(row.nil, row.nil, (char[]){(char)('h' + i), 0});
	has(environment(row.nil, image__vector(&m, HEAP_LIST, 3, chains, sizeof(chains))), 100,
	    "h: NULL, 0; i: NULL, 0; j: NULL, 0; all", "of a hash table all chains");
}

/* @want: the state of a list of two variables after @reads reads. */
static void two_of(uint64_t table, uint32_t reads, const char *want, const char *what)
{
	struct locals l;

	tap__bail_if(locals__read(heap_of(reads), environment(row.nil, table), 2, 100, &l),
		     "out of memory");
	tap__say("%d%s%s", (int)l.n, l.more ? ", more" : "", l.damaged ? ", damaged" : "");
	tap__said(want, "%s", what);
	locals__free(&l);
}

TEST(large_table)
{
	uint64_t chains[64], table;

	for (int i = 0; i < 64; i++)
		chains[i] = item(row.nil, row.nil, "x");
	table = image__vector(&m, HEAP_LIST, 64, chains, sizeof(chains));
	two_of(table, 40, "2, more", "what is not asked for is not read");
	two_of(table, 8, "1, damaged", "too few reads");
	image__put64(&m, table, HEAP_REAL);
	two_of(table, 40, "0, damaged", "a table that is something else");
}

/* An environment that gets another table at the fourth read: the first has lost a variable to it.
 */
static uint64_t growing, grown;

static int memory__grows(void *arg, uint64_t addr, void *to, size_t len)
{
	if (m.reads == 3)
		image__put64(&m, growing + 8 * R_TAG, grown);
	return memory__read(arg, addr, to, len);
}

TEST(table_grows)
{
	const struct mem_reader grows = {.read = memory__grows};
	uint64_t chains[2] = {item(row.nil, row.nil, "a"), row.nil};
	struct locals l;
	struct heap h;

	growing = environment(row.nil, image__vector(&m, HEAP_LIST, 2, chains, sizeof(chains)));
	chains[1] = item(row.nil, row.nil, "b");
	grown = image__vector(&m, HEAP_LIST, 2, chains, sizeof(chains));
	heap__init(&h, &grows, &row, READS);
	tap__bail_if(locals__read(&h, growing, 100, 100, &l), "out of memory");
	tap__ok(l.n == 2 && !strcmp(l.list[1].name, "b") && !l.damaged,
		"a table that grows while it is read is read again: %zu", l.n);
	locals__free(&l);
}

/* A variable that gets another value as soon as the first one's is read; its memory is used again.
 */
static uint64_t binding, first, second;

static int memory__reuses(void *arg, uint64_t addr, void *to, size_t len)
{
	if (addr == first) {
		image__put64(&m, binding + 8 * R_CAR, second);
		image__put64(&m, first, HEAP_RAW);
	}
	return memory__read(arg, addr, to, len);
}

TEST(value_is_freed)
{
	const struct mem_reader reuses = {.read = memory__reuses};
	struct locals l;
	struct heap h;

	first = image__int(&m, 1);
	second = image__int(&m, 2);
	binding = item(first, row.nil, "x");
	heap__init(&h, &reuses, &row, READS);
	tap__bail_if(locals__read(&h, environment(binding, row.nil), 100, 100, &l),
		     "out of memory");
	tap__ok(l.n == 1 && !strcmp(l.list[0].value, "int 2"),
		"a value whose memory R used again meanwhile is not shown: %s", l.list[0].value);
	locals__free(&l);
}

static void is_request(uint64_t env, int wanted, const char *line, const char *name)
{
	struct buf b = {0};
	int err;

	err = request__read(heap_of(REQUEST_READS), env, &b);
	tap__ok(err == wanted && b.len == strlen(line) &&
			!memcmp(b.data ? b.data : "", line, b.len),
		"%s", name);
	buf__free(&b);
}

/* The same of a call whose argument `req` is @value. */
static void is_value(uint64_t value, int wanted, const char *line, const char *name)
{
	uint64_t promise = cell(HEAP_PROMISE, value, image__symbol(&m, "req"), row.nil);

	is_request(environment(item(promise, row.nil, "req"), row.nil), wanted, line, name);
}

static uint64_t table(const uint64_t chains[4])
{
	return environment(row.nil, image__vector(&m, HEAP_LIST, 4, chains, 32));
}

TEST(request)
{
	char path[2 * REQUEST_MAX];
	uint64_t chains[4] = {row.nil, row.nil, row.nil, row.nil};

	chains[1] = item(image__string(&m, "GET"), row.nil, "REQUEST_METHOD");
	chains[1] = item(image__string(&m, "?token=1"), chains[1], "QUERY_STRING");
	is_value(table(chains), -ENOENT, "", "half a request");
	chains[3] = item(image__string(&m, "/slow"), row.nil, "PATH_INFO");
	is_value(table(chains), 0, "GET /slow", "a request, without its query");
	is_value(cell(HEAP_SYMBOL, row.nil, 0, 0), -ENOENT, "",
		 "an argument that was not evaluated");
	is_value(image__string(&m, "GET /"), -ENOENT, "", "an argument of another type");
	is_request(table(chains), -ENOENT, "", "a call without such an argument");
	is_request(row.nil + 3, -ENOENT, "", "no call");
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	chains[3] = item(image__string(&m, path), row.nil, "PATH_INFO");
	path[REQUEST_MAX] = '\0';
	memcpy(path, "GET ", 4);
	is_value(table(chains), 0, path, "a long path is cut");
}

static void describes(uint64_t at, const char *want)
{
	struct buf b = {0};

	tap__bail_if(value__describe(heap_of(READS), at, &b, 100, NULL), "out of memory");
	tap__ok(b.len == strlen(want) && !memcmp(b.data, want, b.len), "%.*s", (int)b.len, b.data);
	buf__free(&b);
}

/* In Latin-1 a class of ALTREP has as many characters as in UTF-8, and twice as many bytes. */
TEST(alt_class)
{
	char name[32] = "";
	uint64_t chars, class;

	memset(name, 0xe9, 31);
	chars = image__charsxp(&m, name);
	image__put64(&m, chars, HEAP_CHAR | 4u << 8); /* LATIN1_MASK */
	class = cell(HEAP_RAW, 0, 0, 0);
	image__put64(&m, class + 8, /* its attributes */
		     item(cell(HEAP_SYMBOL, chars, row.nil, row.nil), row.nil, NULL));
	describes(cell(HEAP_INTEGER | R_ALTREP_BIT, row.nil, row.nil, class),
		  "int <ALTREP ééééééééééééééé>");
}

/* Numbers of which only the first two are there: what was read of the others is not shown. */
TEST(half_a_vector)
{
	const double real[] = {1.5, 2};
	const uint64_t at = image__vector(&m, HEAP_REAL, 10, real, sizeof(real));

	m.heap_size = m.heap_used;
	describes(at, "num [1:10] 1.5 2 <?>");
}

/* Is @text in what is shown of @at after any number of reads? */
static bool shows(uint64_t at, const char *text)
{
	struct buf b = {0};
	bool found = false;

	for (uint32_t reads = 1; reads < 100 && !found; reads++) {
		b.len = 0;
		tap__bail_if(value__describe(heap_of(reads), at, &b, 100, NULL) ||
				     buf__add(&b, "", 1),
			     "out of memory");
		found = strstr(b.data, text);
	}
	buf__free(&b);
	return found;
}

TEST(too_few_reads)
{
	const int numbers[] = {HEAP_NA_INTEGER, -7, 3, 4};
	const uint64_t none = row.nil;
	uint64_t rows = image__vector(&m, HEAP_INTEGER, 2, numbers, 8), at;

	at = image__vector(&m, HEAP_LIST, 1, &none, 8);
	image__put64(&m, at, HEAP_LIST | 0x40); /* it has a class */
	image__attribute(&m, at, image__symbol(&m, "row.names"), rows);
	image__attribute(&m, at, image__symbol(&m, "class"), image__string(&m, "data.frame"));
	describes(at, "'data.frame': 7 obs. of 1 variable");
	tap__ok(shows(at, ": <?> obs.") && !shows(at, ": 0 obs.") && !shows(at, ": 2 obs."),
		"rows that were not read are not counted");
	at = image__vector(&m, HEAP_INTEGER, 4, numbers, sizeof(numbers));
	image__attribute(&m, at, image__symbol(&m, "dim"),
			 image__vector(&m, HEAP_INTEGER, 2, &numbers[2], 8));
	describes(at, "int [1:3, 1:4] NA -7 3 4");
	tap__ok(shows(at, "<?>]") && !shows(at, "1:0"), "nor are dimensions");
}

static uint64_t now__none(void)
{
	return 0;
}

/* The largest objects, at most @objects. */
static struct globals globals_by(const struct mem_reader *by, uint64_t objects)
{
	const struct globals_limits limits = {.objects = objects, .ns = 1, .now = now__none};
	struct globals g;

	tap__bail_if(globals__find(by, &row, 0, &limits, &g), "out of memory");
	return g;
}

static struct globals globals_of(uint64_t objects)
{
	return globals_by(&reader, objects);
}

TEST(globals)
{
	const double real[] = {0.1, 2, 3};
	uint64_t numbers, list, env;
	struct globals g;

	numbers = image__vector(&m, HEAP_REAL, 3, real, sizeof(real));
	/* one object, held twice */
	list = image__vector(&m, HEAP_LIST, 2, (uint64_t[]){numbers, numbers}, 16);
	env = environment(row.nil, row.nil);
	image__put64(&m, env + 8 * R_CAR, item(list, item(env, row.nil, "me"), "l"));
	row.global_env = env;
	g = globals_of(10000);
	tap__ok(g.objects == 4 && !g.unreadable && g.bytes == 2 * 56 + (48 + 16) + (48 + 32),
		"each object once, in a circle: %d objects, %d bytes", (int)g.objects,
		(int)g.bytes);
	tap__ok(g.n == 1 && !strcmp(g.rows[0].path, "*"), "what is small is one row");
	globals__free(&g);
	image__put64(&m, numbers + 8 * R_CAR, 1ull << 40); /* a length that cannot be right */
	image__put64(&m, list + 48 + 8, row.nil + 3);	   /* an element that is not an object */
	g = globals_of(10000);
	tap__ok(g.unreadable == 2 && g.bytes < 400, "what cannot be right is counted as such");
	globals__free(&g);
	g = globals_of(2);
	tap__ok(g.stopped && g.objects <= 2, "no more objects than were allowed");
	globals__free(&g);
}

TEST(limits)
{
	const double real[] = {1.5, 2, 2.5, 3};
	const uint64_t at = image__push(&m, R_CTXT_FUNCTION, row.nil, 0);
	struct buf b = {0};
	struct heap *h;
	struct calls c;

	value__describe(heap_of(READS), image__vector(&m, HEAP_REAL, 4, real, sizeof(real)), &b, 15,
			NULL);
	tap__ok(b.len == 18 && !memcmp(b.data, "num [1:4] 1.5 2...", 18), "a value: %.*s",
		(int)b.len, b.data);
	buf__free(&b);
	image__put64(&m, at + m.layout.nextcontext, at); /* calls that have no end */
	tap__bail_if(calls__read(&reader, &row, 1000, &c), "no calls");
	tap__ok(c.n == 1000, "%zu calls", c.n);
	calls__free(&c);
	h = heap_of(2);
	tap__ok(!heap__is(h, image__symbol(&m, "x"), "x") && !h->left, "two reads, and no more");
}

/* Words that are likely to be taken for something: types, addresses, lengths. */
static void memory__scramble(void)
{
	for (size_t i = 8; i < WORDS; i++) {
		const uint32_t kind = some(4);
		uint64_t word = row.nil + 8 * (uint64_t)some(WORDS);

		if (!kind)
			word = some(0x2000); /* a header, or a small number */
		else if (kind == 1)
			word = some64();
		image__put64(&m, row.nil + 8 * i, word);
	}
}

/* The innermost of three calls ends, and something else has the place of its context, now and then.
 */
static unsigned int reads;
static uint64_t place, outer, other;

static int memory__changes(void *arg, uint64_t addr, void *to, size_t len)
{
	image__put64(&m, place, ++reads % 8 < 4 ? other : outer);
	return memory__read(arg, addr, to, len);
}

static const struct mem_reader changes = {.read = memory__changes};

/* The context has @word where it had the one further out. */
static void calls__change(uint64_t word, const char *what)
{
	struct calls c;

	reads = 0;
	other = word;
	tap__bail_if(calls__read(&changes, &row, 1000, &c), "no calls");
	tap__ok(c.whole && c.n == 3, "%s: calls that change are read again: %zu", what, c.n);
	calls__free(&c);
	image__put64(&m, place, word);
	tap__bail_if(calls__read(&reader, &row, 1000, &c), "no calls");
	tap__ok(!c.whole && c.n == 1, "%s: those that were read, if they always do: %zu", what,
		c.n);
	calls__free(&c);
}

TEST(calls_change)
{
	image__push(&m, 0, row.nil, 0);
	for (size_t i = 0; i < 3; i++)
		place = image__push(&m, R_CTXT_FUNCTION, row.nil, 0);
	outer = image__get64(&m, place);
	calls__change(1, "a context that leads nowhere");
	calls__change(0, "one that seems to be the outermost");
}

TEST(builtins)
{
	struct calls c;

	image__push(&m, 0, row.nil, 0);
	image__push(&m, R_CTXT_FUNCTION, row.nil, 0);
	image__push(&m, R_CTXT_BUILTIN, row.nil, 0);
	tap__bail_if(calls__read(&reader, &row, 1000, &c), "no calls");
	tap__ok(c.whole && c.n == 1 && !c.list[0].builtin, "functions in R alone: %zu", c.n);
	calls__free(&c);
	tap__bail_if(calls__read_all(&reader, &row, 1000, &c), "no calls");
	tap__ok(c.whole && c.n == 2 && c.list[0].builtin && !c.list[1].builtin,
		"and those in C: %zu", c.n);
	calls__free(&c);
}

TEST(globals_of_calls)
{
	uint64_t env = environment(item(image__int(&m, 1), row.nil, "x"), row.nil);
	struct globals g;

	image__push(&m, 0, row.nil, 0);
	image__put64(&m, image__push(&m, R_CTXT_FUNCTION, row.nil, 0) + m.layout.cloenv, env);
	place = image__push(&m, R_CTXT_FUNCTION, row.nil, 0);
	image__put64(&m, place + m.layout.cloenv, row.nil);
	outer = image__get64(&m, place);
	other = 1;
	g = globals_by(&changes, 10000);
	tap__ok(g.objects == 2 && !g.unreadable,
		"the variables of calls that change while they are read: %d objects",
		(int)g.objects);
	globals__free(&g);
}

TEST(hostile)
{
	unsigned int over = 0;
	struct buf b = {0};
	struct globals g;
	struct locals l;
	struct calls c;

	for (unsigned int i = 0; i < 3000; i++) {
		const uint64_t at = row.nil + 8 * (uint64_t)some(WORDS);

		if (i % 10 == 0)
			memory__scramble();
		row.head_at = row.global_env = at;
		b.len = 0;
		deparse__call(heap_of(READS), at, &b, 200);
		over += b.len > 203;
		b.len = 0;
		value__describe(heap_of(READS), at, &b, 100, NULL);
		over += b.len > 103;
		locals__read(heap_of(READS), at, 50, 60, &l);
		over += l.n > 50;
		for (size_t k = 0; k < l.n; k++)
			over += strlen(l.list[k].value) > 63;
		locals__free(&l);
		calls__read(&reader, &row, 1000, &c);
		over += c.n > 1000;
		calls__free(&c);
		if (i % 10)
			continue;
		g = globals_of(10000);
		over += g.objects > WORDS;
		globals__free(&g);
	}
	buf__free(&b);
	tap__ok(!over, "limits hold in memory of any content (%u of 3000 did not)", over);
}
