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

# It says what it does: wait for a line of a file.
said() {
	grep -q "$2" "$1" 2>/dev/null
}

# What R is linked into, under another name: renamed_start NAME; its pid is renamed[NAME]
declare -A renamed
renamed_start() {
	cp "$renamed_home/bin/exec/R" "$WORK/$1"
	cat >"$WORK/$1.R" <<-R
		$1_f <- function() { x <- 0; for (i in 1:10000) x <- x + sqrt(i); x }
		cat("running\n")
		repeat $1_f()
	R
	env --default-signal R_HOME="$renamed_home" "$WORK/$1" --vanilla --no-echo -f "$WORK/$1.R" \
		>"$WORK/$1.out" 2>"$WORK/$1.err" </dev/null &
	live_pids+=("$!")
	renamed[$1]=$!
	wait_until 300 said "$WORK/$1.out" running
	ok $? "R runs in the program $1" || diag "$(cat "$WORK/$1.err")"
}

renamed_home=$("$tests/images/get" static) || bail "no image static"
renamed_start early
all_start "$WORK/out" -a
ok $? "the profiler starts" || { done_testing; exit 1; }

renamed_start late
# The distribution's rpy2 belongs to the distribution's Python.
python=
interpreter=/usr/bin/python3
check "there is rpy2" "$interpreter" -c 'import rpy2'
if "$interpreter" -c 'import rpy2' 2>/dev/null; then
	cat >"$WORK/embed.py" <<-'PY'
		import sys, time
		print("started", flush=True)
		time.sleep(1)
		import rpy2.rinterface as ri
		ri.initr()
		run = ri.baseenv["eval"]
		parse = ri.baseenv["parse"]
		code = """
		python_inner <- function(n) { x <- 0; for (i in seq_len(n)) x <- x + sqrt(i); x }
		python_outer <- function() for (i in 1:5) python_inner(20000)
		"""
		run(parse(text=ri.StrSexpVector([code])))
		call = parse(text=ri.StrSexpVector(["python_outer()"]))
		print("running", flush=True)
		while True:
		    run(call)
	PY
	env --default-signal "$interpreter" "$WORK/embed.py" >"$WORK/py.out" 2>"$WORK/py.err" </dev/null &
	python=$!
	live_pids+=("$python")
	wait_until 300 said "$WORK/py.out" running
	ok $? "Python runs R" || diag "$(cat "$WORK/py.err")"
fi

enough() {
	[ "$(folded_samples "$WORK/out" "${renamed[early]}" early_f)" -ge 50 ] &&
		[ "$(folded_samples "$WORK/out" "${renamed[late]}" late_f)" -ge 50 ] &&
		{ [ -z "$python" ] || [ "$(folded_samples "$WORK/out" "$python" python_inner)" -ge 50 ]; }
}
wait_until 300 enough
"$XRPROF" list >"$WORK/list"
prof_stop
is "$PROF_STATUS" 0 "the profiler ends"
check_stats "$WORK/out.stats" "embedded"

if [ -n "$python" ]; then
	[ "$(folded_samples "$WORK/out" "$python" 'python_outer;python_inner')" -ge 50 ]
	ok $? "Python with rpy2: sampled in its functions"
	is "$(folded_pids "$WORK/out" 'python_(inner|outer)')" "$python" \
		"Python with rpy2: no other process has its functions"
	like "$(grep -E "process $python \(" "$WORK/out.err")" "$python \(python3\): R [34]\." "Python: found when R was there"
	figure "Python with rpy2: $(folded_samples "$WORK/out" "$python" python_inner) samples"
fi
for name in early late; do
	[ "$(folded_samples "$WORK/out" "${renamed[$name]}" "${name}_f")" -ge 50 ]
	ok $? "the program $name: sampled in its function"
	is "$(folded_pids "$WORK/out" "${name}_f")" "${renamed[$name]}" \
		"the program $name: no other process has its function"
	like "$(cat "$WORK/list")" "(^|[^0-9])${renamed[$name]} +.* program +1 +.*$name" "list shows it"
done
done_testing
