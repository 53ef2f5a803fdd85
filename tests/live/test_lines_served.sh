#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: session target
# also: ptrace vmread
# timeout: 300
#
# Rserve waits in accept() and forks a process for each request. These processes have innermost
# lines, even if each is short: where R keeps byte code can be seen in the children alone, and in
# each for some milliseconds.
. "$(dirname "$0")/../lib/live.sh"

# lines_in NAME FILE...: sets all and with: the samples in request(), and those of them with the line
# being executed.
lines_in() {
	local name=$1
	shift
	read -r all with < <(awk '/"request"/ { n++; if ($1 ~ /^[0-9]+#[2-5]$/) with++ } END { print n + 0, with + 0 }' "$@" /dev/null)
	figure "$name: $with of $all samples have the line being executed"
}

# profile NAME PID: follow a server, into $WORK/NAME/.
profile() {
	mkdir "$WORK/$1"
	env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" --clock cpu -F 499 --lines -s -v -o "$WORK/$1/" \
		--stats "$WORK/$1.stats" -p "$2" 2>"$WORK/$1.err" </dev/null &
	PROF_PID=$! PROF_OUT=$WORK/$1
	live_pids+=("$PROF_PID")
	wait_until 60 grep -q "watching for R" "$WORK/$1.err"
	ok $? "$1: the profiler starts" || diag "$(cat "$WORK/$1.err")"
}

proven() {
	grep -q "R_BCbody is at" "$WORK/$1.err"
}

server=$(dirname "$(Rscript --vanilla -e 'cat(system.file("libs", "Rserve.so", package = "Rserve"))')")/Rserve
[ -x "$server" ] || bail "Rserve is not there: tools/install-deps test"
port=$((20000 + $$ % 10000))
until ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
R CMD "$server" --vanilla --RS-port $port --RS-source "$tests/live/r/served.R" --RS-pidfile "$WORK/pid" \
	>"$WORK/rserve.log" 2>&1 </dev/null
wait_until 60 eval '[ -s "$WORK/pid" ] && (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null'
ok $? "Rserve starts" || diag "$(cat "$WORK/rserve.log")"
read -r pid <"$WORK/pid"
live_pids+=("$pid")
profile rserve "$pid"

# requests N: as many, each for 10 ms of CPU time, whose processes' pids go to $WORK/pids
requests() {
	for ((i = 0; i < $1; i++)); do
		python3 "$tests/live/rserve.py" "$port" \
			"cat(Sys.getpid(), '\\n', file = '$WORK/pids', append = TRUE); request(0.01)" || return 1
	done
}
asked=0
while ! proven rserve && [ $asked -lt 1000 ]; do
	requests 10 || break
	asked=$((asked + 10))
done
figure "rserve: proven after at most $asked requests of 10 ms"
check "rserve: requests of 10 ms together prove where R keeps byte code" proven rserve
: >"$WORK/pids"
check "rserve: and others come" requests 60
kill "$pid"
prof_stop
is "$PROF_STATUS" 0 "rserve: the profiler ends" || diag "$(cat "$WORK/rserve.err")"
check_stats "$WORK/rserve.stats" "rserve"
check "rserve: what is missing is in the statistics" python3 - "$WORK/rserve.stats" "$WORK/rserve.err" <<-'PY'
	import json, sys
	s = json.load(open(sys.argv[1]))
	# a process of 10 ms may end before it is looked at, on a busy machine: of those seen, most were forked with the proof there
	assert s["processes"] >= 20 and s["lines"]["proven"] * 10 >= s["processes"] * 9 and not s["lines"]["none"], s
	missing = s["lines_incomplete"]
	assert missing * 2 < s["written"], s
	said = ", %d without innermost line" % missing in open(sys.argv[2]).read()
	assert said == (missing > 0), s
PY
figure "rserve: $(python3 -c 'import json, sys; s = json.load(open(sys.argv[1])); print(s["processes"], "processes, lines:", s["lines"])' \
	"$WORK/rserve.stats")"
files=()
while read -r child; do
	[ ! -e "$WORK/rserve/Rprof.$child.out" ] || files+=("$WORK/rserve/Rprof.$child.out")
done <"$WORK/pids"
lines_in rserve "${files[@]}"
[ "$all" -ge 15 ] && [ "$with" -ge $((all * 95 / 100)) ]
ok $? "rserve: later requests have innermost lines from their start"

done_testing
