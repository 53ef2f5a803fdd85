#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Shell scripts are clean under shellcheck. Only make test-all follows what they source, which takes three times as long:
# without it shellcheck cannot tell which variables are known.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"
need git shellcheck

files=$(git grep -lIE '^#!.*\b(ba|da)?sh\b|shellcheck shell=' -- . ':!:docs' ':!:*.md')
[ -n "$files" ]
ok $? "there are shell scripts"
follow=(-x -P SCRIPTDIR)
[ "${XRPROF_TESTS-}" = all ] || follow=(-e 'SC2154,SC2034')
check "$(wc -l <<<"$files") scripts are clean" side_by_side 8 shellcheck "${follow[@]}" -S warning <<<"$files"
done_testing
