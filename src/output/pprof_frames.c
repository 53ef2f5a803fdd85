/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "output/pprof_parts.h"
#include "profile/names.h"

/* Where modules end is not known: locations are in the files' own addresses, all below this. */
#define MODULE_LIMIT (UINT64_C(1) << 48)

/* A function that was written; equal frames of one place each share it. */
struct pprof_function {
	uint64_t hash;
	uint64_t id;
	const struct name *name, *package, *file;
	uint32_t line;
	enum frame_kind kind;
};

static bool function__same(const void *record, const void *key)
{
	const struct pprof_function *a = record, *b = key;

	return a->name == b->name && a->package == b->package && a->file == b->file &&
	       a->line == b->line && a->kind == b->kind;
}

/* Builtins are named as R writes them, unlike other native code. */
static int pprof__builtin(struct pprof *p, const struct name *name, int64_t *string)
{
	int err;

	p->text.len = 0;
	err = buf__printf(&p->text, PPROF_BUILTIN "%s" PPROF_BUILTIN_END, name->safe);
	return err ? err : pprof__string(p, p->text.data, p->text.len, string);
}

static int pprof__new_function(struct pprof *p, const struct frame *frame,
			       const struct pprof_function *key)
{
	Pprof__Function function = PPROF__FUNCTION__INIT;
	struct pprof_function *f;
	int err;

	p->text.len = 0;
	err = frame__label(&p->text, frame, NAME_SAFE);
	if (!err)
		err = pprof__string(p, p->text.data, p->text.len, &function.name);
	if (!err && frame->kind == FRAME_BUILTIN)
		err = pprof__builtin(p, frame->function, &function.system_name);
	else if (!err)
		err = pprof__name(p, frame->function, &function.system_name);
	if (!err)
		err = pprof__name(p, key->file, &function.filename);
	if (err)
		return err;
	function.id = key->id;
	function.start_line = (int32_t)key->line;
	err = pprof__element(p, PPROF_FUNCTION, &function.base);
	if (err)
		return err;
	f = arena__alloc(&p->arena, sizeof(*f));
	if (!f)
		return -ENOMEM;
	*f = *key;
	return table__add(&p->functions, f);
}

static int pprof__function(struct pprof *p, const struct frame *frame, uint64_t *id)
{
	struct pprof_function key = {
		.name = frame->function,
		.package = frame->package,
		.file = frame->defined.file ? frame->defined.file : frame->place.file,
		.line = frame->defined.file ? frame->defined.line : 0,
		.kind = frame->kind,
	};
	const struct pprof_function *f;

	key.hash = map__hash((uintptr_t)key.name ^ (uintptr_t)key.package,
			     (uintptr_t)key.file ^ (uint64_t)key.line << 32);
	f = table__find(&p->functions, key.hash, function__same, &key);
	*id = f ? f->id : ++p->nfunctions;
	key.id = *id;
	return f ? 0 : pprof__new_function(p, frame, &key);
}

int pprof__mapping(struct pprof *p, const struct frame *frame, uint64_t *id)
{
	const struct name *module = frame->module, *build_id = frame->build_id;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT;
	int err;

	*id = map__number(&p->modules, (uintptr_t)module, (uintptr_t)build_id);
	if (*id)
		return 0;
	*id = mapping.id = ++p->nmappings;
	mapping.has_functions = true;
	mapping.has_filenames = mapping.has_line_numbers = !module;
	err = module ? pprof__name(p, module, &mapping.filename)
		     : pprof__text(p, "R", &mapping.filename);
	if (!err && build_id)
		err = pprof__name(p, build_id, &mapping.build_id);
	/* `serve` reads its files again, for OTLP */
	if (!err && frame->hash && p->config->described)
		err = pprof__name(p, frame->hash, &mapping.htlhash);
	if (module)
		mapping.memory_limit =
			strcmp(module->text, KERNEL_MODULE) ? MODULE_LIMIT : UINT64_MAX;
	if (!err)
		err = pprof__element(p, PPROF_MAPPING, &mapping.base);
	return err ? err
		   : map__put_number(&p->modules, (uintptr_t)module, (uintptr_t)build_id, *id);
}

static int pprof__location(struct pprof *p, const struct frame *frame, uint64_t *id)
{
	Pprof__Location location = PPROF__LOCATION__INIT;
	Pprof__Line line = PPROF__LINE__INIT, *lines[] = {&line};
	int err;

	*id = map__number(&p->locations, (uintptr_t)frame, 0);
	if (*id)
		return 0;
	err = pprof__mapping(p, frame, &location.mapping_id);
	if (!err)
		err = pprof__function(p, frame, &line.function_id);
	if (err)
		return err;
	*id = location.id = ++p->nlocations;
	location.address = frame->address;
	line.line = (int32_t)frame->place.line;
	location.n_line = 1;
	location.line = lines;
	err = pprof__element(p, PPROF_LOCATION, &location.base);
	return err ? err : map__put_number(&p->locations, (uintptr_t)frame, 0, *id);
}

int pprof__stack(struct pprof *p, const struct stack *stack, size_t *n)
{
	uint32_t nframes = part__frames(p->config->part, stack->nframes);
	uint64_t *ids;
	int err = 0;

	*n = nframes + stack__is_toplevel(stack);
	if (array__room(&p->ids, *n, &p->cap, sizeof(*ids)))
		return -ENOMEM;
	ids = p->ids;
	for (uint32_t i = 0; i < nframes && !err; i++) {
		const struct frame *frame = stack->frames[i];

		if (nframes < stack->nframes && i == nframes - 1)
			frame = &mark_truncated;
		err = pprof__location(p, frame, &ids[i]);
	}
	if (!err && *n > nframes)
		err = pprof__location(p, &mark_toplevel, &ids[nframes]);
	return err;
}
