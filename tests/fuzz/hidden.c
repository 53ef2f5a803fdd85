/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finding R's hidden variables in an ELF file: symbols, relocations, unwind tables and machine
 * code. */
#include "fuzz.h"
#include "target/linux/hidden/elf_image.h"
#include "target/linux/hidden/hidden.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* libelf may write into it: it is the caller's */
	char *copy = fuzz__copy(data, size);
	struct hidden d;
	GElf_Ehdr header;
	Elf *elf;
	bool arm;
	int err;

	elf_version(EV_CURRENT);
	elf = elf_memory(copy, size);
	memset(&d, 0, sizeof(d));
	arm = elf && gelf_getehdr(elf, &header) && header.e_machine == EM_AARCH64;
	err = elf ? hidden__run(elf, arm ? 424 : 312, arm ? 432 : 320, &d) : -EBADMSG;
	if (err > 0 || (err && (d.bc_body || d.bc_pc || d.gc_running || d.gc_begin)))
		fuzz__fail("%d, and something was found", err);
	if (!err && (!d.bc_body != !d.bc_pc || !d.bc_body != !d.how_lines ||
		     d.gc_begin > d.gc_end || (d.gc_running && d.gc_size != 1 && d.gc_size != 4)))
		fuzz__fail("what was found cannot be");
	if (!d.small != !d.large || !d.small != !d.nodes || !d.small != !d.how_memory ||
	    !d.small != !d.node_size || (d.dups && !d.small) || (err && d.small))
		fuzz__fail("R's counters of memory: some of them");
	elf_end(elf);
	free(copy);
	return 0;
}
