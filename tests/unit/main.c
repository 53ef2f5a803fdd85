/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The main program of a room's unit tests (tap.h).
 *
 * usage: ROOM [-l] [-g] [PATTERN...]   run the cases whose name has a PATTERN in it, or all
 *   -l   list them
 *   -g   run them in this process, without a time limit: for a debugger
 *        ROOM -x NAME ARGUMENT...      run a PROGRAM()
 */
#define _GNU_SOURCE
#include "tap.h"

#include <ftw.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* No case takes a tenth of it, on a slow machine; full size and sanitizers take longer. */
#ifdef __SANITIZE_ADDRESS__
#define CASE_SECONDS 900
#else
#define CASE_SECONDS (tap__all() ? 900 : 180)
#endif

static struct tap__entry *entries, **last = &entries;

/* Shared between this process and those of the cases. */
static struct {
	int run, failed;
	char name[256];	 /* of the case */
	char folder[64]; /* of the case; "": none yet */
} * state;

void tap__register(struct tap__entry *e)
{
	*last = e;
	last = &e->next;
}

__attribute__((format(printf, 3, 0))) static void line(bool ok, const char *skip, const char *fmt,
						       va_list ap)
{
	state->run++;
	if (!ok)
		state->failed++;
	printf("%sok %d - %s: ", ok ? "" : "not ", state->run, state->name);
	vprintf(fmt, ap);
	if (skip)
		printf(" # SKIP %s", skip);
	printf("\n");
	/* flushed line by line: a crash must not take results along */
	fflush(stdout);
}

/* The line of a check, by the last arguments of its caller. */
#define LINE(ok, skip, fmt)                                                                        \
	do {                                                                                       \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, fmt);                                                                 \
		line(ok, skip, fmt, ap);                                                           \
		va_end(ap);                                                                        \
	} while (0)

bool tap__ok(bool cond, const char *fmt, ...)
{
	LINE(cond, NULL, fmt);
	return cond;
}

static bool same(const char *got, const char *want)
{
	return got && !strcmp(got, want);
}

/* The remark behind the line of a comparison that failed. */
static bool compared(const char *got, const char *want)
{
	if (!same(got, want))
		tap__diag("wanted <%s>, got <%s>", want, got ? got : "(none)");
	return same(got, want);
}

bool tap__is(const char *got, const char *want, const char *fmt, ...)
{
	LINE(same(got, want), NULL, fmt);
	return compared(got, want);
}

static char saying[1 << 16];
static const char *top; /* of the source tree */

void tap__say(const char *fmt, ...)
{
	size_t len = strlen(saying);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(saying + len, sizeof(saying) - len, fmt, ap);
	va_end(ap);
}

const char *tap__saying(void)
{
	return saying;
}

bool tap__said(const char *want, const char *fmt, ...)
{
	bool ok;

	LINE(same(saying, want), NULL, fmt);
	ok = compared(saying, want);
	*saying = '\0';
	return ok;
}

bool tap__golden(const char *name)
{
	const char *how = getenv("XRPROF_GOLDEN"), *want, *got;
	char path[1024], command[2048];
	bool ok;

	snprintf(path, sizeof(path), "%s/tests/golden/%s", top, name);
	if (how && !strcmp(how, "write")) {
		tap__write(path, saying, strlen(saying));
		*saying = '\0';
		return tap__ok(false, "%s is written: see git diff", path);
	}
	want = tap__read(path, NULL);
	ok = tap__ok(same(want, saying), "all is as in %s", path);
	if (!ok) {
		got = tap__path("got");
		tap__write(got, saying, strlen(saying));
		snprintf(command, sizeof(command), "diff -u %s %s | sed 's/^/# /'", path, got);
		if (system(command))
			tap__diag("no diff");
	}
	*saying = '\0';
	return ok;
}

void tap__skip(const char *reason, const char *fmt, ...)
{
	LINE(true, reason, fmt);
}

void tap__diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# ");
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

void tap__bail(const char *fmt, ...)
{
	LINE(false, NULL, fmt);
	exit(1);
}

void tap__bail_if(bool failed, const char *fmt, ...)
{
	int err = errno;

	if (!failed)
		return;
	LINE(false, NULL, fmt);
	tap__diag("errno: %s", strerror(err));
	exit(1);
}

bool tap__all(void)
{
	const char *tests = getenv("XRPROF_TESTS");

	return tests && !strcmp(tests, "all");
}

bool tap__root(void)
{
	const char *map = tap__read("/proc/self/uid_map", NULL);
	unsigned int users;

	return !geteuid() && map && sscanf(map, "%*u %*u %u", &users) == 1 && users > 65535;
}

const char *tap__folder(void)
{
	if (!*state->folder) {
		snprintf(state->folder, sizeof(state->folder), "/tmp/xrprof-unit.XXXXXX");
		if (!mkdtemp(state->folder)) {
			*state->folder = '\0';
			tap__bail("cannot make a folder in /tmp: %s", strerror(errno));
		}
	}
	return state->folder;
}

const char *tap__path(const char *name)
{
	static struct path {
		struct path *next;
		char text[512];
	} * paths;
	struct path *p = malloc(sizeof(*p));

	tap__bail_if(!p, "out of memory");
	snprintf(p->text, sizeof(p->text), "%s/%s", tap__folder(), name);
	for (struct path *old = paths; old; old = old->next)
		if (!strcmp(old->text, p->text)) {
			free(p);
			return old->text;
		}
	p->next = paths;
	paths = p;
	return p->text;
}

