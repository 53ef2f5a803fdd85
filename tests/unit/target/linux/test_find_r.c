/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery on a running R, against what that R says of itself: its version, the addresses of its
 * objects, the functions on its stack, and what gc() says of its memory.
 */
#include <sys/prctl.h>
#include <sys/sendfile.h>

#include "tap.h"
#include "scan_all.h"
#include "target/target.h"
#include "os/proc.h"

#define DEPTH 7

/*
 * inspect() prints an object's address first: "@55d0 00 NILSXP".  Then a recursion to find on
 * the stack, which collects, and prints how many cells there are for nodes and vectors and "ready",
 * at its bottom.
 */
#define SCRIPT                                                                                     \
	"cat(R.home(), '\\n', R.version$major, '.', R.version$minor, '\\n', sep = '');"            \
	"for (x in list(NULL, as.name('::'), as.name(':::'), as.name('$'), as.name('[['),"         \
	"               as.name('srcfile'))) .Internal(inspect(x));"                               \
	"f <- function(n) { if (n > 1) g(n - 1) else { x <- as.integer(gc()[, 1]);"                \
	"  cat('cells', x, '\\n'); cat('ready\\n'); Sys.sleep(1000) }; NULL };"                    \
	"g <- function(n) { f(n); NULL };"                                                         \
	"f(" XSTR(DEPTH) ")"
#define XSTR(x) STR(x)
#define STR(x)	#x

enum { NIL, COLON2, COLON3, DOLLAR, ITEM, SRCFILE, OBJECTS };

struct child {
	pid_t pid;
	FILE *out;
	char home[512];
	char version[16];
	uint64_t object[OBJECTS];
	unsigned long nodes, vectors; /* cells in use after a collection */
};

