/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "values/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sexp.h"

#define TRIES 16u /* each finds a context of an R that calls functions all the time changed */

/* The 8 bytes at @offset of a context of @len bytes. */
static uint64_t context__field(const unsigned char *context, size_t len, size_t offset)
{
	uint64_t value = 0;

	if (offset + sizeof(value) <= len)
		memcpy(&value, context + offset, sizeof(value));
	return value;
}

/* As calls__read(), of contexts of @kinds; 1: not all, as a context changed meanwhile. */
static int calls__read_once(const struct mem_reader *reader, const struct xr_row *row, size_t max,
			    uint32_t kinds, struct calls *out)
{
	const struct xr_layout *l = &row->layout;
	const size_t len = l->read_plain;
	unsigned char context[XR_CONTEXT_MAX];
	uint32_t flag = 0;
	struct call call;
	uint64_t at;
	int err;

	if (len > sizeof(context) || mem_reader__read(reader, row->head_at, &at, sizeof(at)))
		return -EFAULT;
	for (size_t i = 0; i < max && at; i++) {
		if (mem_reader__read(reader, at, context, len))
			return i ? 1 : -EFAULT;
		call = (struct call){
			.at = at,
			.call = context__field(context, len, l->call),
			.env = context__field(context, len, l->cloenv),
		};
		flag = (uint32_t)context__field(context, len, l->callflag);
		call.builtin = !(flag & R_CTXT_FUNCTION);
		if (flag & kinds) {
			err = array__room(&out->list, out->n, &out->cap, sizeof(*out->list));
			if (err)
				return err;
			out->list[out->n++] = call;
		}
		at = context__field(context, len, l->nextcontext);
	}
	if (!at && flag) /* the outermost context is a toplevel one */
		return 1;
	out->whole = !at;
	return 0;
}

static int calls__read_kinds(const struct mem_reader *reader, const struct xr_row *row, size_t max,
			     uint32_t kinds, struct calls *out)
{
	int err = 1;

	*out = (struct calls){0};
	for (unsigned int i = 0; i < TRIES && (err == 1 || err == -EFAULT); i++) {
		out->n = 0;
		err = calls__read_once(reader, row, max, kinds, out);
	}
	return err == 1 ? 0 : err;
}

int calls__read(const struct mem_reader *reader, const struct xr_row *row, size_t max,
		struct calls *out)
{
	return calls__read_kinds(reader, row, max, R_CTXT_FUNCTION, out);
}

int calls__read_all(const struct mem_reader *reader, const struct xr_row *row, size_t max,
		    struct calls *out)
{
	return calls__read_kinds(reader, row, max, R_CTXT_FUNCTION | R_CTXT_BUILTIN, out);
}

bool calls__still(const struct calls *now, const struct call *call)
{
	/* outer calls change least, and most that are asked for are inner ones */
	for (size_t i = 0; i < now->n; i++)
		if (now->list[i].at == call->at)
			return now->list[i].call == call->call && now->list[i].env == call->env;
	return false;
}

void calls__free(struct calls *c)
{
	free(c->list);
	*c = (struct calls){0};
}
