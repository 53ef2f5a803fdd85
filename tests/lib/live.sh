# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2120
#
# For live tests: R programs to be profiled (on this machine, in an image, by an R without libR.so), and the profiler.
# Source it first; it sets WORK, a folder that goes away at exit, and ends every process that was started.
#
# XRPROF: the profiler; XRPROF_ENGINE: the engine it is to use.

lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tests=$(cd "$lib/.." && pwd)
. "$lib/tap.sh"

BUILD=${BUILD:-$tests/../build}
XRPROF=${XRPROF:-$BUILD/xrprof-bpf}
XRPROF_ENGINE=${XRPROF_ENGINE:-bpf}
# bwrap gives an image its own /tmp, with this folder in it.
WORK=$(mktemp -d /tmp/xrprof-test.XXXXXX)
export LANG=C.UTF-8 LC_ALL=C.UTF-8
unset R_LIBS R_LIBS_USER R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER R_HOME R_ENABLE_JIT

# The kernel lowers this limit for the whole machine whenever samples take long, as those of deep stacks do where cycles
# are counted (perf_sample_event_took(), kernel/events/core.c): what an earlier test did to it is undone.
live_limit=/proc/sys/kernel/perf_event_max_sample_rate
[ "$(cat $live_limit 2>/dev/null || echo 100000)" -ge 100000 ] || { echo 100000 >$live_limit; } 2>/dev/null

live_pids=()
program_stats_were=

live_cleanup() {
	local pid
	for pid in "${live_pids[@]}"; do
		kill -CONT "$pid" 2>/dev/null
		kill -KILL "$pid" 2>/dev/null
	done
	wait 2>/dev/null
	[ -z "$program_stats_were" ] || echo "$program_stats_were" >/proc/sys/kernel/bpf_stats_enabled
	mountpoint -q "$WORK/small" && umount "$WORK/small"
	rm -rf "$WORK"
}
trap live_cleanup EXIT
trap 'exit 143' TERM INT HUP

bail() {
	echo "Bail out! $*"
	exit 1
}

[ "$(id -u)" -eq 0 ] || bail "live tests need root"
[ -x "$XRPROF" ] || bail "$XRPROF is not there: run make first"

# wait_until SECONDS COMMAND...: poll until COMMAND succeeds. Its own time limit is only for what hangs.
wait_until() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -le $end ] || return 1
		sleep 0.05
	done
}

alive() {
	local state
	state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null)
	[ -n "$state" ] && [ "$state" != Z ] && [ "$state" != X ]
}

gone() {
	! alive "$1"
}

# Ticks (CLK_TCK) of all CPUs that a hypervisor has taken away.
stolen_ticks() {
	awk '/^cpu / { print $9 }' /proc/stat
}

# --- targets ---

# Descendant of process $1 that is R and has no R below it. Ask only after the program said it is ready.
target_find() {
	local child found
	for child in $(pgrep -P "$1"); do
		found=$(target_find "$child")
		if [ -n "$found" ]; then
			echo "$found"
			return
		fi
	done
	[ "$(cat "/proc/$1/comm" 2>/dev/null)" != R ] || echo "$1"
}

# target_command PLACE: sets target_argv, what starts R in PLACE: host, static, or the name of an image.
target_command() {
	local root
	case $1 in
	host) target_argv=(R --vanilla --no-echo) ;;
	static)
		root=$("$tests/images/get" static) || return 1
		target_argv=(env "R_HOME=$root" "$root/bin/exec/R" --vanilla --no-echo)
		;;
	*)
		root=$("$tests/images/get" "$1") || return 1
		target_argv=(bwrap --bind "$root" / --proc /proc --dev /dev --tmpfs /tmp --bind "$WORK" "$WORK"
			--unshare-pid --unshare-ipc --die-with-parent --chdir / R --vanilla --no-echo)
		;;
	esac
}

