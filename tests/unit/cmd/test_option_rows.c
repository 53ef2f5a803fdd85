/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options as tables: how a row is parsed and printed, and whether the real tables are sound. */
#include "cmd/option_rows.h"
#include "command.h"

struct record {
	bool flag, last;
	uint32_t bits, number;
	const char *string;
	const void *object;
	int word;
	char parsed[16];
};

static int an_object;

static bool choice(size_t i, struct option_choice *c)
{
	static const struct option_choice all[] = {
		{.name = "one", .help = "the first", .object = &an_object, .number = 1},
		{.name = "two", .number = 2},
	};

	if (i < 2)
		*c = all[i];
	return i < 2;
}

static int parse_it(const struct option_row *row, void *place, const char *arg, struct errmsg *f)
{
	if (!strcmp(arg, "bad"))
		return errmsg__set(f, -ENOMEM, "%s is bad", row->name);
	snprintf(place, sizeof(((struct record *)0)->parsed), "%s", arg);
	return 0;
}

#define AT(member) .at = offsetof(struct record, member)

static const struct option_row rows[] = {
	OPT_FLAG('f', "flag", AT(flag), "a flag"),
	OPT_BITS(0, "bit", AT(bits), 4, "a bit"),
	OPT_BITS(0, "other-bit", AT(bits), 1, "a bit"),
	OPT_NUMBER('n', "number", AT(number), "N", 2, 9, "a number", .group = OPTION_WRITE,
		   .alias = {"count", "n-of"}),
	OPT_STRING('s', "string", AT(string), "FILE",
		   "a help that is longer than what is left of a line, so that it must be wrapped "
		   "at least twice"),
	OPT_OBJECT(0, "object", AT(object), "NAME", choice, "one of:"),
	OPT_ENUM(0, "word", AT(word), "NAME", choice, "a word"),
	OPT_PARSE(0, "own", AT(parsed), "X", parse_it, "its own", .windows = "not there"),
	OPT_FLAG('l', "last", AT(last), "ends", .last = true),
	{0},
};

static struct option_rest rest;
static struct errmsg why;

static int parse(const char *line, struct record *r)
{
	int argc;
	char **argv = words("test", line, &argc);

	*r = (struct record){0};
	why.text[0] = '\0';
	return option_rows__parse(rows, r, argc, argv, &rest, &why);
}

TEST(types)
{
	struct record r;

	tap__ok(!parse("--flag --bit --other-bit -n 9 -s name --object one --word two --own x", &r),
		"all types: %s", why.text);
	tap__ok(r.flag && r.bits == 5 && r.number == 9 && !strcmp(r.string, "name"),
		"flag, bits, number, string");
	tap__ok(r.object == &an_object && r.word == 2 && !strcmp(r.parsed, "x"),
		"object, word, what the row parses itself");
	tap__ok(rest.first == 14 && !rest.separated, "nothing is left");
	tap__ok(!parse("-fn3 --string=a=b", &r) && r.flag && r.number == 3 &&
			!strcmp(r.string, "a=b"),
		"letters together, = before the argument");
	tap__ok(!parse("--count 4", &r) && r.number == 4 && !parse("--n-of=5", &r) &&
			r.number == 5 && !parse("--num 6", &r) && r.number == 6,
		"aliases, and the beginning of a name");
	tap__ok(!parse("-l --nonsense", &r) && r.last, "what follows the last is not looked at");
}

TEST(rest)
{
	struct record r;

	tap__ok(!parse("-f word -n 3", &r) && rest.first == 2 && !rest.separated && !r.number,
		"the first word that is not an option ends them");
	tap__ok(!parse("-f -- -n 3", &r) && rest.first == 3 && rest.separated && !r.number,
		"so does --");
	tap__ok(!parse("-s -- word", &r) && !strcmp(r.string, "--") && rest.first == 3 &&
			!rest.separated,
		"-- may be an argument");
	tap__ok(!parse("-s -- -- word", &r) && rest.first == 4 && rest.separated, "or both");
	tap__ok(!parse("-f --", &r) && rest.first == 3 && rest.separated, "nothing behind --");
	tap__ok(!parse("", &r) && rest.first == 1 && !rest.separated, "no words at all");
}

