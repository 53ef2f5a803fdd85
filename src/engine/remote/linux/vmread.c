/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine that never stops its targets: a stack that changed while it was read is read again,
 * and after some times given up and counted as torn.
 */
#include <errno.h>

#include "engine/remote/linux/loop.h"
#include "engine/remote/linux/watchdog.h"
#include "engine/remote/linux/vm.h"
#include "os/linux/refusal.h"

static int vmread__probe(const struct engine_config *config, engine_found found, void *arg,
			 struct errmsg *f)
{
	(void)config;
	return remote_vm__probe(found, arg, f);
}

static int vmread__begin(void **data, struct errmsg *f)
{
	struct watchdog *w = NULL;
	int err = remote_vm__probe(NULL, NULL, f);

	if (!err)
		err = watchdog__open(&w, f);
	*data = w;
	return err;
}

static void vmread__end(void *data)
{
	watchdog__close(data);
}

static struct watchdog *vmread__watchdog(void *data)
{
	return data;
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
	.watchdog = vmread__watchdog,
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
