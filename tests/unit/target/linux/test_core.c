/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opening a core file, and R's file that it names. */
#define _GNU_SOURCE
#include "target/linux/core.h"

#include <sys/procfs.h>

#include "child.h"
#include "os/rights.h"
#include "tap.h"

/* A core file: R's file was mapped at FIXTURE_CODE_ADDR, and no memory is left. */
static void core__write(const char *path, const char *libr)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr ph[2];
		Elf64_Nhdr note;
		char name[8];
		char files[5 * sizeof(uint64_t)]; /* which need not be aligned */
		char path[128];
	} core = {.note = {5, sizeof(core.files) + sizeof(core.path), NT_FILE}, .name = "CORE"};
	const uint64_t files[] = {1, 1, FIXTURE_CODE_ADDR, FIXTURE_CODE_ADDR + 4096, FIXTURE_CODE};

	fixture__head(&core.head, ET_CORE, EM_X86_64, COUNT(core.ph));
	core.ph[0] = (Elf64_Phdr){.p_type = PT_NOTE,
				  .p_offset = offsetof(__typeof__(core), note),
				  .p_filesz = sizeof(core) - offsetof(__typeof__(core), note),
				  .p_align = 4};
	core.ph[1] = fixture__load(PF_R, sizeof(core), 1 << 20, 0, 4096); /* left out */
	memcpy(core.files, files, sizeof(files));
	snprintf(core.path, sizeof(core.path), "%s", libr);
	tap__write(path, &core, sizeof(core));
}

/* Root has no right in effect until it is raised. */
static bool of_others(void)
{
	struct errmsg f = {""};
	struct core *c;

	return !rights__begin(&f) && core__open(tap__path("core"), NULL, &c, &f) == -EBADMSG &&
	       strstr(f.text, "the memory of R's variables is not in the core file");
}

TEST(core)
{
	struct errmsg f = {""};
	struct core *c;

	tap__ok(core__open("/", NULL, &c, &f) == -EISDIR && strstr(f.text, "cannot open /: "),
		"a directory: %s", f.text);
	if (!tap__root()) {
		tap__skip("needs root", "files that only their user may read");
		return;
	}
	child__file(tap__path("libR.so"), false, true);
	core__write(tap__path("core"), tap__path("libR.so"));
	tap__bail_if(chown(tap__path("core"), 65534, 65534) || chmod(tap__path("core"), 0600) ||
			     chown(tap__path("libR.so"), 65534, 65534) ||
			     chmod(tap__path("libR.so"), 0600),
		     "chown");
	tap__ok(child__holds(of_others), "files that only their user may read");
}
