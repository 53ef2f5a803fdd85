/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* /proc/PID/maps and /proc/PID/stat, as the kernel writes them and as a hostile process may have
 * it. */

#include "tap.h"
#include "os/linux/proc_maps.h"
#include "os/proc.h"

static int parse(const char *line, struct proc_map *map)
{
	return proc_maps__parse(line, strlen(line), map);
}

TEST(lines)
{
	struct proc_map m;
	int err;

	err = parse("7fb51ce6b000-7fb51d0a3000 r-xp 0006b000 fe:00 1318       "
		    "                /usr/lib/R/lib/libR.so",
		    &m);
	tap__ok(!err && m.start == 0x7fb51ce6b000 && m.end == 0x7fb51d0a3000 &&
			m.offset == 0x6b000 && m.dev_major == 0xfe && m.dev_minor == 0 &&
			m.inode == 1318 && m.exec && !m.deleted && !m.cut &&
			!strcmp(m.path, "/usr/lib/R/lib/libR.so"),
		"a line of a mapped file");
	err = parse("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]", &m);
	tap__ok(!err && m.start == 0xffffffffff600000 && m.exec && !m.inode &&
			!strcmp(m.path, "[vsyscall]"),
		"the highest addresses");
	err = parse("1000-2000 rw-p 00000000 00:00 0 ", &m);
	tap__ok(!err && !m.exec && !m.path[0], "anonymous memory");
	err = parse("1000-2000 r-xp 00000000 103:05 99 /opt/R 4 (x)/lib/libR.so (deleted)", &m);
	tap__ok(!err && m.deleted && m.dev_major == 0x103 && m.dev_minor == 5 &&
			!strcmp(m.path, "/opt/R 4 (x)/lib/libR.so"),
		"a deleted file with blanks in its name");
	err = parse("1000-2000 r-xp 00000000 08:01 99 /a (deleted) (deleted)", &m);
	tap__ok(!err && m.deleted && !strcmp(m.path, "/a (deleted)"),
		"only the last \"(deleted)\" is the kernel's");
	err = parse("1000-2000 r-xp 00000000 08:01 99 /a\\012b-c d/libR.so", &m);
	tap__ok(!err && proc_maps__is_libr(m.path), "an escaped newline in the name");
}

TEST(long_path)
{
	static char line[9000];
	struct proc_map m;
	size_t n = (size_t)sprintf(line, "1000-2000 r-xp 00000000 08:01 99 ");
	int err;

	while (n < 5000)
		n += (size_t)sprintf(line + n, "/folder");
	n += (size_t)sprintf(line + n, "/libR.so (deleted)");
	err = proc_maps__parse(line, n, &m);
	tap__ok(!err && m.cut && m.deleted && proc_maps__is_libr(m.path),
		"of a path of 5,000 bytes the file's name is kept");
	memset(line + 40, 'x', sizeof(line) - 40);
	err = proc_maps__parse(line, sizeof(line), &m);
	tap__ok(!err && m.cut && strlen(m.path) == sizeof(m.path) - 1,
		"a name of 9,000 bytes is cut");
}

TEST(bad_lines)
{
	static const char *const bad[] = {
		"",
		"\n",
		"-",
		"1000",
		"1000-",
		"1000-2000",
		"1000-2000 r-xp",
		"1000-2000 r-x 00000000 08:01 1 /a",
		"1000-2000 r-xp 00000000",
		"1000-2000 r-xp 00000000 08",
		"1000-2000 r-xp 00000000 08:01",
		"1000-2000 r-xp 00000000 08:01 1x /a",
		"2000-1000 r-xp 00000000 08:01 1 /a",
		"1000-1000 r-xp 00000000 08:01 1 /a",
		"10000000000000000-20000000000000000 r-xp 00000000 08:01 1 /a",
		"1000-2000 r-xp 10000000000000000 08:01 1 /a",
		"1000-2000 r-xp 00000000 100000000:01 1 /a",
		"1000-2000 r-xp 00000000 08:01 99999999999999999999 /a",
		"G000-2000 r-xp 00000000 08:01 1 /a",
		" 1000-2000 r-xp 00000000 08:01 1 /a",
	};
	static const char good[] = "1000-2000 r-xp 00000000 08:01 1 /lib/libR.so (deleted)";
	struct proc_map m;
	char copy[sizeof(good)], *short_copy;
	bool all = true;

	for (size_t i = 0; i < COUNT(bad); i++)
		if (parse(bad[i], &m) != -EBADMSG) {
			tap__diag("taken: %s", bad[i]);
			all = false;
		}
	tap__ok(all, "malformed lines are refused");
	/* all prefixes, and each byte replaced by each other: the result is whole or refused */
	all = true;
	for (size_t n = 0; n < sizeof(good); n++) {
		memcpy(copy, good, sizeof(good));
		for (int byte = 0; n < sizeof(good) - 1 && byte < 256; byte++) {
			int err;

			copy[n] = (char)byte;
			err = proc_maps__parse(copy, sizeof(good) - 1, &m);
			all &= err == -EBADMSG ||
			       (!err && m.start < m.end && memchr(m.path, '\0', sizeof(m.path)));
		}
		/* a block of exactly this size, so that a sanitizer sees a byte too many */
		short_copy = malloc(n ? n : 1);
		tap__bail_if(!short_copy, "no memory");
		memcpy(short_copy, good, n);
		all &= proc_maps__parse(short_copy, n, &m) == -EBADMSG || m.start == 0x1000;
		free(short_copy);
	}
	tap__ok(all, "any byte may be wrong, and the line end anywhere");
}

