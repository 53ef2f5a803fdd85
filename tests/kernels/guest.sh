#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What is tested inside a machine that tests/kernels/run booted: /usr/bin/xrprof-bpf
# on the R of that userland. The oracle is Rprof() in the same process.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh

case $(cat /proc/cmdline) in
*xrprof=quick*) seconds=4 quick=1 ;;
*) seconds=20 quick=0 ;;
esac
nested_samples=$(sed -n 's/.*nested=\([0-9]*\).*/\1/p' /proc/cmdline)
work=$(mktemp -d)
patience=240 # seconds until what has to happen counts as missing; emulation is slow
# Emulation also makes a sample slow. With -v the profiler says why it found no R.
slow=(-v --max-sample-time 1000000)

echo "# kernel $(uname -r)"
echo "# $(R --version | head -n 1)"

# wait_until COMMAND...: until it succeeds, or patience is at its end.
wait_until() {
	local tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt $((patience * 5)) ] || return 1
		sleep 0.2
	done
}

# program__start PROGRAM ARGUMENT [COMMAND...]: start tests/live/r/PROGRAM.R with its ARGUMENT (most: seconds), by
# COMMAND if given, and wait until it is ready. Sets folder, job, and target (its pid).
program__start() {
	local program=$1 argument=$2
	shift 2
	folder=$(mktemp -d "$work/$program.XXXXXX")
	cp tests/live/r/common.R "$folder/"
	"$@" R --vanilla --no-echo -f "tests/live/r/$program.R" --args "$folder" "$argument" \
		>"$folder/log" 2>&1 &
	job=$!
	wait_until eval '[ -e "$folder/ready" ] || ! kill -0 $job 2>/dev/null'
	[ -e "$folder/ready" ] || {
		diag "$(tail -n 5 "$folder/log")"
		return 1
	}
	target=$(cat "$folder/ready")
}

program__run() {
	touch "$folder/go"
	wait_until eval '[ -e "$folder/done" ] || ! kill -0 $job 2>/dev/null'
	[ -e "$folder/done" ]
}

# attached FILE PROFILER: wait until FILE has its header, which is written when all is attached. 1:
# the profiler has ended without.
attached() {
	# shellcheck disable=SC2034 # the eval below uses both
	local file=$1 by=$2
	wait_until eval 'grep -qs "^sample.interval=" "$file" || ! kill -0 $by 2>/dev/null'
	grep -qs '^sample.interval=' "$file"
}

# stat_of FILE KEY: a number or word of the --stats object
stat_of() {
	sed -n "s/.*\"$2\": *\"\{0,1\}\([^,}\"]*\).*/\1/p" "$1" | head -n 1
}

# Every tick is counted once.
sum_holds() {
	local sum=0 key
	[ -s "$1" ] || return
	for key in written no_r_frames exiting unreadable lost; do
		sum=$((sum + $(stat_of "$1" $key)))
	done
	diag "ticks $(stat_of "$1" ticks), written $(stat_of "$1" written), lost $(stat_of "$1" lost)," \
		"event $(stat_of "$1" event)"
	[ "$sum" -gt 0 ] && [ "$sum" -eq "$(stat_of "$1" ticks)" ]
}

# has_stacks FILE: and they reach down to the function that Rprof() is on for
has_stacks() {
	[ -s "$1" ] && [ "$(grep -c '"window" $' "$1")" -ge 20 ]
}

# verdict__make PROFILE: compare it with Rprof's of the same time
verdict__make() {
	Rscript --vanilla tests/live/compare.R "$folder/oracle.out" "$1" "$folder/known.txt" \
		"$folder/expected.txt" window >"$folder/verdict" 2>&1
}

verdict__tell() { # verdict__tell NAME
	local verdict text seen=1
	while read -r verdict text; do
		case $verdict in
		PASS) seen=0 && pass "$1: $text" ;;
		FAIL) seen=0 && fail "$1: $text" ;;
		*) diag "$verdict $text" ;;
		esac
	done <"$folder/verdict"
	ok $seen "$1: the profiles were compared"
}

# profile__once OPTION...: profile one R by its pid, the profiler started by the command in
# profiler_prefix. Sets out and stats. The exit status is that of the profiler.
profile__once() {
	local profiler
	program__start naming $seconds || return
	out=$folder/ours.out stats=$folder/stats.json
	"${profiler_prefix[@]}" xrprof-bpf "${slow[@]}" -p "$target" -F 199 -o "$out" --stats "$stats" "$@" \
		2>"$folder/err" &
	profiler=$!
	if ! attached "$out" $profiler || ! program__run; then
		kill -9 $profiler $job 2>/dev/null
		return 1
	fi
	wait $profiler
}

