/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A workload that is traced: its stops are left to whoever traces it. */
#include <sys/ptrace.h>

#include "os/proc.h"
#include "os/workload.h"
#include "tap.h"

static struct signals *signals;

static int start(struct workload *w, char **argv, struct errmsg *f)
{
	tap__bail_if(workload__start(w, argv, true, NULL, signals, f), "%s", f->text);
	return workload__go(w, f);
}

/* Wait until the kernel says that the process is in @state. */
static bool in_state(pid_t pid, char state)
{
	struct proc p;

	for (int i = 0; i < 2000; i++) {
		if (!proc__read(pid, &p) && p.state == state)
			return true;
		usleep(10000);
	}
	return false;
}

static void test_traced(void)
{
	char *argv[] = {(char *)"sleep", (char *)"1000", NULL};
	char text[128] = "";
	struct workload w;
	struct errmsg f = {""};
	int status = 0;

	tap__bail_if(start(&w, argv, &f), "%s", f.text);
	tap__ok(!workload__ended(&w), "it runs");
	tap__bail_if(ptrace(PTRACE_SEIZE, w.pid, NULL, NULL) ||
			     ptrace(PTRACE_INTERRUPT, w.pid, NULL, NULL),
		     "it cannot be traced");
	tap__ok(in_state(w.pid, 't'), "it is stopped by its tracer");
	tap__ok(!workload__ended(&w) && !workload__ended(&w), "that is not its end");
	tap__ok(waitpid(w.pid, &status, __WALL | WNOHANG) == w.pid && WIFSTOPPED(status),
		"and the tracer is still told of it");
	ptrace(PTRACE_DETACH, w.pid, NULL, NULL);
	tap__ok(!workload__ended(&w), "it runs on");
	workload__signal(&w, SIGTERM);
	tap__ok(workload__wait(&w, 20000) && workload__ended(&w), "it ends");
	tap__ok(workload__result(&w, text, sizeof(text)) && strstr(text, "signal 15"), "%s", text);
	workload__close(&w);
}

TEST(workload_traced)
{
	struct errmsg f = {""};

	tap__bail_if(signals__open(&signals, &f), "%s", f.text);
	test_traced();
	signals__close(signals);
}
