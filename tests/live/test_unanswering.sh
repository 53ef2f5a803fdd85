#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: session target os
# timeout: 400
# engines: bpf
#
# R whose library lies on a file system that does not respond, and a program whose memory does not:
# the profiler does not wait for them, reports them, and profiles the others. And R whose library
# was renamed while it ran.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

if [ ! -c /dev/fuse ]; then
	skip "no /dev/fuse here" "what does not answer"
	done_testing
	exit
fi
mkdir "$WORK/files" "$WORK/mount" "$WORK/library"
gate=$WORK/gate
# shellcheck disable=SC2046
check "the fixtures build" cc -O1 -o "$WORK/slow_fs" "$tests/fixtures/slow_fs.c" $(pkg-config --cflags --libs fuse3) &&
	check "and the program" cc -O1 -rdynamic -o "$WORK/hung_r" "$tests/fixtures/hung_r.c"
home=$(R RHOME)
cp "$home/lib/libR.so" "$WORK/files/libR.so"
cp "$home/lib/libR.so" "$WORK/library/libR.so"
head -c 4096 /dev/zero >"$WORK/files/page"

"$WORK/slow_fs" "$WORK/files" 0 "$WORK/mount" "$gate" 2>"$WORK/fs.err" &
fs=$!
unmount() {
	rm -f "$gate"
	kill -KILL "$fs" 2>/dev/null
	umount -l "$WORK/mount" 2>/dev/null
	live_cleanup
}
trap unmount EXIT
if ! wait_until 60 mountpoint -q "$WORK/mount"; then
	skip "no FUSE file system can be mounted here: $(cat "$WORK/fs.err")" "what does not answer"
	done_testing
	exit
fi