static void refused(const char *line, int err, const char *text)
{
	struct record r;
	int got = parse(line, &r);

	tap__ok(got == err && strstr(why.text, text), "'%s': %d %s", line, got, why.text);
}

TEST(refused)
{
	struct errmsg f;
	struct record r = {0};
	char *argv[] = {(char *)"test", (char *)"--string=", NULL};

	refused("-n 1", -EINVAL, "--number 1: not a whole number from 2 to 9");
	refused("-n 10", -EINVAL, "--number 10");
	refused("--count x", -EINVAL, "--number x");
	refused("-n", -EINVAL, "-n needs an argument");
	refused("--object three", -EINVAL, "no such object (available: one, two)");
	refused("--word three", -EINVAL, "no such word (available: one, two)");
	refused("--own bad", -ENOMEM, "own is bad");
	refused("--flag=1", -EINVAL, "--flag=1 takes no argument");
	refused("--nonsense", -EINVAL, "no such option: --nonsense");
	refused("-fz", -EINVAL, "no such option: -z");
	refused("--o x", -EINVAL, "no such option: --o");
	tap__ok(option_rows__parse(rows, &r, 2, argv, &rest, &f) == -EINVAL &&
			!strcmp(f.text, "--string: FILE is empty"),
		"an empty argument: %s", f.text);
}

TEST(too_long)
{
	static struct option_row many[OPTION_ROWS_MAX + 2];
	char *argv[] = {(char *)"test", NULL};
	struct record r = {0};
	struct errmsg f;

	for (size_t i = 0; i <= OPTION_ROWS_MAX; i++)
		many[i] = (struct option_row){.name = "same", .letter = 'x', .arg = "X"};
	tap__ok(option_rows__parse(many, &r, 1, argv, &rest, &f) == -E2BIG, "a table too long");
	many[OPTION_ROWS_MAX] = (struct option_row){0};
	tap__ok(!option_rows__parse(many, &r, 1, argv, &rest, &f), "the longest");
}

/* The help for these rows, until the next call. */
static const char *help_of(const struct option_row *of)
{
	static char *text;
	static size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	tap__bail_if(!out, "no memory");
	option_rows__help(of, out);
	fclose(out);
	return text;
}

TEST(help)
{
	static const struct {
		const char *arg;
		enum option_arg kind;
	} kinds[] = {
		{"FILE", OPTION_ARG_FILE},
		{"FILE...", OPTION_ARG_FILE},
		{"PID[,...]", OPTION_ARG_PID},
		{"USER", OPTION_ARG_USER},
		{"COMMAND [ARG...]", OPTION_ARG_COMMAND},
		{"HZ", OPTION_ARG_OTHER},
		{NULL, OPTION_ARG_OTHER},
	};
	static const struct option_row few[] = {
		{.name = "flag", .help = "a flag", .type = OPTION_FLAG, AT(flag)},
		{0},
	};
	const char *text = help_of(rows), *write, *other;
	bool narrow = true;
	char *wrapped;
	size_t size;
	FILE *out;

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		narrow = narrow && strcspn(line, "\n") <= 80;
	tap__ok(narrow, "no line is longer than 80 columns");
	tap__ok(strstr(text, "  -f, --flag                  a flag\n") &&
			strstr(text, "      --bit                   a bit\n") &&
			strstr(text, "  -n, --number N              a number\n"),
		"with and without a letter and an argument");
	tap__ok(!strstr(text, "count"), "without aliases");
	tap__ok(strstr(text, "one of: one, two\n"), "the choices behind a colon");
	write = strstr(text, "\nWhat to write:\n");
	other = strstr(text, "\nOther options:\n");
	tap__ok(text[0] == '\n' && write == text && other && strstr(text, "--number") < other &&
			strstr(text, "--bit") > other,
		"in groups");
	tap__ok(!strncmp(help_of(few), "\nOptions:\n", 10), "those of one group are options");
	for (size_t i = 0; i < COUNT(kinds); i++)
		tap__ok(option_arg__kind(kinds[i].arg) == kinds[i].kind, "completed as: %s",
			kinds[i].arg ? kinds[i].arg : "nothing");
	out = open_memstream(&wrapped, &size);
	tap__bail_if(!out, "no memory");
	text__wrap(out, "a b\nc", 2);
	text__wrap(out,
		   "a_word_that_is_far_longer_than_a_line_can_be_and_so_stands_alone_whatever_is_"
		   "done short",
		   0);
	text__wrap(out, "", 0);
	fclose(out);
	tap__is(wrapped,
		"a b\n  c\na_word_that_is_far_longer_than_a_line_can_be_and_so_stands_alone_"
		"whatever_is_done\nshort\n\n",
		"newlines are kept, long words stand alone");
	free(wrapped);
}

