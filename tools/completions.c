/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a shell completes by: its template (tools/completions/SHELL.in) on stdin, with the line
 * @TABLE@ replaced by what the tables of subcommands and options say; on stdout.
 *
 *	completions bash|zsh|fish <TEMPLATE
 */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"

#define ALIASES (sizeof(((struct option_row *)0)->alias) / sizeof(const char *))

/* A text inside single quotes.  A backslash escapes each of @special for the shell. */
static void put__quoted(const char *text, const char *special, bool fish)
{
	for (const char *at = text; *at; at++) {
		if (*at == ':' && !at[1])
			break; /* it leads to the choices, which the shell shows */
		if (strchr(special, *at))
			putchar('\\');
		if (*at != '\'')
			putchar(*at);
		else
			fputs(fish ? "\\'" : "'\\''", stdout);
	}
}

static const char *arg__word(const char *arg)
{
	static const char *const words[] = {
		[OPTION_ARG_OTHER] = "other",	  [OPTION_ARG_FILE] = "file",
		[OPTION_ARG_PID] = "pid",	  [OPTION_ARG_USER] = "user",
		[OPTION_ARG_COMMAND] = "command",
	};

	return arg ? words[option_arg__kind(arg)] : "";
}

/* These have no options and no table: `help [SUBCOMMAND]` and `version`. */
static const char *const words_help[2] = {"help", "print what a subcommand does"};
static const char *const words_version[2] = {"version", "print the version"};

/* The names of the subcommands that have help. */
static void names__print(void)
{
	for (const struct subcommand *const *c = cmd__all(); *c; c++)
		printf("%s%s", c == cmd__all() ? "" : " ", (*c)->name);
}

static void choices__print(const struct option_row *r)
{
	struct option_choice c;

	for (size_t i = 0; r->choice(i, &c); i++)
		printf("%s%s", i ? " " : "", c.name);
}

/* --- bash: what an option takes, and the names of the options --- */

static void subcommand__bash(const struct subcommand *c)
{
	printf("\t%s)\n\t\tcase $2 in\n", c->name);
	for (const struct option_row *r = c->options; r->name; r++) {
		if (!r->arg)
			continue;
		printf("\t\t--%s", r->name);
		for (size_t i = 0; i < ALIASES && r->alias[i]; i++)
			printf(" | --%s", r->alias[i]);
		if (r->letter)
			printf(" | -%c", r->letter);
		printf(") takes='");
		if (r->choice)
			printf("words ");
		if (r->choice)
			choices__print(r);
		else
			printf("%s", arg__word(r->arg));
		printf("' ;;\n");
	}
	printf("\t\t*) takes= ;;\n\t\tesac\n\t\toperand='%s'\n\t\toptions='",
	       arg__word(c->operand));
	for (const struct option_row *r = c->options; r->name; r++)
		printf("%s--%s", r == c->options ? "" : " ", r->name);
	printf("'\n\t\t;;\n");
}

static void table__bash(void)
{
	printf("_xrprof_bpf_names='");
	names__print();
	printf(" %s %s", words_help[0], words_version[0]);
	printf("'\n\n# SUBCOMMAND OPTION: sets takes, operand and options\n"
	       "_xrprof_bpf_table() {\n\tcase $1 in\n");
	for (const struct subcommand *const *c = cmd__all(); *c; c++)
		subcommand__bash(*c);
	printf("\t%s)\n\t\ttakes='' operand='words ", words_help[0]);
	names__print();
	printf("' options=''\n\t\t;;\n\t%s) takes='' operand='' options='' ;;\n\tesac\n}\n",
	       words_version[0]);
}

/* --- zsh: the specifications of _arguments --- */

static void action__zsh(const struct option_row *r)
{
	static const char *const actions[] = {
		[OPTION_ARG_OTHER] = " ",
		[OPTION_ARG_FILE] = "_files",
		[OPTION_ARG_PID] = "_xrprof_bpf_pids",
		[OPTION_ARG_USER] = "_users",
		[OPTION_ARG_COMMAND] = "_command_names",
	};

	if (!r->arg)
		return;
	putchar(':');
	put__quoted(r->arg, "\\:", false);
	putchar(':');
	if (!r->choice) {
		printf("%s", actions[option_arg__kind(r->arg)]);
		return;
	}
	putchar('(');
	choices__print(r);
	putchar(')');
}

/* One name of an option: of one letter or of several; @hidden: not offered. */
static void spec__zsh(const struct option_row *r, const char *name, bool hidden)
{
	bool letter = !name[1];

	printf("\t\t\t'%s%s%s%s%s[", hidden ? "!" : "", r->arg ? "*" : "", letter ? "-" : "--",
	       name,
	       !r->arg	? ""
	       : letter ? "+"
			: "=");
	put__quoted(r->help, "\\[]", false);
	putchar(']');
	action__zsh(r);
	printf("'\n");
}

