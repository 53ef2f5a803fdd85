/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A row gets the collector's flag once that was seen to be right in a live process, and R_BCbody
 * and R_BCpc too, all in this process; which proofs are believed; and how often it is looked at.
 */

#include "base/clock.h"
#include "session/verify_hidden.h"
#include "sexp.h"
#include "tap.h"

#define TURN (20 * NS_PER_MS)

static const struct notes listener; /* drops all lines */
static struct verify_hidden v = {.notes = &listener};

/* R's variables, and byte code as R keeps it. */
static volatile uint32_t flag;
static volatile uint64_t head, srcref, bc_body, bc_pc;
static uint64_t marker[8], body[8], code[16], constants[8], pc;

static uint64_t address(const volatile void *of)
{
	return (uint64_t)(uintptr_t)of;
}

static struct target make(const char *path, uint64_t ino, const char *how)
{
	struct target t = {.pid = getpid(), .comm = "R", .version = "4.2.2", .how_gc = how};

	snprintf(t.path, sizeof(t.path), "%s", path);
	t.file =
		(struct target_file){.dev = 1, .ino = ino, .size = 3, .mtime_ns = 4, .ctime_ns = 5};
	t.load_bias = 0x1000;
	t.row.pid = (uint32_t)getpid();
	t.row.flags = XR_ROW_GC;
	t.row.gc_at = address(&flag);
	t.row.gc_size = 4;
	return t;
}

static struct target make_lines(uint64_t ino)
{
	struct target t = make("/lib/libR.so", ino, NULL);

	t.row.gc_at = 0;
	t.row.flags = XR_ROW_LINES;
	t.row.head_at = address(&head);
	t.row.srcref_at = address(&srcref);
	t.row.bc_body_at = address(&bc_body);
	t.row.bc_pc_at = address(&bc_pc);
	t.row.in_bc = address(marker);
	t.row.layout.bcbody = 312;
	t.row.layout.srcref = 344;
	t.row.layout.vector_data = 48;
	return t;
}

/* Byte code runs, or something else does; what the variables hold is R's, or a liar's. */
static void bytecode(bool runs, bool right)
{
	body[0] = R_BCODESXP;
	body[R_CAR] = address(code);
	body[R_CDR] = address(constants);
	code[0] = R_INTSXP;
	code[R_CAR] = 16;
	constants[0] = R_VECSXP;
	pc = address(code) + 48 + (right ? 8 : 4);
	srcref = runs ? address(marker) : 0;
	bc_body = address(body);
	bc_pc = address(&pc);
}

/* As the session does it, without a process apart. */
static bool advance(struct verify_hidden *v, struct hidden_proof *h, struct target *t,
		    unsigned int looks, uint64_t now)
{
	struct ask q = {.kind = ASK_HIDDEN, .pid = t->pid};
	bool changed = verify_hidden__advance(v, h, t, looks, now, &q);

	if (!q.looks)
		return changed;
	ask__answer(&q);
	return verify_hidden__answered(v, h, t, &q, now) || changed;
}