static bool child__line(struct child *c, char *line, size_t size)
{
	if (!fgets(line, (int)size, c->out))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

/*
 * Start R on SCRIPT and wait for the bottom of the recursion.
 * @program: an executable of R, with @library the folder of its libR.so; NULL: "R" of the PATH
 */
static bool child__start(struct child *c, const char *program, const char *library)
{
	char line[512];
	int pipes[2];

	tap__bail_if(pipe(pipes), "no pipe");
	fflush(stdout);
	c->pid = fork();
	if (!c->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(pipes[1], STDOUT_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		if (program) {
			setenv("LD_LIBRARY_PATH", library, 1);
			setenv("R_HOME", c->home, 1);
			execl(program, "R", "--no-echo", "--vanilla", "-e", SCRIPT, (char *)NULL);
		} else {
			execlp("R", "R", "--no-echo", "--vanilla", "-e", SCRIPT, (char *)NULL);
		}
		_exit(127);
	}
	close(pipes[1]);
	c->out = fdopen(pipes[0], "r");
	if (c->pid < 0 || !c->out || !child__line(c, c->home, sizeof(c->home)) ||
	    !child__line(c, c->version, sizeof(c->version)))
		return false;
	for (int i = 0; i < OBJECTS;) {
		if (!child__line(c, line, sizeof(line)))
			return false;
		/* attributes and elements follow, indented */
		if (line[0] == '@')
			c->object[i++] = strtoull(line + 1, NULL, 16);
	}
	while (child__line(c, line, sizeof(line))) {
		if (sscanf(line, "cells %lu %lu", &c->nodes, &c->vectors) == 2)
			continue;
		if (!strcmp(line, "ready"))
			return c->nodes;
	}
	return false;
}

static void child__end(struct child *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
	}
	if (c->out)
		fclose(c->out);
}

static uint64_t word(const struct target *t, uint64_t addr)
{
	uint64_t value = 0;

	if (proc__memory(t->pid, addr, &value, sizeof(value)))
		return 0;
	return value;
}

#define TYPE(t, addr) (word(t, addr) & 31)

/* How often are f and g called on the stack? false: something on it is not what it must be. */
static bool chain__count(const struct target *t, int *calls_f, int *calls_g)
{
	const struct xr_layout *l = &t->row.layout;
	uint64_t at = word(t, t->row.head_at), flag = 1;
	char name[3];
	int steps = 0;

	*calls_f = *calls_g = 0;
	for (; at && steps < 1000; at = word(t, at + l->nextcontext), steps++) {
		uint64_t call, fun;

		flag = word(t, at + l->callflag) & 0xffffffff;
		if (!(flag & 4))
			continue;
		call = word(t, at + l->call);
		/* LANGSXP 6, ENVSXP 4, SYMSXP 1, CHARSXP 9 */
		if (TYPE(t, call) != 6 || TYPE(t, word(t, at + l->cloenv)) != 4)
			return false;
		fun = word(t, call + 32);
		if (TYPE(t, fun) != 1)
			continue;
		fun = word(t, fun + 32);
		if (TYPE(t, fun) != 9 ||
		    proc__memory(t->pid, fun + l->vector_data, name, sizeof(name)))
			return false;
		*calls_f += !strcmp(name, "f");
		*calls_g += !strcmp(name, "g");
	}
	/* the outermost is the toplevel, which has callflag 0 */
	return !at && steps > 2 * DEPTH - 1 && !flag;
}

/*
 * R's counters of memory, some allocations after it said how many cells were in use. That is
 * R_NodesInUse, and R_SmallVallocSize + R_LargeVallocSize (gc() and R_gc_internal(), memory.c).
 */
static void child__memory(const struct child *c, const struct target *t, const char *what)
{
	const struct xr_row *row = &t->row;
	uint64_t nodes = word(t, row->nodes_at), small = word(t, row->small_at);
	uint64_t large = word(t, row->large_at), dups = word(t, row->dups_at);
	const uint64_t more = 100000; /* the calls of cat(), and what they load */

	tap__ok(t->how_memory && row->node_size == 56 && row->dups_at,
		"%s: its counters of memory are found", what);
	tap__ok(small && large && small + large >= c->vectors && small + large - c->vectors < more,
		"%s: %lu + %lu cells of vectors, gc() said %lu", what, (unsigned long)small,
		(unsigned long)large, c->vectors);
	tap__ok(nodes >= c->nodes && nodes - c->nodes < more, "%s: %lu nodes, gc() said %lu", what,
		(unsigned long)nodes, c->nodes);
	tap__ok(dups > 100 && dups < UINT32_MAX, "%s: %lu duplicates", what, (unsigned long)dups);
}

static void child__check(const struct child *c, const char *what)
{
	struct errmsg f = {""};
	struct target t;
	int err = target__find(c->pid, TARGET_HIDDEN, &t, &f), calls_f, calls_g;
	uint32_t flag = 99;
	bool whole;

	if (!tap__ok(!err, "%s: found%s", what, f.text))
		return;
	tap__ok(!strcmp(t.comm, "R") && t.version_known && !strcmp(t.version, c->version),
		"%s: R %s, as it says itself", what, t.version);
	tap__ok(t.row.nil == c->object[NIL] && t.row.sym_colon2 == c->object[COLON2] &&
			t.row.sym_colon3 == c->object[COLON3] &&
			t.row.sym_dollar == c->object[DOLLAR] &&
			t.row.sym_item == c->object[ITEM] &&
			t.row.sym_srcfile == c->object[SRCFILE],
		"%s: NULL and the symbols are where R's inspect() shows them", what);
	tap__ok(TYPE(&t, t.row.in_bc) == 1 && t.row.srcref_at, "%s: the marker is a symbol", what);
	whole = chain__count(&t, &calls_f, &calls_g);
	tap__ok(whole && calls_f == DEPTH && calls_g == DEPTH - 1,
		"%s: %d calls of f, %d of g, all the way to the toplevel", what, calls_f, calls_g);
	/* f and g are not compiled yet, but what may be there must make sense */
	if (t.row.bc_body_at)
		tap__ok(!word(&t, t.row.bc_body_at) || TYPE(&t, word(&t, t.row.bc_body_at)) == 21,
			"%s: R_BCbody is byte code or nothing", what);
	if (t.row.gc_at)
		tap__ok(!proc__memory(c->pid, t.row.gc_at, &flag, sizeof(flag)) && !flag,
			"%s: a sleeping R is not collecting", what);
	child__memory(c, &t, what);
	for (uint32_t want = XR_ROW_MEMORY; want;
	     want = want == XR_ROW_MEMORY ? XR_ROW_COLLECTIONS : 0)
		tap__ok(!target__find(c->pid, want, &t, &f) && t.row.small_at && t.row.gc_at,
			"%s: also where but memory (0x%x) is wanted", what, want);
	tap__ok(target__same(&t), "%s: and it is still the same", what);
}

static int scan__count(void *arg, pid_t pid)
{
	struct child *c = arg;

	c->object[NIL] += pid == c->pid;
	return 0;
}

static bool file__copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	struct stat st;
	bool ok;

	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	ok = in >= 0 && out >= 0 && !fstat(in, &st);
	while (ok && st.st_size > 0) {
		ssize_t n = sendfile(out, in, NULL, (size_t)st.st_size);

		ok = n > 0;
		st.st_size -= n;
	}
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return ok;
}

/* An R whose libR.so was taken away since, as a package upgrade does. */
static void test_deleted(const char *home)
{
	char dir[] = "/tmp/target.XXXXXX", library[64], shared[600], program[600];
	struct child c = {0};

	snprintf(c.home, sizeof(c.home), "%s", home);
	snprintf(shared, sizeof(shared), "%s/lib/libR.so", home);
	snprintf(program, sizeof(program), "%s/bin/exec/R", home);
	if (access(shared, R_OK)) {
		tap__skip("this R was built without libR.so", "an upgraded R");
		return;
	}
	tap__bail_if(!mkdtemp(dir), "cannot make a folder %s", dir);
	snprintf(library, sizeof(library), "%s/libR.so", dir);
	tap__ok(file__copy(shared, library) && child__start(&c, program, dir),
		"R runs from a copy of libR.so");
	unlink(library);
	rmdir(dir);
	if (geteuid())
		tap__skip("opening a deleted file needs root", "an upgraded R");
	else
		child__check(&c, "upgraded R");
	child__end(&c);
}

TEST(find_r)
{
	struct child c = {0};

	if (!tap__ok(child__start(&c, NULL, NULL), "R runs"))
		goto cleanup;
	child__check(&c, "R");
	c.object[NIL] = 0;
	tap__ok(!scan_all(scan__count, &c) && c.object[NIL] == 1, "the scan sees it, once");
	test_deleted(c.home);
cleanup:
	child__end(&c);
}
