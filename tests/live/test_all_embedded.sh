#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: target session
# timeout: 900
# engines: bpf
# alone: live
# images: static
#
# R inside other programs: a Python with rpy2, which loads libR.so after the profiler started; and R
# linked into a program that has another name, one that runs already and one that starts later. (A C
# program that runs R on its second thread: live:whose.)
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

# Each program computes in NAME_f() and has the pid pid_of[NAME].
declare -A pid_of

# runs NAME COMMAND...: start it in the background, until it says that R is running
runs() {
	"${@:2}" >"$WORK/$1.out" 2>"$WORK/$1.err" </dev/null &
	live_pids+=("$!")
	pid_of[$1]=$!
	wait_until 300 grep -q running "$WORK/$1.out"
	ok $? "R runs in the program $1" || diag "$(cat "$WORK/$1.err")"
}

# renamed NAME: what R is linked into, under that name
renamed() {
	cp "$home/bin/exec/R" "$WORK/$1"
	cat >"$WORK/$1.R" <<-R
		$1_f <- function() { x <- 0; for (i in 1:10000) x <- x + sqrt(i); x }
		cat("running\n")
		repeat $1_f()
	R
	runs "$1" env --default-signal R_HOME="$home" "$WORK/$1" --vanilla --no-echo -f "$WORK/$1.R"
}

home=$("$tests/images/get" static) || bail "no image static"
renamed early
all_start "$WORK/out" -a
ok $? "the profiler starts" || { done_testing; exit 1; }

renamed late
# The distribution's rpy2 belongs to the distribution's Python.
if check "there is rpy2" /usr/bin/python3 -c 'import rpy2'; then
	cat >"$WORK/embed.py" <<-'PY'
		import time
		time.sleep(1)
		import rpy2.rinterface as ri
		ri.initr()
		def r(code):
		    return ri.baseenv["eval"](ri.baseenv["parse"](text=ri.StrSexpVector([code])))
		r("python_f <- function(n) { x <- 0; for (i in seq_len(n)) x <- x + sqrt(i); x }")
		print("running", flush=True)
		while True:
		    r("python_f(100000)")
	PY
	runs python env --default-signal /usr/bin/python3 "$WORK/embed.py"
fi

enough() {
	local name
	for name in "${!pid_of[@]}"; do
		[ "$(folded_samples "$WORK/out" "${pid_of[$name]}" "${name}_f")" -ge 50 ] || return
	done
}
wait_until 300 enough
"$XRPROF" list >"$WORK/list"
prof_stop
is "$PROF_STATUS" 0 "the profiler ends"
check_stats "$WORK/out.stats" "embedded"

for name in "${!pid_of[@]}"; do
	[ "$(folded_samples "$WORK/out" "${pid_of[$name]}" "${name}_f")" -ge 50 ]
	ok $? "the program $name: sampled in its function"
	is "$(folded_pids "$WORK/out" "${name}_f")" "${pid_of[$name]}" \
		"the program $name: no other process has its function"
	[ "$name" = python ] ||
		like "$(cat "$WORK/list")" "(^|[^0-9])${pid_of[$name]} +.* program +1 +.*$name" "list shows $name"
done
[ -z "${pid_of[python]-}" ] || like "$(grep -E "process ${pid_of[python]} \(" "$WORK/out.err")" \
	"\(python3\): R [34]\." "Python with rpy2: found when R was there"
done_testing
