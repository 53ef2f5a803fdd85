/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine that never stops its targets: a stack that changed while it was read is read again,
 * and after some times given up and counted as torn.
 */
#include <errno.h>
#include <linux/capability.h>
#include <unistd.h>

#include "engine/remote/linux/loop.h"
#include "engine/remote/linux/watchdog.h"
#include "os/linux/refusal.h"
#include "os/linux/rights.h"
#include "os/proc.h"

/* 0, or -ENOSYS, -EPERM: a filter forbids it. */
static int vm__usable(void)
{
	char from = 'x', to = 0;
	struct mem_span span = {.addr = (uintptr_t)&from, .to = &to, .len = 1};
	struct mem_reader self = proc__reader(getpid());
	int got = mem_reader__read_spans(&self, &span, 1);

	return got < 0 ? got : 0;
}

int remote_vm__readable(pid_t pid, uint64_t at)
{
	struct mem_reader reader = proc__reader(pid);
	uint64_t word;
	struct mem_span span = {.addr = at, .to = &word, .len = sizeof(word)};
	int got = mem_reader__read_spans(&reader, &span, 1);

	return got == 1 ? 0 : got < 0 ? got : -EFAULT;
}

/* Yama's limit on whom a process may trace and read. */
static void vm__probe_scope(engine_found found, void *arg)
{
	struct engine_finding finding = {.name = "ptrace_scope"};
	const unsigned int scope = rights__ptrace_scope();

	finding.ok = !scope || (scope < 3 && rights__permitted() >> CAP_SYS_PTRACE & 1);
	errmsg__set(&finding.value, 0, "%u", scope);
	finding.meaning = finding.ok ? "processes that this user may trace can be profiled"
				     : "only processes that the profiler started can be profiled";
	if (scope == 3)
		finding.meaning = "no process may trace another, whatever its privileges";
	found(arg, &finding);
}

int remote_vm__probe(engine_found found, void *arg, struct errmsg *f)
{
	struct engine_finding finding = {.name = "process_vm_readv"};
	int err = vm__usable();
	struct errmsg why;

	if (err)
		errmsg__set(&finding.value, err, "process_vm_readv: %s",
			    refusal__target(REFUSAL_READ, getpid(), &why));
	else
		errmsg__set(&finding.value, 0, "yes");
	finding.ok = !err;
	finding.meaning = err ? "engines ptrace and vmread cannot be used"
			      : "the memory of a process can be read from outside";
	if (found) {
		found(arg, &finding);
		vm__probe_scope(found, arg);
	}
	return err ? errmsg__set(f, err, "%s", finding.value.text) : 0;
}

static int vmread__probe(const struct engine_config *config, engine_found found, void *arg,
			 struct errmsg *f)
{
	(void)config;
	return remote_vm__probe(found, arg, f);
}

static int vmread__begin(struct engine *e, struct errmsg *f)
{
	int err = remote_vm__probe(NULL, NULL, f);

	return err ? err : watchdog__open(&e->watchdog, f);
}

static void vmread__end(struct engine *e)
{
	watchdog__close(e->watchdog);
}

static int vmread__check(struct engine *e, struct loop_target *t, struct errmsg *f)
{
	int err = remote_vm__readable(t->pid, t->base.row.head_at);
	struct errmsg why;

	(void)e;
	if (err == -EPERM)
		return errmsg__set(f, err, "not allowed to read the memory of process %d: %s",
				   (int)t->pid, refusal__target(REFUSAL_READ, t->pid, &why));
	if (err)
		return errmsg__set(f, -ESRCH, "process %d ended before it could be read",
				   (int)t->pid);
	return 0;
}

static int vmread__look(struct engine *e, struct loop_target *t, struct remote_state *state)
{
	(void)e;
	(void)state;
	return remote_walk__moving(t->base.walk);
}

static const struct remote_kind kind = {
	.begin = vmread__begin,
	.end = vmread__end,
	.check = vmread__check,
	.look = vmread__look,
};

static int vmread__open(struct engine **out, const struct engine_config *config, struct errmsg *f)
{
	return remote_loop__open(out, config, &kind, "vmread", f);
}

const struct engine_ops engine_vmread = {
	.name = "vmread",
	.help = "from outside, never stopping the target; a stack that changes too fast is lost",
	.probe = vmread__probe,
	.open = vmread__open,
	ENGINE_LOOP_OPS,
};
