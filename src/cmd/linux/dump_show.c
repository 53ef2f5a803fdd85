/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/dump_show.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/limits.h"
#include "profile/names.h"

int dump_show__escaped(struct buf *b, const char *text)
{
	int err = escape__text(b, text, "", LIMIT_NAME);

	return err < 0 ? err : 0;
}

int dump_show__locals(struct buf *b, const struct locals *v)
{
	size_t width = 0;
	int err = 0;

	for (size_t i = 0; i < v->n; i++)
		if (strlen(v->list[i].name) > width && strlen(v->list[i].name) <= 20)
			width = strlen(v->list[i].name);
	for (size_t i = 0; i < v->n && !err; i++) {
		const size_t begin = b->len;

		err = buf__str(b, "        ");
		err = err ? err : dump_show__escaped(b, v->list[i].name);
		while (!err && b->len < begin + 8 + width)
			err = buf__str(b, " ");
		err = err ? err : buf__str(b, "  ");
		err = err ? err : dump_show__escaped(b, v->list[i].value);
		err = err ? err : buf__str(b, "\n");
	}
	if (!err && v->more)
		err = buf__str(b, "        ... and more variables\n");
	if (!err && v->damaged)
		err = buf__str(b, "        ... variables that could not be read\n");
	return err;
}

int dump_show__module(struct buf *b, const char *function, const char *module)
{
	const char *slash = module ? strrchr(module, '/') : NULL;
	int err;

	module = slash ? slash + 1 : module;
	if (!module || !*module || !strncmp(function, module, strlen(module)))
		return 0;
	err = buf__str(b, " [");
	err = err ? err : dump_show__escaped(b, module);
	return err ? err : buf__str(b, "]");
}

static int show__frame(struct buf *b, const struct frame *frame, const struct frame_values *v)
{
	int err = buf__str(b, "    ");

	if (!err)
		err = v && v->call ? dump_show__escaped(b, v->call)
				   : frame__label(b, frame, NAME_SAFE);
	err = err ? err : place__text(b, frame->place, NAME_SAFE);
	if (!err && frame->kind == FRAME_NATIVE && frame->module)
		err = dump_show__module(b, frame->function->text, frame->module->text);
	err = err ? err : buf__str(b, "\n");
	return err || !v ? err : dump_show__locals(b, &v->locals);
}

static int show__activity(const struct activity *a, struct buf *b)
{
	struct buf words = {0};
	int err = activity__describe(a, &words);

	err = err ? err : buf__add(&words, "", 1);
	err = err ? err : dump_show__escaped(b, words.data);
	buf__free(&words);
	return err;
}

int dump_show__head(struct buf *b, const struct dump_process *p)
{
	int err = buf__printf(b, "process %d: ", (int)p->pid);

	if (p->unchanged) {
		err = err ? err : show__activity(&p->activity, b);
		return err ? err : buf__str(b, ", unchanged\n");
	}
	err = err ? err : dump_show__escaped(b, p->command);
	err = err ? err : buf__printf(b, "\n  R %s, ", *p->r_version ? p->r_version : "?");
	if (!err && p->tid != p->pid)
		err = buf__printf(b, "thread %d ", (int)p->tid);
	err = err ? err : show__activity(&p->activity, b);
	return err ? err : buf__str(b, "\n");
}

static bool frame__is_native(const struct frame *frame)
{
	return frame->kind == FRAME_NATIVE || frame->kind == FRAME_KERNEL;
}

/* Is there something to say of what is executed at top level, below all frames? */
static bool show__has_top(const struct dump_process *p)
{
	uint32_t natives = 0;

	while (p->stack && natives < p->stack->nframes &&
	       (frame__is_native(p->stack->frames[natives]) ||
		p->stack->frames[natives]->function == mark_no_native.function))
		natives++;
	return !p->stack || natives == p->stack->nframes || p->stack->top.file;
}

static int show__thread(struct buf *b, const struct dump_thread *t)
{
	int err = buf__printf(b, "  thread %d ", (int)t->tid);

	err = err ? err : buf__str(b, "(");
	err = err ? err : dump_show__escaped(b, t->name);
	err = err ? err : buf__str(b, "): ");
	err = err ? err : show__activity(&t->activity, b);
	err = err ? err : buf__str(b, "\n");
	for (uint32_t i = 0; t->stack && i < t->stack->nframes && !err; i++) {
		err = buf__str(b, "  ");
		err = err ? err : show__frame(b, t->stack->frames[i], NULL);
	}
	return err;
}

int dump_show__body(struct buf *b, const struct dump_process *p)
{
	int err = 0;

	for (uint32_t i = 0; p->stack && i < p->stack->nframes && !err; i++)
		err = show__frame(b, p->stack->frames[i], p->values ? &p->values[i] : NULL);
	if (!err && show__has_top(p)) {
		err = buf__printf(b, "    %s", mark_toplevel.function->text);
		if (!err && p->stack)
			err = place__text(b, p->stack->top, NAME_SAFE);
		err = err ? err : buf__str(b, "\n");
	}
	for (size_t i = 0; i < p->nthreads && !err; i++)
		err = show__thread(b, &p->threads[i]);
	return err || !p->globals ? err
				  : dump_globals__text(b, p->globals, "read while the process ran");
}

