/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follow values through the machine code of one function, without running it: which registers
 * hold one of the function's first arguments, a constant, what a variable at a known address holds,
 * or a sum or product of that.
 *
 * The code is read once, in the order of its addresses. Where paths join, only what all of them
 * agree on is kept; at the head of a loop nothing is kept. An instruction that is not understood
 * makes the registers that it writes unknown. So an answer holds on every path.
 */
#ifndef XR_TARGET_LINUX_HIDDEN_FLOW_H
#define XR_TARGET_LINUX_HIDDEN_FLOW_H

#include <capstone/capstone.h>

#include "target/linux/hidden/elf_image.h"

#define CODE_SIZE_MAX 65536u /* bytes of one function that are looked at */
#define FLOW_REGS     32u    /* general registers, and vector registers, of either architecture */
#define CODE_ARGS     3u     /* arguments that are followed, and looked at in calls */

enum code_kind {
	CODE_UNKNOWN,
	CODE_ARG,   /* argument number `by`, from 0, plus `at` */
	CODE_CONST, /* the number, or address in the file, `at` */
	CODE_VAR,   /* what `size` bytes at address `at` hold, zero-extended */
	CODE_TIMES, /* what 8 bytes at address `at` hold, times `by`: 2 or more */
	CODE_AFTER, /* what 8 bytes at address `at` hold, plus `by`: 1 or more */
};

struct flow_value {
	uint64_t at;
	uint8_t kind; /* enum code_kind */
	uint8_t size;
	uint16_t by; /* 0 for kinds that do not use it */
};

struct flow_state {
	struct flow_value reg[FLOW_REGS];
	struct flow_value vec[FLOW_REGS][2]; /* the low 16 bytes, in halves */
	struct flow_value tested;	     /* compared with 0 last */
	struct flow_value nonzero;	     /* known not to be 0 on this path */
	bool live;			     /* false: no path leads here */
};

/* Where control goes after an instruction. */
struct flow_next {
	enum {
		FLOW_NEXT,
		FLOW_BRANCH,  /* to target, or on */
		FLOW_JUMP,    /* to target */
		FLOW_CALL,    /* to target (0: not known), and back */
		FLOW_RETURN,  /* or any other end of the path */
		FLOW_UNKNOWN, /* an indirect jump: a switch's table, a tail call */
	} kind;
	uint64_t target;
	int8_t nonzero; /* FLOW_BRANCH: 1 taken when `tested` is not 0, -1 when it is 0, 0 other */
};

struct flow_run;

/* One architecture. */
struct flow_arch {
	cs_arch arch;
	cs_mode mode;
	uint8_t arg[CODE_ARGS]; /* the numbers of the argument registers */
	uint8_t result;
	uint32_t lost; /* general registers that a call may change, as a bit set */
	/* where control goes */
	struct flow_next (*flow)(const cs_insn *insn);
	/* @reg (Capstone's number) was written: it, or what it is part of, is unknown */
	void (*forget)(struct flow_state *state, unsigned int reg);
	/* what the instruction does to @run->state; reports stores by flow__store() */
	void (*step)(struct flow_run *run, const cs_insn *insn);
};

/* What a caller watches for. Any of the functions may be NULL. */
struct flow_watch {
	void (*store)(struct flow_watch *w, const struct flow_value *to, unsigned int size,
		      const struct flow_value *value);
	void (*call)(struct flow_watch *w, struct flow_run *run, uint64_t target);
	void (*end)(struct flow_watch *w, const struct flow_value *result);
	bool branched; /* by flow__run(): there was a branch or a jump */
};

struct flow_run {
	struct elf_image *file;
	const struct flow_arch *arch;
	struct flow_watch *watch;
	struct flow_state state;
	uint64_t loads; /* look-ups of slots that this run may still make */
};

extern const struct flow_arch flow_x86;
extern const struct flow_arch flow_arm64;

/*
 * flow__run - follow the function at [begin, begin + size) and report to @watch. At most
 * CODE_SIZE_MAX bytes are read.
 *
 * Returns 0; -ENOENT when there is no code there; -ENOMEM.
 */
int flow__run(struct elf_image *file, uint64_t begin, uint64_t size, struct flow_watch *watch);

/* For the architectures. */

/* flow__load - what @size bytes at the address @at hold. */
struct flow_value flow__load(struct flow_run *run, struct flow_value at, unsigned int size);
/* flow__store - report to the watch that @value was stored at @to. */
void flow__store(struct flow_run *run, struct flow_value to, unsigned int size,
		 struct flow_value value);
struct flow_value flow__const(uint64_t at);
/* flow__plus - @value + @by, if that is an address, or a number, that is known. */
struct flow_value flow__plus(struct flow_value value, uint64_t by);
/* flow__sum - @a + @b, of 8 bytes: of addresses and numbers that are known, or of a variable. */
struct flow_value flow__sum(struct flow_value a, struct flow_value b);
/* flow__difference - @a - @b. */
struct flow_value flow__difference(struct flow_value a, struct flow_value b);
/* flow__times - @value times @by, if it is a variable of 8 bytes or a multiple of one. */
struct flow_value flow__times(struct flow_value value, uint64_t by);
bool flow__same(const struct flow_value *a, const struct flow_value *b);

#endif
