/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/linux/library.h"

#include <dlfcn.h>
#include <errno.h>

int library__load(const char *soname, const char *const *functions, void **out, const char *package,
		  struct errmsg *f)
{
	void *library;
	size_t i;

	if (out[0])
		return 0;
	library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return errmsg__set(f, -ENOENT, "cannot load a library: %s (install %s)", dlerror(),
				   package);
	for (i = 0; functions[i]; i++)
		if (!dlsym(library, functions[i])) {
			dlclose(library);
			return errmsg__set(f, -ENOSYS,
					   "%s is too old: it has no %s (install a newer %s)",
					   soname, functions[i], package);
		}
	for (i = 0; functions[i]; i++)
		out[i] = dlsym(library, functions[i]);
	return 0;
}
