/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options from a file: a line `NAME = VALUE` for each, with the names of the command line, or NAME
 * alone for one that takes no argument.  Empty lines, and those that begin with #, are not looked
 * at; blanks around names and values are not part of them.
 */
#ifndef XR_CMD_CONFIG_FILE_H
#define XR_CMD_CONFIG_FILE_H

#include "base/errmsg.h"
#include "cmd/option_rows.h"

#define CONFIG_FILE_MAX (1u << 20) /* bytes */

/*
 * config_file__read - the text of the file, terminated, to be freed.  Negative errno, @f filled.
 */
int config_file__read(char **text, const char *path, struct errmsg *f);

/*
 * config_file__apply - store what @text says by @rows in @into, as option_rows__set does, which
 * borrows from @text: it is changed.  @path is for messages.  -EINVAL or -ENOMEM, @f filled.
 */
int config_file__apply(const struct option_row *rows, void *into, char *text, const char *path,
		       struct errmsg *f);

#endif
