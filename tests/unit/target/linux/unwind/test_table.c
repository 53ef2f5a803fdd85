/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unwind tables of small ELF files that are made here, and of damaged ones. */
#include "target/linux/unwind/table.h"

#include "elf_fixture.h"
#include "tap.h"

#define BASE	 0x400000ULL
#define HEADER	 0x200u /* .eh_frame_hdr */
#define FRAMES	 0x300u /* .eh_frame */
#define SYMBOLS	 0x500u
#define NAMES	 0x600u
#define SECTIONS 0x700u
#define TEXT	 0x1000u
#define SIZE	 0x1400u
#define CODE	 (BASE + TEXT)
#define PLT	 (CODE + 0x200)
#define FUNCTION ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)

static _Alignas(8) uint8_t file[SIZE];
static size_t at;	       /* the end of .eh_frame so far */
static uint32_t nfunctions;    /* in .eh_frame_hdr */
static struct unwind_table *t; /* of the file */

static void put(uint64_t value, unsigned int size)
{
	memcpy(file + at, &value, size);
	at += size;
}

static void word(size_t where, uint64_t value)
{
	memcpy(file + where, &value, 4);
}

static void entry__end(size_t open)
{
	while ((at - open) % 8 != 4)
		put(0, 1); /* DW_CFA_nop */
	word(open, at - open - 4);
}

/* The usual one of @machine: the CFA is sp + 8 on x86_64, with the return address below it. */
static void cie(uint16_t machine, uint8_t ra)
{
	const size_t open = at;

	put(0, 8);
	put(1, 1);
	memcpy(file + at, "zR", 3);
	at += 3;
	put(1, 1);    /* code alignment */
	put(0x78, 1); /* data alignment: -8 */
	put(ra, 1);
	put(1, 1);
	put(0x1b, 1); /* pcrel, sdata4 */
	if (machine == EM_X86_64) {
		put(0x08070c, 3); /* def_cfa rsp 8 */
		put(0x0190, 2);	  /* offset r16 at cfa - 8 */
	} else {
		put(0x001f0c, 3); /* def_cfa sp 0 */
	}
	entry__end(open);
}

/* The next function, behind those before it. */
static void fde(uint64_t begin, uint64_t size, const char *program, size_t len)
{
	const size_t open = at;

	word(HEADER + 12 + 8 * nfunctions, begin - (BASE + HEADER));
	word(HEADER + 16 + 8 * nfunctions, open - HEADER);
	word(HEADER + 8, ++nfunctions);
	put(0, 4);
	put(at - FRAMES, 4); /* the CIE is the first entry */
	put(begin - (BASE + at), 4);
	put(size, 4);
	put(0, 1);
	memcpy(file + at, program, len);
	at += len;
	entry__end(open);
}

static void section(uint32_t i, uint32_t name, uint32_t type, uint32_t offset, uint32_t size)
{
	((Elf64_Shdr *)(file + SECTIONS))[i] = (Elf64_Shdr){
		.sh_name = name,
		.sh_type = type,
		.sh_flags = SHF_ALLOC,
		.sh_addr = BASE + offset,
		.sh_offset = offset,
		.sh_size = size,
		.sh_addralign = 1,
	};
}

/* A file without functions; they are added next, then file__end(). */
static void file__begin(uint16_t machine, uint8_t ra)
{
	Elf64_Ehdr *head = (Elf64_Ehdr *)file;
	Elf64_Phdr *ph = (Elf64_Phdr *)(file + sizeof(*head));

	memset(file, 0, sizeof(file));
	fixture__head(head, ET_DYN, machine, 2);
	head->e_shoff = SECTIONS;
	head->e_shnum = 4;
	head->e_shstrndx = 1;
	ph[0] = fixture__load(PF_R | PF_X, 0, BASE, SIZE, SIZE);
	ph[1] = (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME, .p_offset = HEADER, .p_vaddr = BASE + HEADER};
	memcpy(file + NAMES, "\0.plt\0.dynsym", 14);
	section(1, 0, SHT_STRTAB, NAMES, 14);
	memcpy(file + HEADER, "\x01\x1b\x03\x3b", 4);
	word(HEADER + 4, FRAMES - HEADER - 4);
	nfunctions = 0;
	at = FRAMES;
	cie(machine, ra);
}

