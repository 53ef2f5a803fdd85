/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/linux/sandbox.h"

#include <errno.h>
#include <seccomp.h>
#include <stdbool.h>
#include <string.h>

#include "os/linux/sandbox_calls.h"

/* @action for all of @names; those that this machine or libseccomp does not know are left out. */
static int filter__add(scmp_filter_ctx filter, uint32_t action, const char *const *names)
{
	int err = 0;

	for (; *names && !err; names++) {
		int number = seccomp_syscall_resolve_name(*names);

		if (number >= 0)
			err = seccomp_rule_add(filter, action, number, 0);
	}
	return err;
}

static int filter__fill(scmp_filter_ctx filter, enum sandbox_role role)
{
	int err = filter__add(filter, SCMP_ACT_KILL_PROCESS, calls_fatal);

	if (!err)
		err = filter__add(filter, SCMP_ACT_ALLOW, calls_common);
	if (!err)
		err = filter__add(filter, SCMP_ACT_ALLOW, calls_files);
	if (!err)
		err = filter__add(filter, SCMP_ACT_ALLOW, calls_sockets);
	if (!err && role == SANDBOX_SERVICE)
		err = filter__add(filter, SCMP_ACT_ALLOW, calls_sampler);
	if (!err && role == SANDBOX_FRONT)
		err = filter__add(filter, SCMP_ACT_KILL_PROCESS, calls_fatal_front);
	/* a search instead of one comparison after another: the filter runs at each system call */
	return err ? err : seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
}

int sandbox__enter(enum sandbox_role role, struct errmsg *f)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err = filter ? filter__fill(filter, role) : -ENOMEM;

	if (!err)
		err = seccomp_load(filter);
	if (filter)
		seccomp_release(filter);
	return err ? errmsg__set(f, err, "cannot install the system call filter: %s",
				 strerror(-err))
		   : 0;
}
