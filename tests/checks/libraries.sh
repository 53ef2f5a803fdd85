#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Of the libraries that are loaded when they are used, what is listed is used: a library that lacks one of them is refused as too old.
. "$(dirname "$0")/../lib/tap.sh"

list=src/serve/linux/libraries.c
functions=$(sed -nE 's/^\tF\(([A-Za-z_]+)\).*/\1/p' "$list")
[ "$(wc -l <<<"$functions")" -ge 20 ]
ok $? "functions are listed"
unused=
for function in $functions; do
	grep -rqw --include='*.c' --exclude="${list##*/}" "$function" src || unused+=" $function"
done
is "$unused" "" "each is called"
done_testing
