/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/option_rows.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/parse.h"
#include "cmd/hints.h"
#include "os/os.h"

#define HELP_COLUMN 30
#define WIDTH	    80
#define KEY_FIRST   256 /* the key of a row is its number behind all letters */

static const char *row__refused(const struct option_row *r)
{
	return os__is_windows() ? r->windows : NULL;
}

static size_t rows__count(const struct option_row *rows)
{
	size_t n = 0;

	while (rows[n].name)
		n++;
	return n;
}

/* The row of a key of getopt_long(), which may also be a letter; NULL: there is none. */
static const struct option_row *rows__find(const struct option_row *rows, int key)
{
	if (key >= KEY_FIRST)
		return (size_t)(key - KEY_FIRST) < rows__count(rows) ? &rows[key - KEY_FIRST]
								     : NULL;
	for (const struct option_row *r = rows; r->name; r++)
		if (r->letter && r->letter == key)
			return r;
	return NULL;
}

/* The rows in the form of getopt_long(); -E2BIG: the table is too long. */
static int rows__getopt(const struct option_row *rows, struct option longs[OPTION_ROWS_MAX + 1],
			char shorts[2 * OPTION_ROWS_MAX + 3])
{
	size_t n = 0, s = 0;

	shorts[s++] = '+'; /* stop at the first word that is not an option */
	shorts[s++] = ':'; /* tell a missing argument from an unknown option */
	for (const struct option_row *r = rows; r->name; r++) {
		const char *const names[] = {r->name, r->alias[0], r->alias[1]};

		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && names[i]; i++) {
			if (n == OPTION_ROWS_MAX)
				return -E2BIG;
			longs[n++] = (struct option){
				.name = names[i],
				.has_arg = r->without ? optional_argument
					   : r->arg   ? required_argument
						      : no_argument,
				.val = KEY_FIRST + (int)(r - rows),
			};
		}
		if (!r->letter)
			continue;
		shorts[s++] = r->letter;
		if (r->arg)
			shorts[s++] = ':';
	}
	shorts[s] = '\0';
	longs[n] = (struct option){0};
	return 0;
}

static int row__choose(const struct option_row *r, void *place, const char *arg, struct errmsg *f)
{
	struct option_choice c;
	char known[256] = "", hint[HINT_MAX];
	const char *meant = hints__value(r->name, arg, hint);
	size_t len = 0;

	for (size_t i = 0; r->choice(i, &c); i++) {
		if (!strcmp(c.name, meant ? meant : arg)) {
			if (r->type == OPTION_OBJECT)
				memcpy(place, &c.object, sizeof(c.object));
			else
				memcpy(place, &c.number, sizeof(c.number));
			return 0;
		}
		if (len < sizeof(known))
			len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
						len ? ", " : "", c.name);
	}
	return errmsg__set(f, -EINVAL, "--%s %s: no such %s (available: %s)%s", r->name, arg,
			   r->name, known, hint);
}

static int row__number(const struct option_row *r, uint32_t *out, const char *arg, struct errmsg *f)
{
	uint64_t value;

	if (parse__u64(arg, r->max, &value) || value < r->min)
		return errmsg__set(f, -EINVAL, "--%s %s: not a whole number from %u to %u", r->name,
				   arg, r->min, r->max);
	*out = (uint32_t)value;
	return 0;
}

static int row__set(const struct option_row *r, void *into, const char *arg, struct errmsg *f)
{
	void *place = (char *)into + r->at;
	const char *why = row__refused(r);

	if (why)
		return errmsg__set(f, -EINVAL, "--%s: %s", r->name, why);
	switch (r->type) {
	case OPTION_FLAG:
		*(bool *)place = true;
		return 0;
	case OPTION_BITS:
		*(uint32_t *)place |= r->bits;
		return 0;
	case OPTION_NUMBER:
		return row__number(r, place, arg, f);
	case OPTION_STRING:
		if (!*arg)
			return errmsg__set(f, -EINVAL, "--%s: %s is empty", r->name, r->arg);
		*(const char **)place = arg;
		return 0;
	case OPTION_OBJECT:
	case OPTION_ENUM:
		return row__choose(r, place, arg, f);
	case OPTION_PARSE:
		break;
	}
	return r->parse(r, place, arg, f);
}

/* What getopt_long() did not understand: @word, or the option of @key in it. */
static int rows__unknown(const struct option_row *rows, int key, const char *word, struct errmsg *f)
{
	char letter[3] = "-", hint[HINT_MAX];

	if (key >= KEY_FIRST)
		return errmsg__set(f, -EINVAL, "%s takes no argument", word);
	if (key && !rows__find(rows, key)) {
		letter[1] = (char)key;
		word = letter;
	}
	hints__option(rows, word, hint);
	return errmsg__set(f, -EINVAL, "no such option: %s%s", word, hint);
}

/* Is @word one of those that the option chooses from? */
static bool row__takes(const struct option_row *r, const char *word)
{
	struct option_choice c;

	for (size_t i = 0; r->choice(i, &c); i++)
		if (!strcmp(c.name, word))
			return true;
	return false;
}

/* Up to the first word that is not an option, or one after which nothing counts. */
static int rows__parse(const struct option_row *rows, void *into, int argc, char **argv,
		       struct option_rest *rest, struct errmsg *f)
{
	struct option longs[OPTION_ROWS_MAX + 1];
	char shorts[2 * OPTION_ROWS_MAX + 3];
	const struct option_row *r;
	const char *arg = NULL;
	int key, err;

