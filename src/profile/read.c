/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "profile/read_parts.h"

#define BYTES_KEPT (4 * READ_PIECE) /* of a buffer that is used again without being moved */

int reader__new(struct reader **out, const struct reader_config *config)
{
	struct reader *r = calloc(1, sizeof(*r));
	size_t memory = config->memory ? config->memory : LIMIT_MEMORY;

	*out = r;
	if (!r)
		return -ENOMEM;
	r->config = *config;
	r->budget.max = LIMIT_MADE(memory);
	r->lines.budget = r->known.budget = &r->budget;
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
	table__free(&r->known);
	arena__free(&r->lines);
	stacks__free(&r->stacks);
	map__free(&r->processes);
	arena__free(&r->rows);
	intern__free(&r->keys);
	buf__free(&r->name);
	free(r->frames);
	free(r);
}

int reading__more(struct reading *r)
{
	char piece[READ_PIECE];
	int n, err;

	if (r->ended)
		return 0;
	n = r->in->read(r->in->arg, piece, sizeof(piece));
	if (n < 0)
		return errmsg__set(r->f, n, "cannot read %s: %s", r->in->name,
				   r->in->reason ? r->in->reason(n) : strerror(-n));
	r->ended = !n;
	if (r->at && (r->at == r->bytes.len || r->bytes.len > BYTES_KEPT)) {
		r->bytes.len -= r->at;
		memmove(r->bytes.data, r->bytes.data + r->at, r->bytes.len);
		r->at = 0;
	}
	err = buf__add(&r->bytes, piece, (size_t)n);
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
			return errmsg__set(r->f, -EMSGSIZE,
					   "%s: line %llu is longer than %u bytes: this is no "
					   "profile, or a damaged one",
					   r->in->name, (unsigned long long)r->number + 1,
					   LIMIT_READ_LINE);
		more = reading__more(r);
	}
	if (more < 0)
		return more;
	if (!end) {
		if (seen)
			r->result->cut = r->number + 1;
		r->at = r->bytes.len;
		return 0;
	}
	*line = r->bytes.data + r->at;
	*len = (size_t)(end - *line);
	r->at += *len + 1;
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

/* What the file is, by its first line. */
static int reading__format(struct reading *r, const char *line, size_t len)
{
	if (read_rprof__header(line, len)) {
		r->result->format = READ_RPROF;
		return 0;
	}
	if (read_folded__line(line, len)) {
		r->result->format = READ_FOLDED;
		return 0;
	}
	if (len && *line == '"')
		return errmsg__set(r->f, -EINVAL,
				   "%s has no header: the first line of an Rprof.out says "
				   "sample.interval=",
				   r->in->name);
	return errmsg__set(r->f, -EINVAL,
			   "%s is not a profile: it is neither an Rprof.out, whose first line says "
			   "sample.interval=, nor folded stacks (main;f;g 12)",
			   r->in->name);
}

/* Look at the beginning, which stays to be read. */
static int reading__tell(struct reading *r)
{
	const char *line;
	size_t len;
	int err = reading__more(r);

	if (err < 0)
		return err;
	if (!err)
		return errmsg__set(r->f, -ENODATA, "%s is empty: no profile was written to it",
				   r->in->name);
	if (memchr(r->bytes.data, '\0', r->bytes.len))
		return errmsg__set(r->f, -EINVAL, "%s is not a profile: it is not text",
				   r->in->name);
	err = reading__line(r, &line, &len);
	if (err < 0)
		return err;
	if (!err) { /* one line that does not end */
		line = r->bytes.data;
		len = r->bytes.len;
		r->result->cut = 0;
	}
	r->at = 0;
	r->number = 0;
	return reading__format(r, line, len);
}

int reader__file(struct reader *reader, const struct read_input *in,
		 const struct read_process *process, struct read_result *result, struct errmsg *f)
{
	struct reading r = {.reader = reader, .in = in, .result = result, .f = f};
	const char *key = process->key ? process->key : "";
	int err, end;

	*result = (struct read_result){0};
	reader->time = 0;
	r.process = reading__process(&r, key, strlen(key), process->pid, "", 0);
	err = r.process ? reading__tell(&r) : errmsg__set(f, -ENOMEM, "out of memory");
	if (!err)
		err = result->format == READ_RPROF ? read_rprof__file(&r) : read_folded__file(&r);
	/* what was read so far counts, whatever comes after it */
	end = reading__forget(&r);
	buf__free(&r.bytes);
	return err ? err : end;
}
