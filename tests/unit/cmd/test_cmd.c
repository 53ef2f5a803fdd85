/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program as main() has it: subcommands, what they print where, exit status. */
#include "command.h"

/* One line on stderr that holds @why, nothing on stdout. */
static void usage(const char *line, const char *why)
{
	int status = run(line);

	tap__ok(status == CMD_USAGE && !*out_text && strstr(err_text, why) && err_lines == 1,
		"'%s': %d %s", line, status, err_text);
}

static void prints(const char *line, const char *what)
{
	int status = run(line);

	tap__ok(status == CMD_OK && !*err_text && strstr(out_text, what), "'%s': %d %s", line,
		status, err_text);
}

static void test_usage(void)
{
	usage("", "nothing to profile");
	usage("nonsense -p 1", "no such subcommand: nonsense (try xrprof-bpf --help)");
	usage("4711", "no such subcommand: 4711; did you mean --pid 4711? (try");
	usage("record 4711", "unexpected argument: 4711; did you mean --pid 4711? (try");
	usage("list 4711", "list: unexpected argument: 4711 (try xrprof-bpf list --help)");
	usage("dump 4711", "dump: unexpected argument: 4711; did you mean --pid 4711? (try");
	usage("dump", "dump: no process given: give --pid PID or --all (try");
	usage("dump -a -p 1", "exclude each other");
	usage("dump -a -e bpf", "--engine bpf: no such engine (there are: vmread, ptrace)");
	usage("list --nonsense", "list: no such option: --nonsense (try");
	usage("info x", "info: unexpected argument: x (try xrprof-bpf info --help)");
}

static void test_help(void)
{
	prints("--help", "Usage: xrprof-bpf [record]");
	tap__ok(strstr(out_text, "\n  list ") && strstr(out_text, "\nExit status: "),
		"it lists the subcommands and exit statuses");
	prints("record -h", "Usage: xrprof-bpf [record]");
	prints("--version", "xrprof-bpf ");
	prints("list --help", "Usage: xrprof-bpf list [--json]\n");
	tap__ok(!strstr(out_text, "\n  list "), "that of a subcommand is its own");
	prints("info -h", "--programs");
	prints("dump -h", "Usage: xrprof-bpf dump (-p PID[,PID...] | -a) [--json]\n");
}

static void test_run(void)
{
	prints("list", "PID");
	prints("list --json", "{\"processes\": [");
	prints("info", "engine vmread");
	prints("info --json", "\"capabilities\": [");
}

static void test_failure(void)
{
	/* pid 2147483647 is above what the kernel gives out */
	tap__ok(run("-q -p 2147483647") == CMD_FAILED && !*out_text &&
			strstr(err_text, "no process 2147483647"),
		"nothing to profile: %s", err_text);
	tap__ok(run("dump -p 2147483647") == CMD_FAILED && !*out_text && err_lines == 1 &&
			strstr(err_text, "no process 2147483647"),
		"nothing to dump: %s", err_text);
	tap__ok(run("dump --json -p 2147483647") == CMD_FAILED &&
			strstr(out_text, "{\"processes\": [], \"failed\": [{\"pid\": 2147483647, "),
		"which is said in JSON, too: %s", out_text);
	tap__ok(run("-q -o /dev/null -- /nowhere/at-all") == CMD_FAILED &&
			strstr(err_text, "/nowhere/at-all"),
		"a command that is not there: %s", err_text);
}

int main(void)
{
	test_usage();
	test_help();
	test_run();
	test_failure();
	return tap__done();
}
