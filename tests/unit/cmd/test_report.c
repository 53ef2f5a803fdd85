/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report` of small files: what is read, what is written. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "command.h"

static char dir[] = "/tmp/xrprof-report.XXXXXX";

/* A file of these bytes. */
static void file__make(const char *name, const void *data, size_t len)
{
	FILE *f = fopen(name, "w");

	if (!f || fwrite(data, 1, len, f) != len || fclose(f))
		tap__bail("cannot write %s", name);
}

static void file__text(const char *name, const char *text)
{
	file__make(name, text, strlen(text));
}

/* An Rprof.out: @n samples, one each @us, of these functions in turn. */
static void rprof__make(const char *name, unsigned int us, unsigned int n, const char *functions)
{
	struct buf b = {0};
	int err = buf__printf(&b, "sample.interval=%u\n", us);

	for (unsigned int i = 0; i < n && !err; i++)
		err = buf__printf(&b, "\"%c\" \n", functions[i % strlen(functions)]);
	if (err)
		tap__bail("no memory");
	file__make(name, b.data, b.len);
	buf__free(&b);
}

/* `report` prints exactly this. */
static void report__is(const char *line, const char *out)
{
	char words[512];
	int status;

	snprintf(words, sizeof(words), "report %s", line);
	status = run(words);
	if (!tap__ok(status == CMD_OK && !strcmp(out_text, out), "%s", words))
		printf("# %d, %s\n# is:\n%s# should be:\n%s", status, err_text, out_text, out);
}

/* In `folded` format. */
static void folded__is(const char *line, const char *out)
{
	char words[512];

	snprintf(words, sizeof(words), "%s -f folded", line);
	report__is(words, out);
}

/* A sample counts for the time that it stands for. */
static void test_rates(void)
{
	static const char half[] = "    SELF       %     TOTAL       %  FUNCTION\n"
				   "  1.00 s    50.0    1.00 s    50.0  f\n"
				   "  1.00 s    50.0    1.00 s    50.0  g\n";
	static const char all[] = "a.out b.out: 150 samples, 2.00 s\n";
	char text[512];
	size_t f = 0, g = 0;

	rprof__make("a.out", 10000, 100, "f");
	rprof__make("b.out", 20000, 50, "g");
	snprintf(text, sizeof(text), "%s%s", all, half);
	report__is("a.out b.out", text);
	tap__ok(strstr(err_text, "at different rates"), "they differ: %s", err_text);
	folded__is("a.out b.out", "f 100\ng 100\n");
	run("report a.out b.out -o ab.pb.gz");
	run("report b.out a.out -o ba.pb.gz");
	folded__is("ab.pb.gz", "f 100\ng 100\n");
	folded__is("ba.pb.gz", "g 100\nf 100\n");
	snprintf(text, sizeof(text), "a.pb.gz b.pb.gz: 150 samples, 2.00 s\n%s", half);
	run("report a.out -o a.pb.gz");
	run("report b.out -o b.pb.gz");
	report__is("a.pb.gz b.pb.gz", text);
	/* two profiles in one file, as Rprof(append = TRUE) has them */
	snprintf(text, sizeof(text), "report a.out b.out -f rprof");
	if (system("cat a.out b.out >both.out"))
		tap__bail("no file of both");
	snprintf(text, sizeof(text), "both.out: 150 samples, 2.00 s\n%s", half);
	report__is("both.out", text);
	/* lines stay in their order, and have the interval of the first file */
	rprof__make("fast.out", 10000, 2000, "ghgk");
	run("report b.out fast.out -f rprof");
	for (const char *at = out_text; (at = strchr(at, '\n')); at++) {
		f += !strncmp(at, "\n\"h\"", 4);
		g += !strncmp(at, "\n\"g\"", 4);
	}
	tap__ok(!strncmp(out_text, "sample.interval=20000\n", 22) && f >= 249 && f <= 251 &&
			g >= 549 && g <= 551,
		"2000 lines of 10 ms beside 50 of 20 ms: g %zu, h %zu", g, f);
	/* what does not say it */
	file__text("c.folded", "h 40\n");
	folded__is("a.out c.folded", "f 100\nh 80\n");
	tap__ok(strstr(err_text, "not all files say"), "one does not say it: %s", err_text);
	folded__is("c.folded", "h 40\n");
	tap__ok(!*err_text, "none does");
	folded__is("c.folded a.out -F 100", "h 40\nf 100\n");
	file__text("much.folded", "f 9000000000000000\ng 9000000000000000\n");
	folded__is("much.folded", "f 9000000000000000\ng 9000000000000000\n");
	tap__ok(run("report much.folded a.out") == CMD_FAILED &&
			strstr(err_text, "more than there can be"),
		"and more than there can be: %s", err_text);
}

/* A file is never read and written at once. */
static void test_same_file(void)
{
	static const char *const lines[] = {
		"s.out -o s.out -f rprof",
		"s.out -o ./s.out",
		"a.out s.out -o hard.out",
		"s.out --diff a.out -o hard.html",
	};
	struct stat before, after;

	rprof__make("s.out", 10000, 100, "f");
	if (link("s.out", "hard.out") || link("s.out", "hard.html") || stat("s.out", &before))
		tap__bail("no links");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char words[128];
		int status;

		snprintf(words, sizeof(words), "report %s", lines[i]);
		status = run(words);
		tap__ok(status == CMD_USAGE && strstr(err_text, "cannot be written meanwhile") &&
				!stat("s.out", &after) && after.st_size == before.st_size,
			"%s: %s", words, err_text);
	}
}

int main(void)
{
	char command[64];

	if (!mkdtemp(dir) || chdir(dir))
		tap__bail("no folder in /tmp");
	test_rates();
	test_same_file();
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command) ? 1 : tap__done();
}
