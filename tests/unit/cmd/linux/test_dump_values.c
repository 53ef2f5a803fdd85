/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which frame of a sample gets the values of which call, in memory of this process. */
#include "cmd/linux/dump_show.h"
#include "r_image.h"
#include "stack_maker.h"
#include "tap.h"

#include <sys/mman.h>

#define HEAP 65536u

static struct image m;
static struct xr_row row;

/* An image whose heap is where it seems to be; contexts are there, too. */
BEFORE()
{
	uint8_t *heap;

	image__init_plain(&m, HEAP, 4096);
	heap = mmap((void *)IMAGE_HEAP_AT, HEAP, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	tap__bail_if(heap != (uint8_t *)IMAGE_HEAP_AT, "no memory there");
	memcpy(heap, m.heap, HEAP);
	free(m.heap);
	m.heap = heap;
	row = image__row(&m);
}

/* Call @name, a function in C or not. */
static void calls(const char *name, uint32_t flag)
{
	image__push(&m, flag, image__call(&m, image__symbol(&m, name), 0, 0), 1);
}

/* The calls that the frames of @stack have, innermost first; with variables: `*`. */
static int say(const struct stack *stack)
{
	struct frame_values *values = NULL;
	int err = dump_values__read(getpid(), &row, stack, true, true, &values);

	for (uint32_t i = 0; !err && i < stack->nframes; i++)
		tap__say("%s%s ", values[i].call ? values[i].call : "-",
			 values[i].has_locals ? "*" : "");
	if (!err)
		dump_values__free(values, stack);
	return err;
}

TEST(builtins)
{
	image__push(&m, 0, m.nil, 1);
	calls("main", R_CTXT_FUNCTION);
	calls(".Call", R_CTXT_BUILTIN);
	calls("f", R_CTXT_FUNCTION);
	tap__bail_if(say(stack__named("f .Call main")), "no values");
	tap__said("f()* .Call() main()* ", "what .Call() calls has its values");
}

TEST(others)
{
	image__push(&m, 0, m.nil, 1);
	calls("main", R_CTXT_FUNCTION);
	calls("f", R_CTXT_FUNCTION);
	calls("h", R_CTXT_FUNCTION);
	tap__bail_if(say(stack__named("f g main")), "no values");
	tap__said("- - main()* ", "a call that is another one now, and what it called, have none");
	tap__bail_if(say(stack__named("i h f main")), "no values");
	tap__said("- h()* f()* main()* ", "nor has one that ended");
}

TEST(no_end)
{
	calls("f", R_CTXT_FUNCTION);
	calls("f", R_CTXT_FUNCTION);
	tap__ok(say(stack__named("f f f")) == -EFAULT,
		"calls that do not end at top level are not shown");
}
