/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * src/target/linux/hidden/hidden.c against
 *  - the libR.so of this machine and of the R images, and R linked statically, with its symbol
 *    table and without (live:spin and live:memory compare what it finds with R itself);
 *  - tests/fixtures/hidden.c, compiled in many ways; nm prints where the variables are.
 */
#include <gelf.h>
#include <stdarg.h>

#include "tap.h"
#include "target/linux/hidden/debug_file.h"
#include "target/linux/hidden/hidden.h"

static const char *scratch; /* a folder */

/* A file in memory of exactly its size, so that a sanitizer sees what is read behind it. */
static Elf *elf_of(const char *path, char **bytes)
{
	size_t size = 0;
	const char *text = tap__read(path, &size);

	*bytes = text ? malloc(size) : NULL;
	return *bytes ? elf_memory(memcpy(*bytes, text, size), size) : NULL;
}

static int derive(Elf *elf, struct hidden *out)
{
	GElf_Ehdr header;
	bool arm = elf && gelf_getehdr(elf, &header) && header.e_machine == EM_AARCH64;

	return hidden__run(elf, arm ? 424 : 312, arm ? 432 : 320, out);
}

static int derive_file(const char *path, struct hidden *out)
{
	char *bytes;
	Elf *elf = elf_of(path, &bytes);
	int err = derive(elf, out);

	elf_end(elf);
	free(bytes);
	return err;
}

__attribute__((format(printf, 1, 2))) static bool run(const char *fmt, ...)
{
	char command[2048];
	va_list ap;
	int status;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	status = system(command);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

BEFORE()
{
	elf_version(EV_CURRENT);
	scratch = tap__folder();
}

static const char *how(const char *text)
{
	return text ? text : "not found";
}

/* Are all of R's counters of memory found, as they are in every R? */
static bool counters(const struct hidden *d)
{
	return d->how_memory && d->small && d->large && d->nodes && d->dups && d->node_size == 56;
}

TEST(host)
{
	char path[512] = "";
	struct hidden d;
	FILE *p = popen("R RHOME", "r");
	bool ok;

	if (p) {
		if (fgets(path, sizeof(path) - 32, p))
			path[strcspn(path, "\n")] = 0;
		pclose(p);
	}
	strcat(path, "/lib/libR.so");
	ok = !derive_file(path, &d) && d.bc_body && d.bc_pc && d.gc_running;
	tap__ok(ok, "this machine's libR.so: all found (%s; %s)", how(d.how_lines), how(d.how_gc));
	tap__ok(counters(&d), "this machine's libR.so: counters of memory (%s)", how(d.how_memory));
}

/* @file of the R images, until the next call. */
static const char *image_path(const char *file)
{
	static char path[512];
	const char *cache = getenv("XRPROF_IMAGES");

	snprintf(path, sizeof(path), "%s/%s", cache ? cache : "/var/cache/xrprof-images", file);
	return path;
}

TEST(images)
{
	/* RCNTXT.srcref: 4.0 to 4.3, and 4.4 to 4.6 (Defn.h, x86_64) */
	static const struct {
		const char *file;
		uint16_t srcref;
	} rows[] = {{"bullseye/usr/lib/R/lib/libR.so", 368},
		    {"trixie/usr/lib/R/lib/libR.so", 384},
		    {"sid/usr/lib/R/lib/libR.so", 384}};
	struct hidden d;

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *path = image_path(rows[i].file);

		if (access(path, R_OK)) {
			tap__skip("image not made", "%s", rows[i].file);
			continue;
		}
		tap__ok(!derive_file(path, &d) && d.bc_body && d.bc_pc && d.gc_running &&
				d.gc_end > d.gc_begin && d.srcref == rows[i].srcref && counters(&d),
			"%s: all found (%s; %s; %s; srcref at %u)", rows[i].file, how(d.how_lines),
			how(d.how_gc), how(d.how_memory), d.srcref);
	}
}

