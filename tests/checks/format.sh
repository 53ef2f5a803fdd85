#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# C sources are as clang-format would write them.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"
need git clang-format

files=$(tracked '*.c' '*.h' ':!:vmlinux/*')
[ -n "$files" ]
ok $? "there are C sources"
check "$(wc -l <<<"$files") files are formatted" side_by_side 25 clang-format --dry-run -Werror <<<"$files"
done_testing
