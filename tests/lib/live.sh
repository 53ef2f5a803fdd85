# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2120
#
# For live tests: R programs to be profiled (on this machine, in an image, by an R without libR.so), and the profiler.
# Source it first; it sets WORK, a folder that goes away at exit, and ends every process that was started.
#
# XRPROF: the profiler; XRPROF_ENGINE: the engine it is to use. XRPROF_TESTS=all (make test-all): the long form of each test.
# XRPROF_EXPECT: what must not be missing, a list with commas: bpf, root, images, tools.

lib=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tests=$(cd "$lib/.." && pwd)
. "$lib/tap.sh"

BUILD=${BUILD:-$tests/../build}
XRPROF=${XRPROF:-$BUILD/xrprof-bpf}
XRPROF_ENGINE=${XRPROF_ENGINE:-bpf}
# bwrap gives an image its own /tmp, with this folder in it.
WORK=$(mktemp -d /tmp/xrprof-test.XXXXXX)
mkfifo "$WORK/nap"
export LANG=C.UTF-8 LC_ALL=C.UTF-8
unset R_LIBS R_LIBS_USER R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER R_HOME R_ENABLE_JIT
# R starts in a third of the time without its default packages. A program that needs them has the line "# packages: default".
export R_DEFAULT_PACKAGES=NULL
Rscript() {
	env -u R_DEFAULT_PACKAGES Rscript "$@"
}

# The kernel lowers this limit for the whole machine whenever samples take long, as those of deep stacks do where cycles
# are counted (perf_sample_event_took(), kernel/events/core.c): what an earlier test did to it is undone.
live_limit=/proc/sys/kernel/perf_event_max_sample_rate
[ "$(cat $live_limit 2>/dev/null || echo 100000)" -ge 100000 ] || { echo 100000 >$live_limit; } 2>/dev/null

live_pids=()
export XRPROF_TEST=$WORK
live_group=$(cut -d')' -f2- /proc/$$/stat | cut -d' ' -f4)

# Is process $1 of this test?  A pid of one that has ended may be of another test by now.
live_ours() {
	[ "$(cut -d')' -f2- "/proc/$1/stat" 2>/dev/null | cut -d' ' -f4)" = "$live_group" ] ||
		grep -qzsFx "XRPROF_TEST=$WORK" "/proc/$1/environ"
}

# live_kill SIGNAL PID...: those of them that are of this test
live_kill() {
	local pid
	for pid in "${@:2}"; do
		! live_ours "$pid" || kill -"$1" "$pid" 2>/dev/null
	done
}

live_cleanup() {
	live_kill CONT "${live_pids[@]}"
	live_kill KILL "${live_pids[@]}"
	wait 2>/dev/null
	! mountpoint -q "$WORK/small" || umount "$WORK/small"
	rm -rf "$WORK"
}
trap live_cleanup EXIT
trap 'exit 143' TERM INT HUP

bail() {
	echo "Bail out! $*"
	exit 1
}

[ -x "$XRPROF" ] || bail "$XRPROF is not there: run make first"

# fixture OUT SOURCE [FLAG...]: build tests/fixtures/SOURCE as OUT. Ends the test if that fails.
fixture() {
	local out=$1 source=$2
	shift 2
	check "the fixture $source builds" "${CC:-cc}" -O1 -o "$out" "$tests/fixtures/$source" "$@" && return
	done_testing
	exit 1
}

# --- the form of this run, and what is missing here ---

in_all() {
	[ "${XRPROF_TESTS-}" = all ]
}

# in_all_else LONG SHORT: the one that this run takes
in_all_else() {
	if in_all; then echo "$1"; else echo "$2"; fi
}

# all_places PLACE...: XRPROF_PLACES, else all of them, or in `make test` the first
all_places() {
	echo "${XRPROF_PLACES-$(in_all_else "$*" "$1")}"
}