# profile NAME [COMMAND...] [-- OPTION...]: the same, and test what comes out.
profile() {
	local name=$1
	shift
	profiler_prefix=(env)
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		profiler_prefix+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	profile__once "$@"
	ok $? "$name: attached, and ended by itself with its target" || {
		diag "$(cat "$folder/err" "$folder/log")"
		return
	}
	check "$name: every tick is counted once" sum_holds "$stats"
	if [ $quick = 0 ]; then
		verdict__make "$out"
		verdict__tell "$name"
	else
		has_stacks "$out"
		ok $? "$name: there are stacks down to the program's own function" ||
			diag "$(head -n 5 "$out")"
	fi
}

verifier__test() {
	local output
	output=$(xrprof-bpf info --programs 2>&1)
	ok $? "the verifier accepts the programs" || diag "$(xrprof-bpf -e bpf -v -o /dev/null -- true 2>&1 | tail -n 60)"
	# To the table of instructions, and, when it is something else, to the reader.
	echo "$output" | sed '/^program /!s/^/# /'
}

# Events of each kind of program: perf's, of a tracepoint, and of a function, which is called 500 times.
events__test() {
	local lib
	lib=$(find /usr/lib -name libR.so | head -n 1)
	mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
	xrprof-bpf "${slow[@]}" -f speedscope -o "$work/events.json" --stats "$work/events.stats" --event page-faults \
		--event tracepoint:syscalls:sys_enter_openat --event "uprobe:$lib:norm_rand" \
		-- Rscript --vanilla -e 'for (i in 1:500) stats::rnorm(1)' >"$work/events.err" 2>&1
	ok $? "events: profiled" || diag "$(cat "$work/events.err")"
	check "events: every tick is counted once" sum_holds "$work/events.stats"
	check "events: each call of a function, once" grep -q 'norm_rand", "samples": 500, "weight": 500}' "$work/events.stats"
	diag "$(tail -n 1 "$work/events.err")"
}

# R's counts of its memory with each sample; and its collections, by a watchpoint or a probe: 300 MB in pieces of 0.1 MB.
memory__test() {
	local program='allocates <- function(n) { for (i in seq_len(n)) numeric(12500); gc() }; allocates(3000)' # gc(): for what came last
	xrprof-bpf "${slow[@]}" --memory -o "$work/memory.out" --stats "$work/memory.stats" -- Rscript --vanilla -e "$program" 2>"$work/memory.err"
	ok $? "memory: profiled" || diag "$(cat "$work/memory.err")"
	check "memory: every tick is counted once" sum_holds "$work/memory.stats"
	awk '/^:[1-9][0-9]*:[1-9][0-9]*:[1-9][0-9]*:[0-9]+:.*"allocates"/ { n++ } END { print "# " n + 0 " lines with counts"; exit n < 3 }' "$work/memory.out"
	ok $? "memory: lines have R's counts" || diag "$(cat "$work/memory.err"; head -n 5 "$work/memory.out")"

	xrprof-bpf "${slow[@]}" --event gc -f folded -o "$work/gc.folded" --stats "$work/gc.stats" -- Rscript --vanilla -e "$program" 2>"$work/gc.err"
	ok $? "collections: profiled" || diag "$(cat "$work/gc.err")"
	check "collections: every one is counted once" sum_holds "$work/gc.stats"
	awk '/allocates/ { bytes += $NF } END { print "# " bytes / 1e6 " MB of 300.1"; exit bytes < 290e6 || bytes > 345e6 }' "$work/gc.folded" # R's start is in the first
	ok $? "collections: what was allocated, by function" || diag "$(cat "$work/gc.err" "$work/gc.folded")"
	echo "# $(xrprof-bpf info | grep -i 'collections' || echo 'info does not say how collections are seen')"
}

