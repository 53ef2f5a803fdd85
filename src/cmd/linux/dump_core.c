/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/dump_core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "cmd/linux/dump_globals.h"
#include "cmd/linux/dump_show.h"
#include "target/linux/core.h"
#include "values/calls.h"

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

static int core__text(struct buf *b, const struct dump_core *d, const struct core_facts *facts,
		      const struct calls *calls, const struct frame_values *values,
		      const struct globals *g)
{
	int err = buf__str(b, "core file ");

	err = err ? err : dump_show__escaped(b, d->path);
	err = err ? err : buf__printf(b, ", process %d: ", (int)facts->pid);
	err = err ? err : dump_show__escaped(b, facts->command);
	err = err ? err : buf__printf(b, "\n  R %s, ", *facts->version ? facts->version : "?");
	if (!err && facts->signal)
		err = buf__printf(b, "ended by signal %d (%s)\n", facts->signal,
				  strsignal(facts->signal));
	else if (!err)
		err = buf__str(b, "copied while it ran\n");
	for (size_t i = 0; i < calls->n && !err; i++) {
		err = buf__str(b, "    ");
		err = err ? err : dump_show__escaped(b, values[i].call);
		err = err ? err : buf__str(b, "\n");
		err = err ? err : dump_show__locals(b, &values[i].locals);
	}
	if (!err && !calls->n)
		err = buf__str(b, "    <toplevel>\n");
	if (!err && !calls->whole)
		err = buf__str(b, "    ... outer calls are not in the core file\n");
	if (!err && d->globals)
		err = dump_globals__text(b, g, "read from the core file");
	return err;
}

static int core__json(struct buf *b, const struct dump_core *d, const struct core_facts *facts,
		      const struct calls *calls, const struct frame_values *values,
		      const struct globals *g)
{
	struct json j;

	json__begin(&j);
	json__object(&j, NULL);
	json__array(&j, "processes");
	json__object(&j, NULL);
	json__str(&j, "core", d->path);
	json__u64(&j, "pid", (uint64_t)facts->pid);
	json__str(&j, "command", facts->command);
	json__str(&j, "r_version", *facts->version ? facts->version : NULL);
	json__u64(&j, "signal", (uint64_t)facts->signal);
	json__bool(&j, "truncated", !calls->whole);
	json__array(&j, "frames");
	for (size_t i = 0; i < calls->n; i++) {
		json__object(&j, NULL);
		json__str(&j, "kind", "function");
		dump_show__json_values(&j, &values[i]);
		json__close(&j);
	}
	json__close(&j);
	if (d->globals)
		dump_globals__json(&j, g);
	json__close(&j);
	json__close(&j);
	json__array(&j, "failed");
	json__close(&j);
	json__close(&j);
	return json__end(&j, b);
}

/* What makes the result less certain. */
static void core__warn(const struct dump_core *d, const struct core_facts *facts)
{
	if (facts->cut)
		log__line("%s was cut (ulimit -c): what is missing there is shown as <?>", d->path);
	if (!facts->checked)
		log__line("%s does not contain the beginning of %s: whether that is the file that "
			  "ran is not known",
			  d->path, facts->path);
	if (!facts->version_known)
		log__line("R %s is not in the table of layouts: the newest one is used",
			  *facts->version ? facts->version : "of unknown version");
}

int dump_core__show(const struct dump_core *d, struct errmsg *f)
{
	struct frame_values *values = NULL;
	const struct core_facts *facts;
	struct globals globals = {0};
	struct calls calls = {0};
	struct mem_reader reader;
	struct core *c = NULL;
	struct buf out = {0};
	int err = core__open(d->path, d->libr, &c, f);

	if (err)
		return err;
	facts = core__facts(c);
	core__warn(d, facts);
	reader = core__reader(c);
	err = calls__read(&reader, core__row(c), XR_CONTEXTS_MAX, &calls);
	if (err == -EFAULT) {
		errmsg__set(f, err, "R's calls are not in %s: it was cut (ulimit -c)", d->path);
		goto cleanup;
	}
	values = calloc(calls.n + 1, sizeof(*values));
	if (!err)
		err = values ? core__values(&reader, core__row(c), &calls, d->locals, values)
			     : -ENOMEM;
	if (!err && d->globals)
		err = dump_globals__read(&reader, core__row(c), core__namespaces(c), &globals);
	if (!err)
		err = d->json ? core__json(&out, d, facts, &calls, values, &globals)
			      : core__text(&out, d, facts, &calls, values, &globals);
	errno = 0;
	if (!err && (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout)))
		err = errno ? -errno : -EIO;
	if (err)
		errmsg__set(f, err, "cannot write the stack: %s", strerror(-err));
cleanup:
	for (size_t i = 0; values && i < calls.n; i++)
		frame_values__free(&values[i]);
	free(values);
	globals__free(&globals);
	calls__free(&calls);
	buf__free(&out);
	core__close(c);
	return err;
}
