/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that claims to be R's, as discovery opens it, and as its own debug file. */
#include "fuzz.h"
#include "target/layouts.h"
#include "target/linux/elf.h"
#include "target/linux/hidden/debug_file.h"
#include "target/linux/hidden/hidden.h"

static void ask__symbols(struct elf_file *e)
{
	struct target_symbol want[] = {
		{.name = "R_GlobalContext"}, {.name = "R_NilValue"}, {.name = "R_Srcref"}};
	const int n = sizeof(want) / sizeof(want[0]);
	int found = elf_file__symbols(e, want, (size_t)n, true);

	if (found < -EBADMSG || found > n)
		fuzz__fail("%d symbols", found);
	for (int i = 0; found > 0 && i < n; i++) {
		bool inside = !want[i].value;

		for (uint32_t s = 0; s < e->segments; s++)
			inside |= (e->segment[s].p_flags & PF_W) &&
				  want[i].value - e->segment[s].p_vaddr < e->segment[s].p_memsz;
		if (!inside)
			fuzz__fail("%s at %llx", want[i].name, (unsigned long long)want[i].value);
	}
}

static void ask__debug(Elf *elf)
{
	struct hidden d;
	char path[64];
	int err;

	for (unsigned int n = 0; n < 16; n++) {
		err = debug_file__name(elf, "/usr/lib/R/lib", n, path, n % 2 ? sizeof(path) : 24);
		if (err == -ENOENT)
			break;
		if (!err &&
		    (path[0] != '/' || strstr(path, "/../") || !memchr(path, '\0', sizeof(path))))
			fuzz__fail("a debug file %.64s", path);
	}
	memset(&d, 0, sizeof(d));
	debug_file__same(elf, elf);
	err = hidden__from_debug(elf, &d);
	if (err > 0)
		fuzz__fail("from its debug file: %d", err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = fuzz__file(data, size), err;
	struct errmsg f = {""};
	struct elf_file e;
	char version[16];
	uint64_t bias;
	Elf *elf;

	err = elf_file__open(&e, fd, "file", &f);
	if (err) {
		if ((err != -EBADMSG && err != -ENOTSUP && err != -ENOMEM) || !f.text[0])
			fuzz__fail("open: %d, %s", err, f.text);
		close(fd);
		return 0;
	}
	ask__symbols(&e);
	err = elf_file__bias(&e, 0x7f0000011000, 0x1000, &bias);
	if (err ? err != -EBADMSG : bias % 4096)
		fuzz__fail("bias: %d, %llx", err, (unsigned long long)bias);
	err = elf_file__version(&e, version);
	if (!memchr(version, '\0', sizeof(version)) || (!err && !layouts__parse(version)))
		fuzz__fail("version: %d, %.16s", err, version);
	elf_file__close(&e);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		ask__debug(elf);
	elf_end(elf);
	close(fd);
	return 0;
}
