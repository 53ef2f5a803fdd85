/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "profile/read_parts.h"

#define HEAD_LEN   4		    /* bytes that tell gzip, and the encoding of a text */
#define BYTES_KEPT (4 * READ_PIECE) /* of a buffer that is used again without being moved */

int reader__new(struct reader **out, const struct reader_config *config)
{
	struct reader *r = calloc(1, sizeof(*r));
	size_t memory = config->memory ? config->memory : LIMIT_MEMORY;

	*out = r;
	if (!r)
		return -ENOMEM;
	r->config = *config;
	r->types = config->types ? config->types : &r->own_types;
	if (!r->types->used)
		r->types->about.no_ticks = true;
	r->types->used = true;
	r->budget.max = LIMIT_MADE(memory);
	r->lines.budget = &r->budget;
	stacks__init(&r->stacks, &r->budget, &r->last_id);
	r->processes_budget.max = LIMIT_RESERVES(memory);
	intern__init(&r->keys, &r->processes_budget);
	r->rows.budget = &r->processes_budget;
	return 0;
}

void reader__free(struct reader *r)
{
	if (!r)
		return;
	map__free(&r->known);
	arena__free(&r->lines);
	stacks__free(&r->stacks);
	map__free(&r->processes);
	arena__free(&r->rows);
	intern__free(&r->keys);
	buf__free(&r->name);
	free(r->frames);
	free(r);
}

int reading__raw(struct reading *r, void *to, size_t size)
{
	const struct read_input *in = r->in;
	int n = in->read(in->arg, to, size);

	return n < 0 ? errmsg__set(r->f, n, "cannot read %s: %s", in->name,
				   in->reason ? in->reason(n) : strerror(-n))
		     : n;
}

int reading__more(struct reading *r)
{
	char piece[READ_PIECE];
	int n, err;

	if (r->ended)
		return 0;
	n = r->unzip ? unzip__piece(r->unzip, r, piece, sizeof(piece))
		     : reading__raw(r, piece, sizeof(piece));
	if (n < 0)
		return n;
	r->ended = !n;
	if (r->at && (r->at == r->bytes.len || r->bytes.len > BYTES_KEPT)) {
		r->bytes.len -= r->at;
		memmove(r->bytes.data, r->bytes.data + r->at, r->bytes.len);
		r->at = 0;
	}
	err = read_text__add(&r->wide, &r->bytes, piece, (size_t)n);
	return err ? errmsg__set(r->f, err, "cannot read %s: out of memory", r->in->name) : n > 0;
}

int reading__line(struct reading *r, const char **line, size_t *len)
{
	const char *end = NULL;
	size_t seen = 0, left;
	int more = 1;

	while (more > 0) {
		left = r->bytes.len - r->at;
		end = left ? memchr(r->bytes.data + r->at + seen, '\n', left - seen) : NULL;
		if (end)
			break;
		seen = left;
		if (seen > LIMIT_READ_LINE)
			return errmsg__set(
				r->f, -EMSGSIZE,
				"%s: line %llu is longer than %u bytes: not a profile, or damaged",
				r->in->name, (unsigned long long)r->number + 1, LIMIT_READ_LINE);
		more = reading__more(r);
	}
	if (more < 0)
		return more;
	r->open = !end && seen && r->result->format == READ_FOLDED;
	if (!end && !r->open) {
		if (seen)
			r->result->cut = r->number + 1;
		r->at = r->bytes.len;
		return 0;
	}
	*line = r->bytes.data + r->at;
	*len = end ? (size_t)(end - *line) : seen;
	r->at += *len + !r->open;
	r->number++;
	if (*len && (*line)[*len - 1] == '\r') /* of Windows */
		--*len;
	return 1;
}

void reading__bad(struct reading *r, uint64_t lines)
{
	if (!r->result->bad)
		r->result->first = r->number - lines + 1;
	r->result->bad += lines;
}

/* Does @text hold what no text does? */
static bool text__is_binary(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < '\t')
			return true;
	return false;
}

/* A file that begins with this first line is not a profile. */
static int reading__refuse(struct reading *r, const char *line, size_t len)
{
	const bool page = len && *line == '<';

	if (len && (*line == '"' || *line == ':' || (len > 6 && !memcmp(line, "#File ", 6))))
		return errmsg__set(r->f, -EINVAL,
				   "%s has no header: the first line of an Rprof.out contains "
				   "sample.interval=",
				   r->in->name);
	return errmsg__set(
		r->f, -EINVAL,
		"%s is not a profile: it is neither an Rprof.out, whose first line contains "
		"sample.interval=, nor folded stacks (main;f;g 12), nor a pprof profile%s",
		r->in->name, page ? "; open a page in a browser" : "");
}

