/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of layouts: is it whole, and does it say what is known of some releases? */
#define _GNU_SOURCE
#include "target/layouts.h"
#include "tap.h"

#define V(a, b, c) LAYOUTS_VERSION(a, b, c)

TEST(rows)
{
	size_t count;
	const struct layouts_row *rows = layouts__table(&count);
	bool sane = true, bounded = true, same = true;

	for (size_t i = 0; i < count; i++) {
		const struct xr_layout *l = &rows[i].layout, *last = layouts__last(rows[i].arch);

		/* as the structure declares them, words aligned */
		sane &= l->nextcontext < l->callflag && l->callflag < l->sysparent &&
			l->sysparent < l->call && l->call < l->cloenv && l->cloenv < l->srcref;
		sane &= !l->bcbody ||
			(l->cloenv < l->bcbody && l->bcpc == l->bcbody + 8 && l->bcpc < l->srcref);
		sane &= !l->relpc || l->relpc == l->bcpc + 8;
		sane &= l->vector_data == (l->has_altrep ? 48 : 40);
		sane &= !((l->nextcontext | l->sysparent | l->call | l->cloenv | l->srcref) % 8);
		bounded &= l->read_plain == l->cloenv + 8 && l->read_lines == l->srcref + 8 &&
			   l->read_lines <= XR_CONTEXT_MAX;
		same &= l->nextcontext == last->nextcontext && l->callflag == last->callflag &&
			l->sysparent == last->sysparent && l->call == last->call &&
			l->cloenv == last->cloenv;
	}
	tap__ok(count >= LAYOUTS_ARCHES, "there are rows (%zu)", count);
	tap__ok(sane, "fields are in the order of RCNTXT, aligned");
	tap__ok(bounded, "what is read ends behind the last field and fits XR_CONTEXT_MAX");
	tap__ok(same, "up to cloenv the releases of a platform do not differ");
}

/* Releases there were: each has a row, on every platform. */
TEST(releases)
{
	static const uint32_t releases[] = {
		V(3, 0, 0), V(3, 0, 3), V(3, 1, 0), V(3, 1, 3), V(3, 2, 0), V(3, 2, 5),
		V(3, 3, 0), V(3, 3, 3), V(3, 4, 0), V(3, 4, 4), V(3, 5, 0), V(3, 5, 3),
		V(3, 6, 0), V(3, 6, 3), V(4, 0, 0), V(4, 0, 5), V(4, 1, 0), V(4, 1, 3),
		V(4, 2, 0), V(4, 2, 3), V(4, 3, 0), V(4, 3, 3), V(4, 4, 0), V(4, 4, 3),
		V(4, 5, 0), V(4, 5, 2), V(4, 6, 0), V(4, 6, 1), V(4, 6, 2), /* a patch release later
									       than the table */
	};
	bool all = true, relpc = true, altrep = true;
	uint32_t next;
	size_t count, at = 0;
	const struct layouts_row *rows = layouts__table(&count);

	for (int arch = 0; arch < LAYOUTS_ARCHES; arch++)
		for (size_t i = 0; i < COUNT(releases); i++) {
			const struct xr_layout *l = layouts__find(arch, releases[i]);

			all &= l != NULL;
			if (!l)
				continue;
			relpc &= (l->relpc != 0) == (releases[i] >= V(4, 4, 0));
			relpc &= (l->bcbody != 0) == (releases[i] >= V(3, 4, 0));
			altrep &= l->has_altrep == (releases[i] >= V(3, 5, 0));
		}
	tap__ok(all, "every release from 3.0.0 on has a layout, on every platform");
	tap__ok(relpc, "byte code fields from 3.4.0 on, relpc from 4.4.0 on");
	tap__ok(altrep, "ALTREP from 3.5.0 on");
	for (int arch = 0; arch < LAYOUTS_ARCHES; arch++) {
		while (at + 1 < count && rows[at + 1].arch <= (enum layouts_arch)arch)
			at++;
		next = ((rows[at].last >> 8) + 1) << 8;
		tap__ok(!layouts__find(arch, V(2, 15, 3)) && !layouts__find(arch, next) &&
				!layouts__find(arch, V(5, 0, 0)) && !layouts__find(arch, 0) &&
				!layouts__find(arch, UINT32_MAX),
			"platform %d: older and newer than the table is not found", arch);
		tap__ok(layouts__last(arch) == layouts__find(arch, rows[at].last),
			"platform %d: the last row is the newest release's", arch);
	}
	tap__ok(!layouts__find(LAYOUTS_ARCHES, V(4, 2, 2)) && !layouts__last(LAYOUTS_ARCHES),
		"a platform that does not exist has no layout");
}

/* offsetof() as a compiler gave it for the release's own Defn.h */
TEST(known)
{
	const struct xr_layout *l = layouts__find(LAYOUTS_X86_64_LINUX, V(4, 2, 2));

	tap__ok(l && l->callflag == 8 && l->sysparent == 240 && l->call == 248 &&
			l->cloenv == 256 && l->bcbody == 312 && l->bcpc == 320 && !l->relpc &&
			l->srcref == 368,
		"R 4.2.2 on x86_64 Linux");
	l = layouts__find(LAYOUTS_X86_64_LINUX, V(4, 6, 2));
	tap__ok(l && l->relpc == 328 && l->srcref == 384, "R 4.6.2 on x86_64 Linux");
	l = layouts__find(LAYOUTS_AARCH64_LINUX, V(4, 5, 0));
	tap__ok(l && l->call == 360 && l->cloenv == 368 && l->srcref == 496 && l->relpc == 440,
		"R 4.5.0 on aarch64 Linux");
	l = layouts__find(LAYOUTS_X86_64_WINDOWS, V(3, 6, 3));
	tap__ok(l && l->call == 320 && l->cloenv == 328 && l->srcref == 432,
		"R 3.6.3 on x86_64 Windows");
}

TEST(parse)
{
	char bad[] = "|4|4.2|4.2.|.4.2|4.2.2.1|4.2.2 | 4.2.2|4.2.x|4.-2.2|256.0.0|4.2.256|"
		     "4.2.99999999999999|a.b.c";
	char *at = bad;

	tap__ok(layouts__parse("4.2.2") == 0x040202 && layouts__parse("3.0.0") == 0x030000 &&
			layouts__parse("255.255.255") == 0xffffff &&
			layouts__parse("2.15.3") == 0x020f03,
		"versions are read");
	for (const char *one; (one = strsep(&at, "|"));)
		tap__ok(!layouts__parse(one), "'%s' is not a version", one);
}
