/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The machine-code scanner: the input is the code of one function, its first byte the machine.  It
 * lies in a small file (elf_fixture.h), behind whose code there are variables.
 */
#include "elf_fixture.h"
#include "fuzz.h"
#include "target/linux/hidden/flow.h"

struct watch {
	struct flow_watch watch;
	unsigned int stores, calls, ends;
};

static void value__check(const struct flow_value *value)
{
	bool right = value->kind <= CODE_AFTER;

	if (value->kind == CODE_VAR)
		right = value->size <= 8 && !value->by;
	else if (value->kind == CODE_ARG)
		right = value->by < CODE_ARGS;
	else if (value->kind == CODE_TIMES)
		right = value->size == 8 && value->by > 1;
	else if (value->kind == CODE_AFTER)
		right = value->size == 8 && value->by;
	else
		right = right && !value->by;
	if (!right)
		fuzz__fail("a value of kind %u, size %u, by %u", value->kind, value->size,
			   value->by);
}

static void on_store(struct flow_watch *w, const struct flow_value *to, unsigned int size,
		     const struct flow_value *value)
{
	value__check(to);
	value__check(value);
	if (size > 64)
		fuzz__fail("a store of %u bytes", size);
	((struct watch *)w)->stores++;
}

static void on_call(struct flow_watch *w, struct flow_run *run, uint64_t target)
{
	for (unsigned int i = 0; i < CODE_ARGS; i++)
		value__check(&run->state.reg[run->arch->arg[i]]);
	((struct watch *)w)->calls++;
}

static void on_end(struct flow_watch *w, const struct flow_value *result)
{
	value__check(result);
	((struct watch *)w)->ends++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watch w = {.watch = {.store = on_store, .call = on_call, .end = on_end}};
	struct input in = {data, size};
	bool arm = input__u8(&in) & 1;
	size_t room = FIXTURE_SIZE - FIXTURE_CODE, len = in.left < room ? in.left : room;
	uint8_t *file = malloc(FIXTURE_SIZE);
	struct elf_image image;
	Elf *elf;
	int err;

	if (!file)
		fuzz__fail("out of memory");
	elf_version(EV_CURRENT);
	fixture__make(file, "2.2", "2022");
	((Elf64_Ehdr *)file)->e_machine = arm ? EM_AARCH64 : EM_X86_64;
	input__take(&in, file + FIXTURE_CODE, len);
	elf = elf_memory((char *)file, FIXTURE_SIZE);
	memset(&image, 0, sizeof(image));
	if (!elf || elf_image__open(&image, elf))
		fuzz__fail("the fixture is refused");
	err = flow__run(&image, FIXTURE_CODE_ADDR, len, &w.watch);
	if (err && err != -ENOENT)
		fuzz__fail("the scanner: %d", err);
	if (w.stores > 4 * room || w.calls > room || w.ends > room)
		fuzz__fail("%u stores, %u calls, %u ends", w.stores, w.calls, w.ends);
	elf_end(elf);
	free(file);
	return 0;
}
