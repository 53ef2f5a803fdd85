/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The answer to ASK_MAPS. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "os/linux/proc_maps.h"
#include "os/proc.h"
#include "target/linux/answer_file.h"
#include "target/linux/mapped_file.h"
#include "target/native.h"

#define VDSO "[vdso]"

struct maps_made {
	struct native_maps_head head;
	struct native_mapped maps[XR_MAPPINGS_MAX];
	struct buf texts;
};

/*
 * Which file it is.  One that is mapped, but may not be opened, is known by its number alone: its
 * contents are read from memory (mapped_file.h).
 */
static int mapped__file(pid_t pid, const struct proc_map *map, struct target_file *file)
{
	struct errmsg why;
	int fd = proc_maps__open(pid, map, &why), err;

	if (fd == -EACCES) {
		*file = mapped_file__number(map);
		return 0;
	}
	if (fd < 0)
		return fd;
	err = mapped_file__which(fd, file);
	close(fd);
	return err;
}

static int maps__add(struct maps_made *made, pid_t pid, const struct proc_map *map)
{
	struct native_mapped *m = &made->maps[made->head.n];
	int err = 0;

	*m = (struct native_mapped){
		.start = map->start,
		.end = map->end,
		.offset = map->offset,
		.kind = strcmp(map->path, VDSO) ? NATIVE_FILE : NATIVE_VDSO,
	};
	if (m->kind == NATIVE_FILE)
		err = mapped__file(pid, map, &m->file);
	if (err)
		return shortage__is(err) ? err : 0;
	err = texts__add(&made->texts, map->path, &m->path);
	made->head.n += !err;
	return err;
}

static int maps__read(struct maps_made *made, pid_t pid, FILE *in)
{
	struct proc_map map;
	int err = 0;

	while (!err && proc_maps__next(in, &map)) {
		if (!map.exec || (!map.inode && strcmp(map.path, VDSO)))
			continue;
		made->head.cut = made->head.n == XR_MAPPINGS_MAX;
		if (made->head.cut)
			break;
		err = maps__add(made, pid, &map);
	}
	return err;
}

int native_maps__make(pid_t pid, int *fd)
{
	struct maps_made *made = calloc(1, sizeof(*made));
	FILE *in = proc__fopen(pid, "maps");
	int err = made && in ? 0 : made ? -ESRCH : -ENOMEM;

	*fd = -1;
	if (!err) {
		made->head.magic = NATIVE_MAPS_MAGIC;
		err = maps__read(made, pid, in);
	}
	if (!err && !made->texts.len) /* not one that can be opened */
		err = buf__add(&made->texts, "", 1);
	if (!err) {
		const struct answer_part parts[] = {
			{&made->head, sizeof(made->head)},
			{made->maps, made->head.n * sizeof(made->maps[0])},
			{made->texts.data, made->texts.len},
		};

		made->head.texts = (uint32_t)made->texts.len;
		*fd = answer_file__make(parts, sizeof(parts) / sizeof(parts[0]));
		err = *fd < 0 ? *fd : 0;
	}
	if (in)
		fclose(in);
	if (made)
		buf__free(&made->texts);
	free(made);
	return err;
}
