/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folded stacks, as output/folded.c (its head has the format) and many others write them.  A frame
 * may end in ` (file:line)`, the place being executed in it, and before that, where R has no name
 * for a function, in ` {file:line}`, where it is defined.  If the first line begins with a frame
 * `comm-pid`, the file has such roots: they are processes then.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/escape.h"
#include "profile/read_parts.h"

#define PLACES_KEPT  9	/* behind the point of a count */
#define PLACES_MAX   6	/* behind the point of a count that are told apart */
#define EXPONENT_MAX 18 /* of ten */

struct folded {
	struct reading *r;
	bool roots;
	uint64_t parts; /* of one that are counted, a power of ten: where counts have a point */
	uint64_t rest;	/* of a part, in billionths of one: it counts with the next line */
};

/*
 * The number that ends the first *@n bytes at @text, which is taken off them.  False: there is
 * none, or it is above @max.
 */
static bool text__number(const char *text, size_t *n, uint64_t max, uint64_t *out)
{
	uint64_t value = 0, digit = 1;
	size_t at = *n;

	for (; at && text[at - 1] >= '0' && text[at - 1] <= '9'; digit *= 10) {
		if (digit > max)
			return false;
		value += digit * (uint64_t)(text[--at] - '0');
	}
	if (at == *n || value > max)
		return false;
	*n = at;
	*out = value;
	return true;
}

/* A count: digits times ten to the power of @exponent. */
struct count {
	uint64_t digits;
	int exponent;
};

static uint64_t ten__to(unsigned int n)
{
	uint64_t value = 1;

	while (n--)
		value *= 10;
	return value;
}

/*
 * Add the digits at *@at to @value: how many of them.  What would be above READ_COUNT_MAX is left
 * out; *@more (NULL is allowed): there are such.
 */
static int text__digits(const char **at, const char *end, uint64_t *value, bool *more)
{
	int n = 0;

	for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
		const uint64_t digit = (uint64_t)(**at - '0');

		if (*value > (READ_COUNT_MAX - digit) / 10) {
			if (more)
				*more = true;
			continue;
		}
		*value = 10 * *value + digit;
		n++;
	}
	return n;
}

/* "12", "12.5", "1e+05": as R and others write numbers. */
static bool count__parse(struct count *c, const char *at, const char *end)
{
	int whole, places = 0, digits = 1;
	bool minus = false, more = false;
	uint64_t exponent = 0;

	*c = (struct count){0};
	whole = text__digits(&at, end, &c->digits, &more);
	if (whole && at < end && *at == '.') {
		at++;
		places = text__digits(&at, end, &c->digits, NULL);
	}
	if (whole && at < end && (*at == 'e' || *at == 'E')) {
		minus = ++at < end && *at == '-';
		at += at < end && (*at == '-' || *at == '+');
		digits = text__digits(&at, end, &exponent, &more);
	}
	if (!whole || !digits || more || at != end || exponent > EXPONENT_MAX)
		return false;
	c->exponent = (minus ? -(int)exponent : (int)exponent) - places;
	for (; c->exponent < 0 && c->digits && c->digits % 10 == 0; c->exponent++)
		c->digits /= 10;
	for (; c->exponent < -PLACES_KEPT; c->exponent++)
		c->digits /= 10;
	return c->exponent <= 0 || c->digits <= READ_COUNT_MAX / ten__to((unsigned int)c->exponent);
}

/* The count at the end of a line, and the length of what is before it.  False: there is none. */
static bool line__count(const char *line, size_t *len, struct count *c)
{
	size_t n = *len;

	while (n && line[n - 1] != ' ')
		n--;
	if (n < 2 || !count__parse(c, line + n, line + *len) || !c->digits)
		return false;
	*len = n - 1;
	return true;
}

bool read_folded__line(const char *line, size_t len)
{
	struct count c;

	return line__count(line, &len, &c) && !memchr(line, '\0', len);
}

