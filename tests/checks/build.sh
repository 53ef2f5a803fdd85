#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What make and tests/run do when told to, and no more: warnings do not break a user's build, `make static` builds for
# this machine, and an interrupted run leaves no process behind.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

# commands VARIABLE=VALUE... TARGET: what make would run, in an empty object folder.
commands() {
	env -u MAKEFLAGS -u MAKELEVEL -u WERROR make -n BUILD="$work/none" "$@" 2>/dev/null
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

is "$(commands all | grep -c -- -Werror)" 0 "a plain make does not turn warnings into errors"
[ "$(commands WERROR=1 all | grep -c -- -Werror)" -gt 100 ]
ok $? "WERROR=1 does"
# shellcheck disable=SC2016  # for make
is "$(make -s --eval='machines: ; @echo $(STATIC_MACHINES)' machines)" "$(uname -m)" "make static builds for this machine"

# A test that starts a process in a new session.
mkdir -p "$work/tests/checks" "$work/tests/unit" "$work/tests/live" "$work/tests/slow" "$work/bin"
cp tests/run "$work/tests/"
cat >"$work/tests/checks/hang.sh" <<-'HANG'
	#!/bin/sh
	setsid sleep 1000 &
	echo $! >"$BUILD/hanging"
	wait
HANG
chmod +x "$work/tests/checks/hang.sh"
env -u XRPROF_RUN BUILD="$work/build" "$work/tests/run" -c check:hang >"$work/log" 2>&1 &
run=$!
until [ -s "$work/build/hanging" ] || ! kill -0 $run 2>/dev/null; do
	sleep 0.05
done
kill -TERM $run
wait $run
is $? 130 "an interrupted run exits with status 130" || diag "$(cat "$work/log")"
# (what was killed ends when it has a CPU)
while grep -q '^State:.[^ZX]' "/proc/$(cat "$work/build/hanging")/status" 2>/dev/null; do
	sleep 0.05
done
pass "and nothing that it started is left"
done_testing
