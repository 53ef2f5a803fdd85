#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Shell scripts are clean under shellcheck.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"

mapfile -t files < <(git grep -lIE '^#!.*\b(ba|da)?sh\b|shellcheck shell=' -- . ':!:docs' ':!:*.md')
[ ${#files[@]} -gt 0 ]
ok $? "there are shell scripts"
for file in "${files[@]}"; do
	[ -e "$file" ] || continue
	check "$file" shellcheck -x -P SCRIPTDIR -S warning "$file"
done
done_testing