TEST(flag)
{
	static struct hidden_proof one, two, three, child;
	struct target a = make("/lib/libR.so", 1, "code"), b = make("/usr/lib/libR.so", 1, "code");
	struct target c = make("/other/libR.so", 2, "code"),
		      d = make("/third/libR.so", 3, "symbol table");
	struct target plain = make("/lib/libR.so", 1, "code"), forked;
	const uint64_t at = address(&flag);

	flag = 1;
	tap__ok(!verify_hidden__begin(&v, &one, &a, 0) && one.open && !a.row.gc_at,
		"what was read from code is not used at once");
	tap__ok(!verify_hidden__begin(&v, &two, &b, 0) && two.open, "nor in another process");
	tap__ok(!verify_hidden__begin(&v, &three, &c, 0) && three.open, "nor of another file");
	tap__ok(!advance(&v, &one, &a, 8, 1) && one.open && !a.row.gc_at && one.looked_at == 1,
		"a flag that is set proves nothing");
	tap__ok(verify_hidden__worth_waiting(&one, &a, 1) &&
			!verify_hidden__worth_waiting(&one, &a, 50000000),
		"this process runs: it is worth waiting, but not for long");
	forked = a;
	verify_hidden__inherit(&child, &one, 5);
	tap__ok(child.open && !child.check.looks && child.opened_at == 5, "a child begins again");
	flag = 0;
	tap__ok(advance(&v, &child, &forked, 1, 6) && forked.row.gc_at == at && !child.open &&
			child.completed,
		"a flag that is not set is one: in a child");
	tap__ok(verify_hidden__due(&v, &one) == 1 && verify_hidden__due(&v, &two) == 1 &&
			!verify_hidden__due(&v, &child),
		"others may have it now");
	tap__ok(advance(&v, &one, &a, 0, 7) && a.row.gc_at == at && !one.open,
		"its parent has it without another look");
	tap__ok(advance(&v, &two, &b, 0, 7) && b.row.gc_at == at,
		"and so has another process of that file");
	tap__ok(!advance(&v, &two, &b, 8, TURN) && !two.looked_at,
		"then nothing more is looked at");
	tap__ok(!advance(&v, &three, &c, 0, 7) && three.open && !c.row.gc_at,
		"but not one of another file");
	verify_hidden__end(&two);
	tap__ok(!verify_hidden__begin(&v, &two, &plain, 9) && !two.open && plain.row.gc_at == at,
		"a process that comes later has it from the start");
	verify_hidden__end(&two);
	tap__ok(!verify_hidden__begin(&v, &two, &d, 9) && !two.open && d.row.gc_at == at,
		"a symbol table is believed");
	flag = 7;
	advance(&v, &three, &c, 1, TURN);
	tap__ok(!three.open && three.check.gc == HIDDEN_REFUTED && !c.row.gc_at,
		"a flag that is 7 is refused");
	plain.row.flags = 0;
	plain.row.gc_at = 0;
	verify_hidden__end(&two);
	tap__ok(!verify_hidden__begin(&v, &two, &plain, 9) && !two.open && !two.family,
		"where nothing is asked for nothing is done");
}

/* The number of collections is 0 for long; then R collects, or the number is another variable. */
TEST(first_collection)
{
	static volatile int32_t count;
	static volatile uint64_t global_env;

	for (int right = 0; right < 2; right++) {
		struct hidden_proof one, child = {0};
		struct target a = make("/lib/libR.so", 1, "code"), forked;
		const uint64_t at = address(&count);

		count = 0;
		global_env = R_ENVSXP;
		a.row.flags = XR_ROW_LINES;
		a.row.gc_at = 0;
		a.row.gc_count_at = at;
		a.row.global_env = address(&global_env);
		tap__ok(!verify_hidden__begin(&v, &one, &a, 0) && one.open && !a.row.gc_count_at,
			"a number is not used at once");
		tap__ok(advance(&v, &one, &a, 1, 1) && one.open && a.row.gc_count_at == at,
			"one that is 0 as it should be is used, and looked at again");
		forked = a;
		verify_hidden__inherit(&child, &one, 5);
		tap__ok(!advance(&v, &child, &forked, 0, 6) && forked.row.gc_count_at == at,
			"also in a child");
		count = right;
		global_env |= R_MARK_BIT;
		advance(&v, &one, &a, 2, TURN);
		tap__ok(!one.open && a.row.gc_count_at == (right ? at : 0),
			right ? "R collects: it is proven" : "R collects, and it is 0: not used");
		tap__ok(one.check.count == (right ? HIDDEN_PROVEN : HIDDEN_REFUTED),
			"that is the verdict");
		verify_hidden__end(&one);
		verify_hidden__end(&child);
		verify_hidden__free(&v);
		v = (struct verify_hidden){.notes = &listener};
	}
}

TEST(count_for_calls)
{
	static volatile int32_t count = 5;
	struct target a = make("/lib/libR.so", 1, "code");
	const uint64_t at = address(&count);
	static struct hidden_proof one;

	flag = 1;
	a.row.flags |= XR_ROW_LINES | XR_ROW_CALLS;
	a.row.gc_count_at = at;
	verify_hidden__begin(&v, &one, &a, 0);
	advance(&v, &one, &a, 2, 1);
	tap__ok(one.check.count == HIDDEN_PROVEN && !a.row.gc_count_at,
		"calls do not use the number of collections without the collector's flag");
	flag = 0;
	advance(&v, &one, &a, 2, verify_hidden__due(&v, &one));
	tap__ok(a.row.gc_at && a.row.gc_count_at == at, "they use both");
}

