/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/reader.h"

#include <stdlib.h>
#include <string.h>

#include "os/proc.h"

void reader__look(struct reader *r, pid_t pid, bool forked)
{
	char directory[4096];
	struct proc p;

	if ((r->looked && !r->directory) || proc__read(pid, &p))
		return;
	if (r->looked) {
		if (p.uid != r->uid)
			reader__end(r);
		return;
	}
	r->looked = true;
	r->uid = p.uid;
	if ((!forked || p.uid) && !proc__directory(pid, directory, sizeof(directory)))
		r->directory = strdup(directory);
}

void reader__end(struct reader *r)
{
	free(r->directory);
	r->directory = NULL;
}
