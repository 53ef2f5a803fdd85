#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The kernels take the programs and one short profile: all of them when what they are given has changed since all passed,
# else the oldest alone. `make test-kernels` does the whole.
# touches: bpf include engine/bpf kernels
# timeout: 2400
exec "$(dirname "$0")/../kernels/run" --quick --if-changed