TEST(long_collection)
{
	struct target t = make("/lib/libR.so", 1, "code");
	static struct hidden_proof h;
	uint64_t now = 0, before = 0, longest = 0;

	flag = 1;
	verify_hidden__begin(&v, &h, &t, now);
	while (now < 600 * NS_PER_S) {
		now = verify_hidden__due(&v, &h);
		if (now - before > longest)
			longest = now - before;
		before = now;
		if (advance(&v, &h, &t, 8, now))
			break;
	}
	tap__ok(h.open && now >= 600 * NS_PER_S,
		"a flag that is 1 for ten minutes is not given up, in %u looks", h.check.looks);
	tap__ok(longest <= TURN, "and is looked at again and again");
	flag = 0;
	tap__ok(advance(&v, &h, &t, 8, verify_hidden__due(&v, &h)) &&
			t.row.gc_at == address(&flag) && !h.open,
		"when the collection ends it is known to be the flag");
}

/* A server that is idle forks children that live for two turns of looks each. */
TEST(short_children)
{
	static struct hidden_proof server, other, child;
	struct target t = make_lines(1), of_other = make_lines(1), forked;
	uint64_t now = NS_PER_S;
	unsigned int children = 0;

	bytecode(false, true);
	verify_hidden__begin(&v, &server, &t, now);
	verify_hidden__begin(&v, &other, &of_other, now);
	for (int i = 0; i < 1000; i++)
		advance(&v, &server, &t, 8, now = verify_hidden__due(&v, &server));
	tap__ok(server.open && !server.check.tally.good, "an idle server tells nothing");
	tap__ok(verify_hidden__due(&v, &server) - now >= NS_PER_S, "and is looked at seldom");
	verify_hidden__runs(&server);
	tap__ok(verify_hidden__due(&v, &server) - now <= 4 * TURN, "unless it runs");
	while (server.open && children < 20) {
		verify_hidden__end(&child);
		verify_hidden__inherit(&child, &server, now);
		forked = t;
		children++;
		bytecode(true, true);
		advance(&v, &child, &forked, 3, now);
		bytecode(false, true);
		advance(&v, &server, &t, 0, now);
		now += NS_PER_MS;
		advance(&v, &child, &forked, 1, now);
		now += TURN;
	}
	tap__ok(!server.open && t.row.flags & XR_ROW_BC && children == 4,
		"three good looks at each of %u children are proof enough together", children);
	tap__ok(verify_hidden__due(&v, &other) == 1 && advance(&v, &other, &of_other, 8, now) &&
			of_other.row.flags & XR_ROW_BC && !other.check.looks,
		"and for another server with that very file, which was found before");
	verify_hidden__end(&child);
	verify_hidden__inherit(&child, &server, now);
	tap__ok(!child.open && child.completed, "and for children to come");
}

TEST(storm)
{
	static struct hidden_proof server, child[500];
	struct target t = make_lines(1), forked;
	uint64_t now = NS_PER_S, looks = 0;

	bytecode(false, true);
	verify_hidden__begin(&v, &server, &t, now);
	for (unsigned int ms = 0; ms < 1000; ms++, now += NS_PER_MS)
		for (unsigned int i = 0; i < 500; i++) {
			if (ms % 10 == i % 10) { /* one that ended, and a new one */
				verify_hidden__end(&child[i]);
				verify_hidden__inherit(&child[i], &server, now);
			}
			forked = t;
			if (child[i].open && verify_hidden__due(&v, &child[i]) <= now)
				advance(&v, &child[i], &forked, 8, now);
			looks += child[i].check.looks;
			child[i].check.looks = 0;
		}
	tap__ok(looks <= 50 * 32 && looks >= 40 * 32, "50,000 children a second cost %u looks",
		(unsigned int)looks);
}

/* What a liar says of a file. */
TEST(liar)
{
	static struct hidden_proof liar, honest, copy, child;
	struct target of_liar = make_lines(1), t = make_lines(1), of_copy = make_lines(2), forked;

	verify_hidden__begin(&v, &liar, &of_liar, 0);
	verify_hidden__begin(&v, &honest, &t, 0);
	verify_hidden__begin(&v, &copy, &of_copy, 0);
	bytecode(true, false);
	for (int i = 0; i < 10; i++)
		advance(&v, &liar, &of_liar, 8, verify_hidden__due(&v, &liar));
	tap__ok(!liar.open && liar.check.bc == HIDDEN_REFUTED,
		"a process shows that the variables are others");
	verify_hidden__inherit(&child, &liar, TURN);
	tap__ok(!child.open, "that holds for its children");
	advance(&v, &honest, &t, 0, TURN);
	tap__ok(honest.open, "but not for others of the same file");
	bytecode(true, true);
	advance(&v, &honest, &t, 8, 40 * TURN);
	advance(&v, &honest, &t, 8, 80 * TURN);
	tap__ok(t.row.flags & XR_ROW_BC, "which prove it");
	tap__ok(!advance(&v, &liar, &of_liar, 8, 90 * TURN) && !(of_liar.row.flags & XR_ROW_BC),
		"what a process showed of itself stands against that");
	forked = of_copy;
	tap__ok(!advance(&v, &copy, &forked, 0, 90 * TURN) && copy.open,
		"and a file of the same name, with variables at the same places, is another file");
}

