#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Shell scripts are clean under shellcheck.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"
need git shellcheck

files=$(git grep -lIE '^#!.*\b(ba|da)?sh\b|shellcheck shell=' -- . ':!:docs' ':!:*.md')
[ -n "$files" ]
ok $? "there are shell scripts"
check "$(wc -l <<<"$files") scripts are clean" side_by_side 4 shellcheck -x -P SCRIPTDIR -S warning <<<"$files"
done_testing