void tap__write(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "we");

	if (!f || fwrite(data, 1, len, f) != len || fclose(f))
		tap__bail("cannot write %s: %s", path, strerror(errno));
}

const char *tap__read(const char *path, size_t *len)
{
	static char *text;
	static size_t size;
	FILE *f = fopen(path, "re");
	size_t n = 0;

	if (!f)
		return NULL;
	do {
		if (size - n < 65536) {
			size = 2 * size + 131072;
			text = realloc(text, size);
			if (!text)
				tap__bail("out of memory");
		}
		n += fread(text + n, 1, size - n - 1, f);
	} while (!feof(f) && !ferror(f));
	text[n] = '\0';
	if (len)
		*len = n;
	return fclose(f) ? NULL : text;
}

static int folder__remove_one(const char *path, const struct stat *st, int what, struct FTW *at)
{
	remove(path);
	return 0;
}

static void folder__remove(void)
{
	if (*state->folder)
		nftw(state->folder, folder__remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	*state->folder = '\0';
}

/* FILE:NAME, FILE without tests/unit/ and test_.  Of a case that has its file's name: FILE. */
static void case__name(const struct tap__entry *e, char *out, size_t size)
{
	const char *path = strstr(e->file, "tests/unit/");
	const char *base;
	int folders;

	path = path ? path + strlen("tests/unit/") : e->file;
	base = strstr(path, "test_") ? strstr(path, "test_") + strlen("test_") : path;
	folders = (int)(strrchr(path, '/') ? strrchr(path, '/') + 1 - path : 0);
	snprintf(out, size, "%.*s%.*s", folders, path, (int)(strlen(base) - strlen(".c")), base);
	if (strncmp(base, e->name, strlen(e->name)) || base[strlen(e->name)] != '.')
		snprintf(out + strlen(out), size - strlen(out), ":%s", e->name);
}

/* Run what the file of @e has of this kind. */
static void case__run_all(const struct tap__entry *e, enum tap__kind kind)
{
	for (const struct tap__entry *other = entries; other; other = other->next)
		if (other->kind == kind && !strcmp(other->file, e->file))
			other->run();
}

static void case__run_here(const struct tap__entry *e)
{
	case__run_all(e, TAP_BEFORE);
	e->run();
	case__run_all(e, TAP_AFTER);
}

/* Wait for the end of the case's process; false: its time is over, and it was killed. */
static bool case__wait(pid_t pid, int *status)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	bool ended = fd < 0 || poll(&p, 1, CASE_SECONDS * 1000) != 0;
	siginfo_t info;

	if (fd >= 0)
		close(fd);
	if (!ended)
		kill(pid, SIGKILL);
	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
		;
	/* and what it left running, as long as the number is its own */
	kill(-pid, SIGKILL);
	waitpid(pid, status, 0);
	return ended;
}

static void case__run(const struct tap__entry *e)
{
	int before = state->run, failed = state->failed, status = 0;
	pid_t self = getpid(), pid = fork();

	if (pid < 0)
		tap__bail("no process: %s", strerror(errno));
	if (!pid) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(1);
		case__run_here(e);
		exit(0);
	}
	if (!case__wait(pid, &status))
		tap__ok(false, "still runs after %d s", CASE_SECONDS);
	else if (WIFSIGNALED(status))
		tap__ok(false, "died of signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) && state->failed == failed)
		tap__ok(false, "exited with status %d", WEXITSTATUS(status));
	else if (state->run == before)
		tap__ok(false, "checks nothing");
}

static bool matches(const char *name, char **patterns)
{
	char full[300];

	/* as tests/run names them */
	snprintf(full, sizeof(full), "unit:%s", name);
	if (!*patterns)
		return true;
	for (; *patterns; patterns++)
		if (strstr(full, *patterns))
			return true;
	return false;
}

static int program__run(int argc, char **argv)
{
	for (const struct tap__entry *e = entries; argc && e; e = e->next)
		if (e->kind == TAP_PROGRAM && !strcmp(e->name, argv[0]))
			return e->program(argc, argv);
	fprintf(stderr, "no such program\n");
	return 2;
}

int main(int argc, char **argv)
{
	bool list = false, here = false;

	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (state == MAP_FAILED)
		return 2;
	top = getcwd(NULL, 0);
	if (argc > 1 && !strcmp(argv[1], "-x"))
		return program__run(argc - 2, argv + 2);
	for (argv++; *argv && **argv == '-'; argv++) {
		list = list || !strcmp(*argv, "-l");
		here = here || !strcmp(*argv, "-g");
	}
	for (const struct tap__entry *e = entries; e; e = e->next) {
		if (e->kind != TAP_CASE)
			continue;
		case__name(e, state->name, sizeof(state->name));
		if (!matches(state->name, argv))
			continue;
		if (list) {
			puts(state->name);
			continue;
		}
		fflush(stdout);
		if (here)
			case__run_here(e);
		else
			case__run(e);
		folder__remove();
	}
	if (!list)
		printf("1..%d\n", state->run);
	return !list && (state->failed || !state->run);
}
