/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/win32/proc_win32.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "target/win32/dbghelp.h"
#include "target/pe.h"
#include "target/target.h"
#include "os/proc.h"
#include "target/variables.h"
#include <psapi.h>

#define MODULES_MAX 4096u
#define PATH_UNITS  32768u /* of the longest path */

static HANDLE target__open(const struct target *t, DWORD access, struct errmsg *f)
{
	HANDLE process;
	DWORD code;

	process = proc_win32__open((uint32_t)t->pid, access, &code);
	if (process)
		return process;
	if (code == ERROR_ACCESS_DENIED)
		target__denied(t, "process", f);
	else
		errmsg__set(f, -ESRCH, "no process %d: it has ended or never existed", (int)t->pid);
	return NULL;
}

int target__denied(const struct target *t, const char *what, struct errmsg *f)
{
	return errmsg__set(f, -EACCES,
			   "not allowed to read the %s of process %d (%s): run as administrator",
			   what, (int)t->pid, t->comm[0] ? t->comm : "?");
}

/* --- R.dll --- */

struct module {
	uint64_t base;
	uint32_t size;
	wchar_t path[PATH_UNITS];
};

static bool module__is_r(const wchar_t *path)
{
	return !_wcsicmp(wide__base(path), L"R.dll");
}

/* R.dll in @process.  Returns 0; -ENOEXEC; -EAGAIN: the process is only beginning. */
static int module__find(HANDLE process, struct module *m)
{
	HMODULE *modules;
	MODULEINFO info;
	DWORD bytes = 0;
	int err = -ENOEXEC;

	modules = calloc(MODULES_MAX, sizeof(*modules));
	if (!modules)
		return -ENOMEM;
	if (!EnumProcessModulesEx(process, modules, MODULES_MAX * sizeof(*modules), &bytes,
				  LIST_MODULES_ALL)) {
		err = -EAGAIN;
		goto cleanup;
	}
	for (DWORD i = 0; i < bytes / sizeof(*modules) && i < MODULES_MAX; i++) {
		DWORD n = GetModuleFileNameExW(process, modules[i], m->path, PATH_UNITS);

		if (!n || n >= PATH_UNITS || !module__is_r(m->path) ||
		    !GetModuleInformation(process, modules[i], &info, sizeof(info)))
			continue;
		m->base = (uint64_t)(uintptr_t)info.lpBaseOfDll;
		m->size = info.SizeOfImage;
		err = 0;
		break;
	}
cleanup:
	free(modules);
	return err;
}

/*
 * Addresses of R's variables: from the export table in the process' memory, and for what is missing
 * there from dbghelp.dll, where it is installed.
 */
static int target__symbols(const struct target *t, const struct pe *pe, HANDLE process,
			   const struct module *m, uint64_t at[TARGET_VARIABLES], struct errmsg *f)
{
	struct pe_symbol symbols[TARGET_VARIABLES];
	int err;

	for (int i = 0; i < TARGET_VARIABLES; i++)
		symbols[i] = (struct pe_symbol){.name = variables__name(i)};
	err = pe__symbols(pe, symbols, TARGET_VARIABLES);
	if (err < TARGET_VARIABLES)
		dbghelp__symbols(process, m->base, m->size, m->path, symbols, TARGET_VARIABLES);
	for (int i = 0; i < TARGET_VARIABLES; i++)
		at[i] = symbols[i].value;
	if (at[TARGET_CONTEXT] && at[TARGET_NIL])
		return 0;
	if (err == -ESRCH)
		return target__gone(t, f);
	return errmsg__set(f, -EBADMSG,
			   "%s is damaged, or not R's: it does not export R_GlobalContext and "
			   "R_NilValue",
			   t->path);
}

static int target__take(struct target *t, HANDLE process, struct module *m, struct errmsg *f)
{
	struct mem_reader memory = proc_win32__reader(process);
	uint64_t at[TARGET_VARIABLES];
	struct pe pe;
	int err;

	err = module__find(process, m);
	if (err == -EAGAIN)
		return errmsg__set(f, err,
				   "process %d (%s) is still starting: try again in a moment",
				   (int)t->pid, t->comm);
	if (err == -ENOEXEC)
		return errmsg__set(f, err, "process %d (%s) does not run R: R.dll is not loaded",
				   (int)t->pid, t->comm);
	if (err)
		return errmsg__set(f, err, "out of memory");
	wide__cut(m->path, t->path, sizeof(t->path));
	t->load = TARGET_LIBR;
	t->load_bias = m->base;
	err = pe__open(&pe, &memory, m->base, t->path, f);
	if (!err)
		err = target__symbols(t, &pe, process, m, at, f);
	if (!err)
		err = variables__read(t, at, f);
	if (err)
		return err;
	pe__version(&pe, t->version);
	return variables__layout(t, LAYOUTS_X86_64_WINDOWS, f);
}

int target__find(pid_t pid, uint32_t want, struct target *t, struct errmsg *f)
{
	const DWORD access = PROCESS_QUERY_INFORMATION | PROCESS_VM_READ | SYNCHRONIZE;
	struct module *m = NULL;
	HANDLE process;
	int err;

	(void)want; /* R's hidden variables are not looked for */
	memset(t, 0, sizeof(*t));
	t->pid = pid;
	proc_win32__comm((uint32_t)pid, t->comm, sizeof(t->comm));
	process = target__open(t, access, f);
	if (!process)
		return t->comm[0] ? -EACCES : -ESRCH;
	t->start_time = proc_win32__start_time(process);
	m = malloc(sizeof(*m));
	if (!m)
		err = errmsg__set(f, -ENOMEM, "out of memory");
	else if (WaitForSingleObject(process, 0) == WAIT_OBJECT_0)
		err = errmsg__set(f, -ESRCH, "process %d (%s) has ended already", (int)pid,
				  t->comm);
	else
		err = target__take(t, process, m, f);
	if (err && err != -ENOMEM && WaitForSingleObject(process, 0) == WAIT_OBJECT_0)
		err = target__gone(t, f);
	if (!err) {
		t->row.start_time = t->start_time;
		t->row.pid = (uint32_t)pid;
	}
	free(m);
	CloseHandle(process);
	return err;
}

bool target__same(const struct target *t)
{
	return proc__start_time(t->pid) == t->start_time;
}

/* --- all processes --- */

struct scan {
	int (*seen)(void *arg, pid_t pid);
	void *arg;
	struct module *m;
};

static int scan__process(void *arg, const struct win32_process *p)
{
	struct scan *scan = arg;
	HANDLE process;
	DWORD code;
	int err;

	process = proc_win32__open(p->pid, PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, &code);
	if (!process)
		return 0;
	err = module__find(process, scan->m);
	CloseHandle(process);
	return err ? 0 : scan->seen(scan->arg, (pid_t)p->pid);
}

int target__scan(int (*seen)(void *arg, pid_t pid), void *arg)
{
	struct scan scan = {.seen = seen, .arg = arg, .m = malloc(sizeof(*scan.m))};
	int err = -ENOMEM;

	if (scan.m)
		err = proc_win32__processes(scan__process, &scan);
	free(scan.m);
	return err;
}
