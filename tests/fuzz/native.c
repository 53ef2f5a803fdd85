/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is read of a file of native code: unwind tables of .eh_frame, symbols, .gnu_debugdata, what
 * packages register, and R's table of builtins.
 */
#include "fuzz.h"
#include "native/linux/symbols.h"
#include "target/linux/unwind/table.h"

static void check_table(const struct unwind_table *t)
{
	uint64_t begin, end;

	if (!t->nrows || t->rows[t->nrows - 1].rule)
		fuzz__fail("a table has no end");
	for (uint32_t i = 0; i < t->nrows; i++) {
		const struct xr_unwind_row *row = &t->rows[i];
		const uint32_t back = row->back & XR_ROW_BACK;

		if (row->rule >= t->nrules || (i && row->pc < row[-1].pc) ||
		    (back != XR_ROW_FAR && back > i))
			fuzz__fail("row %u cannot be", i);
		if (unwind_table__function(t, t->base + row->pc, &begin, &end) &&
		    (begin > t->base + row->pc || end <= t->base + row->pc))
			fuzz__fail("row %u is not in its function", i);
	}
}

static void check_symbols(const struct buf *symbols, const struct buf *texts)
{
	const struct native_symbol *s = (const struct native_symbol *)(const void *)symbols->data;

	for (size_t i = 0; i < symbols->len / sizeof(*s); i++)
		if (s[i].name >= texts->len || (i && s[i].pc <= s[i - 1].pc))
			fuzz__fail("symbol %zu cannot be", i);
	if (texts->len && texts->data[texts->len - 1])
		fuzz__fail("a text does not end");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* libelf may write into it: it is the caller's */
	char *copy = fuzz__copy(data, size);
	struct unwind_table *table = NULL;
	struct fun_tab_entry *entries = NULL;
	struct symbols s = {0};
	struct buf symbols = {0}, texts = {0};
	struct elf_image file;
	Elf *elf;
	int n;

	elf_version(EV_CURRENT);
	if (!unwind_table__of_image(&table, copy, size, NULL))
		check_table(table);
	unwind_table__free(table);
	memcpy(copy, data, size);
	elf = elf_memory(copy, size);
	if (elf && !elf_image__open(&file, elf)) {
		if (symbols__of_elf(&s, elf) || symbols__of_routines(&s, &file) ||
		    symbols__finish(&s, &symbols, &texts))
			fuzz__fail("out of memory");
		check_symbols(&symbols, &texts);
		n = fun_tab__of_elf(&file, &entries);
		for (int i = 0; i < n; i++)
			fun_tab__name(&file, entries[i].name);
	}
	free(entries);
	symbols__free(&s);
	buf__free(&symbols);
	buf__free(&texts);
	elf_end(elf);
	free(copy);
	return 0;
}
