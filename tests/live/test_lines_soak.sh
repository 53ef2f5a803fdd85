#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: include bpf engine/remote
# also: ptrace
# timeout: 900
#
# 200,000 samples with source lines of a program that makes, compiles and throws away functions all the time, so that
# the addresses of byte code and srcrefs are used again and again: no sample unreadable, lost or malformed, and no
# location outside of the lines of the functions that are on the stack. At the end the program dies at once after its
# last sample, in a function of a file that was not seen before. XRPROF_SAMPLES: another number.
. "$(dirname "$0")/../lib/live.sh"

wanted=${XRPROF_SAMPLES:-200000}
freq=9999
if [ "$XRPROF_ENGINE" != bpf ]; then
	wanted=${XRPROF_SAMPLES:-5000}
	freq=499
fi

# How fast samples come depends on what the kernel allows, so the program works until there are enough.
soak_enough() {
	[ "$(samples_in "$PROF_OUT")" -ge "$wanted" ]
}
target_start host lines_soak
# on a busy machine, too: the compiler's stacks take half a millisecond with engine ptrace
prof_start "$TARGET_DIR/ours.out" -F $freq --lines --max-sample-time 1000000 -p "$TARGET_PID" || fail "the profiler starts"
target_go
wait_until 600 soak_enough || fail "there are $wanted samples"
: >"$TARGET_DIR/enough"
target_await_done 600 || fail "the program works to its end"
prof_wait
is "$PROF_STATUS" 0 "exit status 0 when the program dies"
check_stats "$PROF_OUT.stats" "soak"
written=$(stat_of "$PROF_OUT.stats" written)
[ "$written" -ge "$wanted" ]
ok $? "at least $wanted samples" || diag "$(cat "$PROF_OUT.err" "$PROF_OUT.stats")"
check_readable "$PROF_OUT.stats" "soak"
is "$(lost_of "$PROF_OUT.stats")" 0 "lost 0"
for field in truncated malformed partial unnamed; do
	is "$(stat_of "$PROF_OUT.stats" $field)" 0 "$field 0" || diag "$(cat "$PROF_OUT.stats")"
done

# Prints "SAMPLES LOCATIONS WRONG", examples of the wrong, and last the samples of the last words.
verdict=$(
	python3 - "$PROF_OUT" <<-'PY'
		import collections, re, sys
		files, samples, locations, last, shifted = {}, 0, 0, 0, 0
		wrong = collections.Counter()
		token = re.compile(r'"([^"]*)" |(\d+)#(-?\d+) ')
		named = re.compile(r'(f|last_words)_(?:(\d+)_)?(\d+)_(\d+)$')
		lines = open(sys.argv[1])
		next(lines)
		for line in lines:
		    m = re.match(r'#File (\d+): (.*)$', line)
		    if m:
		        files[m[1]] = m[2]
		        continue
		    samples += 1
		    found = list(token.finditer(line.rstrip('\n')))
		    assert ''.join(m[0] for m in found) == line.rstrip('\n'), line
		    # the functions on the stack, outermost last
		    stack = []
		    for at, m in enumerate(found):
		        n = m[1] and named.match(m[1])
		        if n:
		            file = f'soak {n[2]}.R' if n[2] else 'last_words.R'
		            stack.append((at, file, int(n[3]), int(n[4])))
		    for at, m in enumerate(found):
		        if m[1] is not None:
		            continue
		        locations += 1
		        file, number = files[m[2]], int(m[3])
		        # code of a function that is on the stack; where a call is made from, of one further out
		        if not any(file == f and a <= number <= b for where, f, a, b in stack if where > at or at == 0):
		            wrong[line.strip()] += 1
		        # shifted by a few lines it would often be wrong: how often shows what the check is worth
		        if not any(file == f and a <= number + 4 <= b for where, f, a, b in stack if where > at or at == 0):
		            shifted += 1
		    if '"last_words_' in line:
		        n = re.search(r'^(\d+)#(\d+) "last_words_(\d+)_(\d+)"', line)
		        last += bool(n and files[n[1]] == 'last_words.R' and int(n[3]) <= int(n[2]) <= int(n[4]))
		print(samples, locations, sum(wrong.values()), last, shifted, len(files))
		for text, n in wrong.most_common(10):
		    print(n, text)
	PY
)
read -r samples locations wrong last shifted files < <(echo "$verdict" | head -n 1)
figure "$samples samples, $locations locations in $files files, $wrong wrong; had each been 4 lines off, $shifted were seen to be"
is "$wrong" 0 "every location is in a function on the stack" || diag "$verdict"
[ "${locations:-0}" -ge $((written / 2)) ]
ok $? "there are locations enough" || diag "$verdict"
[ "${shifted:-0}" -ge $((locations / 4)) ]
ok $? "the check would see wrong lines" || diag "$verdict"
[ "${last:-0}" -ge 5 ]
ok $? "the last words of a process have their file and lines" || diag "$(tail -n 5 "$PROF_OUT")"
done_testing
