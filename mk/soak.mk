# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make soak    a session of an hour with a million function names (tests/live/test_names_many.sh)

soak: all
	BUILD=$(BUILD) XRPROF_HOUR=1 tests/live/test_names_many.sh

.PHONY: soak
