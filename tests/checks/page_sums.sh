#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The numbers of the page of format flamegraph: its script computes them right of a small profile (page_sums.js).
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"
need node

while read -r result; do
	case $result in
	"same "*) pass "${result#* }" ;;
	*) fail "$result" ;;
	esac
done < <(node tests/checks/page_sums.js src/output/page 2>&1 || echo "node failed")
done_testing
