# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034
#
# For the tests with C and C++ functions that R calls and that call R (tests/fixtures/nested_calls.cpp). Source it after live.sh.

needs program g++

# While the dynamic linker looks up a function that is called for the first time, its caller is known by rbx, which is not followed.
TARGET_WRAP=(env LD_BIND_NOW=1)
samples=${SAMPLES:-2000}

# nested_library PLACE [bare]: make $WORK/nested-PLACE.so: its R's headers, this machine's compiler; or $WORK/bare-PLACE.so, which
# has no unwind tables
nested_library() {
	local root='' what=${2:-nested}
	local with=(-O2 -fPIC -shared -fomit-frame-pointer -Wall -Wextra -Werror)
	if [ "$1" = host ]; then
		with+=(-DNESTED_THREAD)
	else
		root=$("${tests:?}/images/get" "$1") || return 1
	fi
	[ "$what" != bare ] || with+=(-DNESTED_BARE -fno-exceptions -fno-asynchronous-unwind-tables -fno-unwind-tables)
	g++ "${with[@]}" "-I$root/usr/share/R/include" -o "$WORK/$what-$1.so" "$tests/fixtures/nested_calls.cpp"
}

# nested_enough WITH: does $PROF_OUT have $samples stacks with C functions of the library's, and what the program runs WITH?
nested_enough() {
	[ "$(grep -c '^".*_c[0-9]' "$PROF_OUT" 2>/dev/null)" -ge "$samples" ] || return
	case $1 in
	signals) grep -q '"handler_burn" "__restore_rt"' "$PROF_OUT" ;;
	thread) [ "$XRPROF_ENGINE" != bpf ] || grep -q '"thread_burn" ' "$PROF_OUT" ;;
	esac
}

# nested_stat NAME: of the last profile's native frames
nested_stat() {
	stat_of "$PROF_OUT.stats" "$1" native
}

# nested_right NAME [bare]: each C function of the last profile stands between the right R functions (nested.py). Sets SAID.
nested_right() {
	local samples jumping
	SAID=$(python3 "$tests/lib/nested.py" "$PROF_OUT" "${@:2}" 2>&1)
	ok $? "$1: each C function stands between the right R functions" || diag "$SAID"
	read -r _ samples _ _ _ jumping _ <<<"$SAID"
	check "$1: R jumps outward in no more samples than chance allows: $jumping of $samples" by_chance "$jumping" 0.002 "$samples"
}

# nested_whole NAME [REASON]: every stack of the last profile goes to the outermost frame, or ends for that REASON. Right before
# glibc's longjmp() and libgcc's way into a handler jump, the caller is known by registers that are not followed (readelf -wF: the
# CFA is rdi+0 or rcx+8), and that frame is the last one. The rate, one in ten thousand, is an estimate.
nested_whole() {
	local reason early=0 jumps
	for reason in no_table no_rule bad_stack; do
		[ "$reason" = "${2-}" ] || early=$((early + $(nested_stat $reason)))
	done
	jumps=$(grep -cE '(^|"__restore_rt" )"(libc[-.][^"]*\+0x[0-9a-f]+|_Unwind_[A-Za-z_]+)" "<no-native>" ' "$PROF_OUT")
	[ "$early" -le "$jumps" ] && by_chance "$early" 0.0001 "$(nested_stat whole)"
	ok $? "$1: no stack ends early, except right before a jump: $early" ||
		diag "$(grep -m 5 -F '"<no-native>"' "$PROF_OUT")" "$(cat "$PROF_OUT.err" "$PROF_OUT.stats")"
	# engine ptrace lets no thread wait for longer than 5 ms: where it has no CPU meanwhile, the frames that it has are all
	[ "$XRPROF_ENGINE" = ptrace ] || is "$(nested_stat too_many)" 0 "$1: no stack has too many frames"
	check "$1: stacks go to the outermost frame" [ "$(nested_stat whole)" -gt 0 ]
}

# nested_profile NAME PLACE WITH [bare]: one profile of the program WITH signals, a thread, the bare library or nothing
nested_profile() {
	local name=$1
	target_start "$2" nested_calls "$WORK/nested-$2.so" "$3"
	prof_start "$TARGET_DIR/ours" -v -F 1999 --native=full --max-sample-time 1000000 -p "$TARGET_PID" || bail "the profiler does not start: $(cat "$PROF_OUT.err")"
	check "$name: it is profiled" wait_until 120 nested_enough "$3"
	prof_stop
	is "$PROF_STATUS" 0 "$name: the profiler ends" || diag "$(cat "$PROF_OUT.err")"
	target_kill
	nested_right "$name" "${@:4}"
	figure "$name: $(head -n 1 <<<"$SAID"); $(nested_stat moved) that moved, $(nested_stat resynced) taken up again, $(nested_stat whole) whole"
	is "$(nested_stat keys_descended)" 0 "$name: contexts come in the order of their frames"
}
