#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Debian's package and its service under systemd, in a virtual machine.
# touches: systemd serve build cmd
# timeout: 2700
exec "$(dirname "$0")/../systemd/run"
