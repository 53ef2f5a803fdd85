#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: bpf engine/bpf session
# engines: bpf
# timeout: 300
# alone: live
#
# Time off the CPU of forked children, without an option that names them, and of all R processes of
# the machine (--all): each child has its own waits, as long as it measured itself. A child that is
# killed in the middle of a wait has that wait.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"
export WORK

for how in children all; do
	target_start host waiting_children
	if [ $how = all ]; then which=(--all); else which=(-p "$TARGET_PID"); fi
	prof_start_whole "$WORK/$how.pb.gz" -v --off-cpu -F 997 "${which[@]}"
	ok $? "$how: it is ready"
	before=$(stolen_ticks)
	target_go
	check "$how: the program ends" wait_until 200 let_go
	stolen=$(($(stolen_ticks) - before))
	if [ $how = all ]; then prof_stop; else prof_wait; fi
	is "$PROF_STATUS" 0 "$how: exit status 0" || diag "$(cat "$PROF_OUT.err")"
	check_stats "$PROF_OUT.stats" "$how"
	is "$(stat_of "$PROF_OUT.stats" lost)" 0 "$how: none is lost"
	is "$(stat_of "$PROF_OUT.stats" lost waits)" 0 "$how: each wait found room"
	python3 - "$tests/lib" "$PROF_OUT" "$TARGET_DIR" "$stolen" >"$WORK/said" 2>&1 <<-'PY'
		import os, sys
		sys.path.insert(0, sys.argv[1])
		import raw_pprof
		samples, types = raw_pprof.read(sys.argv[2])
		folder, stolen = sys.argv[3], int(sys.argv[4]) / os.sysconf("SC_CLK_TCK")
		rows = [line.split() for line in open(f"{folder}/measured")]
		bad = len({row[0] for row in rows}) != 4
		for pid, name, *elapsed in rows:
		    least, most, cpu = map(float, elapsed)
		    mine = [s for s in samples if s.labels.get("pid") == pid and name in s.stack]
		    off = sum(s.values["off_cpu"] for s in mine) / 1e9
		    # waits shorter than a period, some hundred, come as coins fall
		    allowed = 0.01 * least + 0.03 + stolen
		    # the profiler says that it knows a child some time before its waits are counted
		    if name == "rests":
		        least = cpu + allowed
		    wrong = not least - cpu - allowed < off < most - cpu + allowed
		    print(f"{'WRONG: ' if wrong else ''}{name} of {pid}: {off:.3f} s, of {least:.3f} to {most:.3f} but {cpu:.3f} on a CPU")
		    bad = bad or wrong
		sys.exit(bad)
	PY
	ok $? "$how: each child waited as long as it says" || diag "$(cat "$WORK/said")"
	figure "$how: $(tr '\n' ';' <"$WORK/said")"
	target_kill
done
done_testing