# missing KIND [NAME]: prints what this machine lacks of it, or nothing. KIND: bpf, root, image, program, r-package, file.
missing() {
	case $1 in
	root) [ "$(id -u)" -eq 0 ] || echo "not root" ;;
	bpf) [[ "$("$XRPROF" info 2>/dev/null | awk '$1 == "engine" && $2 == "bpf"')" == *" ok "* ]] || echo "engine bpf cannot run here" ;;
	image) "$tests/images/get" "$2" >/dev/null 2>"$WORK/image.err" || echo "no R image $2: $(tail -n 1 "$WORK/image.err")" ;;
	file) [ -e "$2" ] || echo "there is no $2" ;;
	program) [ -n "$(PATH=$PATH:/usr/sbin:/sbin command -v "$2")" ] || echo "$2 is not installed" ;;
	r-package) [ -n "$(R --vanilla --no-echo -e "cat(system.file(package = '$2'))" </dev/null)" ] || echo "R package $2 is not installed" ;;
	esac
}

# part_needs NAME KIND [WHAT]: is it here? If not, the test NAME is skipped, or fails where XRPROF_EXPECT has it.
part_needs() {
	local why word
	why=$(missing "${@:2}")
	[ -n "$why" ] || return 0
	case $2 in
	image) word=images ;;
	program | r-package | file) word=tools ;;
	*) word=$2 ;;
	esac
	if [[ ,${XRPROF_EXPECT-}, == *",$word,"* ]]; then
		fail "$1"
		diag "$why"
	else
		skip "$why" "$1"
	fi
	return 1
}

# needs KIND [WHAT]: the same for the whole script, which ends here.
needs() {
	part_needs "all of it" "$@" || {
		done_testing
		exit
	}
}

# An ordinary user may read the memory of this user's R, unless Yama forbids it.
anybody() {
	grep -q '^# anybody: yes' "$0" && [ "$XRPROF_ENGINE" != bpf ] && [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" -eq 0 ]
}
anybody || needs root

# wait_until SECONDS COMMAND...: poll until COMMAND succeeds. Its own time limit is only for what hangs.
wait_until() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -le $end ] || return 1
		nap 0.05
	done
}

# nap SECONDS: sleep without a new process, which is what a poll would mostly cost. The pipe has no writer.
nap() {
	read -rt "$1" <>"$WORK/nap" || :
}

