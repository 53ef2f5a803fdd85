#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The text is plain English (tests/checks/words.py has the phrases), and the tree does not depend on
# the machine it was written on: no path of a developer's checkout, no mirror's name.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"
need git python3

# plain KIND LIMIT: at most LIMIT phrases of words.py. The limits only go down.
plain() {
	check "$1: at most $2 phrases that are not plain English" tests/checks/words.py "$1" "$2"
}
plain docs 0
plain messages 0
plain comments 0
plain tests 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '/* It is said\n * once. */\nconst char *text = "nobody, but for root";\n' >"$work/some.c"
is "$(tests/checks/words.py comments 0 "$work/some.c" | sed "s|$work/||")" "some.c:1: /* It is said
1" "words.py finds a phrase of a comment"
is "$(tests/checks/words.py messages 0 "$work/some.c" | tail -n 1)" 2 "words.py finds phrases of a message"
printf 'there is no room, nobody waits\n' >"$work/some.md"
is "$(tests/checks/words.py docs 0 "$work/some.md" | tail -n 1)" 1 "words.py finds a phrase of a page"
long=$(awk 'length > 100 && !/^\|/ { print FILENAME ":" FNR }' CHANGELOG.md)
is "$long" "" "lines of the changelog have at most 100 columns"

hosts=$(apt-get indextargets --format "\$(SITE)" 2>/dev/null | sed -E 's#^[a-z]+://##; s#[:/].*##' |
	grep '\.' | sort -u | sed 's/\./\\./g' | paste -sd '|')
top=$(git rev-parse --show-toplevel)
case $top in
/*/*) found=$(git grep -nIE "(^|[^A-Za-z0-9_./-])$(printf '%s' "$top" | sed 's/[][\\.*^$+?(){}|]/\\&/g')(/|\$|[^A-Za-z0-9_.-])" -- .) ;;
*) found= ;; # one component, such as /src, is too common a word
esac
is "$found" "" "no path of this checkout"
found=$(git grep -nIE "${hosts:-^$}" -- .)
[ -n "$hosts" ] || found=
is "$found" "" "no mirror's host name"
found=$(git grep -nIE '^(<<<<<<<|>>>>>>>) ' -- .)
is "$found" "" "no merge marks"
done_testing
