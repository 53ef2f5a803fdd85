/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/verdict.h"

#include <linux/capability.h>
#include <string.h>

#define BIT(capability) (1ULL << (capability))
#define CAPS_BPF	(BIT(CAP_BPF) | BIT(CAP_PERFMON))
#define CAPS_TRACE	BIT(CAP_SYS_PTRACE)

static const struct {
	const char *name, *processes;
} reaches[] = {
	[VERDICT_NONE] = {"none", ""},
	[VERDICT_STARTED] = {"started", "only R processes that the profiler starts"},
	[VERDICT_OWN] = {"own", "your own R processes"},
	[VERDICT_EVERY] = {"every", "every R process"},
};

const char *verdict__reach_name(enum verdict_reach reach)
{
	return reaches[reach].name;
}

/* Every engine reads memory of the target from outside, if only to find R's variables. */
static enum verdict_reach facts__reach(const struct verdict_facts *facts)
{
	if (facts->ptrace_scope == 3 || *facts->outside.text)
		return VERDICT_NONE;
	if (facts->permitted & CAPS_TRACE)
		return facts->whose == RIGHTS_CALLER ? VERDICT_OWN : VERDICT_EVERY;
	switch (facts->ptrace_scope) {
	case 0:
		return VERDICT_OWN;
	case 1:
		return VERDICT_STARTED;
	default:
		return VERDICT_NONE;
	}
}

static bool sudo__helps(const struct verdict_facts *facts)
{
	return !facts->root && !facts->user_ns && !(~facts->bounding & (CAPS_BPF | CAPS_TRACE));
}

/* Split "REASON; ADVICE" of an engine.  "bpf: " in front of it is what @v says anyway. */
static void reason__split(const struct errmsg *from, struct errmsg *reason, struct verdict *v)
{
	const char *text = from->text;
	char *at;

	errmsg__set(reason, 0, "%s", text + (strncmp(text, "bpf: ", 5) ? 0 : 5));
	at = strstr(reason->text, "; ");
	if (!at)
		return;
	*at = '\0';
	if (!*v->advice.text)
		errmsg__set(&v->advice, 0, "What helps: %s.", at + strlen("; "));
}

/* Only some processes can be read. */
static void limit__processes(const struct verdict_facts *facts, struct errmsg *reason,
			     struct verdict *v)
{
	if (facts->ptrace_scope == 3) {
		errmsg__set(reason, 0,
			    "kernel.yama.ptrace_scope is 3: no process may read another");
		errmsg__set(&v->advice, 0,
			    "Set a lower value in /etc/sysctl.d and restart the system.");
		return;
	}
	if (*facts->outside.text) {
		reason__split(&facts->outside, reason, v);
		return;
	}
	if (v->reach < VERDICT_OWN)
		errmsg__set(reason, 0, "kernel.yama.ptrace_scope is %u", facts->ptrace_scope);
	if (!*v->advice.text)
		errmsg__set(&v->advice, 0,
			    "To profile other processes in Docker: docker run --cap-add "
			    "SYS_PTRACE.");
}

/* BPF is not available. */
static void limit__bpf(const struct verdict_facts *facts, struct errmsg *reason, struct verdict *v)
{
	if (facts->user_ns) {
		errmsg__set(reason, 0, "a user namespace does not allow it");
		errmsg__set(&v->advice, 0,
			    "To use BPF, run xrprof-bpf outside of the user namespace (a rootless "
			    "container is one).");
	} else if (facts->lockdown || !(~facts->permitted & CAPS_BPF)) {
		v->advice = (struct errmsg){""};
		reason__split(&facts->bpf, reason, v);
	} else if (~facts->bounding & CAPS_BPF) {
		errmsg__set(reason, 0, "this container or service has no CAP_BPF or CAP_PERFMON");
		errmsg__set(&v->advice, 0,
			    "To use BPF in Docker: docker run --cap-add BPF --cap-add PERFMON.");
	} else {
		errmsg__set(reason, 0, "only root and programs with CAP_BPF may use it");
	}
}

void verdict__of(struct verdict *v, const struct verdict_facts *facts)
{
	struct errmsg reason = {""};
	const char *where = "";

	*v = (struct verdict){.reach = facts__reach(facts), .bpf = !*facts->bpf.text};
	if (sudo__helps(facts) && !(v->reach == VERDICT_EVERY && v->bpf))
		errmsg__set(&v->advice, 0,
			    "To profile every R process with BPF, run xrprof-bpf with sudo.");
	if (v->reach < VERDICT_OWN || (v->bpf && v->reach < VERDICT_EVERY))
		limit__processes(facts, &reason, v);
	else if (!v->bpf)
		limit__bpf(facts, &reason, v);
	if (v->reach == VERDICT_NONE) {
		errmsg__set(&v->text, 0, "You cannot profile R processes: %s.", reason.text);
		return;
	}
	if (v->reach == VERDICT_EVERY)
		where = facts->user_ns	? " of this user namespace"
			: facts->pid_ns ? " of this pid namespace"
					: "";
	errmsg__set(&v->text, 0, "You can profile %s%s, %s BPF%s%s.", reaches[v->reach].processes,
		    where, v->bpf ? "with" : "without", *reason.text ? ": " : "", reason.text);
}
