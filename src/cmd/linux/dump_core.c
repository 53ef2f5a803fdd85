/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/dump_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/linux/dump_show.h"
#include "native/linux/core_stack.h"
#include "target/linux/core.h"
#include "values/calls.h"

/* What is shown of a core file. */
struct core_view {
	const struct dump_options *d;
	struct core *core;
	struct calls calls;
	struct frame_values *values; /* of each call */
	struct core_stack stack;     /* native frames */
	bool elsewhere;		     /* that thread is not the one with the calls */
	struct globals globals;
};

/* The values of each call, innermost first. */
static int core__values(const struct mem_reader *reader, const struct xr_row *row,
			const struct calls *calls, bool locals, struct frame_values *values)
{
	uint32_t left = FRAME_VALUES_READS;
	int err = 0;

	for (size_t i = 0; i < calls->n && !err; i++)
		err = frame_values__read(reader, row, &calls->list[i], true, locals, &left,
					 &values[i]);
	return err;
}

static bool view__shows(const struct core_view *v, size_t frame, bool outside)
{
	const char *module = v->stack.frames[frame].module;

	return v->d->o.config.native == NATIVE_RAW || !frame ||
	       (!outside && (!module || !core__is_r(v->core, module)));
}

/*
 * view__each - the frames, innermost first: of a call with its number, and of native code with the
 * number of the frame.  R's own C functions are left out, and what R was started by, but not where
 * it crashed.  The context of a call lies in the frame of the C function that made it.  One that
 * lies elsewhere (of bytecode that R calls inline) stands before the next one outward.
 */
static int view__each(const struct core_view *v,
		      int (*call)(void *to, const struct core_view *v, size_t i),
		      int (*native)(void *to, const struct core_view *v, size_t i), void *to)
{
	const struct calls *calls = &v->calls;
	size_t next = 0, on;
	int err = 0;

	for (size_t i = 0; i < v->stack.n && !err; i++) {
		const uint64_t sp = v->stack.frames[i].sp;

		/* the outermost call whose context lies inside of this frame's callees */
		for (on = calls->n; on > next && !v->elsewhere; on--)
			if (calls->list[on - 1].at < sp &&
			    calls->list[on - 1].at >= v->stack.frames[0].sp)
				break;
		while (next < on && !v->elsewhere && !err)
			err = call(to, v, next++);
		if (!err && view__shows(v, i, calls->n && next == calls->n))
			err = native(to, v, i);
	}
	while (next < calls->n && !err)
		err = call(to, v, next++);
	return err;
}

/* Does no call lie on the stack of the thread that crashed? */
static bool view__is_elsewhere(const struct core_view *v)
{
	const struct core_stack *s = &v->stack;

	for (size_t i = 0; i < v->calls.n; i++)
		if (s->whole && v->calls.list[i].at >= s->frames[0].sp &&
		    v->calls.list[i].at < s->frames[s->n - 1].sp)
			return false;
	return s->whole && v->calls.n;
}

static int text__call(void *to, const struct core_view *v, size_t i)
{
	struct buf *b = to;
	int err = 0;

	if (!i && v->elsewhere)
		err = buf__str(b, "    ... R's calls, which another thread is in:\n");
	err = err ? err : buf__str(b, "    ");
	err = err ? err : dump_show__escaped(b, v->values[i].call);
	err = err ? err : buf__str(b, "\n");
	return err ? err : dump_show__locals(b, &v->values[i].locals);
}

static int text__native(void *to, const struct core_view *v, size_t i)
{
	const struct core_frame *frame = &v->stack.frames[i];
	struct buf *b = to;
	int err = buf__str(b, "    ");

	err = err ? err : dump_show__escaped(b, frame->function);
	err = err ? err : dump_show__module(b, frame->function, frame->module);
	return err ? err : buf__str(b, "\n");
}

static int core__text(struct buf *b, const struct core_view *v)
{
	const struct core_facts *facts = core__facts(v->core);
	int err = buf__str(b, "core file ");

	err = err ? err : dump_show__escaped(b, v->d->core);
	err = err ? err : buf__printf(b, ", process %d: ", (int)facts->pid);
	err = err ? err : dump_show__escaped(b, facts->command);
	err = err ? err : buf__printf(b, "\n  R %s, ", *facts->version ? facts->version : "?");
	if (!err && facts->signal)
		err = buf__printf(b, "ended by signal %d (%s)\n", facts->signal,
				  strsignal(facts->signal));
	else if (!err)
		err = buf__str(b, "copied while it ran\n");
	err = err ? err : view__each(v, text__call, text__native, b);
	if (!err && !v->calls.n)
		err = buf__printf(b, "    %s\n", mark_toplevel.function->text);
	if (!err && !v->calls.whole)
		err = buf__str(b, "    ... outer calls are not in the core file\n");
	if (!err && v->d->globals)
		err = dump_globals__text(b, &v->globals, "read from the core file");
	return err;
}

