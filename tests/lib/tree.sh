# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For checks of the source tree itself: they run in its top folder. Source it after tap.sh.

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

# A checkout that belongs to another user (a container's bind mount) is still the tree to check.
git() {
	command git -c safe.directory='*' "$@"
}

# need TOOL...: the check cannot do without. It is skipped where one is not installed, or fails if XRPROF_EXPECT has "tools".
need() {
	local tool missing=
	for tool; do
		command -v "$tool" >/dev/null || missing="$tool is not installed (tools/install-deps test-all)"
	done
	[ "$1" != git ] || [ -n "$missing" ] || git rev-parse --git-dir >/dev/null 2>&1 ||
		missing="this is not a git repository"
	[ -n "$missing" ] || return 0
	if [[ ,${XRPROF_EXPECT-}, == *,tools,* ]]; then
		fail "$missing"
	else
		skip "$missing" "all of it"
	fi
	done_testing
	exit
}

# side_by_side FILES_AT_ONCE COMMAND...: COMMAND over the files of stdin, as many processes as there are CPUs. Each one's
# output is kept together.
side_by_side() {
	local n=$1
	shift
	# shellcheck disable=SC2016  # for the inner shell
	grep -v '^$' | tr '\n' '\0' | xargs -0 -r -P "$(nproc)" -n "$n" bash -c '
		command=() n=$1
		shift
		command=("${@:1:n}")
		output=$("${command[@]}" "${@:n+1}" 2>&1)
		status=$?
		[ -z "$output" ] || printf "%s\n" "$output"
		exit $status' - $# "$@"
}

# tracked PATHSPEC...: files of the tree by git's patterns, those that are there.
tracked() {
	local file
	git ls-files -- "$@" | while IFS= read -r file; do
		[ ! -f "$file" ] || printf '%s\n' "$file"
	done
}
