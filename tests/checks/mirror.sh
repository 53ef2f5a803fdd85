#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests mirror src/, include/ and bpf/: tests/unit/ROOM/test_X.c is about ROOM/X.c or ROOM/X.h; where one file has several
# tests, X_WHAT is about X, and where one test holds several files to what they share, Xs is about X.h. One that plays
# recordings back may be named for them: tests/X, or tests/unit/replay for the recorded images.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"

# counterpart TEST: the source that tests/unit/TEST is about, if there is one.
counterpart() {
	local room name root file
	room=$(dirname "$1")
	name=$(basename "$1" .c)
	name=${name#test_}
	root=src/$room
	[[ $room != @(include|bpf) ]] || root=$room
	if [ "$room" = replay ] && [ -e tests/unit/replay/recorded.h ]; then
		echo tests/unit/replay/recorded.h
		return 0
	fi
	while [ -n "$name" ]; do
		for file in "$root/$name.c" "$root/$name.bpf.c" "$root/$name.h" "$root/${name%s}.h" "tests/$name/"; do
			if [ -e "$file" ]; then
				echo "$file"
				return 0
			fi
		done
		[[ $name == *_* ]] || return 1
		name=${name%_*}
	done
	return 1
}

count=0 strays=
while IFS= read -r file; do
	count=$((count + 1))
	counterpart "${file#tests/unit/}" >/dev/null || strays="$strays $file"
done < <(find tests/unit -name 'test_*.c' | LC_ALL=C sort)
[ $count -gt 0 ]
ok $? "there are unit tests"
is "$strays" "" "each of $count has the source that it is about"
is "$(counterpart base/test_map.c)" src/base/map.c "a test of a file finds it"
is "$(counterpart include/test_walk_filter.c)" include/walk.h "so does one of several tests of a file"
is "$(counterpart base/test_nothing_of_that_name.c)" "" "one without its source is seen"
done_testing