	*rest = (struct option_rest){.first = argc};
	err = rows__getopt(rows, longs, shorts);
	if (err)
		return errmsg__set(f, err, "too many options");
	optind = 0; /* start again */
	opterr = 0;
	while ((key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (key == ':')
			return errmsg__set(f, -EINVAL, "%s needs an argument", argv[optind - 1]);
		if (key == '?')
			return rows__unknown(rows, optopt, argv[optind - 1], f);
		r = rows__find(rows, key);
		arg = r->arg ? optarg : NULL;
		if (!arg && r->without)
			arg = optind < argc && row__takes(r, argv[optind]) ? argv[optind++]
									   : r->without;
		err = row__set(r, into, arg, f);
		rest->last = r->last;
		if (err || r->last)
			return err;
	}
	rest->first = optind;
	rest->separated = optind > 1 && argv[optind - 1] != arg && !strcmp(argv[optind - 1], "--");
	return 0;
}

bool option_rows__is_pid(const char *word)
{
	return *word >= '0' && *word <= '9' && !word[strspn(word, "0123456789,")];
}

int option_rows__parse(const struct option_row *rows, void *into, int argc, char **argv,
		       struct option_rest *rest, struct errmsg *f)
{
	bool pids = rows->name && !strcmp(rows->name, "pid");
	int at = 0, err;

	for (;;) {
		err = rows__parse(rows, into, argc - at, argv + at, rest, f);
		rest->first += at;
		if (err || rest->last || !pids || rest->separated || rest->first >= argc ||
		    !option_rows__is_pid(argv[rest->first]))
			return err;
		at = rest->first;
		err = row__set(rows, into, argv[at], f);
		if (err)
			return err;
	}
}

int option_rows__set(const struct option_row *rows, void *into, const char *name, const char *value,
		     struct errmsg *f)
{
	const struct option_row *r = rows;

	while (r->name && strcmp(r->name, name) != 0 &&
	       (!r->alias[0] || strcmp(r->alias[0], name)) &&
	       (!r->alias[1] || strcmp(r->alias[1], name)))
		r++;
	if (!r->name)
		return errmsg__set(f, -EINVAL, "no such option: %s", name);
	if (r->last || r->only_command_line)
		return errmsg__set(f, -EINVAL, "%s is allowed on the command line only", name);
	if (r->without && !value)
		value = r->without;
	if (r->arg && !value)
		return errmsg__set(f, -EINVAL, "%s needs a value: %s = %s", name, name, r->arg);
	if (!r->arg && value)
		return errmsg__set(f, -EINVAL, "%s takes no value", name);
	return row__set(r, into, value, f);
}

void text__wrap(FILE *out, const char *text, int indent)
{
	int column = indent;

	while (*text) {
		int len = (int)strcspn(text, " \n");

		if (column > indent && column + 1 + len > WIDTH) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", len, text);
		column += len;
		text += len;
		if (*text == '\n') {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		}
		if (*text)
			text++;
	}
	fputc('\n', out);
}

static bool rows__grouped(const struct option_row *rows, enum option_group group)
{
	for (const struct option_row *r = rows; r->name; r++)
		if (r->group == group && !row__refused(r))
			return true;
	return false;
}

const char *option_rows__heading(const struct option_row *rows, size_t i, enum option_group *group)
{
	static const struct {
		enum option_group group;
		const char *title;
	} headings[] = {
		{OPTION_WHAT, "What to profile"},
		{OPTION_HOW, "How to sample"},
		{OPTION_WRITE, "What to write"},
		{OPTION_OTHER, "Other options"},
	};
	size_t seen = 0;

	for (size_t h = 0; h < sizeof(headings) / sizeof(headings[0]); h++) {
		if (!rows__grouped(rows, headings[h].group))
			continue;
		*group = headings[h].group;
		if (seen++ == i)
			return i || *group != OPTION_OTHER ? headings[h].title : "Options";
	}
	return NULL;
}

enum option_arg option_arg__kind(const char *arg)
{
	static const struct {
		const char *name;
		enum option_arg kind;
	} kinds[] = {
		{"FILE", OPTION_ARG_FILE}, {"DIR", OPTION_ARG_FILE},	    {"PID", OPTION_ARG_PID},
		{"USER", OPTION_ARG_USER}, {"COMMAND", OPTION_ARG_COMMAND},
	};

	for (size_t i = 0; arg && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(arg, kinds[i].name, strlen(kinds[i].name)))
			return kinds[i].kind;
	return OPTION_ARG_OTHER;
}

static void row__help(const struct option_row *r, FILE *out)
{
	struct option_choice c;
	char left[64], letter[8], text[512];
	size_t len = strlen(r->help);

	snprintf(letter, sizeof(letter), r->letter ? "-%c," : "   ", r->letter);
	snprintf(left, sizeof(left), r->without ? "%s --%s[=%s]" : "%s --%s %s", letter, r->name,
		 r->arg ? r->arg : "");
	snprintf(text, sizeof(text), "%s", r->help);
	for (size_t i = 0; len && r->help[len - 1] == ':' && r->choice && r->choice(i, &c); i++) {
		size_t at = strlen(text);

		snprintf(text + at, sizeof(text) - at, "%s%s", i ? ", " : " ", c.name);
	}
	fprintf(out, "  %-*s", HELP_COLUMN - 2, left);
	text__wrap(out, text, HELP_COLUMN);
}

void option_rows__help(const struct option_row *rows, FILE *out)
{
	enum option_group group;
	const char *title;

	for (size_t i = 0; (title = option_rows__heading(rows, i, &group)); i++) {
		fprintf(out, "\n%s:\n", title);
		for (const struct option_row *r = rows; r->name; r++)
			if (r->group == group && !row__refused(r))
				row__help(r, out);
	}
}
