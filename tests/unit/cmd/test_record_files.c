/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files that `record` writes: two are never the same one, and an older one stays if nothing
 * runs. */
#include "cmd/record.h"
#include "command.h"
#include "output/output.h"

static void shell(const char *command)
{
	tap__bail_if(system(command), "%s", command);
}

static bool precious(void)
{
	return !system("test \"$(cat precious.out)\" = precious");
}

/* `record` with these outputs is wrong usage, before anything else is looked at. */
static void same(const char *options)
{
	int status = run("-p 1 %s", options);

	tap__ok(status == CMD_USAGE && strstr(err_text, "are the same file") && precious(),
		"%s: %s", options, err_text);
}

/* Nothing is opened for a command that is not there. */
TEST(no_command)
{
	int status;

	shell("echo precious >precious.out");
	status = run("-o precious.out -- /nowhere/at-all");
	tap__ok(status == CMD_FAILED && precious() && err_lines == 1 &&
			strstr(err_text, "cannot run /nowhere/at-all: No such file"),
		"the file stays as it was: %d %s", status, err_text);
	status = run("-o new/ -- /nowhere/at-all");
	tap__ok(status == CMD_FAILED && access("new", F_OK), "no directory is made: %s", err_text);
}

static bool differ(const struct config *c)
{
	struct errmsg f = {""};

	return !record_files__check(c, &f);
}

BEFORE()
{
	tap__bail_if(chdir(tap__folder()), "no folder in /tmp");
}

TEST(same)
{
	shell("echo precious >precious.out; ln precious.out hard; ln -s precious.out soft;"
	      "ln -s later.out dangling; mkdir sub; mkfifo fifo");
	same("-o precious.out --stats precious.out");
	same("-o precious.out --stats ./sub/../precious.out");
	same("-o precious.out --stats hard");
	same("-o hard --ready soft");
	same("--ready precious.out --stats soft");
	same("-o later.out --stats later.out");
	same("-o later.out --stats dangling");
	/* standard output is a regular file here */
	same("--stats /dev/stdout");
	same("-o /proc/self/fd/1 --stats -");
	/* no "-" as other outputs may share it with standard error */
	same("-o precious.out --stats /dev/../tmp/../proc/self/cwd/precious.out");
	tap__ok(differ(&(struct config){.output = "later.out", .stats = "later.json"}) &&
			differ(&(struct config){.output = "sub", .stats = "sub/later.out"}) &&
			differ(&(struct config){.output = "fifo", .stats = "fifo"}) &&
			differ(&(struct config){.output = "/dev/null", .stats = "/dev/null"}) &&
			differ(&(struct config){.output = "no/such", .stats = "no/such"}),
		"different files, and outputs that keep nothing, do not conflict");
}

/* Standard error goes to a file, too. */
TEST(standard_error)
{
	int saved = dup(STDERR_FILENO), saved_out = dup(STDOUT_FILENO);
	int fd = open("log", O_WRONLY | O_CREAT, 0600);
	bool named, shared;

	fflush(stdout);
	tap__bail_if(saved < 0 || saved_out < 0 || dup2(fd, STDERR_FILENO) < 0 ||
			     dup2(fd, STDOUT_FILENO) < 0,
		     "no log");
	named = differ(&(struct config){.output = "log"});
	shared = differ(&(struct config){.output = "-"});
	dup2(saved, STDERR_FILENO);
	dup2(saved_out, STDOUT_FILENO);
	close(fd);
	tap__ok(!named, "-o log 2>log: the messages would be overwritten");
	tap__ok(shared, ">log 2>&1: both are there, as the caller asked");
}

/* A name that a file got later. */
TEST(later)
{
	static struct buf text;
	struct output_config to = {.path = "dir.out", .wait_ms = 10000, .number_at = 3};
	struct output *out;
	struct errmsg f;
	int err;

	tap__bail_if(files__start(&to.files, FILES_NONE, &f) || buf__str(&text, "{}\n") ||
			     output__open(&out, &to, &f),
		     "no file");
	err = record_files__write(to.files, "stats", "./dir.out", &text, &f);
	tap__ok(err && strstr(f.text, "the profile is in that file"), "written by now: %s", f.text);
	err = record_files__write(to.files, "stats", "dir.json", &text, &f);
	tap__ok(!err, "another one is written");
	output__close(out, NULL);
	files__stop(to.files);
}
