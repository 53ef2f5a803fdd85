#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: include bpf target profile session
# also: ptrace vmread
# timeout: 600
#
# --memory: the counts are those that R's own profiler writes, which runs in the same process at the
# same time. The functions that allocate bytes have them. Readers of Rprof.out read them.
. "$(dirname "$0")/../lib/live.sh"

places=$(all_places host static bullseye trixie sid)
turns=$(in_all_else 250 100) copies=$(in_all_else 10000000 1000000)

# compare FILE OURS: in each phase of memory.R the means of each count are R's own, within 1 %, and so are all duplications
compare() {
	python3 - "$1" "$2" "$copies" <<-'PY'
		import re, sys
		def read(path):
		    lines = []
		    with open(path, errors="replace") as f:
		        head = next(f)
		        assert head.startswith("memory profiling: "), head
		        for line in f:
		            m = re.match(r":(\d+):(\d+):(\d+):(\d+):(.*)", line)
		            assert m, line
		            lines.append(([int(v) for v in m.groups()[:4]], m.group(5)))
		    return lines
		def means(lines, phase):
		    some = [v for v, stack in lines if '"%s"' % phase in stack]
		    assert len(some) >= 30, (phase, len(some))
		    return [sum(v[i] for v in some) / len(some) for i in range(3)], len(some)
		theirs, ours = read(sys.argv[1]), read(sys.argv[2])
		worst = 0
		for phase in "begin", "large", "small", "nodes", "freed":
		    (a, n), (b, m) = means(theirs, "phase_" + phase), means(ours, "phase_" + phase)
		    print(phase, [round(v) for v in a], n, [round(v) for v in b], m)
		    for x, y in zip(a, b):
		        worst = max(worst, abs(x - y) / x)
		print("counts differ by %.3f %%" % (100 * worst))
		assert worst < 0.01
		seen = sum(v[3] for v, stack in theirs if '"copies_seen"' in stack)
		alone = sum(v[3] for v, stack in ours if '"copies_alone"' in stack)
		print("duplications:", seen, "of R's,", alone, "of ours")
		copies = int(sys.argv[3])
		assert abs(alone - seen) < 0.01 * seen and abs(alone - copies) < 0.01 * copies
	PY
}

for place in $places; do
	[ "$place" = host ] || part_needs "$place" image "$place" || continue
	target_start "$place" memory counts "$turns" "$copies"
	prof_start_whole "$TARGET_DIR/ours.out" -F 499 --memory --clock cpu -p "$TARGET_PID" || continue
	target_go
	target_await_done 300
	prof_wait
	is "$PROF_STATUS" 0 "$place: exit status 0" || diag "$(cat "$PROF_OUT.err")"
	check "$place: the counts are R's own" compare "$TARGET_DIR/oracle.out" "$PROF_OUT"
	grep -q '^:0:0:0:' "$PROF_OUT"
	is $? 1 "$place: no line is without"
	figure "$place: $(compare "$TARGET_DIR/oracle.out" "$PROF_OUT" 2>/dev/null | tail -n 2 | tr '\n' ' ')"
done

# What follows is the same for each engine.
[ "$XRPROF_ENGINE" = bpf ] || in_all || {
	done_testing
	exit
}
ours=$WORK/target1/ours.out

check "summaryRprof() reads them, in all its ways" Rscript --vanilla - "$ours" <<-'R'
	path <- commandArgs(TRUE)
	both <- summaryRprof(path, memory = "both")
	stopifnot("mem.total" %in% names(both$by.total), max(both$by.total$mem.total) > 40)
	series <- summaryRprof(path, memory = "tseries")
	stopifnot(nrow(series) > 100, max(series$vsize.large) > 30e6, sum(series$duplications) > 2e5)
	stats <- summaryRprof(path, memory = "stats", index = 2)
	stopifnot(length(stats) > 1)
R
if part_needs "profvis has its memory" r-package profvis; then
	check "profvis has its memory" Rscript --vanilla - "$ours" <<-'R'
		p <- profvis::profvis(prof_input = commandArgs(TRUE))$x$message$prof
		stopifnot(length(p$memalloc) == length(p$label), max(p$memalloc) > 80, max(p$meminc) > 30, min(p$meminc) < -30)
	R
fi
like "$("$XRPROF" report "$ours" --sample-type alloc_space </dev/null 2>&1)" '[0-9.]+ [KMG]iB +[0-9.]+  copy' "report has its bytes"

# All is kept, so collections take nothing away: what was allocated is what there is more of.
target_start host memory shares
prof_start_whole "$TARGET_DIR/ours.pb.gz" -F 499 --memory --clock cpu -p "$TARGET_PID"
target_go
target_await_done 300
bytes=$(cat "$TARGET_DIR/bytes")
prof_wait
is "$PROF_STATUS" 0 "shares: exit status 0" || diag "$(cat "$PROF_OUT.err")"
"$XRPROF" report "$PROF_OUT" --sample-type alloc_space -f folded -o "$WORK/shares.folded" 2>"$WORK/shares.err" </dev/null
shares() {
	python3 - "$WORK/shares.folded" "$bytes" <<-'PY'
		import sys
		known, got = int(sys.argv[2]), dict.fromkeys(("one", "two", "four"), 0)
		for line in open(sys.argv[1]):
		    stack, n = line.rsplit(" ", 1)
		    for name in got:
		        if name in stack.split(";"):
		            got[name] += int(n)
		total = sum(got.values())
		print("of %d bytes %d;" % (known, total), ", ".join("%s %.2f %%" % (k, 100 * v / total) for k, v in got.items()))
		for i, name in enumerate(got):
		    assert abs(got[name] / total - 2 ** i / 7) < 0.02, name
		assert abs(total - known) < 0.03 * known
	PY
}
check "bytes allocated, by function, are 1 : 2 : 4" shares
figure "$(shares 2>/dev/null)"
prof --memory -f folded -o "$WORK/no.folded" -p $$ 2>"$WORK/no.err"
is $? 2 "a format with one number is refused" || diag "$(cat "$WORK/no.err")"
done_testing
