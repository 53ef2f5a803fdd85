/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The man pages, on stdout, in mdoc(7), from the tables of subcommands and options.
 *
 *	man <TEMPLATE		that of the program: the lines @SYNOPSIS@ and @SUBCOMMANDS@ replaced
 *	man NAME <TEMPLATE	that of subcommand NAME
 *	man -l			the names of the subcommands
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cmd/cmd.h"

/*
 * Text as roff takes it, from the first column on: a sentence a line, no control lines, and dashes
 * of options that can be copied.
 */
static void text__roff(const char *text)
{
	bool first = true; /* of a line */

	for (const char *at = text; *at; at++) {
		bool word = at == text || strchr(" \n(", at[-1]);

		if (*at == '\n') {
			printf("\n.Pp\n");
			first = true;
			continue;
		}
		if (first && (*at == '.' || *at == '\''))
			printf("\\&");
		first = false;
		if (*at == '\\')
			printf("\\e");
		else if (*at == '-' && (word || (at > text && at[-1] == '-')))
			printf("\\-");
		else if (*at == ' ' && at > text + 1 && at[-1] == '.' &&
			 islower((unsigned char)at[-2]) && isupper((unsigned char)at[1])) {
			printf("\n");
			first = true;
		} else
			putchar(*at);
	}
	printf("\n");
}

/* Lines as they are. */
static void text__literal(const char *text)
{
	for (const char *at = text; *at; at++) {
		if ((at == text || at[-1] == '\n') && (*at == '.' || *at == '\''))
			printf("\\&");
		if (*at == '\\')
			printf("\\e");
		else if (*at == '\'' || *at == '"' || *at == '`' || *at == '~' || *at == '^')
			printf("\\%s", *at == '\''  ? "(aq"
				       : *at == '"' ? "(dq"
				       : *at == '`' ? "(ga"
				       : *at == '~' ? "(ti"
						    : "(ha");
		else if (*at == '-')
			printf("\\-");
		else
			putchar(*at);
	}
	printf("\n");
}

static void row__man(const struct option_row *r)
{
	const char *before = r->without ? " Ns Op Ns = Ns Ar " : " Ar ";
	struct option_choice c;
	size_t width = 0;
	bool list = false;

	printf(".It ");
	if (r->letter)
		printf("Fl %c %s%s%s", r->letter, r->arg ? "Ar " : "", r->arg ? r->arg : "",
		       r->arg ? " , " : " , ");
	printf("Fl -%s", r->name);
	for (size_t i = 0; i < sizeof(r->alias) / sizeof(r->alias[0]) && r->alias[i]; i++)
		printf(" , Fl -%s", r->alias[i]);
	printf("%s%s\n", r->arg ? before : "", r->arg ? r->arg : "");
	text__roff(r->help);
	for (size_t i = 0; r->choice && r->choice(i, &c); i++)
		if (c.help && strlen(c.name) > width)
			width = strlen(c.name);
	for (size_t i = 0; r->choice && r->choice(i, &c); i++) {
		if (!c.help)
			continue;
		if (!list)
			printf(".Bl -tag -width %zun -compact\n", width);
		list = true;
		printf(".It Cm %s\n", c.name);
		text__roff(c.help);
	}
	if (list)
		printf(".El\n");
	if (r->manual) {
		printf(".Pp\n");
		text__roff(r->manual);
	}
}

static void options__man(const struct option_row *rows)
{
	enum option_group group;
	const char *title;

	printf(".Sh OPTIONS\n");
	for (size_t i = 0; (title = option_rows__heading(rows, i, &group)); i++) {
		if (i || group != OPTION_OTHER)
			printf(".Ss %s\n", title);
		printf(".Bl -tag -width Ds\n");
		for (const struct option_row *r = rows; r->name; r++)
			if (r->group == group)
				row__man(r);
		printf(".El\n");
	}
}

static void examples__man(const struct subcommand *c)
{
	for (size_t i = 0; i < sizeof(c->examples) / sizeof(c->examples[0]) && c->examples[i].what;
	     i++) {
		printf("%s", i ? ".Pp\n" : ".Sh EXAMPLES\n");
		printf("%s:\n.Bd -literal -offset indent\n", c->examples[i].what);
		text__literal(c->examples[i].commands);
		printf(".Ed\n");
	}
}