static void row__check(const struct subcommand *c, const struct option_row *r)
{
	bool needs_arg = r->type != OPTION_FLAG && r->type != OPTION_BITS, one = true;

	for (const struct option_row *o = r + 1; o->name; o++)
		one = one && strcmp(o->name, r->name) != 0 &&
		      (!r->letter || o->letter != r->letter);
	tap__ok(one, "%s --%s: there once", c->name, r->name);
	tap__ok(r->help && *r->help && (r->arg != NULL) == needs_arg &&
			(r->choice != NULL) ==
				(r->type == OPTION_OBJECT || r->type == OPTION_ENUM) &&
			(r->parse != NULL) == (r->type == OPTION_PARSE) &&
			(r->type != OPTION_NUMBER || r->max > r->min) &&
			(r->type != OPTION_BITS || r->bits),
		"%s --%s: has all that its type needs", c->name, r->name);
	tap__ok(8 + strlen(r->name) + 1 + (r->arg ? strlen(r->arg) : 0) < 30,
		"%s --%s: leaves room for its help", c->name, r->name);
}

/* --help is short: no option has more than two lines, and none is longer than 80 columns. */
static void help__check(const struct subcommand *c)
{
	size_t longest = 0, lines = 0, len;
	bool narrow = true;

	for (const char *line = help_of(c->options); *line; line += len + 1) {
		len = strcspn(line, "\n");
		lines = strspn(line, " ") < 30 ? 1 : lines + 1;
		if (lines > longest)
			longest = lines;
		narrow = narrow && len <= 80;
	}
	tap__ok(longest && longest <= 2 && narrow, "%s --help: an option is one line or two",
		c->name);
}

/* Where a row is shared, what it says of --format is for those who have that. */
static void formats__check(const struct subcommand *c)
{
	bool format = false, spoken = false;

	for (const struct option_row *r = c->options; r->name; r++) {
		format = format || !strcmp(r->name, "format");
		if (!strcmp(r->name, "max-memory"))
			spoken = r->manual && strstr(r->manual, "The formats that");
	}
	tap__ok(format || !spoken, "%s --max-memory: speaks of formats if there is a choice",
		c->name);
	tap__ok(spoken || strcmp(c->name, "record") != 0, "%s: so does record", c->name);
}

TEST(tables)
{
	struct record big[64];
	char *argv[] = {(char *)"test", (char *)"--help", NULL};
	struct errmsg f;

	for (const struct subcommand *const *c = cmd__all(); *c; c++) {
		memset(big, 0, sizeof(big));
		tap__ok((*c)->name && (*c)->help && (*c)->usage[0] && (*c)->about && (*c)->run,
			"%s: the row is whole", (*c)->name);
		tap__ok(!option_rows__parse((*c)->options, big, 2, argv, &rest, &f),
			"%s --help is understood", (*c)->name);
		help__check(*c);
		formats__check(*c);
		for (const struct option_row *r = (*c)->options; r->name; r++)
			row__check(*c, r);
	}
}