TEST(linked_statically)
{
	const char *path = image_path("static/bin/exec/R");
	char stripped[512];
	struct hidden d, bare;
	bool ok;

	if (access(path, R_OK)) {
		tap__skip("image not made", "static R");
		return;
	}
	tap__ok(!derive_file(path, &d) && d.bc_body && d.bc_pc && d.gc_running &&
			!strcmp(d.how_lines, "symbol table") && !strcmp(d.how_gc, "symbol table"),
		"static R: by its symbol table");
	snprintf(stripped, sizeof(stripped), "%s/R", scratch);
	ok = run("strip -o %s %s", stripped, path) && !derive_file(stripped, &bare) &&
	     bare.bc_body == d.bc_body && bare.bc_pc == d.bc_pc &&
	     bare.gc_running == d.gc_running && bare.gc_size == d.gc_size &&
	     bare.gc_begin == d.gc_begin;
	tap__ok(ok, "static R, stripped: the same by code (%s; %s)", how(bare.how_lines),
		how(bare.how_gc));
	tap__ok(counters(&d) && !strcmp(d.how_memory, "symbol table") && counters(&bare) &&
			bare.small == d.small && bare.large == d.large && bare.nodes == d.nodes &&
			bare.dups == d.dups,
		"static R: counters of memory, and the same by code (%s)", how(bare.how_memory));
}

/* What nm says, from the file @path. */
static bool oracle(const char *path, struct hidden *d)
{
	const struct {
		const char *name;
		uint64_t *at;
	} names[] = {{"R_BCbody", &d->bc_body},	       {"R_BCpc", &d->bc_pc},
		     {"R_in_gc", &d->gc_running},      {"R_SmallVallocSize", &d->small},
		     {"R_LargeVallocSize", &d->large}, {"R_NodesInUse", &d->nodes},
		     {"duplicate_counter", &d->dups}};
	const char *text = tap__read(path, NULL), *at;
	char line[64];

	memset(d, 0, sizeof(*d));
	for (size_t i = 0; text && i < COUNT(names); i++) {
		snprintf(line, sizeof(line), " %s\n", names[i].name);
		at = strstr(text, line); /* behind 16 digits, a blank and a letter */
		if (at && at >= text + 18)
			*names[i].at = strtoull(at - 18, NULL, 16);
	}
	return d->gc_running;
}

enum expect {
	EXPECT_FOUND,
	EXPECT_RIGHT_OR_NONE,
	EXPECT_NO_LINES,
	EXPECT_NO_MEMORY,
	EXPECT_NO_DUPS
};

