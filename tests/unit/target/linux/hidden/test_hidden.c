/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * src/target/linux/hidden/hidden.c against
 *  - the libR.so of this machine, whose own Rf_begincontext is called to see what it copies;
 *  - the libR.so of the R images, and R linked statically, with its symbol table and without;
 *  - tests/fixtures/hidden.c, compiled in many ways, and nm's word for where the variables are;
 *  - damaged files.
 */
#define _GNU_SOURCE /* dlinfo() */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/linux/hidden/hidden.h"
#include "tap.h"

static char scratch[] = "/tmp/test_derive.XXXXXX";

/* A file in memory, of exactly its size, so that a sanitizer sees what is read behind it. */
struct image {
	char *bytes;
	size_t size;
};

static bool image__read(struct image *im, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	size_t got = 0;

	memset(im, 0, sizeof(*im));
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && st.st_size > 0)
		im->bytes = malloc((size_t)st.st_size);
	while (im->bytes && got < (size_t)st.st_size) {
		ssize_t n = read(fd, im->bytes + got, (size_t)st.st_size - got);

		if (n <= 0)
			break;
		got += (size_t)n;
	}
	im->size = got;
	close(fd);
	return im->bytes && got == (size_t)st.st_size;
}

static Elf *image__elf(const struct image *im)
{
	return elf_memory(im->bytes, im->size);
}

static int derive(Elf *elf, struct hidden *out)
{
	GElf_Ehdr header;
	bool arm = elf && gelf_getehdr(elf, &header) && header.e_machine == EM_AARCH64;

	return hidden__run(elf, arm ? 424 : 312, arm ? 432 : 320, out);
}

static int derive_file(const char *path, struct hidden *out)
{
	struct image im;
	int err = -ENOENT;

	memset(out, 0, sizeof(*out));
	if (image__read(&im, path)) {
		Elf *elf = image__elf(&im);

		err = derive(elf, out);
		elf_end(elf);
	}
	free(im.bytes);
	return err;
}

static const char *how(const char *text)
{
	return text ? text : "not found";
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

/*
 * In a child, for it may crash: put marks where @d says that R_BCbody and R_BCpc are, let R's own
 * code make a context, and look for the marks in it. The body is a likeness of a BCODESXP,
 * because R looks into it from 4.4 on. The flag is set and R_gc_running() asked, if exported.
 */
static bool asked(const char *path, const struct hidden *d, bool *has_running)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*begin)(void *, int, void *, void *, void *, void *, void *);
	int (*running)(void);
	uint64_t outer[128] = {0}, context[128] = {0}, code[64] = {13, 0, 0, 0, 100, 100};
	uint64_t body[8] = {21, 0, 0, 0, (uintptr_t)code, (uintptr_t)code};
	uint64_t current = (uintptr_t)&code[6 + 5];
	struct link_map *map;
	uint64_t bias;
	void **head;

	if (!lib || dlinfo(lib, RTLD_DI_LINKMAP, &map)) {
		tap__diag("%s", dlerror());
		return false;
	}
	bias = map->l_addr;
	*(void **)&begin = dlsym(lib, "Rf_begincontext");
	*(void **)&running = dlsym(lib, "R_gc_running");
	head = dlsym(lib, "R_GlobalContext");
	if (!begin || !head)
		return false;
	*head = outer;
	*(void **)(bias + d->bc_body) = body;
	*(uint64_t **)(bias + d->bc_pc) = &current;
	begin(context, 4, NULL, NULL, NULL, NULL, NULL);
#ifdef __aarch64__
	if (context[424 / 8] != (uintptr_t)body || context[432 / 8] != (uintptr_t)&current)
		return false;
#else
	if (context[312 / 8] != (uintptr_t)body || context[320 / 8] != (uintptr_t)&current)
		return false;
#endif
	*has_running = running;
	if (!running)
		return true;
	if (running())
		return false;
	*(int *)(bias + d->gc_running) = 1;
	return d->gc_size == sizeof(int) && running() == 1;
}

static void test_host(void)
{
	char path[512] = "";
	struct hidden d;
	FILE *p = popen("R RHOME", "r");
	bool has_running = false;
	int status = -1;
	bool ok;
	pid_t child;

	if (p) {
		if (fgets(path, sizeof(path) - 32, p))
			path[strcspn(path, "\n")] = 0;
		pclose(p);
	}
	strcat(path, "/lib/libR.so");
	ok = !derive_file(path, &d) && d.bc_body && d.bc_pc && d.gc_running;
	tap__ok(ok, "this machine's libR.so: all found (%s; %s)", how(d.how_lines), how(d.how_gc));
	fflush(stdout);
	child = d.bc_body && d.bc_pc && d.gc_running ? fork() : -1;
	if (child == 0)
		_exit(asked(path, &d, &has_running) ? (has_running ? 10 : 11) : 1);
	if (child > 0)
		waitpid(child, &status, 0);
	tap__ok(child > 0 && WIFEXITED(status) && WEXITSTATUS(status) >= 10,
		"this machine's libR.so: Rf_begincontext copies them%s",
		WEXITSTATUS(status) == 10 ? ", R_gc_running reads the flag" : "");
}

