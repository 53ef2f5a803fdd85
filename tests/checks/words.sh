#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The tree does not depend on the machine it was written on: no path of a developer's checkout, no mirror's name.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"
need git

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