static const struct fixture {
	const char *prefix, *compiler, *flags;
	enum expect expect;
	bool x86;  /* for x86_64 alone */
	bool full; /* much like another row: only with XRPROF_TESTS=all */
} fixtures[] = {
	{"", "cc", "-O1", EXPECT_FOUND, false, true},
	{"", "cc", "-O2", EXPECT_FOUND, false, false},
	{"", "cc", "-O3", EXPECT_FOUND, false, true},
	{"", "cc", "-O2 -DBRANCHES", EXPECT_FOUND, false, false},
	{"", "cc", "-O2 -DNO_RUNNING", EXPECT_FOUND, false, false},
	{"", "cc", "-O2 -DTWO_BODIES", EXPECT_NO_LINES, false, false},
	{"", "cc", "-O2 -DOTHER_CONTEXT", EXPECT_NO_LINES, false, false},
	{"", "cc", "-O0", EXPECT_RIGHT_OR_NONE, false, true},
	{"", "cc", "-Os", EXPECT_RIGHT_OR_NONE, false, false},
	{"", "cc", "-O2 -fstack-protector-all", EXPECT_RIGHT_OR_NONE, false, true},
	{"", "cc", "-O2 -flto", EXPECT_RIGHT_OR_NONE, false, true},
	{"", "cc", "-O2 -fno-plt -fno-semantic-interposition", EXPECT_RIGHT_OR_NONE, false, true},
	{"", "cc", "-O2 -Wl,-z,pack-relative-relocs", EXPECT_RIGHT_OR_NONE, false, true},
	{"", "cc", "-O2 -march=x86-64-v2 -DNO_RUNNING", EXPECT_FOUND, true, true},
	{"", "cc", "-O2 -march=x86-64-v3", EXPECT_FOUND, true, false},
	{"", "cc", "-O3 -march=x86-64-v4", EXPECT_FOUND, true, false},
	{"", "cc", "-O2 -DPAIRS=1 -DRELAXED", EXPECT_FOUND, true, false},
	{"", "cc", "-O2 -DPAIRS=2", EXPECT_FOUND, true, false},
	{"", "cc", "-O2 -DPAIRS=3 -mavx", EXPECT_FOUND, true, false},
	{"", "clang", "-O2", EXPECT_FOUND, false, false},
	{"", "clang", "-O2 -DBRANCHES -DNO_RUNNING", EXPECT_FOUND, false, true},
	{"", "clang", "-O2 -DTWO_BODIES", EXPECT_NO_LINES, false, true},
	{"aarch64-linux-gnu-", "gcc", "-O2", EXPECT_FOUND, true, false},
	{"aarch64-linux-gnu-", "gcc", "-O3 -mcpu=neoverse-n1", EXPECT_FOUND, true, false},
	{"aarch64-linux-gnu-", "gcc", "-O2 -DBRANCHES", EXPECT_FOUND, true, false},
	{"aarch64-linux-gnu-", "gcc", "-O2 -DNO_RUNNING", EXPECT_FOUND, true, true},
	{"aarch64-linux-gnu-", "gcc", "-O2 -DTWO_BODIES", EXPECT_NO_LINES, true, true},
	{"aarch64-linux-gnu-", "gcc", "-O2 -DOTHER_CONTEXT", EXPECT_NO_LINES, true, true},
	{"aarch64-linux-gnu-", "gcc", "-Os", EXPECT_RIGHT_OR_NONE, true, true},
	/* almost get_current_mem and Rf_duplicate: the fixture describes each */
	{"", "cc", "-O2 -DMEM_FOURTH", EXPECT_NO_MEMORY, false, false},
	{"", "cc", "-O2 -DMEM_CALLS", EXPECT_NO_MEMORY, false, false},
	{"", "cc", "-O2 -DMEM_BRANCH", EXPECT_NO_MEMORY, false, false},
	{"", "cc", "-O2 -DMEM_SAME", EXPECT_NO_MEMORY, false, false},
	{"", "cc", "-O2 -DMEM_CONST", EXPECT_NO_MEMORY, false, false},
	{"", "cc", "-O2 -DMEM_ORDER", EXPECT_NO_MEMORY, false, false},
	{"", "cc", "-O2 -DMEM_INT", EXPECT_NO_MEMORY, false, false},
	{"", "cc", "-O2 -DMEM_PLAIN", EXPECT_NO_MEMORY, false, false},
	{"", "cc", "-O2 -DMEM_NODE", EXPECT_NO_MEMORY, false, false},
	{"", "cc", "-O2 -DMEM_TWO", EXPECT_NO_MEMORY, false, false},
	{"", "cc", "-O2 -DMEM_FAR", EXPECT_NO_MEMORY, false, false},
	{"", "cc", "-O2 -DDUP_BY=0", EXPECT_NO_DUPS, false, false},
	{"", "cc", "-O2 -DDUP_BY=2", EXPECT_NO_DUPS, false, false},
	{"", "cc", "-O2 -DDUP_LATER", EXPECT_NO_DUPS, false, false},
	{"", "clang", "-O2 -DMEM_FOURTH", EXPECT_NO_MEMORY, false, true},
	{"", "clang", "-O2 -DMEM_SAME", EXPECT_NO_MEMORY, false, true},
	{"aarch64-linux-gnu-", "gcc", "-O2 -DMEM_BRANCH", EXPECT_NO_MEMORY, true, true},
	{"aarch64-linux-gnu-", "gcc", "-O2 -DMEM_ORDER", EXPECT_NO_MEMORY, true, true},
	{"aarch64-linux-gnu-", "gcc", "-O2 -DDUP_LATER", EXPECT_NO_DUPS, true, true},
};

#define NFIXTURES (COUNT(fixtures))

