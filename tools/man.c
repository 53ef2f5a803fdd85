/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The man page: its template on stdin, with the lines @SYNOPSIS@, @SUBCOMMANDS@ and @OPTIONS@
 * replaced by what the tables of subcommands and options say; on stdout, in mdoc(7).
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

static void row__man(const struct option_row *r)
{
	struct option_choice c;
	bool list = false;

	printf(".It ");
	if (r->letter)
		printf("Fl %c %s%s%s", r->letter, r->arg ? "Ar " : "", r->arg ? r->arg : "",
		       r->arg ? " , " : " , ");
	printf("Fl -%s", r->name);
	for (size_t i = 0; i < sizeof(r->alias) / sizeof(r->alias[0]) && r->alias[i]; i++)
		printf(" , Fl -%s", r->alias[i]);
	printf("%s%s\n", r->arg ? " Ar " : "", r->arg ? r->arg : "");
	text__roff(r->help);
	for (size_t i = 0; r->choice && r->choice(i, &c); i++) {
		if (!c.help)
			continue;
		if (!list)
			printf(".Bl -tag -width \"folded\" -compact\n");
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

static void options__man(void)
{
	for (const struct subcommand *const *c = cmd__all(); *c; c++) {
		printf(".Ss %s\n", (*c)->name);
		text__roff((*c)->about);
		printf(".Bl -tag -width Ds\n");
		for (const struct option_row *r = (*c)->options; r->name; r++)
			row__man(r);
		printf(".El\n");
	}
}

static void subcommands__man(void)
{
	printf(".Bl -tag -width Ds\n");
	for (const struct subcommand *const *c = cmd__all(); *c; c++) {
		printf(".It Cm %s\n", (*c)->name);
		text__roff((*c)->help);
	}
	printf(".El\n");
}

static void synopsis__man(void)
{
	for (const struct subcommand *const *c = cmd__all(); *c; c++)
		for (size_t i = 0;
		     i < sizeof((*c)->usage) / sizeof((*c)->usage[0]) && (*c)->usage[i]; i++) {
			printf(".Nm\n");
			text__roff((*c)->usage[i]);
		}
}

int main(void)
{
	static const struct {
		const char *mark;
		void (*write)(void);
	} marks[] = {
		{"@SYNOPSIS@\n", synopsis__man},
		{"@SUBCOMMANDS@\n", subcommands__man},
		{"@OPTIONS@\n", options__man},
	};
	char line[512];
	size_t found = 0;

	while (fgets(line, sizeof(line), stdin)) {
		size_t i = 0;

		while (i < sizeof(marks) / sizeof(marks[0]) && strcmp(line, marks[i].mark) != 0)
			i++;
		if (i < sizeof(marks) / sizeof(marks[0])) {
			marks[i].write();
			found++;
		} else if (!strcmp(line, ".Os @VERSION@\n")) {
			printf(".Os xrprof-bpf %s\n", XR_VERSION);
		} else {
			fputs(line, stdout);
		}
	}
	return found != sizeof(marks) / sizeof(marks[0]) || fflush(stdout) || ferror(stdout);
}