/* What the file is, by what `bytes` begin with; they stay to be read. */
static int reading__format(struct reading *r)
{
	const char *end = memchr(r->bytes.data, '\n', r->bytes.len), *line = r->bytes.data;
	size_t len = end ? (size_t)(end - line) : r->bytes.len;
	int err = 0;

	len -= len && line[len - 1] == '\r';
	if (read_rprof__header(line, len)) {
		r->result->format = READ_RPROF;
		return end ? 0
			   : errmsg__set(r->f, -ENODATA,
					 "%s ends within its first line: it was cut off, or is "
					 "still being written",
					 r->in->name);
	}
	if (text__is_binary(line, r->bytes.len) &&
	    (text__is_binary(line, len) || !read_folded__line(line, len))) {
		r->result->format = READ_PPROF;
		return read_pprof__head(line, r->bytes.len) ? 0 : reading__refuse(r, line, len);
	}
	/* a line may be longer than what was read */
	r->result->format = READ_FOLDED;
	if (!end)
		err = reading__line(r, &line, &len);
	r->at = 0;
	r->number = r->result->cut = 0;
	if (err < 0)
		return err;
	return read_folded__line(line, len) ? 0 : reading__refuse(r, line, len);
}

/*
 * Read what a file is recognised by: its first @size bytes, at most, or a line if that is longer
 * than HEAD_LEN.  1; 0: there is none.
 */
static int reading__begins(struct reading *r, size_t size)
{
	int more = 1;

	while (more > 0 && r->bytes.len < size &&
	       !(r->bytes.len > HEAD_LEN && memchr(r->bytes.data, '\n', r->bytes.len)))
		more = reading__more(r);
	return more < 0 ? more : r->bytes.len > 0;
}

/* It begins as gzip's files do: from here on `bytes` are what is in it. */
static int reading__unzip(struct reading *r)
{
	int err = unzip__new(&r->unzip, r);

	if (err)
		return errmsg__set(r->f, err, "cannot read %s: out of memory", r->in->name);
	r->bytes.len = 0;
	err = reading__begins(r, HEAD_LEN);
	return err ? err : errmsg__set(r->f, -ENODATA, "%s is empty", r->in->name);
}

/* What `bytes` are, and what comes behind them, is UTF-8 from here on. */
static int reading__decode(struct reading *r)
{
	struct buf raw = r->bytes;
	size_t mark;
	int err;

	r->wide.encoding = read_text__encoding(raw.data, raw.len, &mark);
	if (r->wide.encoding == READ_UTF8 && !mark)
		return 0;
	r->bytes = (struct buf){0};
	err = read_text__add(&r->wide, &r->bytes, raw.data + mark, raw.len - mark);
	buf__free(&raw);
	return err ? errmsg__set(r->f, err, "cannot read %s: out of memory", r->in->name) : 0;
}

/* Look at the beginning, which stays to be read. */
static int reading__tell(struct reading *r)
{
	int err = reading__begins(r, HEAD_LEN);

	if (err < 0)
		return err;
	if (!err)
		return errmsg__set(r->f, -ENODATA, "%s is empty: no profile was written to it",
				   r->in->name);
	if (r->bytes.len > 1 && !memcmp(r->bytes.data, "\x1f\x8b", 2))
		err = reading__unzip(r);
	if (err >= 0)
		err = reading__decode(r);
	if (!err)
		err = reading__begins(r, READ_PIECE);
	return err < 0 ? err : reading__format(r);
}

static int (*const readers[])(struct reading *r) = {
	[READ_RPROF] = read_rprof__file,
	[READ_FOLDED] = read_folded__file,
	[READ_PPROF] = read_pprof__file,
};

int reader__file(struct reader *reader, const struct read_input *in,
		 const struct read_process *process, struct read_result *result, struct errmsg *f)
{
	struct reading r = {.reader = reader, .in = in, .result = result, .f = f};
	const char *key = process->key ? process->key : "";
	const char *comm = process->comm ? process->comm : "";
	static const struct read_says_made nothing;
	int err, end;

	*result = (struct read_result){0};
	reader->time = 0;
	r.process = reading__process(&r, key, strlen(key), process->pid, comm, strlen(comm));
	err = r.process ? reading__tell(&r) : errmsg__set(f, -ENOMEM, "out of memory");
	if (!err && result->format != READ_PPROF)
		reading__made(&r, &nothing);
	if (!err)
		err = readers[result->format](&r);
	/* what was read so far counts, whatever comes after it */
	end = reading__forget(&r);
	buf__free(&r.bytes);
	unzip__free(r.unzip);
	return err ? err : end;
}
