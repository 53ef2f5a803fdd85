/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which stacks wait for work. */
#include "profile/idle.h"
#include "stack_maker.h"

/* "package::function" of R, "=function" native, "<Mark>", innermost first, by blanks. */
static const struct stack *stack(const char *text)
{
	const struct frame *frames[16];
	char copy[512], *at;
	uint32_t n = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	for (at = strtok(copy, " "); at && n < 16; at = strtok(NULL, " ")) {
		char *colons = *at == '<' ? NULL : strstr(at, "::");

		if (colons)
			*colons = '\0';
		if (*at == '=')
			frames[n++] = MADE(.kind = FRAME_NATIVE, .function = at + 1);
		else if (colons)
			frames[n++] = MADE(.function = colons + 2, .package = at);
		else
			frames[n++] =
				MADE(.kind = *at == '<' ? FRAME_ANON : FRAME_R, .function = at);
	}
	return stack__of(n, frames, NULL, 0);
}

static const struct {
	const char *stack;
	bool idle;
} cases[] = {
	{"httpuv::service shiny::runApp", true},
	{"later::run_now httpuv::service runServer", true},
	{"later::execCallbacks later::run_now httpuv::service", true},
	{"=epoll_wait =uv_run later::run_now httpuv::service", true},
	{"base::unserialize parallel::recvData.SOCKnode parallel::recvData base::doTryCatch "
	 "base::tryCatchOne base::tryCatchList base::tryCatch parallel::workCommand "
	 "parallel::workLoop",
	 true},
	{"Rserve::run.Rserve", true},
	/* without packages the name decides */
	{"run_now service", true},
	/* R's name for a call has the package, too, if the code has */
	{"base::base::unserialize parallel::parallel:::recvData parallel::parallel:::workLoop",
	 true},
	{"later::later::run_now main", true},
	{"mine::later::run_now main", false},
	/* what a request runs waits for something else */
	{"base::Sys.sleep handler httpuv::rookCall later::execCallbacks later::run_now "
	 "httpuv::service",
	 false},
	{"base::readLines <Anonymous> later::execCallbacks later::run_now", false},
	{"base::unserialize <Anonymous> base::do.call parallel::workCommand", false},
	/* one of that name that is somebody else's */
	{"mine::service main", false},
	{"=select", false},
	{"", false},
};

TEST(idle)
{
	for (size_t i = 0; i < COUNT(cases); i++)
		tap__ok(idle__stack(stack(cases[i].stack)) == cases[i].idle, "%s: %s",
			cases[i].stack, cases[i].idle ? "waits for work" : "does not");
}
