/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A command that is started, let go and ended. */
#define _GNU_SOURCE
#include "os/workload.h"

#include "os/signals.h"
#include "tap.h"

#define WAIT_MS 60000

static struct signals *signals;

/* What runs in these tests, let go: @words are its arguments. */
#define WORDS(...) ((char *const[]){__VA_ARGS__, NULL})

static bool start(struct workload *w, char *const *words)
{
	struct errmsg f = {""};

	fflush(stdout);
	return tap__ok(!workload__start(w, (char **)words, true, NULL, signals, &f), "start: %s",
		       f.text);
}

BEFORE()
{
	struct errmsg f = {""};

	tap__bail_if(signals__open(&signals, &f), "%s", f.text);
}

AFTER()
{
	signals__close(signals);
}

TEST(success)
{
	struct workload w;
	struct errmsg f = {""};
	char text[64];

	if (!start(&w, WORDS("true")))
		return;
	tap__ok(w.pid > 0 && !workload__ended(&w) && !workload__result(&w, text, sizeof(text)),
		"it waits at the gate");
	tap__ok(!workload__go(&w, &f) && workload__wait(&w, WAIT_MS) && workload__ended(&w),
		"it runs and ends %s", f.text);
	tap__ok(!workload__result(&w, text, sizeof(text)), "with success there is nothing to say");
	workload__close(&w);
}

TEST(status)
{
	struct workload w;
	struct errmsg f;
	char text[64] = "";

	if (!start(&w, WORDS("sh", "-c", "exit 3")))
		return;
	tap__ok(!workload__go(&w, &f) && workload__wait(&w, WAIT_MS) &&
			workload__result(&w, text, sizeof(text)) &&
			!strcmp(text, "exited with status 3"),
		"its result is its exit status: %s", text);
	workload__close(&w);
	if (!start(&w, WORDS("sleep", "1000")))
		return;
	tap__ok(!workload__go(&w, &f) && !workload__wait(&w, 20), "one that runs on");
	workload__signal(&w, SIGTERM);
	tap__ok(workload__wait(&w, WAIT_MS) && workload__result(&w, text, sizeof(text)) &&
			strstr(text, "was killed by signal 15"),
		"is ended by a signal: %s", text);
	workload__close(&w);
}

TEST(not_there)
{
	struct workload w;
	struct errmsg f = {""};

	if (!start(&w, WORDS("/nowhere/at-all")))
		return;
	tap__ok(workload__go(&w, &f) == -ENOENT && strstr(f.text, "cannot run /nowhere/at-all: "),
		"a command that is not there: %s", f.text);
	tap__ok(workload__wait(&w, WAIT_MS), "its child ends");
	workload__close(&w);
}

TEST(given_up)
{
	struct workload w;
	pid_t pid;

	if (!start(&w, WORDS("true")))
		return;
	pid = w.pid;
	workload__close(&w);
	tap__ok(!w.pid && waitpid(pid, NULL, 0) < 0 && errno == ECHILD,
		"one at the gate ends and is collected");
	workload__close(&w);
	tap__ok(!workload__ended(&w), "closed twice");
}

/* With @own_stdout false its stdout is our stderr: the two are swapped for pipes meanwhile. */
static void test_stdout(bool own_stdout)
{
	char **argv = (char **)WORDS("echo", "said");
	int out[2], err[2], saved[2] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
	char text[2][16] = {"", ""};
	struct workload w;
	struct errmsg f;
	bool ok;

	fflush(stdout);
	tap__bail_if(pipe(out) || pipe(err) || saved[0] < 0 || saved[1] < 0 ||
			     dup2(out[1], STDOUT_FILENO) < 0 || dup2(err[1], STDERR_FILENO) < 0,
		     "no pipes");
	ok = !workload__start(&w, argv, own_stdout, NULL, signals, &f) && !workload__go(&w, &f) &&
	     workload__wait(&w, WAIT_MS);
	workload__close(&w);
	dup2(saved[0], STDOUT_FILENO);
	dup2(saved[1], STDERR_FILENO);
	close(out[1]);
	close(err[1]);
	ok = ok && read(out[0], text[0], 15) >= 0 && read(err[0], text[1], 15) >= 0;
	tap__ok(ok && !strcmp(text[own_stdout ? 0 : 1], "said\n") && !*text[own_stdout ? 1 : 0],
		own_stdout ? "what it prints goes to stdout" : "or to stderr");
	close(out[0]);
	close(err[0]);
	close(saved[0]);
	close(saved[1]);
}

/* By sudo it is the caller's, with all that belongs to him. */
TEST(user)
{
	char **argv = (char **)WORDS("sh", "-c",
				     "test \"$(id -u) $(id -g) $(id -G) $HOME $USER $LOGNAME\" = "
				     "'4711 4712 4712 /nowhere alone alone'");
	const struct workload_user user = {4711, 4712, "alone", "/nowhere"};
	struct workload w;
	struct errmsg f = {""};

	if (!tap__root()) {
		tap__skip("not root", "it runs as another user");
		return;
	}
	tap__ok(!workload__start(&w, argv, true, &user, signals, &f) && !workload__go(&w, &f) &&
			workload__wait(&w, WAIT_MS) && !workload__status(&w),
		"it runs as another user");
	workload__close(&w);
}

TEST(caller)
{
	static const char *const none[] = {"0", "-1", "4294967295", "x", "", "1000 "};
	struct workload_user user;
	bool ok = true;

	if (geteuid()) {
		tap__skip("not root", "who called sudo");
		return;
	}
	unsetenv("SUDO_UID");
	ok = !workload__caller(&user);
	for (size_t i = 0; i < COUNT(none); i++) {
		setenv("SUDO_UID", none[i], 1);
		ok = ok && !workload__caller(&user);
	}
	tap__ok(ok, "without a number of sudo's there is no caller");
	setenv("SUDO_UID", "4711", 1);
	setenv("SUDO_GID", "4712", 1);
	setenv("SUDO_USER", "alone", 1);
	tap__ok(workload__caller(&user) && user.uid == 4711 && user.gid == 4712 &&
			!strcmp(user.name, "alone"),
		"who called sudo");
}

TEST(stdout)
{
	test_stdout(true);
	test_stdout(false);
}
