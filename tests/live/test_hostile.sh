#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: include bpf engine/remote profile target
# timeout: 200
# alone: live
# else: ptrace vmread
#
# usage: test_hostile.sh [all] [SECONDS] [MODE...]
#
# Programs that say they are R and lay out what R never has (tests/fixtures/hostile.c), each profiled beside one that is
# good: the profiler ends when told to, its statistics are there and add up, its memory stays under the limit, what it writes
# is whole and acts on no terminal, and the good one has its names and its share of the samples. Then some at once, by --all,
# list and info. (Damaged files of R: unit:target/linux/elf and find.)
#
# bpf runs all modes; each of the other engines every second one, or with `all` all of them and both formats. In `make test`
# it is every fifth of these, without that of many threads.
. "$(dirname "$0")/../lib/live.sh"

every=
[ "${1-}" != all ] || { every=1 && shift; }
seconds=1
[[ ! ${1-} =~ ^[0-9] ]] || { seconds=$1 && shift; }
wanted=("$@")

fixture "$WORK/hostile" hostile.c "$tests"/fixtures/hostile_*.c "$BUILD/libxrprof.a" -std=gnu11 -rdynamic -pthread \
	-I "$tests/../include" -I "$tests/../src"
cp "$WORK/hostile" "$WORK/good"
cp "$WORK/hostile" "$WORK/unknown"
LC_ALL=C sed -i 's/\x002\.2\x00year\x002022\x00/\x009.9\x00year\x002035\x00/' "$WORK/unknown"
check "one has an unknown version" eval '! cmp -s "$WORK/hostile" "$WORK/unknown"'

# launch PROGRAM MODE [ARG]: sets PID, or fails if this machine has no such mode. It is stopped until it is profiled.
launched=0
launch() {
	local ready
	launched=$((launched + 1))
	ready=$WORK/ready$launched
	# a name that acts on terminals, which messages about it must not do
	(exec -a $'hostile\033[2J\302\233\n"' "$@" >"$ready" 2>/dev/null </dev/null) &
	PID=$!
	live_pids+=("$PID")
	wait_until 60 eval '[ -s "$ready" ] || gone "$PID"'
	grep -q ready "$ready" && kill -STOP "$PID"
}

# running PID... -- COMMAND...: the command, while these processes run
running() {
	local pids=() status
	while [ "$1" != -- ]; do
		pids+=("$1")
		shift
	done
	shift
	kill -CONT "${pids[@]}"
	"$@"
	status=$?
	kill -STOP "${pids[@]}"
	return $status
}

end() {
	live_kill KILL "$@"
	wait "$@" 2>/dev/null
}

launch "$WORK/good" good || bail "the good one does not start"
good=$PID

# attack NAME FORMAT OPTION... -- PID...: a session of all of these and the good one.
attack() {
	local name=$1 format=$2 options=() pid
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	for pid in "$@"; do
		options+=(-p "$pid")
	done
	check "$name, $format" running "$@" -- "$tests/lib/hostile.py" session "$WORK" "$name" "$good" "$XRPROF" -q -e "$XRPROF_ENGINE" -f "$format" \
		-d "$seconds" -F 199 "${options[@]}"
}

# --- one after the other ---

mapfile -t modes < <("$WORK/hostile" -l)
modes+=(pages:userfault unknown:good unknown:wild unknown:cycle)
formats=(folded rprof)
captures=("--lines --gc" "--filter-callframes --gc" "--lines --gc --filter-callframes")
[ "$XRPROF_ENGINE" = vmread ] || captures+=("--native=full --gc" "--native=leaf --lines")
[ "$XRPROF_ENGINE" = vmread ] && phase=1 || phase=0

for i in "${!modes[@]}"; do
	mode=${modes[$i]} program=$WORK/hostile
	[ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $mode "* ]] || continue
	[ "$XRPROF_ENGINE" = bpf ] || [ -n "$every" ] || [ ${#wanted[@]} -gt 0 ] || [ "$mode" = pages:userfault ] || [ $((i % 2)) = $phase ] || continue
	in_all || [ -n "$every" ] || [ ${#wanted[@]} -gt 0 ] || [ $((i % 5)) = 0 ] || continue
	in_all || [ "$mode" != threads ] || [ ${#wanted[@]} -gt 0 ] || continue
	case $mode in
	unknown:*) program=$WORK/unknown argument=("${mode#*:}") ;;
	*) IFS=: read -ra argument <<<"$mode" ;;
	esac
	if ! launch "$program" "${argument[@]}"; then
		skip "this machine cannot do that" "$mode"
		continue
	fi
	victim=$PID
	for format in "${formats[@]}"; do
		[ -n "$every" ] || [ "$format" = "${formats[$((i % 2))]}" ] || continue
		for capture in "${captures[@]}"; do
			[ -n "$every" ] || [ "$capture" = "${captures[$((i % ${#captures[@]}))]}" ] || continue
			# shellcheck disable=SC2086  # words
			attack "${mode/:/-}-$format${capture// /}" "$format" -s $capture -- "$victim" "$good"
		done
	done
	end "$victim"
done

# --- all at once ---

if [ ${#wanted[@]} -eq 0 ]; then
	crowd=()
	for mode in comm wild cycle execs; do
		launch "$WORK/hostile" "$mode" && crowd+=("$PID")
	done
	check "--all of them" running "$good" "${crowd[@]}" -- "$tests/lib/hostile.py" session "$WORK" all "$good" "$XRPROF" -q -e "$XRPROF_ENGINE" -f folded -d 2 -F 199 \
		--all --lines --gc
	for command in list "list --json" info; do
		# shellcheck disable=SC2086  # words
		timeout -k 5 60 "$XRPROF" $command >"$WORK/said" 2>"$WORK/said.err" </dev/null
		status=$?
		[ $status -le 1 ]
		ok $? "$command ends by itself" || diag "status $status" "$(tail -n 5 "$WORK/said.err")"
		check "$command acts on no terminal" "$tests/lib/hostile.py" plain "$WORK/said"
		check "$command: nor does what it says of errors" "$tests/lib/hostile.py" plain "$WORK/said.err"
		[ "$command" = info ] || like "$(cat "$WORK/said")" "$good" "$command has the good one"
	done
	end "${crowd[@]}"
fi

check "the good process still runs" alive "$good"
figure "$XRPROF_ENGINE: worst of: name, MiB, s to end, good samples, as many are due, us"
for key in 2 3 6; do
	figure "$(sort -k$key,${key}nr "$WORK/figures" | head -n 1)"
done
done_testing
