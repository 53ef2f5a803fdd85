#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Every source file names the license in its first lines (a script in the second, after "#!").
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"
need git

files=$(tracked . | grep -vE '\.(md|csv|tsv|json|out|txt|folded|rprof|png|svg|gz|bin|gitignore)$|(^|/)(\.gitattributes|LICENSE[^/]*|\.gitignore)$|^LICENSES/|^tests/fuzz/corpus/')
[ -n "$files" ]
ok $? "there are source files"
lacks() {
	tr '\n' '\0' | xargs -0 awk -v license='SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause' '
		FNR == 1 && file != "" && !found { print file }
		FNR == 1 { file = FILENAME; found = 0 }
		index($0, license) { found = 1 }
		FNR == 3 { nextfile }
		END { if (file != "" && !found) print file }'
}
is "$(lacks <<<"$files")" "" "all of $(wc -l <<<"$files") files name the license"
done_testing
