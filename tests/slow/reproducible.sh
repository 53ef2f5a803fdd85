#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# touches: build
# timeout: 1200
exec "$(dirname "$0")/../reproducible"
