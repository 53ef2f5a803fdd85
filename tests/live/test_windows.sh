#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: engine/remote target os cmd
# timeout: 900
# engines: bpf
#
# xrprof.exe under Wine: programs with a DLL named R.dll that keeps contexts, symbols and calls as R 3.6, 4.2 and 4.4
# do on Windows (tests/windows), whose stacks are known. (The engine is win32; "bpf" above has this run once.)
. "$(dirname "$0")/../lib/tap.sh"

cd "$(dirname "$0")/../.." || exit 1
BUILD=${BUILD:-build}
case $BUILD in
/*) ;;
*) BUILD=$PWD/$BUILD ;;
esac
win=$BUILD/windows
WORK=$(mktemp -d /tmp/xrprof-test.XXXXXX)
export LANG=C.UTF-8 LC_ALL=C.UTF-8
export WINEPREFIX=$WORK/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" HOME=$WORK
unset DISPLAY

wine=$(command -v wine64 || command -v /usr/lib/wine/wine64 || command -v wine)
wineserver=$(command -v wineserver || command -v /usr/lib/wine/wineserver || command -v /usr/lib/wine/wineserver64)

children=()
cleanup() {
	local pid
	for pid in "${children[@]}"; do
		kill -KILL "$pid" 2>/dev/null
	done
	[ -z "$wineserver" ] || timeout 20 "$wineserver" -k 2>/dev/null
	wait 2>/dev/null
	rm -rf "$WORK"
}
trap cleanup EXIT
trap 'exit 143' TERM INT HUP

bail() {
	echo "Bail out! $*"
	exit 1
}

command -v x86_64-w64-mingw32-gcc >/dev/null || bail "no MinGW: tools/install-deps windows"
[ -n "$wine" ] || bail "no Wine: tools/install-deps windows"
check "make windows: no warnings" make -s BUILD="$BUILD" windows windows-tests || bail "xrprof.exe was not built"
timeout 120 "$wine" "$win/tests/host.exe" none 0 >/dev/null 2>&1 || bail "Wine does not start"

wait_until() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -le $end ] || return 1
		sleep 0.1
	done
}

# host ARG...: start the program with R in it; its Windows pid goes to $pid, its Linux one to $host. With `-` as SECONDS it
# runs until host_finish.
mkfifo "$WORK/host.in"
exec {host_in}<>"$WORK/host.in"
host() {
	: >"$WORK/host.out"
	"$wine" "$win/tests/host.exe" "$@" >"$WORK/host.out" 2>"$WORK/host.err" <"$WORK/host.in" &
	host=$!
	children+=("$host")
	wait_until 60 grep -q '^ready' "$WORK/host.out" || bail "the program with R did not start: $(cat "$WORK/host.err")"
	pid=$(sed -n 's/^ready \([0-9]*\).*/\1/p' "$WORK/host.out")
}

host_finish() {
	echo >&"$host_in"
	wait "$host"
}

host_end() {
	kill -KILL "$host" 2>/dev/null
	wait "$host" 2>/dev/null
}

# prof ARG...: run the profiler to its end; $status, $WORK/out, $WORK/err.
prof() {
	timeout -k 5 120 "$wine" "$win/xrprof.exe" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
	status=$?
	err=$(tr -d '\r' <"$WORK/err")
}

# fails NAME STATUS REGEX ARG...: it ends so, with one line that matches
fails() {
	local name=$1 wanted=$2 regex=$3
	shift 3
	prof "$@"
	[ "$status $(grep -c . <<<"$err")" = "$wanted 1" ] && [[ $err =~ $regex ]]
	ok $? "$name: status $wanted, and one line that reports it" || diag "$status" "$err"
}

# prof_start OUT ARG...: in the background, standard output to OUT. Sets prof. prof_end: as Ctrl-C ends it.
prof_start() {
	"$wine" "$win/xrprof.exe" "${@:2}" >"$1" 2>"$WORK/err" </dev/null &
	prof=$!
	children+=("$prof")
}

prof_end() {
	kill -INT "$prof"
	wait "$prof"
}

# sampled FILE: it has lines behind Rprof's header
sampled() {
	[ "$(wc -l <"$1")" -gt 1 ]
}

# The stacks of a folded profile, and how many samples it has.
stacks() {
	sed 's/ [0-9]*$//' "$1" | sort -u
}

samples() {
	awk '{ n += $NF } END { print n + 0 }' "$1"
}

