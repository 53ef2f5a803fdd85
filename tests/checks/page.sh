#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The page of format flamegraph: eslint accepts its script, the script makes no network requests,
# and
# its files are short enough to be read.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"
need git node eslint

export MAKEFLAGS=
build=${BUILD:-build}
check "the script is put together" make_here "$build/page.js"
# Debian's modules are not where every node looks for them
export NODE_PATH=/usr/share/nodejs
check "node reads it" node --check "$build/page.js"
check "eslint has nothing to say" eslint --no-eslintrc --no-inline-config --max-warnings 0 -f unix -c tests/checks/page.eslintrc.json "$build/page.js"
is "$(tracked 'src/output/page/*' | xargs wc -l | awk '$2 != "total" && $1 > 500')" "" "no file has more than 500 lines"
# what would run text as code, or fetch something, has no place here
is "$(git grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|fetch\(|XMLHttpRequest|WebSocket|sendBeacon|import\(|https?://|url\(' \
	-- src/output/page)" "" "no markup from text, no code from text, no address"
done_testing