/* How many parts of one are needed for the lines that were read by now. */
static uint64_t folded__parts(const struct reading *r)
{
	const char *at = r->bytes.data + r->at, *end = r->bytes.data + r->bytes.len, *newline;
	int places = 0;

	for (; at < end; at = newline + 1) {
		size_t len;
		struct count c;

		newline = memchr(at, '\n', (size_t)(end - at));
		newline = newline ? newline : end;
		len = (size_t)(newline - at);
		len -= len && at[len - 1] == '\r';
		if (line__count(at, &len, &c) && -c.exponent > places)
			places = -c.exponent;
	}
	return ten__to((unsigned int)(places < PLACES_MAX ? places : PLACES_MAX));
}

/* A count in parts of one.  False: it is more than there can be. */
static bool folded__count(struct folded *p, const struct count *c, uint64_t *count)
{
	const uint64_t by = ten__to(c->exponent < 0 ? (unsigned int)-c->exponent : 0);
	const uint64_t times = ten__to(c->exponent > 0 ? (unsigned int)c->exponent : 0);
	const uint64_t whole = c->digits / by * times, rest = c->digits % by;

	if (whole > READ_COUNT_MAX / p->parts)
		return false;
	p->rest += rest * p->parts * (ten__to(PLACES_KEPT) / by);
	*count = whole * p->parts + p->rest / ten__to(PLACES_KEPT);
	p->rest %= ten__to(PLACES_KEPT);
	return true;
}

/* The pid of a frame `comm-pid`, and the length of its comm; 0: it is not such a frame. */
static uint32_t root__pid(const char *text, size_t len, size_t *comm)
{
	uint64_t pid;
	size_t n = len;

	if (!text__number(text, &n, INT_MAX, &pid) || n < 2 || text[n - 1] != '-' || text[n] == '0')
		return 0;
	*comm = n - 1;
	return (uint32_t)pid;
}

/*
 * The process of a line with such a root, which is taken off; or that of the file.  NULL: it does
 * not fit, and the root stays.
 */
static struct reader_process *folded__process(struct folded *p, const char **at, const char *end)
{
	const char *semicolon = memchr(*at, ';', (size_t)(end - *at));
	size_t len = (size_t)((semicolon ? semicolon : end) - *at), comm;
	struct reading *r = p->r;
	struct reader_process *process;
	struct buf name = {0};
	uint32_t pid = p->roots && semicolon ? root__pid(*at, len, &comm) : 0;

	if (!pid || escape__undo(&name, *at, comm) || name.len >= XR_COMM_LEN) {
		buf__free(&name);
		return r->process;
	}
	process = reading__process(r, *at, len, pid, name.data, name.len);
	buf__free(&name);
	if (process)
		*at = semicolon + 1;
	return process;
}

/*
 * `file:line` and @close at the end of the @len bytes at @text, behind a space and @open: its place
 * in @place, and the length of what is before it.  False: there is none.
 */
static bool folded__place(struct reading *r, const char *text, size_t *len, const char *open,
			  char close, struct place *place)
{
	const char *begin = text__find(text, *len, open), *file;
	size_t n = *len - 1;
	uint64_t line;
	bool minus;

	if (!begin || begin == text)
		return false;
	if (text[n] != close || !text__number(text, &n, (uint64_t)INT_MAX + 1, &line))
		return false;
	file = begin + 2;
	minus = text[n - 1] == '-';
	n -= minus;
	if ((line > INT_MAX && !minus) || text[n - 1] != ':' || text + n - 1 < file)
		return false;
	place->file = reading__name(r, file, (size_t)(text + n - 1 - file));
	place->line = minus ? (uint32_t) - (int64_t)line : (uint32_t)line;
	*len = (size_t)(begin - text);
	return place->file;
}

