/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A Windows program as it lies in memory: the input, from BASE on. */
#include "fuzz.h"
#include "target/layouts.h"
#include "target/pe.h"

#define BASE	  0x180000000u
#define READS_MAX 100000u

struct memory {
	const uint8_t *bytes;
	size_t size;
	unsigned int reads;
};

static int memory__read(void *arg, uint64_t addr, void *to, size_t len)
{
	struct memory *m = arg;

	if (++m->reads > READS_MAX)
		fuzz__fail("more than %u reads", READS_MAX);
	if (addr < BASE || addr - BASE > m->size || len > m->size - (addr - BASE))
		return -EFAULT;
	memcpy(to, m->bytes + (addr - BASE), len);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pe_symbol want[] = {
		{"R_GlobalContext", 0}, {"R_NilValue", 0}, {"R_Srcref", 0}, {"", 0}};
	const size_t n = sizeof(want) / sizeof(want[0]);
	struct memory memory = {data, size, 0};
	const struct mem_reader reader = {.read = memory__read, .arg = &memory};
	struct errmsg f = {""};
	char version[16];
	struct pe pe;
	int err = pe__open(&pe, &reader, BASE, "R.dll", &f);

	if (err) {
		if (err > 0 || !f.text[0])
			fuzz__fail("open: %d, %s", err, f.text);
		return 0;
	}
	err = pe__symbols(&pe, want, n);
	if (err > (int)n)
		fuzz__fail("%d symbols", err);
	for (size_t i = 0; err > 0 && i < n; i++)
		if (want[i].value && (want[i].value <= BASE || want[i].value - BASE >= pe.size))
			fuzz__fail("%s at %llx", want[i].name, (unsigned long long)want[i].value);
	err = pe__version(&pe, version);
	if (!memchr(version, '\0', sizeof(version)) || (!err && !layouts__parse(version)))
		fuzz__fail("version: %d, %.16s", err, version);
	return 0;
}
