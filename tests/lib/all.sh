# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For the tests of --all and --subprocesses. Source it after live.sh. Other R processes may run on the machine: only
# processes and functions of the test's own are looked at.

# all_start OUT ARG...: start the profiler in the background (-f folded, unless ARG says otherwise), writing to OUT,
# OUT.err and OUT.stats, and wait until it watches. Sets PROF_PID, PROF_OUT.
all_start() {
	PROF_OUT=$1
	shift
	prof_to "$PROF_OUT" folded "$@"
	: >"${PROF_OUT%/}.err" # without the messages of an earlier one
	env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" -o "$PROF_TO" --stats "${PROF_OUT%/}.stats" -v -f folded "$@" \
		>"${PROF_OUT%/}.stdout" 2>"${PROF_OUT%/}.err" </dev/null &
	PROF_PID=$!
	live_pids+=("$PROF_PID")
	wait_until 300 eval 'grep -q "watching for R" "${PROF_OUT%/}.err" || gone "$PROF_PID"'
	if ! grep -q "watching for R" "${PROF_OUT%/}.err"; then
		diag "the profiler ended early: $(cat "${PROF_OUT%/}.err")"
		return 1
	fi
}

# all_knows PID: has the profiler taken PID in?
all_knows() {
	grep -qE "process $1 \([^)]*\): (R |forked by)" "${PROF_OUT%/}.err"
}

# Let go each child that the profiler knows. Is the program at its end?
let_go() {
	local child
	for child in $(pgrep -P "$TARGET_PID"); do
		! all_knows "$child" || : >"$TARGET_DIR/known.$child"
	done
	[ -e "$TARGET_DIR/done" ] || gone "$TARGET_JOB"
}

# folded_samples FILE PID [REGEX]: samples of PID (those with a frame that matches).
folded_samples() {
	awk -v pid="$2" -v regex="${3:-.}" '
		{ root = $0; sub(/[; ].*/, "", root); sub(/.*-/, "", root) }
		root == pid && $0 ~ regex { n += $NF }
		END { print n + 0 }' "$1"
}

# folded_pids FILE REGEX: the processes with a frame that matches.
folded_pids() {
	awk -v regex="$2" '$0 ~ regex { root = $0; sub(/[; ].*/, "", root); sub(/.*-/, "", root); seen[root] = 1 }
		END { for (root in seen) print root }' "$1" | sort -n
}

# stale_rows PROFILER: pids that have a row in that profiler's map but are no more: some may have ended just now. Fails if
# the map cannot be read.
stale_rows() {
	local id found=
	for id in $(sed -n 's/^map_id:[[:space:]]*//p' /proc/"$1"/fdinfo/* 2>/dev/null | sort -un); do
		bpftool -j map show id "$id" | grep -q '"name":"rows"' && found=$id
	done
	[ -n "$found" ] || return 1
	python3 - "$found" <<-'PY'
		import json, os, subprocess, sys
		dump = subprocess.run(["bpftool", "-j", "map", "dump", "id", sys.argv[1]], capture_output=True, check=True)
		for pid in sorted(e["formatted"]["key"] for e in json.loads(dump.stdout)):
		    if not os.path.exists(f"/proc/{pid}"):
		        print(pid)
	PY
}

# no_stale_rows PROFILER: to be waited for, as what has ended is put away when the profiler has its turn.
no_stale_rows() {
	local stale
	stale=$(stale_rows "$1") && [ -z "$stale" ]
}

# rss_kb PID: resident memory.
rss_kb() {
	awk '$1 == "VmRSS:" { print $2 }' "/proc/$1/status"
}
