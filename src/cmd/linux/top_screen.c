/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/top_screen.h"

#include <curses.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

/* term.h has macros of these names */
#undef lines
#undef columns

#include "cmd/linux/top_text.h"
#include "os/linux/columns.h"

#define LEAST_LINES   6
#define LEAST_COLUMNS 20
#define ESCAPE	      27
#define QUIT	      0x1c
#define ESCAPE_MS     25 /* for the rest of what a key sends that begins with it */

struct top_screen {
	SCREEN *screen;
	struct buf line; /* being made */
	int row;	 /* the next */
	int err;
};

/* The key of SIGQUIT, Ctrl-\, is one like others: the signal would leave the screen as it is. */
static void terminal__no_quit(void)
{
	struct termios t;

	if (tcgetattr(STDIN_FILENO, &t))
		return;
	t.c_cc[VQUIT] = _POSIX_VDISABLE;
	tcsetattr(STDIN_FILENO, TCSANOW, &t);
	def_prog_mode();
}

int top_screen__open(struct top_screen **out, struct errmsg *f)
{
	const char *term = getenv("TERM");
	struct top_screen *s;
	int err;

	*out = NULL;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return errmsg__set(f, -ENOTTY,
				   "top needs a terminal; use --batch N for plain text");
	/* newterm() would print and exit of a terminal that it does not know */
	if (setupterm(NULL, STDOUT_FILENO, &err) == ERR)
		return errmsg__set(f, -ENOTTY,
				   "the terminal type %s is unknown on this machine; set TERM, or "
				   "use --batch N for plain text",
				   term ? term : "(TERM is not set)");
	err = cursor_address ? 0 : -ENOTTY;
	del_curterm(cur_term);
	if (err)
		return errmsg__set(f, err,
				   "the terminal type %s does not support full-screen output; set "
				   "TERM, or use --batch N for plain text",
				   term ? term : "");
	s = calloc(1, sizeof(*s));
	if (!s)
		return errmsg__set(f, -ENOMEM, "out of memory");
	s->screen = newterm(NULL, stdout, stdin);
	if (!s->screen) {
		free(s);
		return errmsg__set(f, -ENOTTY,
				   "the terminal does not support full-screen output; use --batch "
				   "N for plain text");
	}
	cbreak(); /* signals are as ever */
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	terminal__no_quit();
	*out = s;
	return 0;
}

void top_screen__close(struct top_screen *s)
{
	if (!s)
		return;
	endwin();
	delscreen(s->screen);
	buf__free(&s->line);
	free(s);
}

int top_screen__key(struct top_screen *s)
{
	static const struct {
		int curses, key;
	} keys[] = {
		{ERR, -1},
		{KEY_RESIZE, TOP_SCREEN_CHANGED},
		{KEY_UP, TOP_KEY_UP},
		{KEY_DOWN, TOP_KEY_DOWN},
		{KEY_PPAGE, TOP_KEY_PAGE_UP},
		{KEY_NPAGE, TOP_KEY_PAGE_DOWN},
		{KEY_HOME, TOP_KEY_HOME},
		{KEY_END, TOP_KEY_END},
		{KEY_ENTER, TOP_KEY_ENTER},
		{'\r', TOP_KEY_ENTER},
		{'\n', TOP_KEY_ENTER},
		{'\t', TOP_KEY_TAB},
		{ESCAPE, TOP_KEY_ESCAPE},
		{KEY_BACKSPACE, TOP_KEY_BACKSPACE},
		{QUIT, 'q'},
		{'\b', TOP_KEY_BACKSPACE},
		{0x7f, TOP_KEY_BACKSPACE},
	};
	int got = getch();

	(void)s;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].curses == got)
			return keys[i].key;
	return got;
}

/* The line that was made goes to the next row, all of it with @look. */
static void screen__put(struct top_screen *s, int err, attr_t look)
{
	s->err = s->err ? s->err : err;
	if (!s->err)
		s->err = buf__add(&s->line, "", 1);
	if (!s->err && s->row < LINES) {
		attrset(look);
		/* a reversed line is reversed to its end */
		if (look & A_REVERSE)
			mvhline(s->row, 0, ' ' | look, COLS);
		mvaddstr(s->row, 0, s->line.data);
		attrset(A_NORMAL);
		s->row++;
	}
	s->line.len = 0;
}

/* The last column stays free: what is written there may scroll. */
static unsigned int screen__width(void)
{
	return (unsigned int)COLS - 1;
}

static void screen__head(struct top_screen *s, const struct top_view *v, const struct stats *st,
			 const char *clock, const char *note)
{
	unsigned int w = screen__width();

	screen__put(s, top_text__title(&s->line, v, clock, w), A_BOLD);
	screen__put(s, top_text__counts(&s->line, v, st, w), A_NORMAL);
	s->err = s->err ? s->err : top_text__verdict(&s->line, v, w);
	if (s->line.len)
		screen__put(s, 0, A_BOLD);
	else if (*note)
		screen__put(s, columns__fit(&s->line, note, w, false), A_BOLD);
}

/* A quarter of what is left for processes, and one at least. */
static void screen__processes(struct top_screen *s, const struct top_view *v)
{
	unsigned int w = screen__width();
	size_t room = (size_t)(LINES - s->row) / 4, n = v->nprocesses;

	room = room ? room : 1;
	screen__put(s, top_text__process_head(&s->line, w), A_UNDERLINE);
	for (size_t i = 0; i < n && i < room; i++) {
		bool chosen = v->processes[i].serial == v->scope.serial;

		if (i + 1 == room && n > room) {
			screen__put(s, buf__printf(&s->line, "%7s %zu more", "", n - i), A_NORMAL);
			break;
		}
		screen__put(s, top_text__process(&s->line, &v->processes[i], w),
			    chosen ? A_BOLD : A_NORMAL);
	}
}