# A counter of the hardware, if there is one: QEMU's for arm64 counts cycles at 1 GHz of the time
# that QEMU emulates.
hardware__test() {
	[ -d /sys/bus/event_source/devices/armv8_pmuv3_0 ] || [ -d /sys/bus/event_source/devices/armv8_pmuv3 ] || return 0
	xrprof-bpf "${slow[@]}" --event cycles --period 10000000 -f folded -o "$work/cycles.folded" --stats "$work/cycles.stats" -- Rscript --vanilla -e \
		'computes <- function() {
			until <- proc.time()[["elapsed"]] + 5
			while (proc.time()[["elapsed"]] < until) sum(sqrt(1:1000))
		}
		began <- proc.time()
		computes() # R compiles it first, with its context there
		spent <- proc.time() - began
		cat("cpu", spent[["user.self"]], spent[["sys.self"]], "\n")' \
		>"$work/cycles.cpu" 2>"$work/cycles.err"
	ok $? "cycles: profiled" || diag "$(cat "$work/cycles.err")"
	check "cycles: every tick is counted once" sum_holds "$work/cycles.stats"
	awk '$1 == "cpu" { user = $2; all = $2 + $3; next } /computes/ { n += $NF }
		END { print "# " n / 1e9 " G cycles of the user in " user " s of its CPU time, " all " with the kernel"; exit n < 0.8e9 * user || n > 1.1e9 * all }' \
		"$work/cycles.cpu" "$work/cycles.folded"
	ok $? "cycles: as many as there were" || diag "$(cat "$work/cycles.err" "$work/cycles.cpu")"
}

event__test() { # event__test STATS: the hardware's cycles where there is a counter
	local want=cpu-clock
	if [ -d /sys/bus/event_source/devices/armv8_pmuv3_0 ] ||
		[ -d /sys/bus/event_source/devices/armv8_pmuv3 ]; then
		want=cycles
	fi
	is "$(stat_of "$1" event)" $want "the event is $want"
}

all__test() {
	local out=$work/all profiler first
	mkdir "$out"
	xrprof-bpf "${slow[@]}" --all -F 199 -o "$out" --stats "$work/all.json" 2>"$work/all.err" &
	profiler=$!
	# One that is there, or comes, and one that comes later.
	program__start naming 3 && program__run
	first=$target
	program__start naming $seconds && attached "$out/Rprof.$target.out" $profiler && program__run
	ok $? "--all: R ran to its end" || {
		diag "$(cat "$work/all.err")"
		kill -9 $profiler $job 2>/dev/null
		return
	}
	kill -INT $profiler
	wait $profiler
	ok $? "--all: the profiler ended when interrupted" || diag "$(cat "$work/all.err")"
	check "--all: every tick is counted once" sum_holds "$work/all.json"
	has_stacks "$out/Rprof.$first.out"
	ok $? "--all: an earlier process has its profile" || diag "$(ls -l "$out")"
	verdict__make "$out/Rprof.$target.out"
	verdict__tell --all
}

# A processor goes away and comes back: what runs on it then is sampled again.
hotplug__test() {
	local out=$work/hotplug profiler switch=/sys/devices/system/cpu/cpu1/online
	[ -w $switch ]
	ok $? "hotplug: the second processor can be switched off" || return
	mkdir "$out"
	xrprof-bpf "${slow[@]}" --all -F 199 -o "$out" --stats "$work/hotplug.json" 2>"$work/hotplug.err" &
	profiler=$!
	program__start naming 2 && attached "$out/Rprof.$target.out" $profiler && program__run
	ok $? "hotplug: R ran with all processors" || {
		diag "$(cat "$work/hotplug.err")"
		kill -9 $profiler $job 2>/dev/null
		return
	}
	echo 0 >$switch
	program__start naming 3 && program__run
	has_stacks "$out/Rprof.$target.out"
	ok $? "hotplug: sampled with a processor less"
	echo 1 >$switch
	wait_until grep -q 1 $switch
	sleep 3 # to be noticed
	program__start naming 3 taskset -c 1 && program__run
	has_stacks "$out/Rprof.$target.out"
	ok $? "hotplug: sampled on the processor that came back"
	kill -INT $profiler
	wait $profiler
	ok $? "hotplug: the profiler ended when interrupted" || diag "$(cat "$work/hotplug.err")"
	check "hotplug: every tick is counted once" sum_holds "$work/hotplug.json"
}

