/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/idle.h"

#include <string.h>

#include "profile/names.h"

struct function {
	const char *package, *name;
};

/*
 * The loops: httpuv::service() in httpuv 1.0 to 1.6, later::run_now() in later 0.8 to 1.4,
 * parallel:::workLoop() (parallel/R/worker.R; R 4.1 and later: workCommand() in it),
 * Rserve::run.Rserve() in Rserve 1.8, which forks for each client.
 */
static const struct function loops[] = {
	{"httpuv", "service"},	     {"later", "run_now"},     {"parallel", "workLoop"},
	{"parallel", "workCommand"}, {"Rserve", "run.Rserve"},
};

/* What they wait in: called from them, and not from what a request runs. */
static const struct function waits[] = {
	{"later", "execCallbacks"},
	{"later", "run_now"},
	{"parallel", "recvData"},
	{"parallel", "recvData.SOCKnode"},
	{"parallel", "recvData.SOCK0node"},
	{"base", "unserialize"},
	{"base", "serialize"},
	{"base", "doTryCatch"},
	{"base", "tryCatch"},
	{"base", "tryCatchList"},
	{"base", "tryCatchOne"},
};

/* If packages are not known, or R's name for the call has one, the name decides. */
static bool frame__is(const struct frame *frame, const struct function *f)
{
	return !strcmp(name__bare(frame->function->text), f->name) &&
	       (!frame->package || !strcmp(frame->package->text, f->package));
}

static bool frame__among(const struct frame *frame, const struct function *f, size_t n)
{
	bool is = false;

	for (size_t i = 0; i < n && !is; i++)
		is = frame__is(frame, &f[i]);
	return is;
}

#define AMONG(frame, list) frame__among(frame, list, sizeof(list) / sizeof((list)[0]))

bool idle__stack(const struct stack *stack)
{
	for (uint32_t i = 0; i < stack->nframes; i++) {
		const struct frame *frame = stack->frames[i];

		if (frame->kind != FRAME_R) {
			if (frame->kind == FRAME_MARK || frame->kind == FRAME_ANON)
				return false;
			continue;
		}
		if (AMONG(frame, loops))
			return true;
		if (!AMONG(frame, waits))
			return false;
	}
	return false;
}
