/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/use.h"

#include "base/clock.h"
#include "os/proc.h"

#define LOOK_NS	    NS_PER_S
#define LOOKS	    64u /* a second, of all processes */
#define AGE_PART    8u	/* one that was there for long may rest for this part of that, */
#define REST_NS	    (10 * NS_PER_S) /* at most */
#define WAITED_NS   NS_PER_S
#define WAITED_PART 10u /* on the CPU less than this part of the time */

void use__look(struct use *u, pid_t pid, uint64_t now)
{
	uint64_t cpu;

	char state;

	if (proc__use(pid, &cpu, &state))
		return;
	if (!u->since) {
		u->since = now;
		u->before = cpu;
	}
	/* a pid that came round again has used less */
	if (cpu < u->cpu)
		return;
	u->at = now;
	u->cpu = cpu;
	u->stopped = state == 'T' || state == 't';
}

bool use__due(const struct use *u, uint64_t now, size_t processes)
{
	uint64_t rest = LOOK_NS * (1 + processes / LOOKS), age = use__elapsed(u) / AGE_PART;

	if (age > rest && rest < REST_NS)
		rest = age < REST_NS ? age : REST_NS;
	return now - u->at >= rest;
}

bool use__waited(const struct use *u)
{
	return use__elapsed(u) >= WAITED_NS && use__cpu(u) < use__elapsed(u) / WAITED_PART;
}

void verdict__add(struct verdict *v, const struct notes *notes, const struct use *u, uint32_t pid,
		  const char *comm, bool named)
{
	v->processes++;
	v->cpu_ns += use__cpu(u);
	if (!use__waited(u))
		return;
	if (u->stopped && named) {
		notes__user(notes,
			    "process %u (%s) is stopped, by a signal (SIGSTOP) or a debugger: it "
			    "used %.2f s of CPU in %.2f s; kill -CONT %u resumes it",
			    pid, comm, (double)use__cpu(u) / (double)NS_PER_S,
			    (double)use__elapsed(u) / (double)NS_PER_S, pid);
		return;
	}
	v->waited++;
	if (!named || v->said == VERDICT_SAID)
		return;
	v->said++;
	notes__user(notes,
		    "process %u (%s) used %.2f s of CPU in %.2f s and waited the rest; --clock "
		    "wall shows where",
		    pid, comm, (double)use__cpu(u) / (double)NS_PER_S,
		    (double)use__elapsed(u) / (double)NS_PER_S);
}

void verdict__end(const struct verdict *v, const struct notes *notes)
{
	if (v->waited > v->said)
		notes__user(notes,
			    "%u%s of %u processes used less than a tenth of a CPU and waited the "
			    "rest; --clock wall shows where",
			    v->waited - v->said, v->said ? " more" : "", v->processes);
}
