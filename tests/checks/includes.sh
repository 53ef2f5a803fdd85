#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# No file includes from the right (docs/architecture.md), and no file leads back to itself. And the check sees it when
# somebody does.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"
need python3

check "each file includes only what its room sees" tests/checks/includes.py .

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# breach FILE INCLUDED WORDS: with that line in that file, the check fails and says WORDS.
breach() {
	rm -rf "${work:?}/tree"
	mkdir "$work/tree"
	cp -r src include bpf "$work/tree/"
	printf '#include "%s"\n' "$2" >>"$work/tree/$1"
	like "$(tests/checks/includes.py "$work/tree"; echo "status $?")" "$3.*status 1" "$1 may not include $2"
}
breach src/base/buf.c session/session.h "base does not see it"
breach src/session/session.c output/output.h "session does not see it"
breach src/target/filters.c os/linux/users.h "for linux alone"
printf '#include "base/log.h"\n' >>"$work/tree/src/base/errmsg.h"
printf '#include "base/errmsg.h"\n' >>"$work/tree/src/base/log.h"
like "$(tests/checks/includes.py "$work/tree")" "a circle: .*src/base/errmsg.h" "two headers may not include each other"
done_testing
