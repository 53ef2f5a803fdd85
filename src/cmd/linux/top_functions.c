/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/linux/top_functions.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "output/writer.h"

/* Its number, from 1 on. */
static long functions__add(struct top_functions *fs, const struct name *label)
{

	if (!budget__take(fs->budget, 2 * sizeof(*fs->list) + 4 * sizeof(struct map_entry)))
		return -ENOSPC;
	if (array__room(&fs->list, fs->n, &fs->cap, sizeof(*fs->list)))
		return -ENOMEM;
	if (map__put(&fs->by_label, (uintptr_t)label, 0, (void *)(uintptr_t)(fs->n + 1)))
		return -ENOMEM;
	fs->list[fs->n++] = (struct top_function){.label = label->text};
	return (long)fs->n;
}

static long functions__find(struct top_functions *fs, const struct frame *frame)
{
	struct buf text = {0};
	const struct name *label = NULL;
	long n;

	n = writer__label(&text, frame, WRITER_SAFE);
	if (!n) {
		/* the table may be as new */
		fs->labels.table.budget = fs->labels.arena.budget = fs->budget;
		label = intern__get(&fs->labels, text.data, text.len);
		n = label ? (long)(uintptr_t)map__get(&fs->by_label, (uintptr_t)label, 0) : -ENOSPC;
	}
	buf__free(&text);
	return n || !label ? n : functions__add(fs, label);
}

long top_functions__of(struct top_functions *fs, const struct frame *frame)
{
	long n = (long)(uintptr_t)map__get(&fs->by_frame, (uintptr_t)frame, 0);

	if (n)
		return n - 1;
	n = functions__find(fs, frame);
	if (n < 0)
		return n;
	if (!budget__take(fs->budget, 4 * sizeof(struct map_entry)))
		return -ENOSPC;
	if (map__put(&fs->by_frame, (uintptr_t)frame, 0, (void *)(uintptr_t)n))
		return -ENOMEM;
	return n - 1;
}

void top_functions__free(struct top_functions *fs)
{
	map__free(&fs->by_label);
	map__free(&fs->by_frame);
	intern__free(&fs->labels);
	free(fs->list);
	*fs = (struct top_functions){.budget = fs->budget};
}