# deep__test NAME MICROSECONDS [VARIABLE=VALUE]: 10,000 calls deep, whole if there is a second to read them, else cut.
deep__test() {
	local out=$work/deep.out profiler depth=10000 r
	cat >"$work/deep.R" <<-'END'
		invisible(compiler::enableJIT(0L))
		options(expressions = 500000L)
		spin <- function() { end <- proc.time()[[1]] + 4; while (proc.time()[[1]] < end) sum(sqrt(1:1000)) }
		await <- function() while (!file.exists(go)) Sys.sleep(0.1)
		f <- function(n) if (n > 0L) f(n - 1L) else { file.create(down); await(); spin() }
		down <- commandArgs(trailingOnly = TRUE)[[1L]]
		go <- commandArgs(trailingOnly = TRUE)[[2L]]
		f(10000L)
	END
	rm -f "$work/deep.down" "$work/deep.go" "$out"
	(ulimit -s 1000000 && exec R --vanilla --no-echo --max-ppsize=500000 -f "$work/deep.R" --args "$work/deep.down" "$work/deep.go") \
		>"$work/deep.log" 2>&1 &
	r=$!
	wait_until eval '[ -e "$work/deep.down" ] || ! kill -0 $r 2>/dev/null'
	[ -e "$work/deep.down" ]
	ok $? "$1: R is $depth calls deep" || {
		diag "$(cat "$work/deep.log")"
		return
	}
	env "${@:3}" xrprof-bpf --max-sample-time "$2" -p $r -F 99 -o "$out" --stats "$work/deep.json" 2>"$work/deep.err" &
	profiler=$!
	attached "$out" $profiler
	touch "$work/deep.go"
	wait $r
	wait $profiler
	ok $? "$1: a stack of $depth calls is profiled" || diag "$(cat "$work/deep.err")"
	check "$1: every tick is counted once" sum_holds "$work/deep.json"
	if [ "$2" -lt 1000000 ]; then
		is "$(stat_of "$work/deep.json" truncated)" "$(stat_of "$work/deep.json" over_budget)" "$1: what is cut took too long"
		[ "$(stat_of "$work/deep.json" over_budget)" -ge 2 ]
		ok $? "$1: samples are cut" || diag "$(cat "$work/deep.json")"
		is "$(stat_of "$work/deep.json" throttled)" 0 "$1: no tick is left out"
		return
	fi
	is "$(stat_of "$work/deep.json" truncated)" 0 "$1: nothing is cut"
	# below spin() are f(10000) to f(0), always
	awk -v want=$((depth + 1)) '/"spin" / { if (gsub(/"f" /, "") == want) whole++; else odd++ }
		END { print "# whole " whole + 0 ", otherwise " odd + 0; exit !(whole >= 20 && !odd) }' "$out"
	ok $? "$1: every stack is whole"
}

native_of() { # native_of NAME: a count of native frames
	sed -n 's/.*"native": {\([^}]*\)}.*/\1/p' "$work/native.json" | tr ',' '\n' | sed -n "s/.*\"$1\": //p"
}

# native__whole NAME: were the stacks unwound to their ends?
native__whole() {
	local whole all least=99
	# setjmp() of glibc 2.41 keeps its return address in a register that is not followed there: docs/internals/native.md
	[ "$(uname -m)" != aarch64 ] || least=95
	whole=$(native_of whole)
	all=$((whole + $(native_of no_table) + $(native_of no_rule) + $(native_of bad_stack) + $(native_of too_many)))
	echo "# $1: $whole of $all stacks are whole, $(native_of frames) frames, $(native_of builtins_named) of $(native_of builtins) builtins named"
	[ "$all" -ge 20 ] && [ $((100 * whole)) -ge $((least * all)) ]
	ok $? "$1: stacks go to the outermost frame" || diag "$(cat "$work/native.json")"
	is "$(native_of keys_descended)" 0 "$1: contexts come in the order of their frames"
}

