#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: bpf include engine/remote session native
# engines: bpf ptrace
# timeout: 120
#
# --kernel: if the kernel worked for R its functions stand inside of R's, and with --native inside
# of libc's. Their names are those of /proc/kallsyms. Engine ptrace has none, and reports it.
. "$(dirname "$0")/../lib/live.sh"

target_start host native_kernel
kernel_in_read='"vfs_read" .*"readBin" "reads" '
samples() {
	[ "$(grep -cE "$kernel_in_read" "$PROF_OUT")" -ge 300 ]
}

if [ "$XRPROF_ENGINE" != bpf ]; then
	prof -F 199 -d 0.5 --kernel -p "$TARGET_PID" -o "$WORK/none" 2>"$WORK/err"
	is $? 0 "it is profiled"
	like "$(cat "$WORK/err")" 'no kernel frames: use engine bpf' "missing kernel frames are reported"
	is "$(grep -c vfs_read "$WORK/none")" 0 "there are none"
	target_kill
	done_testing
	exit
fi

awk '{ print $3 }' /proc/kallsyms | sort -u >"$WORK/known"

# inside PATTERN: the frames of $PROF_OUT that stand inside of the first that matches, one a line
inside() {
	grep -E "$kernel_in_read" "$PROF_OUT" | grep -E " $1" | sed -E "s/ $1.*//; s/\" \"/\n/g; s/\"//g" | sort -u
}

for with in kernel native; do
	options=(--kernel)
	first='"readBin"'
	[ $with = kernel ] || { options+=(--native=full) && first='"(__)?(libc_)?read"'; }
	prof_start "$TARGET_DIR/$with" -F 499 "${options[@]}" -p "$TARGET_PID" || bail "the profiler does not start: $(cat "$PROF_OUT.err")"
	check "$with: the kernel is inside of R's functions" wait_until 60 samples || diag "$(sort "$PROF_OUT" | uniq -c | sort -rn | head -n 5)"
	prof_stop
	is "$PROF_STATUS" 0 "$with: the profiler ends"
	check_stats "$PROF_OUT.stats" "$with"
	inside "$first" >"$WORK/told"
	# programs of other profilers come and go
	is "$(comm -23 "$WORK/told" "$WORK/known" | grep -v '^bpf_prog_')" "" "$with: all functions inside of these are the kernel's"
	check "$with: they are several ($(xargs <"$WORK/told"))" [ "$(wc -l <"$WORK/told")" -ge 5 ]
done
check "native: libc's read() is between the kernel and readBin()" grep -qE '"vfs_read" .*"(__)?(libc_)?read" .*"readBin" ' "$PROF_OUT"

target_kill
done_testing