TEST(find)
{
	static char text[] = "1000-2000 r--p 00000000 08:01 7 /usr/lib/R/lib/libR.so\n"
			     "2000-3000 r-xp 00001000 08:01 7 /usr/lib/R/lib/libR.so\n"
			     "3000-4000 r-xp 00001000 00:00 0 /libR.so\n"
			     "garbage libR.so\n"
			     "4000-5000 r-xp 00001000 08:01 8 /tmp/libR.so.d/x\n"
			     "5000-6000 r-xp 00001000 08:01 9 /opt/libR.so.4.2 (deleted)\n"
			     "6000-7000 r-xp 00001000 08:01 10 /usr/lib/R/lib/libRblas.so\n"
			     "7000-8000 r-xp 00001000 08:01 11 /opt/R/bin/exec/R\n"
			     "8000-9000 r-xp 00001000 08:01 12 /opt/mylibR.so\n"
			     "9000-a000 r-xp 00001000 08:01 13 /opt/libR.so";
	static const char program[] = "/opt/R/bin/exec/R";
	struct proc_map found[4], map;
	size_t n, lines;
	FILE *in = fmemopen(text, sizeof(text) - 1, "r");

	n = proc_maps__find(in, found, 4, &lines);
	tap__ok(n == 3 && lines == 10 && found[0].start == 0x2000 && found[1].start == 0x5000 &&
			found[1].deleted && found[2].start == 0x9000,
		"libR.so's code is found, and nothing else");
	rewind(in);
	tap__ok(proc_maps__find(in, found, 1, &lines) == 1 && found[0].start == 0x2000,
		"no more than asked for");
	rewind(in);
	tap__ok(proc_maps__file(in, program, false, &map) && map.start == 0x7000,
		"a program is found by its name");
	rewind(in);
	tap__ok(!proc_maps__file(in, program, true, &map) && map.end,
		"a deleted one is another one");
	rewind(in);
	tap__ok(proc_maps__at(in, 0x7010, &map) && map.start == 0x7000, "and by an address in it");
	rewind(in);
	tap__ok(!proc_maps__at(in, 1, &map), "no mapping at an address that is not mapped");
	fclose(in);
	tap__ok(proc_maps__is_libr("libR.so") && proc_maps__is_libr("/x/libR.so.4") &&
			!proc_maps__is_libr("/x/libR.sox") && !proc_maps__is_libr("/x/libR.so/") &&
			!proc_maps__is_libr("") && proc_maps__is_r("/x/exec/R") &&
			!proc_maps__is_r("/x/exec/Rscript") && !proc_maps__is_r("/R/x"),
		"names of R's files");
}

static int stat_of(const char *text, struct proc *p)
{
	memset(p, 0, sizeof(*p));
	return proc__parse_stat(text, strlen(text), p);
}

TEST(stat)
{
	static const char tail[] = " 1 2 3 4 -1 4194304 7 8 9 10 11 12 13 14 20 0 3 0 4711 99 100";
	static const char *const bad[] = {"", "()", ")(", "1 (a) S x", "1 (a)"};
	static const struct {
		const char *name, *behind;
		uint64_t stack;
		const char *what;
	} rows[] = {
		{"R", "", 0, "a stat line"},
		{"x) R 1 2 (y\n) z", "", 0, "a name that looks like the rest of the line"},
		{"R", " 0 0 0 140737488346112 0", 140737488346112,
		 "where the stack begins, which tells an exec"},
		{"R", " 0 0 140737488346112", 0, "field 27 is not that"},
	};
	char text[256];
	struct proc p;
	bool all = true;

	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), "42 (%s) Z%s%s", rows[i].name, tail, rows[i].behind);
		tap__ok(!stat_of(text, &p) && !strcmp(p.comm, rows[i].name) && p.state == 'Z' &&
				p.ppid == 1 && p.threads == 3 && p.start_time == 4711 &&
				!p.kernel && p.stack == rows[i].stack,
			"%s", rows[i].what);
	}
	tap__ok(!stat_of("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 3 0 0", &p) &&
			p.kernel,
		"a kernel thread");
	snprintf(text, sizeof(text), "42 (R) S%s", tail);
	/* up to and without field 22's last digit: refused, or a shorter number */
	for (size_t n = 0; n < strlen("42 (R) S 1 2 3 4 -1 4194304 7 8 9 10 11 12 13 14 20 0 3 0 ");
	     n++)
		all &= proc__parse_stat(text, n, &p) == -EBADMSG;
	for (size_t i = 0; i < COUNT(bad); i++)
		all &= stat_of(bad[i], &p) == -EBADMSG;
	tap__ok(all, "cut and malformed lines are refused");
}