# shellcheck disable=SC2016  # R's dollar
known='main
main;other
main;other;<Anonymous>
main;other;fs[["naïve"]]
main;other;g
main;other;g;f
main;other;g;f;g
main;other;g;f;g;f
main;other;g;f;g;f;g
main;other;g;f;g;f;g;f
main;other;self$run
main;other;stats::lm
main;other;utils:::head
main;work
main;work;leaf
main;work;base::sum'
known=$(sort <<<"$known")

seen_all() {
	[ "$(stacks "$1")" = "$known" ]
}

# stat KEY: of the last --stats
stat_of() {
	sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"}]*\).*/\1/p" "$WORK/stats.json" | head -n 1
}

conserved() {
	[ "$(stat_of ticks)" -gt 0 ] && [ "$(stat_of ticks)" -eq \
		$(($(stat_of written) + $(stat_of no_r_frames) + $(stat_of exiting) + $(stat_of unreadable) + $(stat_of lost))) ]
}

# --- what it needs ---

imports=$(x86_64-w64-mingw32-objdump -p "$win/xrprof.exe" | sed -n 's/.*DLL Name: *//p' | tr '[:upper:]' '[:lower:]' | sort)
foreign=$(grep -vxE '(kernel32|advapi32|shell32|msvcrt|winmm|psapi)\.dll' <<<"$imports")
[ -n "$imports" ] && [ -z "$foreign" ]
ok $? "imports only DLLs of the system: $(xargs <<<"$imports")"

# --- known stacks, three layouts; ended by Ctrl-C ---

