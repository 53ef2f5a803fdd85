#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Links of the documentation lead to files and headings that exist; README is short, lines have 100 columns.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"
need git python3

mapfile -t pages < <(git ls-files README.md SECURITY.md CONTRIBUTING.md 'docs/*.md')
is "$(python3 tests/lib/docs.py links "${pages[@]}")" "" "links lead somewhere, and lines have at most 100 columns"
[ "$(wc -l <README.md)" -le 150 ]
ok $? "README has at most 150 lines"
unlisted=
for page in "${pages[@]}"; do
	case $page in
	docs/README.md | README.md | SECURITY.md | CONTRIBUTING.md) continue ;;
	esac
	grep -qF "](${page#docs/})" docs/README.md || unlisted="$unlisted $page"
done
is "$unlisted" "" "docs/README.md has every page"

# What has the version beside src/base/version.h.
version=$(sed -n 's/^#define XR_VERSION "\(.*\)"$/\1/p' src/base/version.h)
for file in tools/R/DESCRIPTION tools/kubernetes/xrprof-bpf.yaml docs/reference/stability.md CHANGELOG.md; do
	grep -qwF "$version" $file
	ok $? "$file has version $version"
done

# The check sees what it is for.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '# A b\n[x](#a-b) [y](#c) [z](none.md)\n%0101d\n' 0 >"$work/page.md"
is "$(python3 tests/lib/docs.py links "$work/page.md" | sed "s|$work/||")" "$(printf '%s\n' \
	"page.md:3: 101 columns" "page.md: leads nowhere: #c" "page.md: leads nowhere: none.md")" "what is wrong is found"
done_testing