static void subcommand__zsh(const struct subcommand *c)
{
	const struct option_row operand = {.name = "", .arg = c->operand};

	printf("\t%s)\n\t\toperand='%s'\n\t\tspecs=(\n", c->name, arg__word(c->operand));
	for (const struct option_row *r = c->options; r->name; r++) {
		const char letter[2] = {r->letter, '\0'};

		if (r->letter)
			spec__zsh(r, letter, false);
		spec__zsh(r, r->name, false);
		for (size_t i = 0; i < ALIASES && r->alias[i]; i++)
			spec__zsh(r, r->alias[i], true);
	}
	if (c->operand && option_arg__kind(c->operand) != OPTION_ARG_COMMAND) {
		printf("\t\t\t'*");
		action__zsh(&operand);
		printf("'\n");
	}
	printf("\t\t)\n\t\t;;\n");
}

static void table__zsh(void)
{
	printf("typeset -ga _xrprof_bpf_names\n_xrprof_bpf_names=(\n");
	for (const struct subcommand *const *c = cmd__all(); *c; c++) {
		printf("\t'%s:", (*c)->name);
		put__quoted((*c)->help, "\\", false);
		printf("'\n");
	}
	printf("\t'%s:%s'\n\t'%s:%s'\n", words_help[0], words_help[1], words_version[0],
	       words_version[1]);
	printf(")\n\n# SUBCOMMAND: sets operand and specs\n_xrprof_bpf_table() {\n\tcase $1 in\n");
	for (const struct subcommand *const *c = cmd__all(); *c; c++)
		subcommand__zsh(*c);
	printf("\t%s)\n\t\toperand=words\n\t\tspecs=('1:SUBCOMMAND:(", words_help[0]);
	names__print();
	printf(")')\n\t\t;;\n\t%s)\n\t\toperand=\n\t\tspecs=('*: : ')\n\t\t;;\n\tesac\n}\n",
	       words_version[0]);
}

/* --- fish: a command for each option --- */

static void action__fish(const char *arg, const struct option_row *r)
{
	static const char *const actions[] = {
		[OPTION_ARG_OTHER] = " -x",
		[OPTION_ARG_FILE] = " -r -F",
		[OPTION_ARG_PID] = " -x -a '(__fish_complete_list , __xrprof_bpf_pids)'",
		[OPTION_ARG_USER] = " -x -a '(__fish_complete_users)'",
		[OPTION_ARG_COMMAND] = "",
	};

	if (r && r->choice) {
		printf(" -x -a '");
		choices__print(r);
		putchar('\'');
	} else if (arg) {
		printf("%s", actions[option_arg__kind(arg)]);
	}
}

static void row__fish(const struct subcommand *c, const struct option_row *r)
{
	printf("complete -c xrprof-bpf -n '__xrprof_bpf_is %s' -l %s", c->name, r->name);
	if (r->letter)
		printf(" -s %c", r->letter);
	action__fish(r->arg, r);
	printf(" -d '");
	put__quoted(r->help, "\\", true);
	printf("'\n");
	for (size_t i = 0; i < ALIASES && r->alias[i]; i++) {
		printf("complete -c xrprof-bpf -n '__xrprof_bpf_is %s; and "
		       "__xrprof_bpf_typed --%s' -l %s",
		       c->name, r->alias[i], r->alias[i]);
		action__fish(r->arg, r);
		printf("\n");
	}
}

static void table__fish(void)
{
	printf("\nset -g __xrprof_bpf_names ");
	names__print();
	printf(" %s %s\n", words_help[0], words_version[0]);
	printf("\ncomplete -c xrprof-bpf -n __xrprof_bpf_first -a %s -d '%s'\n", words_help[0],
	       words_help[1]);
	printf("complete -c xrprof-bpf -n __xrprof_bpf_first -a %s -d '%s'\n", words_version[0],
	       words_version[1]);
	printf("complete -c xrprof-bpf -n '__xrprof_bpf_is %s; and not __xrprof_bpf_first' -a '",
	       words_help[0]);
	names__print();
	printf("'\n");
	for (const struct subcommand *const *c = cmd__all(); *c; c++) {
		printf("\ncomplete -c xrprof-bpf -n __xrprof_bpf_first -a %s -d '", (*c)->name);
		put__quoted((*c)->help, "\\", true);
		printf("'\n");
		for (const struct option_row *r = (*c)->options; r->name; r++)
			row__fish(*c, r);
		if (!(*c)->operand)
			continue;
		printf("complete -c xrprof-bpf -n '__xrprof_bpf_is %s; and ", (*c)->name);
		if (option_arg__kind((*c)->operand) == OPTION_ARG_COMMAND)
			printf("__xrprof_bpf_behind_dashes' -x -a '(__xrprof_bpf_command)'");
		else
			printf("not __xrprof_bpf_first'");
		action__fish((*c)->operand, NULL);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*table)(void);
	} shells[] = {
		{"bash", table__bash},
		{"zsh", table__zsh},
		{"fish", table__fish},
	};
	char line[512];
	size_t i = 0, found = 0;

	while (i < sizeof(shells) / sizeof(shells[0]) &&
	       (argc != 2 || strcmp(argv[1], shells[i].name) != 0))
		i++;
	if (i == sizeof(shells) / sizeof(shells[0])) {
		fprintf(stderr, "usage: completions bash|zsh|fish <TEMPLATE\n");
		return 2;
	}
	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "@TABLE@\n") != 0) {
			fputs(line, stdout);
			continue;
		}
		shells[i].table();
		found++;
	}
	return found != 1 || fflush(stdout) || ferror(stdout);
}