for row in r36:3.6.3 r42:4.2.2 r44:4.4.1; do
	layout=${row%:*} version=${row#*:}
	host "$win/tests/$layout/R.dll" known -
	: >"$WORK/$layout.folded"
	# a pipe gets its stacks as they come, a file at the end
	mkfifo "$WORK/$layout.pipe"
	cat "$WORK/$layout.pipe" >"$WORK/$layout.folded" &
	reader=$!
	prof_start "$WORK/$layout.pipe" -v -p "$pid" -F 97 -f folded --stats "$WORK/stats.json"
	wait_until 120 seen_all "$WORK/$layout.folded"
	prof_end
	is $? 0 "R $version: Ctrl-C ends it with status 0"
	wait "$reader"
	is "$(stacks "$WORK/$layout.folded")" "$known" "R $version: all of the known stacks, and nothing else"
	like "$(cat "$WORK/err")" "R $version in .*R\.dll" "R $version: the version is known"
	is "$(stat_of engine)" win32 "R $version: engine win32"
	check "R $version: each tick is accounted for" conserved
	is "$(stat_of written)" "$(samples "$WORK/$layout.folded")" "R $version: what was counted is what was written"
	is "$(stat_of unnamed)" 0 "R $version: every frame has its name"
	check "R $version: the target runs on" kill -0 "$host"
	host_end
done

# --- a stack that changes as fast as it can; other threads; R in another thread ---

seen_suspended() {
	grep -q '^seen' "$WORK/host.out" && return
	prof -p "$pid" -F 500 -d 2 -f folded -o "$WORK/more.folded"
	grep -q '^seen' "$WORK/host.out"
}

for place in "" --thread; do
	host "$win/tests/r44/R.dll" flip - --watch $place
	: >"$WORK/flip.folded"
	prof -p "$pid" -F 500 -d 6 -f folded -o "$WORK/flip.folded" --stats "$WORK/stats.json"
	is $status 0 "changing as fast as can be${place:+, R in its second thread}"
	wrong=$(stacks "$WORK/flip.folded" | grep -vxF "$known")
	[ -z "$wrong" ] && [ "$(samples "$WORK/flip.folded")" -gt 0 ]
	ok $? "no wrong stack among $(samples "$WORK/flip.folded")" || diag "$wrong"
	check "each tick is accounted for" conserved
	# on a busy machine the thread that looks may not run while R is suspended
	check "R is seen suspended" wait_until 300 seen_suspended
	host_finish
	seen=$(sed -n 's/^suspended //p' "$WORK/host.out" | tr -d '\r')
	like "$seen" "^r [1-9][0-9]* others 0 of " "only R's thread was seen suspended: $seen"
done

# --- formats, each by the name of its file (what is in them: unit:output) ---

host "$win/tests/r42/R.dll" known -
for suffix in folded pb.gz speedscope.json html; do
	prof -p "$pid" -F 97 -d 2 -o "$WORK/formats.$suffix" --stats "$WORK/stats.json"
	is $status 0 "formats.$suffix" || diag "$err"
	check "formats.$suffix: each tick is accounted for" conserved
done
like "$(HOME=$WORK go tool pprof -top "$WORK/formats.pb.gz" 2>/dev/null)" "work" "pprof: go tool pprof reads it"
like "$(head -c 200 "$WORK/formats.html")" "<!doctype html>" "flamegraph: a page"
host_end

# --- the end of the target; Rprof's format ---

host "$win/tests/r42/R.dll" known -
: >"$WORK/end.out"
prof_start "$WORK/out" -p "$pid" -F 50 -o "$WORK/end.out" --stats "$WORK/stats.json"
# so that main alone is in all samples
both_sampled() {
	grep -q '"work"' "$WORK/end.out" && grep -q '"other"' "$WORK/end.out"
}
wait_until 120 both_sampled
host_finish
ended=$?
wait "$prof"
is $? 0 "the target's end ends it" || diag "$(cat "$WORK/err")"
is $ended 0 "the target ended as it does unprofiled"
is "$(head -n 1 "$WORK/end.out")" "sample.interval=20000" "Rprof's header"
grep -qvE '^sample|^("[^"]*(\[\["na.*"\]\])?" )+$' "$WORK/end.out"
[ $? -eq 1 ] && [ "$(wc -l <"$WORK/end.out")" -gt 1 ] && [ -z "$(tail -c 1 "$WORK/end.out")" ]
ok $? "whole lines of frames between quotes" || diag "$(head -n 5 "$WORK/end.out")"

# --- the reader of a pipe goes away ---

host "$win/tests/r42/R.dll" known -
{
	timeout -k 5 100 "$wine" "$win/xrprof.exe" -p "$pid" -F 50 2>"$WORK/err" </dev/null
	echo $? >"$WORK/status"
} | head -n 3 >"$WORK/out"
is "$(cat "$WORK/status") $(wc -l <"$WORK/out")" "0 3" "a closed pipe ends it with status 0" || diag "$(cat "$WORK/err")"
host_end

# --- nothing to profile ---

host none 100
fails "a process without R" 1 "does not run R" -p "$pid" -d 1
fails "no such process" 1 "no process 987654" -p 987654 -d 1
host_end
host "$win/tests/not/R.dll" known 100
prof -p "$pid" -d 1
like "$status $err" "^1 .*does not export R_GlobalContext" "a DLL called R.dll that is not R's is reported, status 1"
host_end
host "$win/tests/r42/R.dll" idle -
prof -p "$pid" -F 50 -d 2 -f folded -o "$WORK/idle.folded" --stats "$WORK/stats.json"
# on a busy machine a late sample is dropped (keeper.c): torn
idle=$(stat_of no_r_frames) torn=$(stat_of TORN)
[ $status -eq 0 ] && [ "$idle" -gt $((4 * torn)) ] && [ $((idle + torn)) = "$(stat_of ticks)" ]
ok $? "R at its prompt: samples without frames" || diag "$status $err" "$(cat "$WORK/stats.json")"

# --- list; --all ---

prof list
[ $status -eq 0 ] && grep -qE "^ *$pid +host\.exe +4\.2\.2 " "$WORK/out"
ok $? "list: the process, its program and its R" || diag "$(cat "$WORK/out" "$WORK/err")"
prof -a --comm 'no-such*' -F 50 -d 1 -o "$WORK/none/"
is "$status $(find "$WORK/none" -name 'Rprof*' | wc -l)" "1 0" "--comm leaves it out"
host_end
host "$win/tests/r36/R.dll" known -
prof_start "$WORK/out" -a -F 50 -o "$WORK/all/"
check "--all: a file for the process" wait_until 120 test -s "$WORK/all/Rprof.$pid.out" ||
	diag "$(cat "$WORK/err")" "$(ls "$WORK/all" 2>&1)"
prof_end
is $? 0 "--all: Ctrl-C ends it with status 0" || diag "$(cat "$WORK/err")"
host_end

# --- started by a program: --ready and --until-eof ---

host "$win/tests/r42/R.dll" known -
: >"$WORK/until.out"
{
	wait_until 100 test -s "$WORK/ready"
	wait_until 100 sampled "$WORK/until.out"
} | timeout -k 5 120 "$wine" "$win/xrprof.exe" -q -p "$pid" -o "$WORK/until.out" --ready "$WORK/ready" --until-eof 2>"$WORK/err" >/dev/null
is "${PIPESTATUS[*]}" "0 0" "the end of standard input, and nothing else, ends it with status 0" || diag "$(cat "$WORK/err")"
like "$(cat "$WORK/ready")" '^[0-9]+' "--ready has a process id"
host_end

# --- ended by force within a sample: its thread is resumed ---

# A sample of a target under Wine suspends the thread for some milliseconds, so that a good part of random moments hit one.
host "$win/tests/r42/R.dll" known -
cpu_ticks() {
	awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$host/stat"
}
moved() {
	[ "$(cpu_ticks)" -gt "$before" ]
}
RANDOM=1
stuck=0 early=0
for i in 1 2 3 4 5 6 7 8 9 10; do
	: >"$WORK/force.out"
	prof_start /dev/null -q -p "$pid" -F 97 -o "$WORK/force.out"
	wait_until 60 sampled "$WORK/force.out" || early=$((early + 1))
	sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
	kill -KILL "$prof"
	wait "$prof" 2>/dev/null
	before=$(cpu_ticks)
	if ! wait_until 20 moved; then
		stuck=$((stuck + 1))
		diag "after $i: the program does not run on"
		host_end
		host "$win/tests/r42/R.dll" known -
	fi
done
is "$early $stuck" "0 0" "xrprof.exe ended by force ten times: the program runs on"
host_end

# --- commands, arguments and paths in UTF-16 ---

folder="$WORK/Zürich 日本 dir"
mkdir -p "$folder"
cp "$win/tests/r42/R.dll" "$folder/R.dll"
prof -F 50 -f folded -o "$folder/профиль.folded" --stats "$folder/stats ü.json" -- "$win/tests/host.exe" "$folder/R.dll" known 8
is $status 0 "-- COMMAND with R"
[ "$(samples "$folder/профиль.folded")" -gt 0 ] && ! stacks "$folder/профиль.folded" | grep -qvxF "$known"
ok $? "a profile of it, in a file and a folder that are not ASCII"
check "so is that of --stats" test -s "$folder/stats ü.json"
host "$folder/R.dll" known -
prof -v -p "$pid" -F 50 -d 1 -o "$WORK/utf16.out"
like "$err" "Zürich 日本 dir.R\.dll" "R.dll in a folder that is not ASCII"
host_end
# shellcheck disable=SC1003  # backslashes, as they are
args=('plain' '' 'two words' 'naïve 日本 Ω' 'a"b' 'back\slash' 'end\' 'sp ace\' 'q\"uote\\' '*' 'tab	x')
prof -o "$WORK/echo.out" -- "$win/tests/host.exe" echo "$WORK/echo.txt" "${args[@]}"
is "$(cat "$WORK/echo.txt")" "$(printf '%s\n' "${args[@]}")" "its arguments arrive as they were"
is "$status" 1 "a command without R: status 1"
like "$err" "ended before R was found" "a command without R: reported"
prof -F 50 -f folded -o "$WORK/launch.folded" -- "$win/tests/host.exe" launch "$win/tests/r44/R.dll" known 8
[ $status -eq 0 ] && [ "$(samples "$WORK/launch.folded")" -gt 0 ]
ok $? "R in a program that the command starts, as Rscript.exe does" || diag "$err"
fails "a command that is not there" 1 "cannot run C:.no.such.program.exe" -o "$WORK/x.out" -- 'C:\no\such\program.exe'

# --- what there is not on Windows ---

for option in "--user root" "--cgroup x" "--btf x" --gc "--engine bpf"; do
	# shellcheck disable=SC2086  # an option and its argument
	fails "$option" 2 "" -a -o "$WORK/x/" $option
done
prof -a -o "$WORK/x/" -d 1 --clock cpu
like "$status $err" "^1 .*wall time" "--clock cpu cannot be, and the message says what can"
prof --help
[ $status -eq 0 ] && ! grep -qE -- '--(user|cgroup|btf|gc)\b' "$WORK/out" && grep -q win32 "$WORK/out"
ok $? "--help: only what there is"
prof info
[ $status -eq 0 ] && grep -q 'engine win32' "$WORK/out"
ok $? "info"

done_testing
