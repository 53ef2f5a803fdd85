/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/linux/native/demangle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Of libiberty (demangle.h), whose header wants more of a program than these.  Its recursion is
 * limited unless it is told not to (DMGL_NO_RECURSE_LIMIT).
 */
extern char *cplus_demangle_v3(const char *mangled, int options);
extern char *rust_demangle(const char *mangled, int options);

/* gfortran: `__module_MOD_procedure` (gcc/fortran/trans-decl.cc, gfc_sym_mangled_function_id). */
static int fortran__add(struct buf *out, const char *name)
{
	const char *mod = strstr(name, "_MOD_");

	if (strncmp(name, "__", 2) || !mod || mod == name + 2 || !mod[5])
		return -EINVAL;
	return buf__printf(out, "%.*s::%s", (int)(mod - name - 2), name + 2, mod + 5);
}

int demangle__add(struct buf *out, const char *name)
{
	char *made = NULL;
	int err;

	if (strlen(name) >= DEMANGLE_MAX)
		return buf__str(out, name);
	if (name[0] == '_' && (name[1] == 'R' || name[1] == 'Z'))
		made = rust_demangle(name, 0);
	if (!made && name[0] == '_' && name[1] == 'Z')
		made = cplus_demangle_v3(name, 0);
	if (made) {
		const size_t len = strnlen(made, DEMANGLE_MAX);

		err = buf__add(out, made, len);
		if (!err && len == DEMANGLE_MAX)
			err = buf__str(out, "...");
		free(made);
		return err;
	}
	err = fortran__add(out, name);
	return err == -EINVAL ? buf__str(out, name) : err;
}
