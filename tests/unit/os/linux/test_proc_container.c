/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Containers without a cgroup: by their namespaces, as unshare(1) and bwrap(1) make them. */
#define _GNU_SOURCE
#include "os/proc.h"
#include "child.h"
#include "tap.h"

/* A process that executes a command, which writes when it is there, and then waits for a reader. */
struct other {
	pid_t starter, pid;
};

/* The process below @pid that has none below it; 0: there is none. */
static pid_t innermost(pid_t pid)
{
	const char *text;
	char path[64];
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	text = tap__read(path, NULL);
	child = text ? atoi(text) : 0;
	return child ? innermost(child) : pid;
}

static bool other__start(struct other *o, char *const argv[])
{
	int ready;
	char c;

	o->starter = child__fork(&ready);
	if (!o->starter) {
		dup2(ready, 1);
		execvp(argv[0], argv);
		_exit(127);
	}
	o->pid = read(ready, &c, 1) == 1 ? innermost(o->starter) : 0;
	return o->pid; /* the pipe stays open */
}

static void other__end(struct other *o)
{
	if (o->pid)
		kill(o->pid, SIGKILL);
	child__end(o->starter);
}

/* The number of a namespace, as its own link says. */
static unsigned long namespace_of(pid_t pid, const char *name)
{
	unsigned long number = 0;
	char link[64];

	if (proc__link(pid, name, link, sizeof(link)) > 0)
		sscanf(link, "%*[a-z]:[%lu]", &number);
	return number;
}

/* Is @id that of namespace @name of @pid?  NULL: of none. */
static void check(char *const argv[], const char *name, const char *what)
{
	char id[PROC_CONTAINER_LEN] = "", want[PROC_CONTAINER_LEN] = "";
	struct other o;
	bool isolated;

	if (!other__start(&o, argv)) {
		tap__skip("it cannot be made here", "%s", what);
		other__end(&o);
		return;
	}
	if (name)
		snprintf(want, sizeof(want), "ns:%lu", namespace_of(o.pid, name));
	isolated = proc__isolated(o.pid, id);
	tap__ok(isolated == (name != NULL) && !strcmp(id, want), "%s: %s", what, *id ? id : "none");
	other__end(&o);
}

#define ARGV(...) ((char *const[]){__VA_ARGS__, "yes", NULL})

TEST(proc_container)
{
	char id[PROC_CONTAINER_LEN], name[201] = "", root[4096];

	tap__ok(!proc__isolated(getpid(), id) || namespace_of(1, "ns/pid") == 0,
		"this process is in none");
	tap__ok(!proc__isolated(1 << 22, id), "nor is one that is not there");
	check(ARGV("env"), NULL, "another program");
	check(ARGV("unshare", "--pid", "--fork", "--kill-child"), "ns/pid", "a PID namespace");
	check(ARGV("unshare", "--mount"), NULL, "a mount namespace with the same root");
	check(ARGV("bwrap", "--dev-bind", "/", "/", "--tmpfs", "/tmp"), NULL,
	      "a private /tmp, as a service has");
	check(ARGV("bwrap", "--tmpfs", "/", "--ro-bind", "/usr", "/usr", "--ro-bind-try", "/bin",
		   "/bin", "--ro-bind-try", "/lib", "/lib", "--ro-bind-try", "/lib64", "/lib64",
		   "--proc", "/proc"),
	      "ns/mnt", "a sandbox with its own root");
	memset(name, 'x', sizeof(name) - 1);
	snprintf(root, sizeof(root), "%s", tap__path(name));
	tap__bail_if(mkdir(root, 0755), "mkdir");
	check(ARGV("bwrap", "--bind", root, "/", "--ro-bind", "/usr", "/usr", "--ro-bind-try",
		   "/bin", "/bin", "--ro-bind-try", "/lib", "/lib", "--ro-bind-try", "/lib64",
		   "/lib64", "--proc", "/proc"),
	      "ns/mnt", "a sandbox whose root has a long path");
	check(ARGV("bwrap", "--dev-bind", "/", "/", "--unshare-all"), "ns/pid",
	      "a sandbox with the same root, and nothing else of the machine's");
}
