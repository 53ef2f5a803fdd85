#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Each kernel takes the programs and one short profile; `make test-kernels` does the whole.
# timeout: 1500
exec "$(dirname "$0")/../kernels/run" --quick
