/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which stacks wait for work. */
#include "profile/idle.h"
#include "profile/stacks.h"
#include "tap.h"

static struct stacks s;

static const struct name *name(const char *text)
{
	return stacks__name(&s, text, strlen(text));
}

/* "package::function" of R, "=function" native, "<Mark>", innermost first, by blanks. */
static const struct stack *stack(const char *text)
{
	const struct frame *frames[16];
	char copy[512], *at;
	uint32_t n = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	for (at = strtok(copy, " "); at && n < 16; at = strtok(NULL, " ")) {
		char *colons = strstr(at, "::");
		struct frame frame = {.kind = FRAME_R};

		if (*at == '=')
			frame.kind = FRAME_NATIVE;
		else if (*at == '<')
			frame.kind = FRAME_ANON;
		if (colons && frame.kind == FRAME_R) {
			*colons = '\0';
			frame.package = name(at);
			at = colons + 2;
		}
		frame.function = name(*at == '=' ? at + 1 : at);
		frames[n++] = stacks__frame(&s, &frame);
	}
	return stacks__stack(&s, frames, n, (struct place){0});
}

static const struct {
	const char *stack;
	bool idle;
} cases[] = {
	{"httpuv::service shiny::runApp", true},
	{"later::run_now httpuv::service runServer", true},
	{"later::execCallbacks later::run_now httpuv::service", true},
	{"=epoll_wait =uv_run later::run_now httpuv::service", true},
	{"later::run_now", true},
	{"base::unserialize parallel::recvData.SOCKnode parallel::recvData base::doTryCatch "
	 "base::tryCatchOne base::tryCatchList base::tryCatch parallel::workCommand "
	 "parallel::workLoop",
	 true},
	{"Rserve::run.Rserve", true},
	/* without packages the name decides */
	{"run_now service", true},
	/* what a request runs waits for something else */
	{"base::Sys.sleep handler httpuv::rookCall later::execCallbacks later::run_now "
	 "httpuv::service",
	 false},
	{"base::readLines <Anonymous> later::execCallbacks later::run_now", false},
	{"base::unserialize <Anonymous> base::do.call parallel::workCommand", false},
	{"base::Sys.sleep base::do.call base::doTryCatch parallel::workCommand", false},
	{"base::Sys.sleep request Rserve::run.Rserve", false},
	/* one of that name that is somebody else's */
	{"mine::service main", false},
	{"mine::run_now later::service", false},
	{"base::Sys.sleep main", false},
	{"=select", false},
	{"", false},
};

TEST(idle)
{
	uint64_t last_id = 0;

	stacks__init(&s, NULL, &last_id);
	for (size_t i = 0; i < COUNT(cases); i++)
		tap__ok(idle__stack(stack(cases[i].stack)) == cases[i].idle, "%s: %s",
			cases[i].stack, cases[i].idle ? "waits for work" : "does not");
}
