#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# C sources are as clang-format would write them.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"

mapfile -t files < <(git ls-files -- '*.c' '*.h' ':!:vmlinux/*')
[ ${#files[@]} -gt 0 ]
ok $? "there are C sources"
for file in "${files[@]}"; do
	[ -e "$file" ] || continue
	check "$file is formatted" clang-format --dry-run -Werror "$file"
done
done_testing
