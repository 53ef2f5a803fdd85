# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Test Anything Protocol for shell scripts. Source it, call ok/fail/check/skip, end with done_testing.

tap_run=0
tap_failed=0
tap_root=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)

# tap_line WORD NAME
tap_line() {
	tap_run=$((tap_run + 1))
	echo "$1 $tap_run - $2"
}

pass() {
	tap_line ok "$*"
}

fail() {
	tap_failed=$((tap_failed + 1))
	tap_line "not ok" "$*"
}

# skip REASON NAME: only for what this machine cannot have.
skip() {
	tap_line ok "$2 # SKIP $1"
}

# diag TEXT...: a remark, one comment per line.
diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# figure TEXT...: a measured figure; tests/run shows it with the result.
figure() {
	printf '# figure: %s\n' "$*"
}

# ok STATUS NAME: passes when STATUS is 0. Returns STATUS.
ok() {
	local status=$1
	shift
	if [ "$status" -eq 0 ]; then pass "$*"; else fail "$*"; fi
	return "$status"
}

# check NAME COMMAND...: passes when COMMAND succeeds; shows its output when not. Returns its status.
check() {
	local name=$1 output status
	shift
	output=$("$@" 2>&1)
	status=$?
	ok $status "$name" || diag "$output"
	return $status
}

# is GOT WANTED NAME
is() {
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		fail "$3"
		diag "got: $1" "wanted: $2"
		return 1
	fi
}

# like TEXT REGEX NAME
like() {
	if [[ $1 =~ $2 ]]; then
		pass "$3"
	else
		fail "$3"
		diag "got: $1" "wanted to match: $2"
		return 1
	fi
}

done_testing() {
	echo "1..$tap_run"
	[ "$tap_failed" -eq 0 ] && [ "$tap_run" -gt 0 ]
}

# make_here TARGET...: make in the folder that all tests share, BUILD. One at a time: two would write the same files.
make_here() {
	local to=${BUILD:-build}
	(cd "$tap_root" && mkdir -p "$to" && exec flock "$to/make.lock" env -u MAKEFLAGS -u MAKELEVEL make -s BUILD="$to" "$@") >&2
}

# release_make FOLDER MACHINE...: a release as `make dist` makes it, in FOLDER, of the static programs that all tests share
release_make() {
	local to=${BUILD:-build} machine
	(
		cd "$tap_root" || exit
		for machine in "${@:2}"; do
			tools/build-static "$machine" "$to/static" || exit
		done
		make_here man completions && tools/dist "$to/static" "$to/share" "$@"
	) >&2
}
