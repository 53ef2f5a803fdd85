/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/outcome.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"

#define SETTLE_NS (2000 * NS_PER_MS)  /* for a program, and its libraries, to be mapped */
#define INIT_NS	  (5000 * NS_PER_MS)  /* for an R that was named while it starts */
#define APPEAR_NS (10000 * NS_PER_MS) /* for R to be mapped, where nobody tells of that */

/* Its name says that it is about to become R: the shell script, and the program that runs it. */
static bool comm__becomes_r(const char *comm)
{
	return !strcmp(comm, "R") || !strcmp(comm, "Rscript");
}

/* There is no R in it. */
static bool outcome__may_appear(const struct outcome_facts *facts)
{
	switch (facts->origin) {
	case PROCESS_NAMED:
		return comm__becomes_r(facts->comm) && facts->waited < INIT_NS;
	case PROCESS_WORKLOAD:
		return true;
	case PROCESS_SEEN:
		return facts->waited < (facts->told ? SETTLE_NS : APPEAR_NS);
	case PROCESS_REPLACED:
		return !facts->told && facts->waited < APPEAR_NS;
	case PROCESS_FORKED:
		break;
	}
	return false;
}

/* R is there, but it has not begun. */
static bool outcome__may_begin(const struct outcome_facts *facts)
{
	return facts->origin != PROCESS_NAMED || facts->waited < INIT_NS;
}

enum outcome outcome__of(int err, const struct outcome_facts *facts)
{
	bool again = false;

	switch (err) {
	case -ESRCH:
		return OUTCOME_GONE;
	case -EAGAIN:
		again = outcome__may_begin(facts);
		break;
	case -ENOEXEC:
		again = outcome__may_appear(facts);
		break;
	case -EBADMSG:
		again = facts->waited < SETTLE_NS;
		break;
	}
	return again ? OUTCOME_NOT_YET : OUTCOME_NEVER;
}

bool outcome__matters(int err)
{
	switch (err) {
	case -ESRCH:
	case -ENOEXEC:
	case -EEXIST: /* the engine has it already */
	case -E2BIG:  /* said once, and counted */
		return false;
	default:
		return true;
	}
}
