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
static struct sample_call pushed[8]; /* as a sample has them, outermost first */
static const char *names[8];
static uint32_t npushed;

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
	npushed = 0;
}

/* Call @name, a function in C or not. */
static void calls(const char *name, uint32_t flag)
{
	const uint64_t at =
		image__push(&m, flag, image__call(&m, image__symbol(&m, name), 0, 0), 1);

	names[npushed] = name;
	pushed[npushed++] = (struct sample_call){0};
	if (flag & R_CTXT_FUNCTION)
		pushed[npushed - 1] = (struct sample_call){
			.env = image__get64(&m, at + m.layout.cloenv), .context = at};
}

/* The calls that the frames of @stack have, innermost first; with variables: `*`. */
static int say(const struct stack *stack)
{
	struct frame_values *values = NULL;
	struct sample_call sampled[8] = {{0}};
	int err;

	/* what has another name had another environment in the same place */
	for (uint32_t i = 0, k = stack->nframes; k-- > 0; i++) {
		sampled[k] = i < npushed ? pushed[i] : (struct sample_call){.env = 8};
		if (i < npushed && strcmp(stack->frames[k]->function->text, names[i]) != 0)
			sampled[k].env += 8;
	}
	err = dump_values__read(getpid(), &row, stack, sampled, true, true, &values);
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

TEST(again)
{
	image__push(&m, 0, m.nil, 1);
	calls("main", R_CTXT_FUNCTION);
	calls("f", R_CTXT_FUNCTION);
	pushed[1].env += 8;
	tap__bail_if(say(stack__named("f main")), "no values");
	tap__said("- main()* ", "nor has one of a function that is called again from there");
}

TEST(no_end)
{
	calls("main", R_CTXT_FUNCTION);
	calls("f", R_CTXT_FUNCTION);
	pushed[0].context += 8;
	tap__ok(say(stack__named("f main")) == -EFAULT,
		"calls whose outer end is not read, and that the sample has not, are refused");
}

TEST(cut)
{
	image__push(&m, 0, m.nil, 1);
	calls("main", R_CTXT_FUNCTION);
	calls("f", R_CTXT_FUNCTION);
	calls("g", R_CTXT_FUNCTION);
	memmove(pushed, &pushed[1], sizeof(pushed) - sizeof(*pushed));
	memmove(names, &names[1], sizeof(names) - sizeof(*names));
	npushed--;
	tap__bail_if(say(stack__named("g f")), "no values");
	tap__said("g()* f()* ", "a stack that lacks outer calls has those of the others");
}