/*
 * All that are wanted, @n as SCRATCH/n.so with symbols, SCRATCH/n.bare.so and SCRATCH/n.nm, by as
 * many processes as there are CPUs.
 */
static void fixtures__make(const bool *wanted)
{
	FILE *p = popen("xargs -P $(nproc) -d '\\n' -n 1 sh -c", "w");

	tap__bail_if(!p, "no xargs");
	for (size_t i = 0; i < NFIXTURES; i++)
		if (wanted[i])
			fprintf(p,
				"o=%s/%zu; %s%s %s -fPIC -shared -w -nostdlib -o $o.so "
				"tests/fixtures/hidden.c && %sstrip -o $o.bare.so $o.so && "
				"%snm $o.so >$o.nm\n",
				scratch, i, fixtures[i].prefix, fixtures[i].compiler,
				fixtures[i].flags, fixtures[i].prefix, fixtures[i].prefix);
	pclose(p);
}

/* The counters of memory: as nm has them, or none. */
static bool counters__right(const struct hidden *got, const struct hidden *want)
{
	if (!got->how_memory)
		return !got->small && !got->large && !got->nodes && !got->dups && !got->node_size;
	return got->small == want->small && got->large == want->large &&
	       got->nodes == want->nodes && (!got->dups || got->dups == want->dups) &&
	       got->node_size == 56;
}

static void test_fixture(const struct fixture *x, size_t n)
{
	/* RCNTXT.srcref of R 4.4, which the fixture has */
#ifdef __aarch64__
	const uint16_t srcref = 496;
#else
	const uint16_t srcref = x->prefix[0] ? 496 : 384;
#endif
	struct hidden want, got, symbols;
	char path[512];
	bool right;

	snprintf(path, sizeof(path), "%s/%zu.nm", scratch, n);
	if (!oracle(path, &want)) {
		tap__ok(false, "%s%s %s: compiled", x->prefix, x->compiler, x->flags);
		return;
	}
	snprintf(path, sizeof(path), "%s/%zu.bare.so", scratch, n);
	right = !derive_file(path, &got) && (!got.bc_body || got.bc_body == want.bc_body) &&
		(!got.bc_pc || got.bc_pc == want.bc_pc) && !got.bc_body == !got.bc_pc &&
		(!got.gc_running || got.gc_running == want.gc_running) &&
		counters__right(&got, &want);
	if (x->expect == EXPECT_NO_LINES)
		right = right && !got.bc_body && !got.bc_pc;
	else if (x->expect != EXPECT_RIGHT_OR_NONE)
		right = right && got.bc_body && got.bc_pc && got.gc_running && got.gc_size == 4;
	if (x->expect == EXPECT_FOUND)
		right = right && counters(&got) && got.srcref == srcref;
	else if (x->expect == EXPECT_NO_MEMORY)
		right = right && !got.how_memory;
	else if (x->expect == EXPECT_NO_DUPS)
		right = right && got.how_memory && !got.dups;
	tap__ok(right, "%s%s %s: %s; %s; %s", x->prefix, x->compiler, x->flags, how(got.how_lines),
		how(got.how_gc), how(got.how_memory));

	snprintf(path, sizeof(path), "%s/%zu.so", scratch, n);
	if (x->expect == EXPECT_FOUND &&
	    (derive_file(path, &symbols) || symbols.bc_body != want.bc_body ||
	     symbols.gc_running != want.gc_running || !counters(&symbols) ||
	     !counters__right(&symbols, &want)))
		tap__ok(false, "%s%s %s: the symbol table", x->prefix, x->compiler, x->flags);
}

TEST(fixtures)
{
	bool x86 = run("cc -dumpmachine | grep -q x86_64"), wanted[NFIXTURES];
	bool cross = run("command -v aarch64-linux-gnu-gcc >/dev/null");

	for (size_t i = 0; i < NFIXTURES; i++)
		wanted[i] = (x86 || !fixtures[i].x86) && (cross || !fixtures[i].prefix[0]) &&
			    (tap__all() || !fixtures[i].full);
	fixtures__make(wanted);
	for (size_t i = 0; i < NFIXTURES; i++)
		if (wanted[i])
			test_fixture(&fixtures[i], i);
	if (x86 && !cross)
		tap__skip("no aarch64-linux-gnu-gcc", "code for aarch64");
}