static void test_images(void)
{
	/* RCNTXT.srcref: 4.0 to 4.3, and 4.4 to 4.6 (Defn.h, x86_64) */
	static const struct {
		const char *name;
		uint16_t srcref;
	} image[] = {{"bullseye", 368}, {"trixie", 384}, {"sid", 384}};
	const char *cache = getenv("XRPROF_IMAGES");
	char path[512], stripped[512];
	struct hidden d, bare;
	bool ok;

	if (!cache)
		cache = "/var/cache/xrprof-images";
	for (size_t i = 0; i < sizeof(image) / sizeof(image[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s/usr/lib/R/lib/libR.so", cache, image[i].name);
		if (access(path, R_OK)) {
			tap__skip("image not made", "libR.so of %s", image[i].name);
			continue;
		}
		ok = !derive_file(path, &d) && d.bc_body && d.bc_pc && d.gc_running &&
		     d.gc_end > d.gc_begin;
		tap__ok(ok, "libR.so of %s: all found (%s; %s)", image[i].name, how(d.how_lines),
			how(d.how_gc));
		tap__ok(d.srcref == image[i].srcref, "libR.so of %s: srcref at %u", image[i].name,
			d.srcref);
	}
	snprintf(path, sizeof(path), "%s/static/bin/exec/R", cache);
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
}

/* What nm says of the fixture. */
static bool oracle(const char *nm, struct hidden *d)
{
	char command[600], name[64];
	unsigned long at;
	FILE *p;

	memset(d, 0, sizeof(*d));
	snprintf(command, sizeof(command), "%s %s/hidden.so", nm, scratch);
	p = popen(command, "r");
	if (!p)
		return false;
	while (fgets(command, sizeof(command), p)) {
		if (sscanf(command, "%lx %*c %63s", &at, name) != 2)
			continue;
		if (!strcmp(name, "R_BCbody"))
			d->bc_body = at;
		else if (!strcmp(name, "R_BCpc"))
			d->bc_pc = at;
		else if (!strcmp(name, "R_in_gc"))
			d->gc_running = at;
	}
	pclose(p);
	return d->gc_running;
}

enum expect { EXPECT_FOUND, EXPECT_RIGHT_OR_NONE, EXPECT_NO_LINES };

static void fixture(const char *prefix, const char *compiler, const char *flags, enum expect expect)
{
	struct hidden want, got, symbols;
	char nm[64], path[512];
	bool right;

	snprintf(nm, sizeof(nm), "%snm", prefix);
	snprintf(path, sizeof(path), "%s/bare.so", scratch);
	if (!run("%s%s %s -fPIC -shared -w -nostdlib -o %s/hidden.so tests/fixtures/hidden.c",
		 prefix, compiler, flags, scratch) ||
	    !run("%sstrip -o %s %s/hidden.so", prefix, path, scratch) || !oracle(nm, &want)) {
		tap__ok(false, "%s%s %s: compiled", prefix, compiler, flags);
		return;
	}
	right = !derive_file(path, &got) && (!got.bc_body || got.bc_body == want.bc_body) &&
		(!got.bc_pc || got.bc_pc == want.bc_pc) && !got.bc_body == !got.bc_pc &&
		(!got.gc_running || got.gc_running == want.gc_running);
	if (expect == EXPECT_FOUND)
		right = right && got.bc_body && got.bc_pc && got.gc_running && got.gc_size == 4;
	else if (expect == EXPECT_NO_LINES)
		right = right && !got.bc_body && !got.bc_pc;
	tap__ok(right, "%s%s %s: %s; %s", prefix, compiler, flags, how(got.how_lines),
		how(got.how_gc));

	snprintf(path, sizeof(path), "%s/hidden.so", scratch);
	if (expect == EXPECT_FOUND &&
	    (derive_file(path, &symbols) || symbols.bc_body != want.bc_body ||
	     symbols.gc_running != want.gc_running))
		tap__ok(false, "%s%s %s: the symbol table", prefix, compiler, flags);
}

static void test_fixtures(void)
{
	static const char *const other[] = {
		"-O0",
		"-Os",
		"-O2 -fstack-protector-all",
		"-O2 -flto",
		"-O2 -fno-plt -fno-semantic-interposition",
		"-O2 -Wl,-z,pack-relative-relocs",
	};
	bool x86 = run("cc -dumpmachine | grep -q x86_64");

	fixture("", "cc", "-O1", EXPECT_FOUND);
	fixture("", "cc", "-O2", EXPECT_FOUND);
	fixture("", "cc", "-O3", EXPECT_FOUND);
	fixture("", "cc", "-O2 -DBRANCHES", EXPECT_FOUND);
	fixture("", "cc", "-O2 -DNO_RUNNING", EXPECT_FOUND);
	fixture("", "cc", "-O2 -DTWO_BODIES", EXPECT_NO_LINES);
	fixture("", "cc", "-O2 -DOTHER_CONTEXT", EXPECT_NO_LINES);
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		fixture("", "cc", other[i], EXPECT_RIGHT_OR_NONE);
	if (x86) {
		fixture("", "cc", "-O2 -march=x86-64-v2 -DNO_RUNNING", EXPECT_FOUND);
		fixture("", "cc", "-O2 -march=x86-64-v3", EXPECT_FOUND);
		fixture("", "cc", "-O3 -march=x86-64-v4", EXPECT_FOUND);
	}
	fixture("", "clang", "-O2", EXPECT_FOUND);
	fixture("", "clang", "-O2 -DBRANCHES -DNO_RUNNING", EXPECT_FOUND);
	fixture("", "clang", "-O2 -DTWO_BODIES", EXPECT_NO_LINES);
	if (!x86)
		return;
	if (!run("command -v aarch64-linux-gnu-gcc >/dev/null")) {
		tap__skip("no aarch64-linux-gnu-gcc", "code for aarch64");
		return;
	}
	fixture("aarch64-linux-gnu-", "gcc", "-O2", EXPECT_FOUND);
	fixture("aarch64-linux-gnu-", "gcc", "-O3 -mcpu=neoverse-n1", EXPECT_FOUND);
	fixture("aarch64-linux-gnu-", "gcc", "-O2 -DBRANCHES", EXPECT_FOUND);
	fixture("aarch64-linux-gnu-", "gcc", "-O2 -DNO_RUNNING", EXPECT_FOUND);
	fixture("aarch64-linux-gnu-", "gcc", "-O2 -DTWO_BODIES", EXPECT_NO_LINES);
	fixture("aarch64-linux-gnu-", "gcc", "-O2 -DOTHER_CONTEXT", EXPECT_NO_LINES);
	fixture("aarch64-linux-gnu-", "gcc", "-Os", EXPECT_RIGHT_OR_NONE);
}

/* A separate debug file, by build id and by CRC, and that of another build. */
static void test_debug(const char *build_id, const char *what, unsigned int nth)
{
	struct image bare = {0}, debug = {0}, other = {0};
	struct hidden d, want;
	char path[512], name[512];
	Elf *a, *b, *c;
	bool ok;

	if (!run("cd %s && cc -O0 -fPIC -shared -w -nostdlib -Wl,--build-id=%s -o hidden.so "
		 "$OLDPWD/tests/fixtures/hidden.c && objcopy --only-keep-debug hidden.so x.debug "
		 "&& "
		 "strip -o bare.so hidden.so && objcopy --add-gnu-debuglink=x.debug bare.so && "
		 "cc -O1 -fPIC -shared -w -nostdlib -Wl,--build-id=%s -o other.so "
		 "$OLDPWD/tests/fixtures/hidden.c",
		 scratch, build_id, build_id) ||
	    !oracle("nm", &want)) {
		tap__ok(false, "%s: files made", what);
		return;
	}
	snprintf(path, sizeof(path), "%s/bare.so", scratch);
	image__read(&bare, path);
	snprintf(path, sizeof(path), "%s/x.debug", scratch);
	image__read(&debug, path);
	snprintf(path, sizeof(path), "%s/other.so", scratch);
	image__read(&other, path);
	a = image__elf(&bare);
	b = image__elf(&debug);
	c = image__elf(&other);
	tap__ok(!derive(a, &d) && !d.bc_body, "%s: nothing by code at -O0", what);
	tap__ok(hidden__from_debug(a, c, &d) == -ESTALE && !d.bc_body,
		"%s: another build's refused", what);
	tap__ok(!hidden__from_debug(a, b, &d) && d.bc_body == want.bc_body &&
			d.bc_pc == want.bc_pc && d.gc_running == want.gc_running &&
			!strcmp(d.how_lines, "debug file"),
		"%s: found in the debug file", what);
	ok = !debug_file__name(a, "/some/lib", nth, name, sizeof(name));
	tap__ok(ok, "%s: it would be %s", what, ok ? name : "?");
	tap__ok(debug_file__name(a, "/some/lib", nth, name, 5) == -ENAMETOOLONG &&
			debug_file__name(a, "/some/lib", 99, name, sizeof(name)) == -ENOENT,
		"%s: short buffers, and an end", what);
	elf_end(a);
	elf_end(b);
	elf_end(c);
	free(bare.bytes);
	free(debug.bytes);
	free(other.bytes);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* A result that a caller could not have used safely. */
static bool nonsense(int err, const struct hidden *d)
{
	if (err)
		return err > 0 || d->bc_body || d->bc_pc || d->gc_running || d->gc_begin;
	return !d->bc_body != !d->bc_pc || !d->bc_body != !d->how_lines ||
	       (d->gc_running && d->gc_size != 1 && d->gc_size != 4) || d->gc_begin > d->gc_end;
}

static void test_damaged(const char *path, size_t step, unsigned int flips)
{
	uint64_t random = 20240229;
	unsigned int bad = 0, cuts = 0;
	struct image whole, part;
	struct hidden d;
	GElf_Ehdr header;
	uint64_t table;
	Elf *elf;
	int err;

	if (!image__read(&whole, path)) {
		tap__ok(false, "%s: read", path);
		return;
	}
	for (size_t size = 0; size < whole.size; size += step, cuts++) {
		part.size = size;
		part.bytes = malloc(size ? size : 1);
		memcpy(part.bytes, whole.bytes, size);
		elf = image__elf(&part);
		memset(&d, 0, sizeof(d));
		err = elf ? derive(elf, &d) : -EBADMSG;
		bad += nonsense(err, &d);
		elf_end(elf);
		free(part.bytes);
	}
	tap__ok(!bad, "%s: %u truncations", path, cuts);

	elf = image__elf(&whole);
	gelf_getehdr(elf, &header);
	table = header.e_shoff;
	elf_end(elf);
	part.size = whole.size;
	part.bytes = malloc(whole.size);
	bad = 0;
	for (unsigned int i = 0; i < flips; i++) {
		memcpy(part.bytes, whole.bytes, whole.size);
		for (unsigned int n = 1 + next_random(&random) % 32; n; n--) {
			uint64_t r = next_random(&random);
			/* headers; dynamic tables; anywhere, mostly code; the section table */
			uint64_t from = i % 4 == 3 ? table : i % 4 == 0 ? 16 : 0;
			uint64_t span = i % 4 == 3   ? 64u * 30
					: i % 4 == 0 ? 1024
					: i % 4 == 1 ? whole.size / 8
						     : whole.size;

			if (from + r % span >= whole.size)
				continue;
			if (r >> 60 & 1)
				part.bytes[from + r % span] ^= (char)(1u << (r >> 61));
			else
				part.bytes[from + r % span] = r >> 59 & 1 ? -1 : 0;
		}
		elf = image__elf(&part);
		memset(&d, 0, sizeof(d));
		err = elf ? derive(elf, &d) : -EBADMSG;
		bad += nonsense(err, &d);
		elf_end(elf);
	}
	free(part.bytes);
	free(whole.bytes);
	tap__ok(!bad, "%s: %u damaged copies", path, flips);
}

static void test_refused(void)
{
	char text[] = "#!/bin/sh\nexec R \"$@\"\n";
	struct hidden d;
	Elf *elf = elf_memory(text, sizeof(text));

	tap__ok(derive(elf, &d) == -EBADMSG, "a script is no ELF file");
	elf_end(elf);
	tap__ok(hidden__run(NULL, 312, 320, &d) == -EBADMSG, "no file at all");
	/* any other program: found nothing is not an error */
	tap__ok(!derive_file("/proc/self/exe", &d) && !d.bc_body && !d.gc_running,
		"a program without R in it");
}

int main(void)
{
	char path[512];

	elf_version(EV_CURRENT);
	if (!mkdtemp(scratch))
		tap__bail("%s: %m", scratch);
	test_host();
	test_images();
	test_fixtures();
	test_debug("sha1", "build id", 0);
	test_debug("none", "debug link", 1);
	test_refused();
	if (run("cc -O2 -DNO_RUNNING -fPIC -shared -w -nostdlib -s -o %s/bare.so "
		"tests/fixtures/hidden.c",
		scratch)) {
		snprintf(path, sizeof(path), "%s/bare.so", scratch);
		test_damaged(path, 16, 20000);
	}
	if (run("cp \"$(R RHOME)/lib/libR.so\" %s/libR.so", scratch)) {
		snprintf(path, sizeof(path), "%s/libR.so", scratch);
		test_damaged(path, 4096, 400);
	}
	run("rm -rf %s", scratch);
	return tap__done();
}
