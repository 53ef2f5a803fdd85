/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes of Windows, their memory, their threads; and proc.h in these terms. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "os/proc.h"
#include "os/win32/proc_win32.h"
#include <psapi.h>
#include <tlhelp32.h>

#define FILETIME_1970 116444736000000000ULL

#define PATH_UNITS 32768u

/* The privilege to debug lets an administrator look at the processes of others. */
static void privilege__take(void)
{
	TOKEN_PRIVILEGES wanted = {
		.PrivilegeCount = 1,
		.Privileges = {{.Attributes = SE_PRIVILEGE_ENABLED}},
	};
	HANDLE token;

	if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES, &token))
		return;
	if (LookupPrivilegeValueW(NULL, L"SeDebugPrivilege", &wanted.Privileges[0].Luid))
		AdjustTokenPrivileges(token, FALSE, &wanted, 0, NULL, NULL);
	CloseHandle(token);
}

HANDLE proc_win32__open(uint32_t pid, DWORD access, DWORD *code)
{
	HANDLE process = OpenProcess(access, FALSE, pid);

	if (!process && GetLastError() == ERROR_ACCESS_DENIED) {
		privilege__take();
		process = OpenProcess(access, FALSE, pid);
	}
	*code = process ? 0 : GetLastError();
	/* Windows takes pid 1001 for 1000: its pids are multiples of four */
	if (process && (access & (PROCESS_QUERY_INFORMATION | PROCESS_QUERY_LIMITED_INFORMATION)) &&
	    GetProcessId(process) != pid) {
		CloseHandle(process);
		process = NULL;
		*code = ERROR_INVALID_PARAMETER;
	}
	return process;
}

uint64_t proc_win32__start_time(HANDLE process)
{
	FILETIME created, exited, kernel, user;

	if (!GetProcessTimes(process, &created, &exited, &kernel, &user))
		return 0;
	return (uint64_t)created.dwHighDateTime << 32 | created.dwLowDateTime;
}

int proc_win32__comm(uint32_t pid, char *comm, size_t size)
{
	DWORD code, units = PATH_UNITS;
	wchar_t *path;
	HANDLE process;
	int err = 0;

	comm[0] = '\0';
	process = proc_win32__open(pid, PROCESS_QUERY_LIMITED_INFORMATION, &code);
	if (!process)
		return code == ERROR_ACCESS_DENIED ? -EACCES : -ESRCH;
	path = malloc(PATH_UNITS * sizeof(*path));
	if (!path)
		err = -ENOMEM;
	else if (!QueryFullProcessImageNameW(process, 0, path, &units))
		err = -ESRCH;
	else
		wide__cut(wide__base(path), comm, size);
	free(path);
	CloseHandle(process);
	return err;
}

static int process__read(void *process, uint64_t addr, void *to, size_t len)
{
	DWORD code;
	SIZE_T done;

	if (ReadProcessMemory(process, (const void *)(uintptr_t)addr, to, len, &done) &&
	    done == len)
		return 0;
	code = GetLastError();
	if (WaitForSingleObject(process, 0) == WAIT_OBJECT_0)
		return -ESRCH;
	/* what is being torn down is denied, too; but so is what is not mapped, in part */
	return code == ERROR_ACCESS_DENIED ? -EACCES : -EFAULT;
}

struct mem_reader proc_win32__reader(HANDLE process)
{
	return (struct mem_reader){.read = process__read, .arg = process};
}

int proc_win32__processes(int (*seen)(void *arg, const struct win32_process *p), void *arg)
{
	HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
	PROCESSENTRY32W entry = {.dwSize = sizeof(entry)};
	struct win32_process p;
	int result = 0;

	if (all == INVALID_HANDLE_VALUE)
		return wide__errno(GetLastError());
	for (BOOL more = Process32FirstW(all, &entry); more && !result;
	     more = Process32NextW(all, &entry)) {
		p.pid = entry.th32ProcessID;
		p.parent = entry.th32ParentProcessID;
		wide__cut(entry.szExeFile, p.name, sizeof(p.name));
		if (p.pid)
			result = seen(arg, &p);
	}
	CloseHandle(all);
	return result;
}

/* What NtQueryInformationThread() gives for class 0, ThreadBasicInformation. */
struct thread_basic {
	LONG status;
	uint64_t teb;
	uint64_t process, thread;
	ULONG_PTR affinity;
	LONG priority, base_priority;
};

typedef LONG(NTAPI *query_thread)(HANDLE thread, int class, void *to, ULONG size, ULONG *got);

