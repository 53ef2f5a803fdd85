/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What people type who know other profilers, or mistype: one table of words, and what does here
 * what they are for.
 */
#ifndef XR_CMD_HINTS_H
#define XR_CMD_HINTS_H

#include <stddef.h>

#include "cmd/option_rows.h"

#define HINT_MAX 160u /* bytes of a hint, with the terminator */

/*
 * hints__option - @word, "-r" or "--threads", is not an option of @rows.  @text begins with "; " or
 * is "": there is nothing to say.
 */
void hints__option(const struct option_row *rows, const char *word, char text[HINT_MAX]);

/*
 * hints__value - @value is not one that --@option takes.  Returns the one that is meant, or NULL;
 * then @text is as above.
 */
const char *hints__value(const char *option, const char *value, char text[HINT_MAX]);

/* hints__subcommand - @word is not one of @names, which end with NULL.  @text is as above. */
void hints__subcommand(const char *const *names, const char *word, char text[HINT_MAX]);

#endif
