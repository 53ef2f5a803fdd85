/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/win32/proc_win32.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "os/proc.h"
#include "target/r_version.h"
#include "target/target.h"
#include "target/variables.h"
#include <dbghelp.h>
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

/* dbghelp.dll, which Windows ships.  Loaded when wanted, so that the program starts without it. */
struct dbghelp {
	HMODULE dll;
	__typeof__(&SymInitializeW) initialize;
	__typeof__(&SymLoadModuleExW) load;
	__typeof__(&SymFromName) find;
	__typeof__(&SymCleanup) cleanup;
};

#define DBGHELP_FIND(d, member, name)                                                              \
	((d)->member = (__typeof__((d)->member))(void *)GetProcAddress((d)->dll, name))

/* From the system's folder and nowhere else: a file of that name may lie in the current one. */
static BOOL dbghelp__load(struct dbghelp *d)
{
	d->dll = LoadLibraryExW(L"dbghelp.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
	return d->dll && DBGHELP_FIND(d, initialize, "SymInitializeW") &&
	       DBGHELP_FIND(d, load, "SymLoadModuleExW") && DBGHELP_FIND(d, find, "SymFromName") &&
	       DBGHELP_FIND(d, cleanup, "SymCleanup");
}

/* Addresses of R's variables: those that R.dll exports, or has debug information of. */
static void module__symbols(HANDLE process, const struct module *m, uint64_t at[TARGET_VARIABLES])
{
	struct dbghelp d;

	memset(at, 0, TARGET_VARIABLES * sizeof(*at));
	if (dbghelp__load(&d) && d.initialize(process, NULL, FALSE)) {
		const bool have = d.load(process, NULL, m->path, NULL, m->base, m->size, NULL, 0);

		for (int i = 0; have && i < TARGET_VARIABLES; i++) {
			SYMBOL_INFO info = {.SizeOfStruct = sizeof(info), .MaxNameLen = 1};

			if (d.find(process, variables__name(i), &info) && info.Address >= m->base &&
			    info.Address - m->base < m->size)
				at[i] = info.Address;
		}
		d.cleanup(process);
	}
	if (d.dll)
		FreeLibrary(d.dll);
}

/* R's version, from what is not code.  GNU ld makes the section of resources writable. */
static int module__version(HANDLE process, const struct module *m, r_version_parse *parse,
			   char version[16])
{
	const struct mem_reader memory = proc_win32__reader(process);
	const uint64_t end = m->base + m->size;
	MEMORY_BASIC_INFORMATION info;
	int err = -ENOENT;

	for (uint64_t at = m->base; err == -ENOENT && at < end; at += info.RegionSize) {
		if (!VirtualQueryEx(process, (void *)(uintptr_t)at, &info, sizeof(info)))
			break;
		if (info.Protect & (PAGE_READONLY | PAGE_WRITECOPY | PAGE_READWRITE))
			err = r_version__scan(&memory, at, info.RegionSize, parse, version);
	}
	return err;
}

static int target__take(struct target *t, HANDLE process, struct module *m, struct errmsg *f)
{
	uint64_t at[TARGET_VARIABLES];
	BOOL wow64;
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
	if (IsWow64Process(process, &wow64) && wow64)
		return errmsg__set(f, -ENOTSUP,
				   "%s is for 32-bit Windows: only R for 64-bit Windows on x86_64 "
				   "is supported",
				   t->path);
	module__symbols(process, m, at);
	if (!at[TARGET_CONTEXT] || !at[TARGET_NIL])
		return errmsg__set(f, -EBADMSG,
				   "%s is damaged, or not R's: it does not export R_GlobalContext "
				   "and R_NilValue",
				   t->path);
	err = variables__read(t, at, f);
	if (err)
		return err;
	if (module__version(process, m, r_version__resource, t->version))
		module__version(process, m, r_version__parse, t->version);
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

bool target__replaced(const struct target *t)
{
	(void)t; /* there is no exec */
	return false;
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
