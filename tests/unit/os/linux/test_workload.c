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

static void start(struct workload *w, char *const *words)
{
	struct errmsg f = {""};

	fflush(stdout);
	tap__bail_if(workload__start(w, (char **)words, true, NULL, signals, &f), "start: %s",
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

	start(&w, WORDS("true"));
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

	start(&w, WORDS("sh", "-c", "exit 3"));
	tap__ok(!workload__go(&w, &f) && workload__wait(&w, WAIT_MS) &&
			workload__result(&w, text, sizeof(text)) &&
			!strcmp(text, "exited with status 3"),
		"its result is its exit status: %s", text);
	workload__close(&w);
	start(&w, WORDS("sleep", "1000"));
	tap__ok(!workload__go(&w, &f) && !workload__wait(&w, 20), "one that runs on");
	workload__signal(&w, SIGTERM);
	tap__ok(workload__wait(&w, WAIT_MS) && workload__result(&w, text, sizeof(text)) &&
			strstr(text, "was killed by signal 15"),
		"is ended by a signal: %s", text);
	workload__close(&w);
}

/* The command @name is refused before it is let go, for @err. */
static bool refused(const char *name, int err)
{
	struct workload w;
	struct errmsg f = {""};
	char text[512];
	bool yes;

	snprintf(text, sizeof(text), "cannot run %s: %s", name, strerror(err));
	fflush(stdout);
	yes = workload__start(&w, (char **)WORDS((char *)(uintptr_t)name), true, NULL, signals,
			      &f) == -err &&
	      !strcmp(f.text, text) && !w.pid && waitpid(-1, NULL, 0) < 0;
	workload__close(&w);
	return yes;
}

/* A file with @text, in the folder of the case. */
static const char *script(const char *name, const char *text, mode_t mode)
{
	const char *path = tap__path(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	tap__bail_if(fd < 0 || write(fd, text, strlen(text)) < 0, "no %s", name);
	close(fd);
	return path;
}

/* Known before it is let go, as far as it can be: nothing is overwritten for it. */
TEST(not_there)
{
	struct workload w;
	struct errmsg f = {""};
	char path[512];

	tap__ok(refused("/nowhere/at-all", ENOENT) && refused("", ENOENT) &&
			refused("no-such-command", ENOENT),
		"a command that is not there");
	tap__ok(refused(script("text", "#!/bin/sh\n", 0600), EACCES) && refused("/", EACCES),
		"what cannot be executed");
	script("word", "#!/bin/sh\nexit 7\n", 0700);
	snprintf(path, sizeof(path), "/nowhere:%s", tap__folder());
	setenv("PATH", path, 1);
	tap__ok(refused("true", ENOENT) && refused("text", EACCES), "a PATH has neither");
	start(&w, WORDS("word"));
	tap__ok(!workload__go(&w, &f) && workload__wait(&w, WAIT_MS) && workload__status(&w) == 7,
		"but this one %s", f.text);
	workload__close(&w);
	start(&w, WORDS((char *)(uintptr_t)script("lost", "#!/nowhere/at-all\n", 0700)));
	tap__ok(workload__go(&w, &f) == -ENOENT && strstr(f.text, "cannot run "), "exec fails: %s",
		f.text);
	tap__ok(workload__wait(&w, WAIT_MS), "its child ends");
	workload__close(&w);
}

TEST(given_up)
{
	struct workload w;
	pid_t pid;

	start(&w, WORDS("true"));
	pid = w.pid;
	workload__close(&w);
	tap__ok(!w.pid && waitpid(pid, NULL, 0) < 0 && errno == ECHILD,
		"one at the gate ends and is collected");
	workload__close(&w);
	tap__ok(!workload__ended(&w), "closed twice");
}

/* Is descriptor 1 of a command what @fd is here? */
static bool leads_to(bool own_stdout, int fd)
{
	struct workload w;
	struct errmsg f;
	char test[64];
	bool yes;

	snprintf(test, sizeof(test), "[ /proc/self/fd/1 -ef /proc/$PPID/fd/%d ]", fd);
	yes = !workload__start(&w, (char **)WORDS("sh", "-c", test), own_stdout, NULL, signals,
			       &f) &&
	      !workload__go(&w, &f) && workload__wait(&w, WAIT_MS) && !workload__status(&w);
	workload__close(&w);
	return yes;
}

TEST(stdout)
{
	int other = open(tap__path("other"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	tap__bail_if(other < 0 || dup2(other, STDERR_FILENO) < 0, "no other file");
	tap__ok(leads_to(true, STDOUT_FILENO), "what it prints goes to stdout");
	tap__ok(leads_to(false, STDERR_FILENO) && !leads_to(false, STDOUT_FILENO), "or to stderr");
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