# target_launch PLACE PROGRAM [ARG...]: start tests/live/r/PROGRAM.R in a folder of its own, without waiting. Sets
# TARGET_DIR, TARGET_JOB (the process started, perhaps a sandbox around R) and TARGET_ERR. TARGET_OPTIONS are options
# for R, TARGET_WRAP is a command to start it by.
target_count=0
TARGET_OPTIONS=()
TARGET_WRAP=()
target_launch() {
	local place=$1 program=$2
	shift 2
	target_command "$place" || return 1
	target_count=$((target_count + 1))
	TARGET_DIR=$WORK/target$target_count
	mkdir -p "$TARGET_DIR"
	cp "$tests"/live/r/*.R "$TARGET_DIR"
	TARGET_ERR=$TARGET_DIR/stderr
	env --default-signal "${TARGET_WRAP[@]}" "${target_argv[@]}" "${TARGET_OPTIONS[@]}" -f "$TARGET_DIR/$program.R" --args "$TARGET_DIR" "$@" \
		>"$TARGET_DIR/stdout" 2>"$TARGET_ERR" </dev/null &
	TARGET_JOB=$!
	live_pids+=("$TARGET_JOB")
}

# Wait until the program launched last is ready. Sets TARGET_PID.
target_await_ready() {
	if ! wait_until 300 eval '[ -e "$TARGET_DIR/ready" ] || gone "$TARGET_JOB"' || [ ! -e "$TARGET_DIR/ready" ]; then
		diag "the R program did not get ready:"
		diag "$(tail -n 20 "$TARGET_ERR" "$TARGET_DIR/stdout")"
		return 1
	fi
	TARGET_PID=$(target_find "$TARGET_JOB")
	[ -n "$TARGET_PID" ] || return 1
	live_pids+=("$TARGET_PID")
}

# target_start PLACE PROGRAM [ARG...]: both. Ends the test if it fails.
target_start() {
	if ! { target_launch "$@" && target_await_ready; }; then
		fail "R program $2 starts ($1)"
		done_testing
		exit 1
	fi
}

target_go() {
	: >"$TARGET_DIR/go"
}

# Wait for the end of the program's work (its `done`): target_await_done [SECONDS]
target_await_done() {
	wait_until "${1:-200}" eval '[ -e "$TARGET_DIR/done" ] || gone "$TARGET_JOB"'
	[ -e "$TARGET_DIR/done" ]
}

target_kill() {
	kill -KILL "$TARGET_PID" 2>/dev/null
	wait "$TARGET_JOB" 2>/dev/null
}

# --- the profiler ---

# prof ARG...: run the profiler with the engine under test, in the foreground.
prof() {
	timeout -k 5 "${PROF_TIMEOUT:-120}" "$XRPROF" -e "$XRPROF_ENGINE" "$@"
}

# prof_to OUT ARG...: sets PROF_TO, what to give to -o so that OUT grows while the profiler runs. A file of folded stacks
# is written at the end, a pipe as they come: with -f folded among the arguments it is a pipe.
PROF_PIPE=
prof_to() {
	PROF_TO=$1
	PROF_PIPE=
	case " $* " in
	*/\ *\ folded\ * | *\ *\ -o\ *) return ;;
	*\ folded\ *) ;;
	*) return ;;
	esac
	PROF_PIPE=$PROF_TO.pipe
	rm -f "$PROF_PIPE"
	mkfifo "$PROF_PIPE" || bail "no pipe"
	cat "$PROF_PIPE" >"$PROF_TO" &
	PROF_CAT=$!
	live_pids+=("$PROF_CAT")
	PROF_TO=$PROF_PIPE
}

# prof_start OUT ARG...: start it in the background, writing to OUT, and OUT.err and OUT.stats beside it, and wait until
# it is about to sample (the header is written then). Sets PROF_PID, PROF_OUT.
prof_start() {
	PROF_OUT=$1
	shift
	rm -f "$PROF_OUT"
	prof_to "$PROF_OUT" "$@"
	env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" -o "$PROF_TO" --stats "$PROF_OUT.stats" "$@" \
		>"$PROF_OUT.stdout" 2>"$PROF_OUT.err" </dev/null &
	PROF_PID=$!
	live_pids+=("$PROF_PID")
	wait_until 120 eval '[ -s "$PROF_OUT" ] || gone "$PROF_PID"'
	if ! alive "$PROF_PID" && [ ! -s "$PROF_OUT" ]; then
		diag "the profiler ended early: $(cat "$PROF_OUT.err")"
		return 1
	fi
}

# prof_start_whole OUT ARG...: likewise for a format that is written at the end, and engine bpf: until its events are there.
prof_start_whole() {
	PROF_OUT=$1
	shift
	rm -f "$PROF_OUT"
	PROF_PIPE=
	env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" -o "$PROF_OUT" --stats "$PROF_OUT.stats" "$@" \
		>"$PROF_OUT.stdout" 2>"$PROF_OUT.err" </dev/null &
	PROF_PID=$!
	live_pids+=("$PROF_PID")
	wait_until 120 eval 'ls -l "/proc/$PROF_PID/fd" | grep -q "perf_event" || gone "$PROF_PID"'
	alive "$PROF_PID" || diag "the profiler ended early: $(cat "$PROF_OUT.err")"
}

# prof_wait [SECONDS]: wait until the profiler ends by itself. Sets PROF_STATUS.
prof_wait() {
	if ! wait_until "${1:-120}" gone "$PROF_PID"; then
		diag "the profiler did not end: $(cat "$PROF_OUT.err")"
		kill -KILL "$PROF_PID"
	fi
	wait "$PROF_PID"
	PROF_STATUS=$?
	[ -n "$PROF_PIPE" ] || return 0
	# if nobody ever wrote, the reader still waits for that
	: 9<>"$PROF_PIPE"
	wait "$PROF_CAT"
	PROF_PIPE=
}

