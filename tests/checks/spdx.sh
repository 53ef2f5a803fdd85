#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every source file names the license in its first lines (a script in the second, after "#!").
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"

license='SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause'
bad=
count=0
while IFS= read -r file; do
	[ -f "$file" ] || continue
	case $file in
	*.md | *.csv | *.tsv | *.json | *.out | *.txt | *.folded | *.gitignore | .gitattributes | LICENSE* | *.png | *.svg | *.gz | *.bin) continue ;;
	esac
	count=$((count + 1))
	head -n 3 "$file" | grep -qF "$license" || bad="$bad $file"
done < <(git ls-files)
[ "$count" -gt 0 ]
ok $? "there are source files"
is "$bad" "" "all of $count files name the license"
done_testing