/* A separate debug file, by build id and by CRC, and that of another build. */
static void test_debug(const char *build_id, const char *what, unsigned int nth)
{
	static const char *const names[] = {"bare.so", "other.so"};
	struct hidden d, want;
	char name[512], *bytes[2];
	Elf *elf[2], *debug;
	unsigned int n = 0;
	int fd, of;
	bool ok;

	ok = run("cd %s && cc -O0 -fPIC -shared -w -nostdlib -Wl,--build-id=%s -o hidden.so "
		 "$OLDPWD/tests/fixtures/hidden.c && objcopy --only-keep-debug hidden.so x.debug "
		 /* p_offset of the first segment: some tools leave it as it was */
		 "&& printf '\\377' | dd of=x.debug bs=1 seek=78 conv=notrunc status=none && "
		 "strip -o bare.so hidden.so && objcopy --add-gnu-debuglink=x.debug bare.so && "
		 "nm hidden.so >hidden.nm && "
		 "cc -O1 -fPIC -shared -w -nostdlib -Wl,--build-id=%s -o other.so "
		 "$OLDPWD/tests/fixtures/hidden.c",
		 scratch, build_id, build_id) &&
	     oracle(tap__path("hidden.nm"), &want);
	if (!tap__ok(ok, "%s: files made", what))
		return;
	for (int i = 0; i < 2; i++)
		elf[i] = elf_of(tap__path(names[i]), &bytes[i]);
	tap__ok(!derive(elf[0], &d) && !d.bc_body, "%s: nothing by code at -O0", what);
	tap__ok(debug_file__same(elf[0], elf[1]) == -ESTALE, "%s: another build's refused", what);
	of = open(tap__path("bare.so"), O_RDONLY | O_CLOEXEC);
	if (tap__root()) {
		tap__bail_if(chown(tap__path("x.debug"), 65534, 65534), "chown");
		tap__ok(!debug_file__next(elf[0], of, getpid(), tap__path("bare.so"), &n, &fd),
			"%s: another user's is refused", what);
		tap__bail_if(chown(tap__path("bare.so"), 65534, 65534), "chown");
	}
	n = 0;
	debug = debug_file__next(elf[0], of, getpid(), tap__path("bare.so"), &n, &fd);
	close(of);
	tap__bail_if(!debug, "%s: no debug file", what);
	tap__ok(!hidden__from_debug(debug, &d) && d.bc_body == want.bc_body &&
			d.bc_pc == want.bc_pc && d.gc_running == want.gc_running &&
			!strcmp(d.how_lines, "debug file"),
		"%s: found in the debug file", what);
	tap__ok(counters(&d) && counters__right(&d, &want) && !strcmp(d.how_memory, "debug file"),
		"%s: counters of memory, too", what);
	ok = !debug_file__name(elf[0], "/some/lib", nth, name, sizeof(name));
	tap__ok(ok, "%s: it would be %s", what, ok ? name : "?");
	tap__ok(debug_file__name(elf[0], "/some/lib", nth, name, 5) == -ENAMETOOLONG &&
			debug_file__name(elf[0], "/some/lib", 99, name, sizeof(name)) == -ENOENT,
		"%s: short buffers, and an end", what);
	elf_end(debug);
	close(fd);
	for (int i = 0; i < 2; i++) {
		elf_end(elf[i]);
		free(bytes[i]);
	}
}

/* Any other program: to find nothing is not an error. */
TEST(other)
{
	struct hidden d;

	tap__ok(hidden__run(NULL, 312, 320, &d) == -EBADMSG, "no file at all");
	tap__ok(!derive_file("/proc/self/exe", &d) && !d.bc_body && !d.gc_running,
		"a program without R in it");
}

TEST(debug)
{
	test_debug("sha1", "build id", 0);
	test_debug("none", "debug link", 1);
}
