#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: base cmd engine os output profile serve session target include
# timeout: 600
# What cppcheck warns of: shared code, that for Linux, and that for Windows. What it is wrong about is suppressed in the
# line itself, with the reason.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"
need git cppcheck

# libbpf's macro that defines and fills a structure
common=(-q "-j$(nproc)" --enable=warning --enable=portability --inline-suppr --error-exitcode=1 --std=c11 -Iinclude -Isrc
	'-DLIBBPF_OPTS(type, name, ...)=struct type name = { __VA_ARGS__ }')

mapfile -t shared < <(tracked 'src/*.c' 'include/*.h' ':!:*/win32/*')
[ ${#shared[@]} -gt 0 ]
ok $? "there are C sources"
check "${#shared[@]} files for Linux" cppcheck "${common[@]}" --platform=unix64 -D__linux__ -D__x86_64__ "${shared[@]}"

mapfile -t windows < <(tracked 'src/*/win32/*.c')
check "${#windows[@]} files for Windows" cppcheck "${common[@]}" --platform=win64 --library=windows \
	-D_WIN32 -D_WIN32_WINNT=0x0601 "${windows[@]}"
done_testing