# native__shows FILE: are there stacks enough with builtins and libraries among R's functions?
native__shows() {
	[ -s "$1" ] && [ "$(grep -cE '"(__)?sin[^"]*" |"libm' "$1" 2>/dev/null)" -ge 20 ] && [ "$(grep -c '"sort' "$1")" -ge 40 ]
}

# native__test NAME [VARIABLE=VALUE]: native frames among R's, of a program that is in libR.so and libm all the time.
native__test() {
	local out=$work/native.out profiler r
	cat >"$work/native.R" <<-'END'
		work <- function(n) if (n > 0L) sapply(n, function(i) work(i - 1L)) else sum(sort(sin(1:3000), method = "quick"))
		work(5L)
		file.create(commandArgs(trailingOnly = TRUE)[[1L]])
		repeat work(5L)
	END
	rm -f "$work/native.down" "$out"
	R --vanilla --no-echo -f "$work/native.R" --args "$work/native.down" >"$work/native.log" 2>&1 &
	r=$!
	wait_until eval '[ -e "$work/native.down" ] || ! kill -0 $r 2>/dev/null'
	env "${@:2}" xrprof-bpf "${slow[@]}" --native=full -p $r -F 99 -o "$out" --stats "$work/native.json" 2>"$work/native.err" &
	profiler=$!
	wait_until eval 'native__shows "$out" || ! kill -0 $profiler 2>/dev/null'
	native__shows "$out"
	ok $? "$1: builtins and libraries are among R's functions" || diag "$(sort "$out" | uniq -c | sort -rn | head -n 20)"
	kill -INT $profiler
	wait $profiler
	ok $? "$1: it is profiled" || diag "$(cat "$work/native.err" "$work/native.log")"
	kill -9 $r
	wait $r 2>/dev/null
	native__whole "$1"
}

# nested__take PROFILER FILE STATS: what C functions between R functions are in, until there are enough samples
nested__take() {
	local profiler
	"$1" "${slow[@]}" --native=full -p "$target" -F 199 -o "$2" --stats "$3" 2>"$folder/err" &
	profiler=$!
	wait_until nested__enough "$2" $profiler
	kill -INT $profiler
	wait $profiler
}

# nested__enough FILE PROFILER: or nothing more will come
nested__enough() {
	[ "$(grep -c '_c[1-8]" ' "$1" 2>/dev/null)" -ge "$nested_samples" ] || ! kill -0 "$2" 2>/dev/null
}

# nested__test: C and C++ functions that R calls and that call R. First the profile, which the host judges; then by a
# sampler that walks each stack twice, with native frames and without.
nested__test() {
	local out=$work/nested.out twice differ descended dead
	program__start nested_calls "$PWD/tests/kernels/nested.so"
	ok $? "nested: R calls C, which calls R" || return
	target=$job
	nested__take xrprof-bpf "$out" "$work/native.json"
	ok $? "nested: it is profiled" || diag "$(cat "$folder/err" "$folder/log")"
	native__whole nested
	gzip -c "$out" | base64 | sed 's/^/file nested.out /'
	XRPROF_TWICE=$work/twice nested__take oracle-tap "$work/twice.out" "$work/twice.json"
	ok $? "nested: it is profiled twice in each sample" || diag "$(cat "$folder/err")"
	read -r _ twice _ differ _ descended _ dead <"$work/twice"
	figure "nested: $twice samples walked with native frames and without, $differ differ; $descended keys descended, $dead contexts without an owner"
	[ "${twice:-0}" -ge "$nested_samples" ] && [ "$differ" = 0 ] && [ "$descended" = 0 ]
	ok $? "nested: R's part is the same with native frames and without"
	kill -9 $job
	wait $job 2>/dev/null
}

# waits__test NAME [VARIABLE=VALUE] [-- OPTION...]: wall time of a program that sleeps, computes and reads a slow pipe, and
# measures itself how long.
waits__test() {
	local name=$1 out=$work/waits.out variables=() profiler r
	shift
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	[ $# -eq 0 ] || shift
	cat >"$work/waits.R" <<-'END'
		folder <- commandArgs(trailingOnly = TRUE)[[1L]]
		file_of <- function(name) file.path(folder, name)
		times <- c(sleeps = 0, reads = 0, computes = 0)
		now <- function() as.numeric(Sys.time())
		measure <- function(name, e) { before <- now(); e; times[name] <<- times[name] + now() - before }
		sleeps <- function() for (i in 1:4) Sys.sleep(0.5)
		computes <- function() { end <- now() + 2; while (now() < end) sum(sqrt(1:1000)) }
		reads <- function() { con <- pipe("sleep 2; echo one"); readLines(con); close(con) }
		window <- function() { measure("sleeps", sleeps()); measure("reads", reads()); measure("computes", computes()) }
		file.create(file_of("waits.ready"))
		while (!file.exists(file_of("waits.go"))) Sys.sleep(0.1)
		window()
		window()
		cat(sprintf("%s %d\n", names(times), round(1000 * times)), sep = "", file = file_of("waits.times"))
	END
	rm -f "$work"/waits.ready "$work"/waits.go "$work"/waits.times "$out"
	R --vanilla --no-echo -f "$work/waits.R" --args "$work" >"$work/waits.log" 2>&1 &
	r=$!
	wait_until eval '[ -e "$work/waits.ready" ] || ! kill -0 $r 2>/dev/null'
	env "${variables[@]}" xrprof-bpf "${slow[@]}" -e bpf --clock wall -p $r -F 99 -o "$out" --stats "$work/waits.json" "$@" 2>"$work/waits.err" &
	profiler=$!
	attached "$out" $profiler
	touch "$work/waits.go"
	wait $r
	wait $profiler
	ok $? "$name: it is profiled" || diag "$(cat "$work/waits.err" "$work/waits.log")"
	check "$name: every tick is counted once" sum_holds "$work/waits.json"
	# Waits are known by when they began and ended: a tenth and a tenth of a second. The CPUs of the emulated machine stand still
	# while the machine around it is busy, and the ticks of such a time are one: of CPU time there is some, and not too much.
	awk -v interval="$(sed -n '1s/sample.interval=//p' "$out")" '
		FILENAME ~ /times$/ { measured[$1] = $2; next }
		/"sleeps" / { ours["sleeps"]++ } /"reads" / { ours["reads"]++ } /"computes" / { ours["computes"]++ }
		END {
			for (name in measured) {
				ms = ours[name] * interval / 1000
				print "# " name ": " ms " ms, measured " measured[name]
				off = ms > measured[name] ? ms - measured[name] : measured[name] - ms
				bad += name == "computes" && ms && ms < measured[name] ? 0 : off > measured[name] / 10 + 100
				n++
			}
			exit n != 3 || bad
		}' "$work/waits.times" "$out"
	ok $? "$name: each function has its time" || diag "$(cat "$work/waits.json")"
}

# Where Yama lets a user read only what runs below the reader: the workload, through a separate process.
yama__test() {
	local scope=/proc/sys/kernel/yama/ptrace_scope user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	[ -e $scope ] || return 0
	echo 1 >$scope
	"${user[@]}" xrprof-bpf info | grep '^You can profile only R processes that the profiler starts, without BPF'
	ok $? "ptrace_scope 1: the verdict of info" || diag "$(cat $scope)"
	"${user[@]}" xrprof-bpf -e vmread "${slow[@]}" -f folded -- Rscript --vanilla \
		-e 'spins <- function(n) for (i in seq_len(n)) sqrt(i); spins(2e7)' \
		>"$work/yama.folded" 2>"$work/yama.err"
	grep -q '^spins ' "$work/yama.folded"
	ok $? "ptrace_scope 1: a user profiles what the profiler starts" || diag "$(cat "$work/yama.err" "$work/yama.folded")"
	echo 0 >$scope
}

# While khugepaged makes one page of many, which takes seconds in here, nothing can be read there: waits that end then are
# unreadable, and a process that is looked at does not answer.
echo never >/sys/kernel/mm/transparent_hugepage/enabled
check "the binary runs with nothing installed" xrprof-bpf --version
yama__test
verifier__test
events__test
memory__test
hardware__test
profile "by pid"
event__test "$stats"
native__test native
echo "# $(xrprof-bpf info | grep '^time off CPU' || echo 'info does not say how waits are seen')"
waits__test "wall time"
[ ! -e tests/kernels/nested.so ] || nested__test
if [ $quick = 0 ]; then
	profile "by pid without bpf_loop" XRPROF_BPF_LOOP=0
	native__test "native without bpf_loop" XRPROF_BPF_LOOP=0
	waits__test "wall time without bpf_loop" XRPROF_BPF_LOOP=0
	# what a kernel before 6.15 has
	LC_ALL=C sed 's/btf_trace_sched_exit_tp/btf_trace_sched_exit_no/' /sys/kernel/btf/vmlinux >"$work/older.btf"
	waits__test "wall time without sched_exit_tp" -- --btf "$work/older.btf"
	all__test
	hotplug__test
	cp /sys/kernel/btf/vmlinux "$work/btf"
	seconds=4 quick=1
	profile "with --btf FILE" -- --btf "$work/btf"
	profile "CAP_BPF and CAP_PERFMON without CAP_SYS_ADMIN" setpriv --bounding-set=-sys_admin
	profile "CAP_SYS_ADMIN without CAP_BPF and CAP_PERFMON" setpriv --bounding-set=-cap_38,-cap_39
	deep__test deep 1000000
	deep__test "deep without bpf_loop" 1000000 XRPROF_BPF_LOOP=0
	deep__test "too deep" 100
fi
rm -rf "$work"
done_testing
