/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program as main() has it: subcommands, what they print where, exit status. */
#include "command.h"

/* One line on stderr that holds @why, nothing on stdout. */
static void usage(const char *line, const char *why)
{
	int status = run("%s", line);

	tap__ok(status == CMD_USAGE && !*out_text && strstr(err_text, why) && err_lines == 1,
		"'%s': %d %s", line, status, err_text);
}

TEST(usage)
{
	usage("", "nothing to profile");
	usage("nonsense -p 1", "no such subcommand: nonsense (try xrprof-bpf --help)");
	usage("recrod -p 1", "no such subcommand: recrod; did you mean record? (try");
	usage("snapshot", "no such subcommand: snapshot; did you mean dump -p PID? (try");
	usage("help nothing", "no such subcommand: nothing (try");
	usage("-p 1 -r 100", "no such option: -r; the rate is -F HZ (try");
	usage("-p 1 -g", "no such option: -g; stacks are always recorded; --native adds");
	usage("-p 1 --threads=2", "no such option: --threads=2; all threads of --pid are sampled");
	usage("-p 1 --nonblocking",
	      "no such option: --nonblocking; -e vmread and engine bpf never stop");
	usage("-p 1 --natve", "no such option: --natve; did you mean --native? (try");
	usage("-p 1 -f svg", "; -f flamegraph -o FILE.html writes that graph as a page (try");
	usage("-p 1 -e cycles", "; --event cycles (try");
	usage("-p 1 --idle", "--idle needs --off-cpu or --clock wall: give one of these");
	usage("top -p 2147483647 --idle", "top: --idle needs --off-cpu or --clock wall");
	usage("-p 1 --locals", "no such option: --locals; the variables of this moment: dump");
	usage("dump --core x -p 1", "dump: --core and --pid, --all or --subprocesses exclude");
	usage("dump --libr x -p 1", "dump: --libr needs --core FILE");
	usage("report --pid 3 x", "report: no such option: --pid; the samples of one process: "
				  "--process PID (try");
	usage("report --off-cpu x", "; time off the CPU: --sample-type off_cpu (try");
	usage("report --diff -3m", "report: --diff needs two files, A and B, or spans of a "
				   "directory: --dir DIR --diff 1h");
	usage("report --since 1h x", "report: --since, --until and --list need "
				     "--dir DIR (try");
	usage("report x --by route --fold", "report: --by cannot be combined with --fold (try");
	usage("report x --calls --sort self", "--calls cannot be combined with --sort (try");
	usage("report x -n 3 -f folded", "-f and -o cannot be combined with --top (try");
	usage("report x --diff x --by route", "--by cannot be combined with --diff (try");
	usage("report --dir x --list --json", "--list cannot be combined with --json (try");
	usage("list 4711", "list: unexpected argument: 4711 (try xrprof-bpf list --help)");
	usage("dump", "dump: no process given: give --pid PID or --all (try");
	usage("dump -a -p 1", "exclude each other");
	usage("dump -a -e bpf", "--engine bpf: no such engine (available: vmread, ptrace)");
}

TEST(help)
{
	gives(CMD_OK, "Usage: xrprof-bpf [record]", "", "--help");
	tap__ok(strstr(out_text, "\n  list ") && strstr(out_text, "\nExit status: "),
		"it lists the subcommands and exit statuses");
	gives(CMD_OK, "Usage: xrprof-bpf [record]", "", "record -h");
	gives(CMD_OK, "xrprof-bpf ", "", "--version");
	gives(CMD_OK, "xrprof-bpf ", "", "-V");
	gives(CMD_OK, "xrprof-bpf ", "", "version");
	gives(CMD_OK, "\nhelp [SUBCOMMAND] is the same as [SUBCOMMAND] --help", "", "help");
	gives(CMD_OK, "Usage: xrprof-bpf report ", "", "help report");
	gives(CMD_OK, "Usage: xrprof-bpf list [--json]\n", "", "list --help");
	tap__ok(!strstr(out_text, "\n  list "), "that of a subcommand is its own");
	gives(CMD_OK, "Usage: xrprof-bpf dump (-p PID[,PID...] | -a) ", "", "dump -h");
}

TEST(run)
{
	gives(CMD_OK, "PID", "", "list");
	gives(CMD_OK, "{\"processes\": [", "", "list --json");
	gives(CMD_OK, "engine vmread", "", "info");
	gives(CMD_OK, "\"capabilities\": [", "", "info --json");
	gives(CMD_OK, "/nowhere/btf", NULL, "info --btf /nowhere/btf");
}

/* --duration also ends the wait for an R below a process that is not R. */
TEST(duration)
{
	pid_t pid = fork();
	char line[128];

	if (!pid) {
		pause();
		_exit(0);
	}
	tap__bail_if(pid < 0, "no process");
	snprintf(line, sizeof(line), "-e vmread -s -d 0.1 -o /dev/null -p %d", (int)pid);
	gives(CMD_FAILED, "", "does not run R", line);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(failure)
{
	/* pid 2147483647 is above what the kernel gives out */
	gives(CMD_FAILED, "", "no process 2147483647", "-q -p 2147483647");
	gives(CMD_FAILED, "", "no process 2147483647", "dump -p 2147483647");
	tap__ok(err_lines == 1, "that is one line");
	gives(CMD_FAILED, NULL, "no process 2147483647", "2147483647 -q -f html -o /dev/null");
	gives(CMD_FAILED, "{\"processes\": [], \"failed\": [{\"pid\": 2147483647, ", NULL,
	      "dump --json 2147483647");
	gives(CMD_FAILED, NULL, "no R process matched --comm no-such-R",
	      "-q -e vmread -a -f folded -d 0.1 --comm no-such-R");
	gives(CMD_FAILED, NULL, "no R process matched --comm no-such-R",
	      "top -q -e vmread -a --batch 1 --comm no-such-R");
	gives(CMD_FAILED, NULL, "/nowhere/at-all", "-q -o /dev/null -- /nowhere/at-all");
	gives(CMD_FAILED, "{", "not-json|", "-e vmread -o /dev/null --stats - -- echo not-json");
	tap__ok(!strstr(out_text, "not-json"), "standard output has the counts alone");
}