/* A third of what is left, and one of each kind at least. */
static void screen__calls(struct top_screen *s, const struct top_view *v)
{
	const struct top_call *calls[TOP_CALLS_SHOWN];
	unsigned int w = screen__width();
	size_t room = LINES - s->row > 12 ? (size_t)(LINES - s->row) / 6 : 1, n;

	for (int ended = 0; ended < 2; ended++) {
		screen__put(s, top_text__calls_head(&s->line, v, ended, w), A_UNDERLINE);
		n = top_calls__shown(&v->model->calls, ended, calls);
		for (size_t i = 0; i < n && i < room; i++)
			screen__put(s, top_text__call(&s->line, v, calls[i], w), A_NORMAL);
	}
}

static void screen__functions(struct top_screen *s, struct top_view *v)
{
	unsigned int w = screen__width();
	size_t first;

	screen__put(s, top_text__scope(&s->line, v, w), A_NORMAL);
	screen__put(s, top_text__function_head(&s->line, v, w), A_UNDERLINE);
	v->page = LINES - 1 > s->row ? (size_t)(LINES - 1 - s->row) : 1;
	/* the selection is in what is shown */
	first = v->selected < v->page ? 0 : v->selected - v->page + 1;
	for (size_t i = first; i < v->nlines && i < first + v->page && s->row < LINES - 1; i++)
		screen__put(s, top_text__function(&s->line, v, &v->lines[i], w),
			    i == v->selected ? A_REVERSE : A_NORMAL);
	if (!v->nlines)
		screen__put(s, buf__str(&s->line, "  no functions sampled"), A_NORMAL);
}

static void screen__callers(struct top_screen *s, struct top_view *v)
{
	unsigned int w = screen__width();

	screen__put(s, top_text__scope(&s->line, v, w), A_NORMAL);
	screen__put(s, top_text__callers_head(&s->line, v, w), A_UNDERLINE);
	v->page = LINES - 1 > s->row ? (size_t)(LINES - 1 - s->row) : 1;
	for (size_t i = v->first_caller; i < v->ncallers && s->row < LINES - 1; i++)
		screen__put(s, top_text__caller(&s->line, v, &v->callers[i], w), A_NORMAL);
	if (!v->ncallers)
		screen__put(s, buf__str(&s->line, "  no callers: it is called from top level"),
			    A_NORMAL);
}

static void screen__dump(struct top_screen *s, struct top_view *v)
{
	const char *at = v->dump ? v->dump->data : NULL;
	size_t left = v->dump ? v->dump->len : 0;

	v->page = LINES - 1 > s->row ? (size_t)(LINES - 1 - s->row) : 1;
	if (!v->dump)
		screen__put(
			s,
			buf__printf(&s->line, "reading the stack of process %u ...", v->dump_pid),
			A_NORMAL);
	for (size_t i = 0; left && s->row < LINES - 1; i++) {
		const char *end = memchr(at, '\n', left);
		const size_t len = end ? (size_t)(end - at) : left;
		struct buf line = {0};
		int err = buf__add(&line, at, len);

		err = err ? err : buf__add(&line, "", 1);
		if (i >= v->first_dump_line) {
			err = err ? err : columns__fit(&s->line, line.data, screen__width(), false);
			screen__put(s, err, A_NORMAL);
		}
		buf__free(&line);
		at += len + (end != NULL);
		left -= len + (end != NULL);
	}
}

static void screen__help(struct top_screen *s)
{
	const char *text;

	s->row++;
	for (size_t i = 0; (text = top_text__help(i)); i++)
		screen__put(s, columns__fit(&s->line, text, screen__width(), false), A_NORMAL);
}

static void screen__foot(struct top_screen *s, const struct top_view *v)
{
	struct buf line = {0};
	int err;

	s->row = LINES - 1;
	move(s->row, 0);
	clrtoeol();
	if (v->typing)
		err = buf__printf(&line, "show functions with: %s_", v->filter);
	else
		err = buf__str(&line, top_text__keys(v));
	err = err ? err : buf__add(&line, "", 1);
	err = err ? err : columns__fit(&s->line, line.data, screen__width(), false);
	buf__free(&line);
	screen__put(s, err, A_REVERSE);
}

int top_screen__draw(struct top_screen *s, struct top_view *v, const struct stats *st,
		     const char *clock, const char *note)
{
	s->row = s->err = 0;
	s->line.len = 0;
	erase();
	if (LINES < LEAST_LINES || COLS < LEAST_COLUMNS) {
		mvaddnstr(0, 0, "too small", COLS - 1);
		refresh();
		return 0;
	}
	screen__head(s, v, st, clock, note);
	if (v->pane == TOP_HELP) {
		screen__help(s);
	} else if (v->pane == TOP_DUMP) {
		screen__dump(s, v);
	} else {
		screen__processes(s, v);
		if (v->calls)
			screen__calls(s, v);
		if (v->pane == TOP_CALLERS)
			screen__callers(s, v);
		else
			screen__functions(s, v);
	}
	screen__foot(s, v);
	refresh();
	return s->err;
}