static bool folded__label(struct reading *r, const char *text, size_t len, struct frame *frame)
{
	struct place place = {0}, defined = {0};
	const struct name *name = NULL;
	size_t named, package;

	folded__place(r, text, &len, " (", ')', &place);
	named = len;
	if (folded__place(r, text, &named, " {", '}', &defined) &&
	    frame_label__has_many(text, named, &package)) {
		len = named;
		if (package) {
			name = reading__name(r, text, package);
			text += package + 2;
			len -= package + 2;
		}
	} else {
		defined = (struct place){0};
	}
	if (!reading__function(r, text, len, frame))
		return false;
	frame->place = place;
	frame->defined = defined;
	if (name)
		frame->package = name;
	return true;
}

/* Are there no frames from @at on, except a mark of GC? */
static bool folded__is_toplevel(struct reading *r, const char *at, const char *end,
				struct place *top)
{
	const char *mark = mark_toplevel.function->text, *gc = ";<GC>";
	size_t len = (size_t)(end - at), rest = 0;

	if (len < strlen(mark) || memcmp(at, mark, strlen(mark)) != 0)
		return false;
	if (len > strlen(gc) && !memcmp(end - strlen(gc), gc, strlen(gc)))
		rest = strlen(gc);
	len -= rest;
	folded__place(r, at, &len, " (", ')', top);
	return len == strlen(mark);
}

/* The frames, of which the innermost comes last.  0 or a negative errno. */
static int folded__frames(struct folded *p, const char *at, const char *end,
			  struct reader_line *says)
{
	struct reader *reader = p->r->reader;
	struct place top = {0};
	bool whole = true, more = true;
	int err = 0;

	reader->nframes = 0;
	if (folded__is_toplevel(p->r, at, end, &top)) {
		if (end[-1] == '>' && end[-2] == 'C')
			err = reading__frame_add(p->r, &mark_gc);
		more = false;
	}
	while (more && !err) {
		const char *begin = end;
		const struct frame *one = NULL;
		struct frame frame;

		while (begin > at && begin[-1] != ';')
			begin--;
		whole = whole && folded__label(p->r, begin, (size_t)(end - begin), &frame);
		if (whole)
			one = stacks__frame(&reader->stacks, &frame);
		whole = one;
		err = one ? reading__frame_add(p->r, one) : 0;
		more = begin > at;
		end = more ? begin - 1 : at;
	}
	says->stack = reading__stack(p->r, top, whole);
	says->flags = reading__flags(p->r);
	return err;
}

/* One line: 0, 1: it is not a line of folded stacks, or a negative errno. */
static int folded__line(struct folded *p, const char *at, size_t len)
{
	struct reading *r = p->r;
	uint64_t each, hash;
	struct count c;
	struct reader_line says, *line;
	const char *end;
	int err;

	if (!line__count(at, &len, &c) || memchr(at, '\0', len) || !folded__count(p, &c, &each))
		return 1;
	if (!each)
		return 0;
	end = at + len;
	hash = reading__hash(at, len);
	line = reading__known(r, hash, at, len);
	if (!line) {
		err = reading__make_room(r);
		if (err)
			return err;
		says = (struct reader_line){0};
		says.process = folded__process(p, &at, end);
		err = folded__frames(p, at, end, &says);
		if (err)
			return err;
		at = end - len;
		line = reading__know(r, hash, at, len, &says);
	}
	if (line) {
		line->each = each;
		return reading__count(r, line);
	}
	says.each = each;
	return reading__once(r, &says);
}

int read_folded__file(struct reading *r)
{
	struct folded p = {.r = r};
	const char *line, *semicolon;
	size_t len, comm;
	int err;

	p.parts = r->result->parts = folded__parts(r);
	r->result->interval_ns = r->reader->config.interval_ns / p.parts;
	err = reading__begin(r);
	while (!err && (err = reading__line(r, &line, &len)) > 0) {
		semicolon = r->number == 1 ? memchr(line, ';', len) : NULL;
		if (semicolon)
			p.roots = root__pid(line, (size_t)(semicolon - line), &comm);
		if (!len) {
			err = 0;
			continue;
		}
		err = folded__line(&p, line, len);
		if (err > 0 && r->open)
			r->result->cut = r->number;
		else if (err > 0)
			reading__bad(r, 1);
		err = err < 0 ? err : 0;
	}
	return err;
}