static void usage__man(const struct subcommand *c)
{
	for (size_t i = 0; i < sizeof(c->usage) / sizeof(c->usage[0]) && c->usage[i]; i++) {
		printf(".Nm " XR_PROGRAM "\n");
		text__roff(c->usage[i]);
	}
}

static void subcommand__man(const struct subcommand *c, const char *date)
{
	printf(".\\\" SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\n");
	printf("%s.Dt ", date);
	for (const char *at = XR_PROGRAM "-"; *at; at++)
		putchar(toupper((unsigned char)*at));
	for (const char *at = c->name; *at; at++)
		putchar(toupper((unsigned char)*at));
	printf(" 1\n.Os " XR_PROGRAM " %s\n", XR_VERSION);
	printf(".Sh NAME\n.Nm " XR_PROGRAM "-%s\n.Nd %s\n.Sh SYNOPSIS\n", c->name, c->help);
	usage__man(c);
	printf(".Sh DESCRIPTION\n");
	text__roff(c->about);
	if (c->manual) {
		printf(".Pp\n");
		text__roff(c->manual);
	}
	options__man(c->options);
	printf(".Sh EXIT STATUS\n0: it was done; 1: not, or not all of it, and one line on "
	       "standard "
	       "error says what failed and what to do; 2: wrong usage.\n"
	       "More in\n.Xr " XR_PROGRAM " 1 .\n");
	examples__man(c);
	printf(".Sh SEE ALSO\n.Xr " XR_PROGRAM " 1\n");
}

static void subcommands__man(void)
{
	printf(".Bl -tag -width Ds\n");
	for (const struct subcommand *const *c = cmd__all(); *c; c++) {
		printf(".It Cm %s\n", (*c)->name);
		text__roff((*c)->help);
		printf(".Xr " XR_PROGRAM "-%s 1\n", (*c)->name);
	}
	printf(".El\n");
}

static void synopsis__man(void)
{
	for (const struct subcommand *const *c = cmd__all(); *c; c++)
		usage__man(*c);
}

/* The page of the program: 0, or 1 when the template has not all marks. */
static int program__man(FILE *template)
{
	static const struct {
		const char *mark;
		void (*write)(void);
	} marks[] = {
		{"@SYNOPSIS@\n", synopsis__man},
		{"@SUBCOMMANDS@\n", subcommands__man},
	};
	char line[512];
	size_t found = 0;

	while (fgets(line, sizeof(line), template)) {
		size_t i = 0;

		while (i < sizeof(marks) / sizeof(marks[0]) && strcmp(line, marks[i].mark) != 0)
			i++;
		if (i < sizeof(marks) / sizeof(marks[0])) {
			marks[i].write();
			found++;
		} else if (!strcmp(line, ".Os @VERSION@\n")) {
			printf(".Os " XR_PROGRAM " %s\n", XR_VERSION);
		} else {
			fputs(line, stdout);
		}
	}
	return found != sizeof(marks) / sizeof(marks[0]);
}

/* The date is the template's: its line .Dd. */
static const char *template__date(FILE *template, char *line, int size)
{
	while (fgets(line, size, template))
		if (!strncmp(line, ".Dd ", 4))
			return line;
	return NULL;
}

int main(int argc, char **argv)
{
	char line[512];
	const char *date;
	int status = 1;

	if (argc == 1)
		status = program__man(stdin);
	date = argc == 2 && strcmp(argv[1], "-l") != 0 ? template__date(stdin, line, sizeof(line))
						       : NULL;
	for (const struct subcommand *const *c = cmd__all(); argc == 2 && *c; c++) {
		if (date && strcmp(argv[1], (*c)->name) != 0)
			continue;
		if (date)
			subcommand__man(*c, date);
		else
			printf("%s\n", (*c)->name);
		status = 0;
	}
	return status || fflush(stdout) || ferror(stdout);
}
