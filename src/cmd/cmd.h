/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The subcommands besides `record`, for the table in main.c.  Each takes its own arguments, argv[0]
 * being its name, and returns the exit status of the program.
 */
#ifndef XR_CMD_CMD_H
#define XR_CMD_CMD_H

int cmd_list(int argc, char **argv); /* cmd_list.c */
int cmd_info(int argc, char **argv); /* cmd_info.c */

/* cmd__usage - say that @word is no option of @command; returns the exit status for that. */
int cmd__usage(const char *command, const char *word);

#endif
