/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options as tables: one row says all that is known of one option.  The command line is parsed by
 * the rows, and --help and the man page are printed from them.
 */
#ifndef XR_CMD_OPTION_ROWS_H
#define XR_CMD_OPTION_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/errmsg.h"

#define OPTION_ROWS_MAX 64u /* rows and aliases of one subcommand */

/* What an option is about: --help and the man page show the options by it (option_rows__heading).
 */
enum option_group {
	OPTION_OTHER, /* also all options of a subcommand that has few */
	OPTION_WHAT,  /* what is profiled, or shown */
	OPTION_HOW,   /* how samples are taken */
	OPTION_WRITE, /* what is written, and where to */
};

/* How the argument is read, and what is stored at the row's place in the record of options. */
enum option_type {
	OPTION_FLAG,   /* no argument; bool: true */
	OPTION_BITS,   /* no argument; uint32_t: `bits` are added */
	OPTION_NUMBER, /* decimal, `min` to `max`; uint32_t */
	OPTION_STRING, /* not empty; const char *, borrowed from argv */
	OPTION_OBJECT, /* the name of one of `choice`; const void *: its object */
	OPTION_ENUM,   /* the same; int: its number */
	OPTION_PARSE,  /* whatever `parse` does with it */
};

/* One of the words that an option takes. */
struct option_choice {
	const char *name;
	const char *help; /* NULL: the row's help says it */
	const void *object;
	int number;
};

struct option_row {
	const char *name;     /* without dashes; NULL ends a table */
	const char *alias[2]; /* other names for it, understood but not printed by --help */
	const char *arg; /* what its argument is called; NULL: it takes none (option_arg__kind) */
	/* What it is if neither "=" nor one of the choices follows; NULL: it cannot be left out. */
	const char *without;
	const char *help;    /* one line or two of --help; behind a ":" --help names the choices */
	const char *manual;  /* more for the man page, paragraphs between newlines; NULL: none */
	const char *windows; /* why it is not available on Windows; NULL: it is */
	enum option_type type;
	enum option_group group;
	char letter;		/* '\0': it has none */
	bool only_command_line; /* it cannot be given in a file */
	bool last;		/* what follows on the command line is not looked at (--help) */
	size_t at;		/* offset of its place in the record of options */
	uint32_t bits, min, max;
	/* The choice number @i into @c, false when there are no more. */
	bool (*choice)(size_t i, struct option_choice *c);
	/* @place is the row's; a negative errno with @f filled. */
	int (*parse)(const struct option_row *row, void *place, const char *arg, struct errmsg *f);
};

/*
 * A row of each type: its letter (0: none), its name, its place (`.at = offsetof(...)`), what the
 * type needs, and its help.  Other members may follow, as `.group = OPTION_HOW`.
 */
#define OPT_ROW(of, letter_, name_, place, help_, ...)                                             \
	{                                                                                          \
		.type = OPTION_##of, .letter = letter_, .name = name_, place, .help = help_,       \
		##__VA_ARGS__                                                                      \
	}
#define OPT_FLAG(letter, name, place, ...) OPT_ROW(FLAG, letter, name, place, __VA_ARGS__)
#define OPT_BITS(letter, name, place, bits_, ...)                                                  \
	OPT_ROW(BITS, letter, name, place, __VA_ARGS__, .bits = bits_)
#define OPT_STRING(letter, name, place, arg_, ...)                                                 \
	OPT_ROW(STRING, letter, name, place, __VA_ARGS__, .arg = arg_)
#define OPT_NUMBER(letter, name, place, arg_, min_, max_, ...)                                     \
	OPT_ROW(NUMBER, letter, name, place, __VA_ARGS__, .arg = arg_, .min = min_, .max = max_)
#define OPT_PARSE(letter, name, place, arg_, parse_, ...)                                          \
	OPT_ROW(PARSE, letter, name, place, __VA_ARGS__, .arg = arg_, .parse = parse_)
#define OPT_ENUM(letter, name, place, arg_, choice_, ...)                                          \
	OPT_ROW(ENUM, letter, name, place, __VA_ARGS__, .arg = arg_, .choice = choice_)
#define OPT_OBJECT(letter, name, place, arg_, choice_, ...)                                        \
	OPT_ROW(OBJECT, letter, name, place, __VA_ARGS__, .arg = arg_, .choice = choice_)
#define OPT_HELP(place) OPT_FLAG('h', "help", place, "print this help and exit", .last = true)

/* What comes behind the options. */
struct option_rest {
	int first;	/* index in argv of the first word that is not an option; argc: none */
	bool separated; /* by "--" */
	bool last;	/* there was an option after which nothing counts */
};

/*
 * option_rows__parse - read the command line into the record @into, which holds the defaults;
 * argv[0] is skipped.  0, -EINVAL or -ENOMEM with @f filled.  It uses getopt_long(), which keeps
 * its place in a global: not for two threads at a time.  If --pid is the first row, process ids may
 * stand without it, among the options.
 */
int option_rows__parse(const struct option_row *rows, void *into, int argc, char **argv,
		       struct option_rest *rest, struct errmsg *f);

/* option_rows__is_pid - is @word what --pid takes: digits, and commas? */
bool option_rows__is_pid(const char *word);

/*
 * option_rows__set - the option @name, given in a file: @value is its argument, NULL for one that
 * takes none.  Borrowed as argv is.  Those that make the rest of the command line be ignored
 * (`last`), and `only_command_line`, are refused.  -EINVAL or -ENOMEM, @f filled.
 */
int option_rows__set(const struct option_row *rows, void *into, const char *name, const char *value,
		     struct errmsg *f);

/*
 * option_rows__heading - heading number @i of the options in @rows, and the group it stands above;
 * NULL: there are no more.
 */
const char *option_rows__heading(const struct option_row *rows, size_t i, enum option_group *group);

/* option_rows__help - the rows that are available on this system, as --help prints them. */
void option_rows__help(const struct option_row *rows, FILE *out);

/* What a shell can complete in place of a word. */
enum option_arg {
	OPTION_ARG_OTHER,
	OPTION_ARG_FILE, /* or directory */
	OPTION_ARG_PID,
	OPTION_ARG_USER,
	OPTION_ARG_COMMAND, /* and its arguments; behind -- only */
};

/* option_arg__kind - by what the argument is called: FILE, DIR, PID, USER or COMMAND, and whatever
 * follows that.  NULL is allowed.
 */
enum option_arg option_arg__kind(const char *arg);

/* text__wrap - print @text in lines of 80 columns, each behind @indent columns except the first,
 * which has them already; newlines in @text are kept.
 */
void text__wrap(FILE *out, const char *text, int indent);

#endif
