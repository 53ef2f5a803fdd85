/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdio.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "os/os.h"
#include "os/rights.h"

#define STDOUT	     1
#define OUTPUT_BYTES (1u << 20)

int main(int argc, char **argv)
{
	struct errmsg f;

	if (rights__begin(&f) || os__arguments(&argc, &argv, &f)) {
		log__line("%s", f.text);
		return CMD_FAILED;
	}
	/* what is printed is written at once, so that an error is that of the writing */
	if (!os__columns(STDOUT))
		setvbuf(stdout, NULL, _IOFBF, OUTPUT_BYTES);
	return cmd__run(argc, argv);
}