/* Its table: 0, or an error. */
static int file__read(void)
{
	unwind_table__free(t);
	return unwind_table__of_image(&t, file, SIZE, NULL);
}

static int file__end(void)
{
	Elf64_Phdr *ph = (Elf64_Phdr *)(file + sizeof(Elf64_Ehdr));

	put(0, 4);
	ph[1].p_filesz = ph[1].p_memsz = 12 + 8 * nfunctions;
	return file__read();
}

/* The rules at these offsets from CODE, in hex: "CFA/fp/return address" each. */
static void rules(const char *offsets, const char *want, const char *what)
{
	/* in the order of enum xr_cfa and enum xr_saved */
	static const char *const cfas[] = {"none", "end", "sp", "fp", "*fp", "*sp", "plt"};
	static const char *const saved[] = {"same", "cfa", "sp", "fp", "lost"};

	for (char *end; *offsets; offsets = end) {
		const struct xr_unwind_row *row =
			unwind_table__find(t, CODE + strtoull(offsets, &end, 16));
		const struct xr_unwind_rule *r = row ? &t->rules[row->rule] : NULL;

		if (r)
			tap__say("%s%+d/%s/%s ", cfas[r->cfa], r->cfa_off, saved[r->fp],
				 saved[r->ra]);
		else
			tap__say("none ");
	}
	tap__said(want, "%s", what);
}

static bool function__is(uint64_t pc, uint64_t begin, uint64_t end)
{
	uint64_t b, e;

	return unwind_table__function(t, pc, &b, &e) && b == begin && e == end;
}

/* push rbp; mov rsp, rbp; ...; pop rbp; ret */
static const char framed[] = "\x41\x0e\x10\x86\x02\x43\x0d\x06\x60\x0a\x0c\x07\x08\x41\x0b";
/* sub; ...; add */
static const char plain[] = "\x44\x0e\x20\x50\x0e\x08";
/* the return address is undefined */
static const char outermost[] = "\x07\x10";

static int file__usual(void)
{
	file__begin(EM_X86_64, 16);
	fde(CODE, 0x80, framed, sizeof(framed) - 1);
	fde(CODE + 0x100, 0x40, plain, sizeof(plain) - 1);
	fde(CODE + 0x140, 0x10, outermost, sizeof(outermost) - 1);
	return file__end();
}

TEST(rows)
{
	uint64_t b, e;

	if (!tap__ok(!file__usual() && t->base == BASE, "three functions"))
		return;
	rules("0 1 4 24 25",
	      "sp+8/same/cfa sp+16/cfa/cfa fp+16/cfa/cfa sp+8/cfa/cfa fp+16/cfa/cfa ",
	      "a function with a frame pointer, whose last rules are remembered ones");
	rules("104 114", "sp+32/same/cfa sp+8/same/cfa ", "one without a frame pointer");
	rules("14f", "end+0/same/same ", "one without a caller");
	rules("80 ff 150 -1", "none none none none ",
	      "no rule between functions, behind, or before them");
	tap__ok(function__is(CODE + 0x7f, CODE, CODE + 0x80) &&
			function__is(CODE + 0x13f, CODE + 0x100, CODE + 0x140) &&
			!unwind_table__function(t, CODE + 0x90, &b, &e),
		"where functions begin and end, also if the next one follows at once");
}

/* rsp + 8; then *(rbp - 16), with rbp saved at rbp + 0, both by expressions */
static const char realigned[] = "\x44\x0f\x03\x76\x70\x06\x10\x06\x02\x76\x00";
/* a PLT of x86_64: rsp + 8, and 8 more from byte 11 of each 16 on */
static const char stubs[] = "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22";
/* the CFA is in rax */
static const char other[] = "\x0c\x00\x10";

TEST(expressions)
{
	file__begin(EM_X86_64, 16);
	fde(CODE, 0x20, realigned, sizeof(realigned) - 1);
	fde(CODE + 0x40, 0x20, stubs, sizeof(stubs) - 1);
	fde(CODE + 0x60, 0x20, other, sizeof(other) - 1);
	if (!tap__ok(!file__end(), "three functions"))
		return;
	rules("0 4", "sp+8/same/cfa *fp-16/fp/cfa ", "a stack that was realigned");
	rules("40", "plt+8/same/cfa ", "a PLT");
	rules("60", "none ", "no rule for a register that is not followed");
}