# prof_stop [SIGNAL]: end it as Ctrl-C does. Sets PROF_STATUS.
prof_stop() {
	kill -"${1:-INT}" "$PROF_PID" 2>/dev/null
	prof_wait
}

# stat FILE KEY: a field of the --stats object.
stat_of() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1" "$2"
}

# program_stats_on: have the kernel count what BPF programs take, until the end of the script
program_stats_on() {
	program_stats_were=$(cat /proc/sys/kernel/bpf_stats_enabled) && echo 1 >/proc/sys/kernel/bpf_stats_enabled
}

# program_spent PID: nanoseconds and runs of the sampler that the profiler PID has loaded, its one program for perf events
# (BPF_PROG_TYPE_PERF_EVENT)
program_spent() {
	cat /proc/"$1"/fdinfo/* 2>/dev/null | awk '
		$1 == "prog_type:" { ours = $2 == 7 }
		ours && $1 == "run_time_ns:" { ns = $2 }
		ours && $1 == "run_cnt:" { print ns, $2; exit }'
}

# check_stats FILE NAME: ticks conserved, every field there.
check_stats() {
	check "$2: ticks are conserved" python3 - "$1" <<-'PY'
		import json, sys
		s = json.load(open(sys.argv[1]))
		for k in "engine event freq seconds processes ticks written no_r_frames exiting unreadable lost truncated".split():
		    assert k in s, "no field " + k
		total = s["written"] + s["no_r_frames"] + s["exiting"] + s["unreadable"] + s["lost"]
		assert s["ticks"] == total, f"ticks {s['ticks']}, sum {total}: {s}"
		assert s["truncated"] <= s["written"], s
	PY
}

# unread_of FILE: samples whose stack could not be read, but should have been. A counter's interrupt can fall into the switch
# from one process to another, where the kernel lets nobody read the memory of either (nmi_uaccess_okay(),
# arch/x86/mm/tlb.c): some ticks in a thousand when many processes compute. And after a fork any tick can fall between the
# moment when the entry of a page that is being copied is cleared and the one when the new one is set (wp_page_copy(),
# mm/memory.c): 2 of 80,000 when the children of fork() collect garbage all the time, one in a thousand at most.
unread_of() {
	python3 - "$1" <<-'PY'
		import json, sys
		s = json.load(open(sys.argv[1]))
		switching = s["rows"]["BAD_HEAD"]
		excused = s["event"] == "cycles" and switching * 100 <= s["ticks"]
		unread = s["unreadable"] - switching * excused
		copied = s["engine"] == "bpf" and s["processes"] > 1 and unread * 1000 <= s["ticks"]
		print(0 if copied else unread)
	PY
}

# lost_of FILE: samples that were lost, but should not have been. A counter's interrupt that finds the ring buffer's lock taken
# does not wait for it (bpf_ringbuf_reserve(), kernel/bpf/ringbuf.c): one tick in a thousand at most.
lost_of() {
	python3 - "$1" <<-'PY'
		import json, sys
		s = json.load(open(sys.argv[1]))
		locked = s["event"] == "cycles" and s["lost"] * 1000 <= max(s["ticks"], 1000)
		print(0 if locked else s["lost"])
	PY
}

# check_readable FILE NAME: every stack was read. A thread that is not stopped (vmread), or that engine ptrace cannot stop
# at once, for it waits for a CPU or in the kernel, is read as it stands; if it moves meanwhile its stack is torn,
# counted, and not written. On a busy machine that happens, to one stack in a thousand at most.
check_readable() {
	local unreadable torn ticks
	unreadable=$(unread_of "$1")
	if [ "$XRPROF_ENGINE" = bpf ] || [ "$unreadable" = 0 ]; then
		is "$unreadable" 0 "$2: unreadable 0" || diag "$(cat "$1")"
		return
	fi
	torn=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["rows"]["TORN"])' "$1")
	ticks=$(stat_of "$1" ticks)
	[ "$unreadable" -eq "$torn" ] && [ $((torn * 1000)) -le "$ticks" ]
	ok $? "$2: of $ticks $unreadable unreadable, $torn of them torn" || diag "$(cat "$1")"
}

# check_rprof FILE NAME: a whole, valid file: header, then lines of quoted names each followed by a blank.
check_rprof() {
	check "$2: the file is whole and valid" awk '
		NR == 1 { if ($0 !~ /^sample\.interval=[0-9]+$/) { print "header: " $0; exit bad = 1 } next }
		$0 !~ /^("[^"]+(\[\["[^"]*"\]\])?" )+$/ { print "line " NR ": " $0; exit bad = 1 }
		END { if (!NR) { print "empty"; exit 1 } if (bad) exit 1 }' "$1" &&
		check "$2: it ends with a newline" eval '[ -z "$(tail -c 1 "'"$1"'")" ]'
}

# samples_in FILE: number of stacks in a file of Rprof's format.
samples_in() {
	awk 'NR > 1 && !/^#File/ { n++ } END { print n + 0 }' "$1"
}
