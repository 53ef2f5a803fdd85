/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `record`: a session whose samples go to files, and the files beside the profile.
 */
#ifndef XR_CMD_RECORD_H
#define XR_CMD_RECORD_H

#include "base/buf.h"
#include "cmd/config.h"
#include "os/files.h"
#include "os/signals.h"

/*
 * record_files__check - two of the files that @c names may not be the same one: the later output
 * would destroy the other.  -EINVAL: they are, and @f says which.  A file that cannot be looked at
 * is left to its opening.
 */
int record_files__check(const struct config *c, struct errmsg *f);

/*
 * record_files__write - write @text to the file of an option, which may not be one that @others
 * have written.  What wrote the profile may hang on it, so this is another process; one that hangs
 * here is abandoned, too.  Negative errno; @f has the reason.
 */
int record_files__write(const struct files *others, const char *option, const char *path,
			const struct buf *text, struct errmsg *f);

/*
 * record__run - profile as @c says until that is over, or @signals tell to end; both are borrowed.
 * Failures are printed on stderr.  Return the exit status, CMD_* or that of the command of @c.
 */
int record__run(const struct config *c, struct signals *signals);

#endif
