/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/win32/dbghelp.h"

#include <stdlib.h>
#include <dbghelp.h>

/* Loaded when wanted, so that the program starts without it. */
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

void dbghelp__symbols(HANDLE process, uint64_t base, uint32_t size, const wchar_t *path,
		      struct pe_symbol *want, size_t n)
{
	SYMBOL_INFO info;
	struct dbghelp d;

	if (!dbghelp__load(&d))
		goto cleanup;
	if (!d.initialize(process, NULL, FALSE))
		goto cleanup;
	if (d.load(process, NULL, path, NULL, base, size, NULL, 0)) {
		for (size_t i = 0; i < n; i++) {
			if (want[i].value)
				continue;
			info = (SYMBOL_INFO){.SizeOfStruct = sizeof(info), .MaxNameLen = 1};
			if (d.find(process, want[i].name, &info) && info.Address >= base &&
			    info.Address - base < size)
				want[i].value = info.Address;
		}
	}
	d.cleanup(process);
cleanup:
	if (d.dll)
		FreeLibrary(d.dll);
}