# start_with FOLDER NAME: R with the libR.so of FOLDER, computing. Sets pid.
start_with() {
	mkdir "$WORK/$2"
	cp "$tests"/live/r/*.R "$WORK/$2"
	env "R_HOME=$home" "LD_LIBRARY_PATH=$1:$home/lib" "$home/bin/exec/R" --vanilla --no-echo \
		-f "$WORK/$2/all_spin.R" --args "$WORK/$2" "$2" >"$WORK/$2/out" 2>&1 </dev/null &
	pid=$!
	live_pids+=("$pid")
	wait_until 120 test -e "$WORK/$2/ready" || bail "R does not run: $(cat "$WORK/$2/out")"
}
start_with "$WORK/mount" hung
library=$pid
check "R runs with its library on that file system" grep -q "$WORK/mount/libR.so" "/proc/$library/maps"
start_with "$WORK/library" renamed
renamed=$pid
mv "$WORK/library/libR.so" "$WORK/library/other.so"
"$WORK/hung_r" "$WORK/mount/page" "$WORK/hung_r.ready" &
memory=$!
live_pids+=("$memory")
wait_until 60 test -e "$WORK/hung_r.ready" || bail "the program does not run"
target_start host all_spin healthy
healthy=$TARGET_PID
silent="did not answer within 2 s"

: >"$gate"
# As one who is waiting would wait for ever, each command has ended while the file system does not respond.
within() {
	timeout -k 5 100 "$@" </dev/null
}

within "$XRPROF" list >"$WORK/list" 2>"$WORK/list.err"
is $? 0 "list ends"
is "$(cat "$WORK/list.err")" "" "and has nothing to complain of"
for i in "$library" "$memory"; do
	like "$(grep -A1 -E "^$i +" "$WORK/list" | tail -n 1)" "cannot be profiled: process $i .* $silent" "list: $i does not answer"
done
like "$(grep -E "^$healthy +" "$WORK/list")" 'libR.so' "list: the one that does is there"
like "$(grep -E "^$renamed +" "$WORK/list")" ' 4\.[0-9.]+ +libR.so' "list: one whose libR.so has another name is there"
within "$XRPROF" info >"$WORK/info" 2>&1
is $? 0 "info ends"

for i in "$library" "$memory"; do
	for command in "-q -e $XRPROF_ENGINE -p" "dump -p"; do
		# shellcheck disable=SC2086 # words
		within "$XRPROF" $command "$i" >"$WORK/one" 2>"$WORK/one.err"
		is $? 1 "$command $i is refused"
		is "$(wc -l <"$WORK/one.err")" 1 "with one line" || diag "$(cat "$WORK/one.err")"
		like "$(cat "$WORK/one.err")" "process $i .* $silent" "that says why"
	done
done
within "$XRPROF" dump -a >"$WORK/all" 2>"$WORK/all.err"
is $? 0 "dump --all ends"
check "with the one that does answer" grep -q "^process $healthy: " "$WORK/all"
within "$XRPROF" top -q -e "$XRPROF_ENGINE" -a --batch 2 >"$WORK/all" 2>"$WORK/all.err"
is $? 0 "top --all ends"
check "and has it, too" grep -qE "^ +$healthy " "$WORK/all"
within "$XRPROF" -e "$XRPROF_ENGINE" -p "$library,$healthy,$renamed" -f folded -d 2 >"$WORK/two" 2>"$WORK/two.err"
is $? 0 "of several, the others are profiled" || diag "$(cat "$WORK/two.err")"
like "$(cat "$WORK/two.err")" "process $library .* $silent" \
	"the process that does not respond is reported"
check "one that answers has samples" [ "$(folded_samples "$WORK/two" "$healthy" healthy_inner)" -gt 0 ]
check "and so has the one whose libR.so has another name" [ "$(folded_samples "$WORK/two" "$renamed" renamed_inner)" -gt 0 ]

begun=$(cpu_ticks "$healthy")
all_start "$WORK/out" -a || { done_testing; exit 1; }
pass "--all starts"
# sampled FILE PID FUNCTION: has it samples in that function?
sampled() {
	[ "$(folded_samples "$WORK/$1" "$2" "$3")" -gt 0 ]
}
wait_until 100 sampled out "$healthy" healthy_inner
before=$(cpu_ticks "$healthy")
for i in "$library" "$memory"; do
	wait_until 100 grep -q "process $i .* $silent" "$WORK/out.err"
done
target_start host all_spin later
later=$TARGET_PID
check "one that started meanwhile is sampled" wait_until 100 sampled out "$later" later_inner
after=$(cpu_ticks "$healthy")
prof_stop
ended=$(cpu_ticks "$healthy")
is "$PROF_STATUS" 0 "--all ends"
check "while the file system does not respond" test -e "$gate"
for i in "$library" "$memory"; do
	is "$(grep -c "process $i .* $silent" "$WORK/out.err")" 1 "--all says once that $i does not answer"
done
check_stats "$WORK/out.stats" "all"
check "they are counted" [ "$(stat_of "$WORK/out.stats" silent)" -ge 2 ]
is "$(lost_of "$WORK/out.stats")" 0 "nothing was lost"
got=$(folded_samples "$WORK/out" "$healthy")
check "the one that answers has its share ($got samples, $((after - before)) ticks of CPU time)" python3 -c 'import os, sys
got, least, most = map(float, sys.argv[1:])
rate = 99 / os.sysconf("SC_CLK_TCK")
sys.exit(not 0.7 * least * rate <= got <= 1.4 * most * rate + 20)' "$got" "$((after - before))" "$((ended - begun))"
check "--all finds the one whose libR.so has another name" sampled out "$renamed" renamed_inner

# One that did not answer is looked at again. (No helper outlives a profiler that was killed: unit:os/linux/helper.)
all_start "$WORK/again" -a
check "again it does not answer" wait_until 100 grep -q "process $library .* $silent" "$WORK/again.err" ||
	diag "$(cat "$WORK/again.err")"
rm -f "$gate"
check "when the file system responds again, its R is profiled" wait_until 150 sampled again "$library" hung_inner ||
	diag "$(cat "$WORK/again.err")"
prof_stop
is "$PROF_STATUS" 0 "the profiler ends"
check_stats "$WORK/again.stats" "again"

# A library that could not be read is looked at again, too.
cc -O1 -shared -fPIC -o "$WORK/files/late.so" "$tests/fixtures/spin_until.c"
TARGET_WRAP=(env "LD_PRELOAD=$WORK/mount/late.so")
target_start host all_spin late
TARGET_WRAP=()
: >"$gate"
prof_start "$WORK/late" -v --native=full -f folded -p "$TARGET_PID"
check "a library that cannot be read has no names" wait_until 100 \
	grep -q "late.so: cannot build its unwind table: process $TARGET_PID .* $silent" "$WORK/late.err" || diag "$(cat "$WORK/late.err")"
rm -f "$gate"
check "when the file system responds again, it has" wait_until 200 \
	grep -qE "late.so: [0-9]+ rows, .* [1-9][0-9]* names" "$WORK/late.err" || diag "$(grep late.so "$WORK/late.err")"
check "and the C functions of its process are there" wait_until 100 grep -qE ";late_inner.*\[|bcEval" "$WORK/late" ||
	diag "$(tail -n 3 "$WORK/late")"
prof_stop
is "$PROF_STATUS" 0 "the profiler ends"
done_testing