/* How many of the addresses lie on the stack of thread @tid. */
static uint32_t thread__holds(query_thread query, uint32_t tid, HANDLE process,
			      const uint64_t *addresses, uint32_t n)
{
	struct thread_basic basic = {0};
	uint64_t stack[2]; /* NT_TIB, at the start of the TEB: a list, StackBase, StackLimit */
	uint32_t held = 0;
	HANDLE thread;

	thread = OpenThread(THREAD_QUERY_INFORMATION, FALSE, tid);
	if (!thread)
		return 0;
	if (query(thread, 0, &basic, sizeof(basic), NULL) >= 0 && basic.teb &&
	    !process__read(process, basic.teb + 8, stack, sizeof(stack)))
		for (uint32_t i = 0; i < n; i++)
			held += addresses[i] < stack[0] && addresses[i] >= stack[1];
	CloseHandle(thread);
	return held;
}

uint32_t proc_win32__thread(uint32_t pid, HANDLE process, const uint64_t *addresses, uint32_t n)
{
	HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
	query_thread query =
		ntdll ? (query_thread)(void *)GetProcAddress(ntdll, "NtQueryInformationThread")
		      : NULL;
	THREADENTRY32 entry = {.dwSize = sizeof(entry)};
	uint32_t found = 0, most = 0, held;
	HANDLE all;

	if (!query || !n)
		return 0;
	all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
	if (all == INVALID_HANDLE_VALUE)
		return 0;
	for (BOOL more = Thread32First(all, &entry); more; more = Thread32Next(all, &entry)) {
		if (entry.th32OwnerProcessID != pid)
			continue;
		held = thread__holds(query, entry.th32ThreadID, process, addresses, n);
		if (held > most) {
			most = held;
			found = entry.th32ThreadID;
		}
	}
	CloseHandle(all);
	return found;
}

/* --- proc.h --- */

int proc__memory(pid_t pid, uint64_t addr, void *to, size_t len)
{
	HANDLE process;
	DWORD code;
	int err;

	process = proc_win32__open((uint32_t)pid, PROCESS_VM_READ | SYNCHRONIZE, &code);
	if (!process)
		return code == ERROR_ACCESS_DENIED ? -EACCES : -ESRCH;
	err = process__read(process, addr, to, len);
	CloseHandle(process);
	return err;
}

static int reader__read(void *arg, uint64_t addr, void *to, size_t len)
{
	return proc__memory((pid_t)(intptr_t)arg, addr, to, len);
}

struct mem_reader proc__reader(pid_t pid)
{
	return (struct mem_reader){.read = reader__read, .arg = (void *)(intptr_t)pid};
}

/* Of what there is to tell, the name of the program and when it was started. */
int proc__read(pid_t pid, struct proc *p)
{
	*p = (struct proc){.tgid = pid, .state = 'R'};
	p->start_time = proc__start_time(pid);
	if (!p->start_time)
		return -ESRCH;
	return proc_win32__comm((uint32_t)pid, p->comm, sizeof(p->comm));
}

uint64_t proc__began(uint64_t start_time)
{
	/* 100 ns since 1601 */
	return start_time > FILETIME_1970 ? (start_time - FILETIME_1970) * 100 : 0;
}

uint64_t proc__start_time(pid_t pid)
{
	uint64_t time = 0;
	HANDLE process;
	DWORD code;

	process = proc_win32__open((uint32_t)pid, PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE,
				   &code);
	if (!process)
		return 0;
	if (WaitForSingleObject(process, 0) != WAIT_OBJECT_0)
		time = proc_win32__start_time(process);
	CloseHandle(process);
	return time;
}

int proc__use(pid_t pid, uint64_t *cpu_ns, char *state)
{
	FILETIME began, ended, kernel, user;
	HANDLE process;
	DWORD code;
	BOOL ok;

	process = proc_win32__open((uint32_t)pid, PROCESS_QUERY_LIMITED_INFORMATION, &code);
	if (!process)
		return -ESRCH;
	ok = GetProcessTimes(process, &began, &ended, &kernel, &user);
	CloseHandle(process);
	if (!ok)
		return -ESRCH;
	if (state)
		*state = '?';
	/* in units of 100 ns */
	*cpu_ns = 100 * (((uint64_t)kernel.dwHighDateTime << 32 | kernel.dwLowDateTime) +
			 ((uint64_t)user.dwHighDateTime << 32 | user.dwLowDateTime));
	return 0;
}

int proc__directory(pid_t pid, char *path, size_t size)
{
	(void)pid;
	if (!size)
		return -ENAMETOOLONG;
	path[0] = '\0';
	return 0;
}

int proc__cgroup(pid_t pid, char *path, size_t size)
{
	(void)pid;
	(void)path;
	(void)size;
	return -ENOENT;
}

bool proc__container(const char *cgroup, char id[PROC_CONTAINER_LEN])
{
	(void)cgroup;
	(void)id;
	return false;
}

bool proc__isolated(pid_t pid, char id[PROC_CONTAINER_LEN])
{
	(void)pid;
	(void)id;
	return false;
}
