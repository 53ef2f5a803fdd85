/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/cmd.h"
#include "base/log.h"
#include "base/version.h"

int cmd__usage(const char *command, const char *word)
{
	log__line("%s: what is %s? (try %s %s --help)", command, word, XR_PROGRAM, command);
	return 2;
}