static int json__call(void *to, const struct core_view *v, size_t i)
{
	json__object(to, NULL);
	json__str(to, "kind", "function");
	dump_show__json_values(to, &v->values[i]);
	json__close(to);
	return 0;
}

static int json__native(void *to, const struct core_view *v, size_t i)
{
	const struct core_frame *frame = &v->stack.frames[i];

	json__object(to, NULL);
	json__str(to, "kind", "native");
	json__str(to, "function", frame->function);
	json__str(to, "module", frame->module);
	json__u64(to, "address", frame->address);
	json__close(to);
	return 0;
}

static int core__json(struct buf *b, const struct core_view *v)
{
	const struct core_facts *facts = core__facts(v->core);
	struct json j;

	json__begin(&j);
	json__object(&j, NULL);
	json__array(&j, "processes");
	json__object(&j, NULL);
	json__str(&j, "core", v->d->core);
	json__u64(&j, "pid", (uint64_t)facts->pid);
	json__u64(&j, "thread", (uint64_t)facts->tid);
	json__str(&j, "command", facts->command);
	json__str(&j, "r_version", *facts->version ? facts->version : NULL);
	json__u64(&j, "signal", (uint64_t)facts->signal);
	json__bool(&j, "truncated", !v->calls.whole);
	json__array(&j, "frames");
	view__each(v, json__call, json__native, &j);
	json__close(&j);
	if (v->d->globals)
		dump_globals__json(&j, &v->globals);
	json__close(&j);
	json__close(&j);
	json__array(&j, "failed");
	json__close(&j);
	json__close(&j);
	return json__end(&j, b);
}

/* What makes the result less certain. */
static void core__warn(const struct dump_options *d, const struct core_facts *facts)
{
	if (facts->cut)
		log__line("%s was cut (ulimit -c): what is missing there is shown as <?>", d->core);
	if (!facts->checked)
		log__line("%s does not contain the beginning of %s: whether that is the file that "
			  "ran is not known",
			  d->core, facts->path);
	if (!facts->version_known)
		log__line("R %s is not in the table of layouts: the newest one is used",
			  *facts->version ? facts->version : "of unknown version");
}

static void core__warn_native(const struct core_view *v)
{
	if (v->stack.missing)
		log__line("%s is not there now, or is another file: its functions have no names",
			  v->stack.missing);
	if (v->d->o.config.native != NATIVE_OFF && !v->stack.whole)
		log__line("%s: outer C functions are missing: %s", v->d->core,
			  core__facts(v->core)->cut ? "it was cut (ulimit -c)"
						    : "their callers cannot be found");
}

static int view__read(struct core_view *v, struct errmsg *f)
{
	const struct mem_reader reader = core__reader(v->core);
	const struct xr_row *row = core__row(v->core);
	int err = calls__read(&reader, row, XR_CONTEXTS_MAX, &v->calls);

	if (err == -EFAULT)
		return errmsg__set(f, err, "R's calls are not in %s: it was cut (ulimit -c)",
				   v->d->core);
	v->values = calloc(v->calls.n + 1, sizeof(*v->values));
	if (!err)
		err = v->values ? core__values(&reader, row, &v->calls, v->d->locals, v->values)
				: -ENOMEM;
	if (!err && v->d->globals)
		err = dump_globals__read(&reader, row, core__namespaces(v->core), &v->globals);
	if (err)
		return errmsg__set(f, err, "cannot read the stack: %s", strerror(-err));
	if (v->d->o.config.native != NATIVE_OFF)
		err = core_stack__read(v->core, &v->stack, f);
	v->elsewhere = view__is_elsewhere(v);
	return err;
}

int dump_core(const struct dump_options *d, struct errmsg *f)
{
	struct core_view v = {.d = d};
	struct buf out = {0};
	int err = core__open(d->core, d->libr, &v.core, f);

	if (err)
		return err;
	core__warn(d, core__facts(v.core));
	err = view__read(&v, f);
	if (err)
		goto cleanup;
	core__warn_native(&v);
	err = d->json ? core__json(&out, &v) : core__text(&out, &v);
	errno = 0;
	if (!err && (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout)))
		err = errno ? -errno : -EIO;
	if (err)
		errmsg__set(f, err, "cannot write the stack: %s", strerror(-err));
cleanup:
	for (size_t i = 0; v.values && i < v.calls.n; i++)
		frame_values__free(&v.values[i]);
	free(v.values);
	core_stack__free(&v.stack);
	globals__free(&v.globals);
	calls__free(&v.calls);
	buf__free(&out);
	core__close(v.core);
	return err;
}
