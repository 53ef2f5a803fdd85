/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/log.h"
#include "cmd/cmd.h"
#include "os/os.h"
#include "os/rights.h"

int main(int argc, char **argv)
{
	struct errmsg f;

	if (rights__begin(&f) || os__arguments(&argc, &argv, &f)) {
		log__line("%s", f.text);
		return CMD_FAILED;
	}
	return cmd__run(argc, argv);
}
