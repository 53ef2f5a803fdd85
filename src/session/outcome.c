/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/outcome.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "os/rights.h"

#define EXEC_NS	  (200 * NS_PER_MS)   /* for an exec to change who may look */
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
	bool long_one;

	switch (facts->origin) {
	case PROCESS_NAMED:
		return facts->follow || (comm__becomes_r(facts->comm) && facts->waited < INIT_NS);
	case PROCESS_WORKLOAD:
		return true;
	case PROCESS_SEEN:
		return facts->waited < (facts->told ? SETTLE_NS : APPEAR_NS);
	case PROCESS_REPLACED:
		long_one = facts->follow || comm__becomes_r(facts->comm);
		return !facts->told && facts->waited < (long_one ? APPEAR_NS : SETTLE_NS);
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
	case -EMFILE: /* it is us who are short of something */
	case -ENFILE:
	case -ENOMEM:
		again = facts->waited < SETTLE_NS;
		break;
	case -EACCES:
	case -EPERM:
		again = facts->origin != PROCESS_NAMED && facts->waited < EXEC_NS;
		break;
	case -EBUSY: /* it was not even asked */
		again = true;
		break;
	case -ETIMEDOUT:
		again = facts->origin == PROCESS_SEEN || facts->origin == PROCESS_WORKLOAD;
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
		return false;
	case -EACCES: /* all are all of the caller's, if the program has more rights than he */
		return !rights__exceed();
	default:
		return !outcome__is_full(err); /* said once, and counted */
	}
}

bool outcome__is_full(int err)
{
	return err == -E2BIG || err == -EMFILE || err == -ENFILE;
}