TEST(memory)
{
	static volatile uint64_t small = 1000, large = 70000, nodes = 60000, dups = 7;
	static volatile uint64_t odd = 1ULL << 50;
	static struct hidden_proof one, two;
	struct target a = make("/lib/libR.so", 1, NULL), b, found;
	bool changed = false;

	a.row.flags = XR_ROW_MEMORY;
	a.row.small_at = address(&small);
	a.row.large_at = address(&large);
	a.row.nodes_at = address(&nodes);
	a.row.dups_at = address(&dups);
	a.row.node_size = 56;
	found = b = a;
	flag = 0;
	verify_hidden__begin(&v, &one, &a, 0);
	tap__ok(one.open && !a.row.small_at && !a.row.dups_at, "they are not read at once");
	for (uint64_t i = 1; i <= 500; i += 100) {
		changed |= advance(&v, &one, &a, 1, i * TURN);
		nodes += 10;
	}
	tap__ok(changed && !one.open && a.row.small_at == address(&small) &&
			a.row.large_at == address(&large) && a.row.nodes_at == address(&nodes) &&
			a.row.dups_at == address(&dups),
		"but when they were seen to grow");
	verify_hidden__begin(&v, &two, &b, 600 * TURN);
	tap__ok(!two.open && b.row.nodes_at == address(&nodes),
		"another process of that file has them without a look");
	verify_hidden__end(&two);
	b = found;
	b.row.nodes_at = address(&dups); /* elsewhere: another file, for all that is known */
	b.row.dups_at = 0;
	verify_hidden__begin(&v, &two, &b, 800 * TURN);
	tap__ok(two.open && !b.row.small_at, "one in which they are elsewhere has not");
	verify_hidden__end(&one);
	verify_hidden__end(&two);
	for (uint64_t i = 10; i <= 20; i += 10) {
		b.row.small_at = address(&small);
		b.row.large_at = address(&large);
		b.row.nodes_at = address(&nodes);
		b.row.dups_at = 8; /* cannot be read */
		verify_hidden__begin(&v, &two, &b, 100 * i * TURN);
		for (uint64_t k = 0; k < 5 && two.open; k++) {
			advance(&v, &two, &b, 1, 100 * (i + k) * TURN);
			nodes += 10;
		}
		tap__ok(!two.open && b.row.small_at && !b.row.dups_at,
			i == 10 ? "a wrong address of duplications alone is not used"
				: "nor in the next process of that file");
		verify_hidden__end(&two);
	}
	/* the first user's process has an impossible number there, the other one's has not */
	dups = 100000;
	for (uint64_t i = 30; i <= 40; i += 10) {
		b.uid = i == 30 ? 0 : 1000;
		b.row.small_at = address(&small);
		b.row.large_at = address(&large);
		b.row.nodes_at = address(&dups);
		b.row.dups_at = address(&odd);
		verify_hidden__begin(&v, &two, &b, 100 * i * TURN);
		tap__ok(two.open, "each user's process is looked at");
		for (uint64_t k = 0; k < 5 && two.open; k++) {
			advance(&v, &two, &b, 1, 100 * (i + k) * TURN);
			dups += 100000;
		}
		tap__ok(!two.open && b.row.small_at && b.row.dups_at == (b.uid ? address(&odd) : 0),
			b.uid ? "and decides for that user's alone" : "duplications are refuted");
		verify_hidden__end(&two);
		odd = 7;
	}
}

/* Files do not add up for ever. */
TEST(many_files)
{
	static struct hidden_proof kept, h;
	struct target t = make("/lib/libR.so", 1, "code");

	flag = 1;
	verify_hidden__begin(&v, &kept, &t, 0);
	for (uint64_t i = 2; i < 2000; i++) {
		t = make("/lib/libR.so", i, "code");
		verify_hidden__begin(&v, &h, &t, 0);
		verify_hidden__end(&h);
	}
	tap__ok(v.nfiles <= 256, "of 2,000 files %u are remembered", v.nfiles);
	t = make("/lib/libR.so", 1, "code");
	verify_hidden__begin(&v, &h, &t, 0);
	flag = 0;
	tap__ok(advance(&v, &h, &t, 1, 0) && verify_hidden__due(&v, &kept) == 1,
		"one in use among them");
}