/* A byte of the two sections is another, or they end early: a table in order, or an error. */
TEST(damaged)
{
	uint32_t wrong = 0, made = 0;
	uint8_t whole[SIZE];
	size_t end;

	tap__bail_if(file__usual(), "no table");
	memcpy(whole, file, SIZE);
	end = at;
	for (size_t i = HEADER; i < end; i++) {
		for (uint32_t to = 0; to < 256; to++) {
			memcpy(file, whole, SIZE);
			file[i] = (uint8_t)to;
			if (file__read()) {
				wrong += t != NULL;
				continue;
			}
			made++;
			for (uint32_t k = 0; k < t->nrows; k++)
				wrong += t->rows[k].rule >= t->nrules ||
					 (k && t->rows[k].pc <= t->rows[k - 1].pc);
			wrong += t->rows[t->nrows - 1].rule != 0;
		}
		i = i == HEADER + 12 + 8 * 3 ? FRAMES - 1 : i;
	}
	tap__ok(!wrong && made, "damage: %u tables, all in order, the rest refused", made);
	memcpy(file, whole, SIZE);
	file[HEADER] = 2;
	tap__ok(file__read() == -EBADMSG && !t, "refused: an index that is not known");
	memset(file + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), 0, sizeof(Elf64_Phdr));
	tap__ok(file__read() == -ENOENT && !t, "refused: a file without .eh_frame");
}

/* Stubs that the linker made: their header pushes, with and without bti in front. */
TEST(plt)
{
#define PUSHED "sp+0/same/same sp+16/same/cfa sp+16/same/cfa sp+0/same/same none "
	static const struct {
		uint32_t header[2];
		const char *offsets, *want, *what; /* PLT is at 200 */
	} rows[] = {
		{{0xa9bf7bf0, 0x90000010},
		 "200 204 21f 220 260",
		 PUSHED,
		 "the header of .plt pushes two registers, its stubs none"},
		{{0xd503245f, 0xa9bf7bf0}, "204 208 21f 220 260", PUSHED, "and behind a bti"},
		{{0xd503201f, 0xd503201f},
		 "200 228 260",
		 "none none none ",
		 "a .plt that is not known has no rules"},
	};

	for (uint32_t i = 0; i < COUNT(rows); i++) {
		file__begin(EM_AARCH64, 15);
		fde(CODE, 0x80, "", 0);
		fde(CODE + 0x300, 0x80, "", 0);
		section(2, 1, SHT_PROGBITS, PLT - BASE, 96);
		memcpy(file + (PLT - BASE), rows[i].header, sizeof(rows[i].header));
		if (!tap__ok(!file__end(), "a file of arm64"))
			continue;
		rules("310", "sp+0/same/same ", "the return address is in the link register");
		rules(rows[i].offsets, rows[i].want, rows[i].what);
		if (rows[i].want[0] != 'n')
			tap__ok(function__is(PLT + 95, PLT + 32, PLT + 96),
				"where a stub begins and ends");
	}
}

/* Functions without a frame, of a file that has no .eh_frame. */
TEST(leaves)
{
	static const uint32_t ret = 0xd65f03c0, call = 0x94000000;
	static const Elf64_Sym symbols[] = {{.st_name = 0},
					    {0, FUNCTION, 0, 2, CODE + 0x40, 0x20},
					    {0, FUNCTION, 0, 2, CODE + 0x10, 0x20},
					    {0, FUNCTION, 0, 2, CODE + 0x60, 0x20}};

	file__begin(EM_AARCH64, 30);
	memset(file + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), 0, sizeof(Elf64_Phdr));
	for (uint32_t i = 0; i < 32; i++)
		memcpy(file + TEXT + 4 * i, i == 28 ? &call : &ret, 4);
	memcpy(file + SYMBOLS, symbols, sizeof(symbols));
	section(3, 6, SHT_DYNSYM, SYMBOLS, sizeof(symbols));
	if (!tap__ok(!file__read(), "a file without .eh_frame"))
		return;
	rules("10 5c c 30 70", "sp+0/same/same sp+0/same/same none none none ",
	      "functions without a frame have one rule, others none");
	tap__ok(function__is(CODE + 0x44, CODE + 0x40, CODE + 0x60),
		"where such a function begins and ends");
}