alive() {
	local stat=
	{ read -rd '' stat <"/proc/$1/stat"; } 2>/dev/null
	stat=${stat##*) }
	[[ $stat == [!ZX]* ]]
}

gone() {
	! alive "$1"
}

# Ticks (CLK_TCK) of all CPUs that a hypervisor has taken away.
stolen_ticks() {
	awk '/^cpu / { print $9 }' /proc/stat
}

# --- targets ---

# Process $1 if it is R, or the R below it. Ask only after the program said it is ready. (A child of R is called R, too,
# until it becomes another program.)
target_find() {
	local child found
	if [ "$(cat "/proc/$1/comm" 2>/dev/null)" = R ]; then
		echo "$1"
		return
	fi
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		found=$(target_find "$child")
		if [ -n "$found" ]; then
			echo "$found"
			return
		fi
	done
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

# target_launch PLACE PROGRAM [ARG...]: start tests/live/r/PROGRAM.R in a new folder, without
# waiting. Sets
# TARGET_DIR, TARGET_JOB (the process started, perhaps a sandbox around R) and TARGET_ERR. TARGET_OPTIONS are options
# for R, TARGET_WRAP is a command to start it by.
target_count=0
TARGET_OPTIONS=()
TARGET_WRAP=()
target_launch() {
	local place=$1 program=$2 packages=()
	shift 2
	target_command "$place" || return 1
	target_count=$((target_count + 1))
	TARGET_DIR=$WORK/target$target_count
	mkdir -p "$TARGET_DIR"
	cp "$tests"/live/r/*.R "$TARGET_DIR"
	TARGET_ERR=$TARGET_DIR/stderr
	! grep -q '^# packages: default' "$tests/live/r/$program.R" || packages=(-u R_DEFAULT_PACKAGES)
	env --default-signal "${packages[@]}" "${TARGET_WRAP[@]}" "${target_argv[@]}" "${TARGET_OPTIONS[@]}" -f "$TARGET_DIR/$program.R" --args "$TARGET_DIR" "$@" \
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

# target_rests: wait.R: let it go, and wait until it sleeps in resting()
target_rests() {
	target_go
	wait_until 200 eval '{ [ -e "$TARGET_DIR/resting" ] && grep -q "^State:.*sleeping" "/proc/$TARGET_PID/status"; } || gone "$TARGET_JOB"'
}

# Wait for the end of the program's work (its `done`): target_await_done [SECONDS]
target_await_done() {
	wait_until "${1:-200}" eval '[ -e "$TARGET_DIR/done" ] || gone "$TARGET_JOB"'
	[ -e "$TARGET_DIR/done" ]
}

target_kill() {
	live_kill KILL "$TARGET_PID"
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

# prof_start_whole OUT ARG...: the same for a format that is written at the end, and for what must not
# begin before it samples (--ready).
prof_start_whole() {
	PROF_OUT=$1
	shift
	rm -f "$PROF_OUT" "$PROF_OUT.ready"
	PROF_PIPE=
	env --default-signal "$XRPROF" -e "$XRPROF_ENGINE" -o "$PROF_OUT" --stats "$PROF_OUT.stats" --ready "$PROF_OUT.ready" "$@" \
		>"$PROF_OUT.stdout" 2>"$PROF_OUT.err" </dev/null &
	PROF_PID=$!
	live_pids+=("$PROF_PID")
	wait_until 120 eval '[ -s "$PROF_OUT.ready" ] || gone "$PROF_PID"'
	[ -s "$PROF_OUT.ready" ] || {
		diag "the profiler ended early: $(cat "$PROF_OUT.err")"
		return 1
	}
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
	# if no process ever wrote, the reader still waits for that
	: 9<>"$PROF_PIPE"
	wait "$PROF_CAT"
	PROF_PIPE=
}

# prof_stop [SIGNAL]: end it as Ctrl-C does. Sets PROF_STATUS.
prof_stop() {
	live_kill "${1:-INT}" "$PROF_PID"
	prof_wait
}

# stat_of FILE KEY [OBJECT]: a field of the --stats object, or of the OBJECT in it
stat_of() {
	awk -v key="\"$2\": " -v object="${3:+\"$3\": {}" '{
		if (object != "")
			$0 = substr($0, index($0, object) + length(object))
		if (!index($0, key))
			exit 1
		$0 = substr($0, index($0, key) + length(key))
		match($0, /^("[^"]*"|[^,}]*)/)
		$0 = substr($0, 1, RLENGTH)
		gsub(/"/, "")
		print
	}' "$1"
}

# by_chance N RATE OF: can there be N among OF, where there are RATE of each on average? Not if that happens less than once in
# a million times (Poisson).
by_chance() {
	awk -v n="$1" -v mean="$(awk -v r="$2" -v of="$3" 'BEGIN { print r * of }')" 'BEGIN {
		term = below = exp(-mean)
		for (k = 1; k < n; k++) {
			term *= mean / k
			below += term
		}
		exit n > 0 && 1 - below < 1e-6
	}'
}

# check_stats FILE NAME: ticks conserved, every field there.
check_stats() {
	check "$2: ticks are conserved" stats_conserved "$1"
}

stats_conserved() {
	local key sum=0
	for key in engine event freq seconds processes truncated; do
		stat_of "$1" $key >/dev/null || { echo "no field $key" && return 1; }
	done
	for key in written no_r_frames exiting unreadable lost; do
		sum=$((sum + $(stat_of "$1" $key)))
	done
	[ "$(stat_of "$1" ticks)" -eq "$sum" ] && [ "$(stat_of "$1" truncated)" -le "$(stat_of "$1" written)" ] && return
	echo "their sum is $sum: $(cat "$1")"
	return 1
}

# unread_of FILE: samples whose stack could not be read, but should have been. A counter's interrupt
# can
# fall into the switch from one process to another. The memory of neither can be read then
# (nmi_uaccess_okay(), arch/x86/mm/tlb.c): some ticks in a thousand when many processes compute. And
# after a fork the kernel copies a page: it clears the page's entry, and sets the new one later
# (wp_page_copy(), mm/memory.c). Any tick can fall between: 2 of 80,000 when the children of fork()
# collect garbage all the time.
unread_of() {
	local unread ticks
	unread=$(stat_of "$1" unreadable) ticks=$(stat_of "$1" ticks)
	[ "$(stat_of "$1" event)" != cycles ] || ! by_chance "$(stat_of "$1" BAD_HEAD rows)" 0.005 "$ticks" ||
		unread=$((unread - $(stat_of "$1" BAD_HEAD rows)))
	[ "$(stat_of "$1" engine)" != bpf ] || [ "$(stat_of "$1" processes)" -le 1 ] || ! by_chance "$unread" 0.0001 "$ticks" || unread=0
	echo "$unread"
}

# lost_of FILE: samples that were lost, but should not have been. A counter's interrupt that finds the ring buffer's lock taken
# does not wait for it (bpf_ringbuf_reserve(), kernel/bpf/ringbuf.c): less than one tick in a thousand.
lost_of() {
	local lost
	lost=$(stat_of "$1" lost)
	[ "$(stat_of "$1" event)" != cycles ] || ! by_chance "$lost" 0.001 "$(stat_of "$1" ticks)" || lost=0
	echo "$lost"
}

# check_readable FILE NAME: every stack was read. A thread that is not stopped (vmread), or that engine ptrace cannot stop
# at once, for it waits for a CPU or in the kernel, is read as it stands; if it moves meanwhile its stack is torn,
# counted, and not written. How often that happens is the machine's: nothing else may be unreadable.
check_readable() {
	local unreadable
	unreadable=$(unread_of "$1")
	if [ "$XRPROF_ENGINE" = bpf ] || [ "$unreadable" = 0 ]; then
		is "$unreadable" 0 "$2: unreadable 0" || diag "$(cat "$1")"
		return
	fi
	is "$unreadable" "$(stat_of "$1" TORN rows)" "$2: what is unreadable was torn" || diag "$(cat "$1")"
}

# check_rprof FILE NAME: a whole, valid file: header, then lines of quoted names each followed by a blank.
check_rprof() {
	check "$2: the file is whole and valid" awk '
		NR == 1 { if ($0 !~ /^sample\.interval=[0-9]+$/) { print "header: " $0; exit bad = 1 } next }
		$0 !~ /^("[^"]+(\[\["[^"]*"\]\])?" )+$/ { print "line " NR ": " $0; exit bad = 1 }
		END { if (!NR) { print "empty"; exit 1 } if (bad) exit 1 }' "$1" &&
		check "$2: it ends with a newline" eval '[ -z "$(tail -c 1 "'"$1"'")" ]'
}

# cpu_ticks PID: CPU time used so far, in clock ticks.
cpu_ticks() {
	sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'
}

# run ARG...: run the profiler. Sets STATUS, OUT (its stdout, also in $WORK/out) and ERR (its stderr).
run() {
	timeout -k 5 120 "$XRPROF" "$@" >"$WORK/out" 2>"$WORK/err"
	STATUS=$?
	OUT=$(cat "$WORK/out")
	ERR=$(cat "$WORK/err")
}

# report ARG...: `report`, as run has it
report() {
	run report "$@"
}

# one_line TEXT: is it one line?
one_line() {
	[ -n "$1" ] && [ "$(printf '%s\n' "$1" | wc -l)" -eq 1 ]
}

# samples_in FILE: number of stacks in a file of Rprof's format.
samples_in() {
	awk 'NR > 1 && !/^#File/ { n++ } END { print n + 0 }' "$1"
}