static void json__place(struct json *j, const char *key, struct place place)
{
	if (!place.file) {
		json__str(j, key, NULL);
		return;
	}
	json__object(j, key);
	json__str(j, "file", place.file->text);
	json__u64(j, "line", place.line);
	json__close(j);
}

void dump_show__json_values(struct json *j, const struct frame_values *v)
{
	json__str(j, "call", v->call);
	if (!v->has_locals)
		return;
	json__array(j, "locals");
	for (size_t i = 0; i < v->locals.n; i++) {
		json__object(j, NULL);
		json__str(j, "name", v->locals.list[i].name);
		json__str(j, "type", v->locals.list[i].kind.type);
		json__u64(j, "length", v->locals.list[i].kind.length);
		json__str(j, "value", v->locals.list[i].value);
		json__close(j);
	}
	json__close(j);
	json__bool(j, "locals_complete", !v->locals.more && !v->locals.damaged);
}

static int json__frame(struct json *j, const struct frame *frame, const struct frame_values *v)
{
	static const char *const kinds[] = {
		[FRAME_R] = "function",	   [FRAME_ANON] = "function", [FRAME_BUILTIN] = "builtin",
		[FRAME_NATIVE] = "native", [FRAME_KERNEL] = "kernel", [FRAME_UNNAMED] = "function",
		[FRAME_MARK] = "mark",
	};
	struct buf label = {0};
	int err = frame__label(&label, frame, NAME_SAFE);

	err = err ? err : buf__add(&label, "", 1);
	if (!err) {
		json__object(j, NULL);
		json__str(j, "kind", kinds[frame->kind]);
		json__str(j, "function", frame->function->text);
		json__str(j, "package", frame->package ? frame->package->text : NULL);
		if (frame__is_native(frame) || frame->module) {
			json__str(j, "module", frame->module ? frame->module->text : NULL);
			json__u64(j, "address", frame->address);
		}
		json__str(j, "label", label.data);
		json__place(j, "place", frame->place);
		json__place(j, "defined", frame->defined);
		if (v)
			dump_show__json_values(j, v);
		json__close(j);
	}
	buf__free(&label);
	return err;
}

static int json__activity(struct json *j, const struct activity *a)
{
	struct buf words = {0};
	char state[2] = {a->state, '\0'};
	int err = activity__describe(a, &words);

	err = err ? err : buf__add(&words, "", 1);
	if (!err) {
		json__str(j, "doing", words.data);
		json__str(j, "state", a->state ? state : NULL);
		json__str(j, "syscall", activity__syscall(a));
		json__str(j, "wchan", a->wchan[0] ? a->wchan : NULL);
	}
	buf__free(&words);
	return err;
}

/* The frames of native code, without R's. */
static int json__natives(struct json *j, const struct stack *stack)
{
	int err = 0;

	json__array(j, "native");
	for (uint32_t i = 0; stack && i < stack->nframes && !err; i++)
		if (frame__is_native(stack->frames[i]) || stack->frames[i]->module)
			err = json__frame(j, stack->frames[i], NULL);
	json__close(j);
	return err;
}

static int json__thread(struct json *j, const struct dump_thread *t)
{
	int err;

	json__object(j, NULL);
	json__u64(j, "tid", (uint64_t)t->tid);
	json__str(j, "name", t->name);
	err = json__activity(j, &t->activity);
	err = err ? err : json__natives(j, t->stack);
	json__close(j);
	return err;
}

int dump_show__json(struct json *j, const struct dump_process *p)
{
	static const struct place nowhere;
	int err;

	json__object(j, NULL);
	json__u64(j, "pid", (uint64_t)p->pid);
	json__u64(j, "thread", (uint64_t)p->tid);
	json__str(j, "command", p->command);
	json__str(j, "r_version", *p->r_version ? p->r_version : NULL);
	err = json__activity(j, &p->activity);
	if (p->again)
		json__bool(j, "unchanged", p->unchanged);
	json__bool(j, "truncated", p->flags & XR_F_TRUNCATED);
	json__bool(j, "collecting", p->flags & XR_F_GC);
	json__array(j, "frames");
	for (uint32_t i = 0; p->stack && i < p->stack->nframes && !err; i++)
		err = json__frame(j, p->stack->frames[i], p->values ? &p->values[i] : NULL);
	json__close(j);
	json__place(j, "toplevel", p->stack ? p->stack->top : nowhere);
	if (p->native && !err)
		err = json__natives(j, p->stack);
	if (p->list_threads)
		json__array(j, "threads");
	for (size_t i = 0; i < p->nthreads && !err; i++)
		err = json__thread(j, &p->threads[i]);
	if (p->list_threads)
		json__close(j);
	if (p->globals)
		dump_globals__json(j, p->globals);
	json__close(j);
	return err;
}
