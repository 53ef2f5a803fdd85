/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "os/kernel_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "os/rights.h"

#define TEXTS_MAX  (64u << 20) /* bytes */
#define LINE_BYTES 1024

static int kernel_names__text(struct kernel_names *k, const char *text, uint32_t *at)
{
	const size_t len = strlen(text) + 1;

	if (k->room - k->size < len) {
		size_t room = k->room ? 2 * k->room : 1u << 20;
		char *texts = room <= TEXTS_MAX ? realloc(k->texts, room) : NULL;

		if (!texts)
			return -ENOMEM;
		k->texts = texts;
		k->room = room;
	}
	*at = (uint32_t)k->size;
	memcpy(k->texts + k->size, text, len);
	k->size += len;
	return 0;
}

/* A line is "ffffffff81000000 T _stext" or "ffffffffc0000000 t init\t[module]". */
static int kernel_names__line(struct kernel_names *k, char *line)
{
	char *at, *name;
	uint64_t address = strtoull(line, &at, 16);
	uint32_t text;
	int err;

	if (at == line || at[0] != ' ' || !strchr("tTwW", at[1]) || at[2] != ' ' || !address)
		return 0;
	name = at + 3;
	name[strcspn(name, " \t\n")] = '\0';
	if (!*name || *name == '$') /* a mapping symbol of arm64 */
		return 0;
	err = array__room(&k->names, k->count, &k->cap, sizeof(*k->names));
	if (!err)
		err = kernel_names__text(k, name, &text);
	if (!err)
		k->names[k->count++] = (struct kernel_name){address, text};
	return err;
}

static int kernel_name__compare(const void *a, const void *b)
{
	const struct kernel_name *p = a, *q = b;

	if (p->address != q->address)
		return p->address < q->address ? -1 : 1;
	return p->text < q->text ? -1 : p->text > q->text; /* as they came */
}

int kernel_names__read(struct kernel_names *k)
{
	uint64_t raised = rights__raise(RIGHTS_KERNEL);
	FILE *in = fopen("/proc/kallsyms", "re");
	char line[LINE_BYTES];
	int err = in ? 0 : -ENOENT;

	while (!err && fgets(line, sizeof(line), in))
		err = kernel_names__line(k, line);
	if (in)
		fclose(in);
	rights__lower(raised);
	if (!err && !k->count)
		err = -EACCES;
	if (!err)
		qsort(k->names, k->count, sizeof(*k->names), kernel_name__compare);
	else
		kernel_names__free(k);
	return err;
}

const char *kernel_names__find(const struct kernel_names *k, uint64_t address, uint64_t *begin)
{
	size_t low = 0, high = k->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->names[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	low--;
	while (low && k->names[low - 1].address == k->names[low].address)
		low--;
	*begin = k->names[low].address;
	return k->texts + k->names[low].text;
}

void kernel_names__free(struct kernel_names *k)
{
	free(k->names);
	free(k->texts);
	*k = (struct kernel_names){0};
}
