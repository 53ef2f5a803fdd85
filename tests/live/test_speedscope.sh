#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: output
# timeout: 120
#
# speedscope itself, in Chromium, loads -f speedscope and shows the functions; and every sample is in the file.
. "$(dirname "$0")/../lib/live.sh"

needs program chromium
release=$("$tests/lib/speedscope") || bail "speedscope cannot be fetched"
target_start host lines_hot
first=$TARGET_PID
target_start host work 600 exit
target_go
prof -p "$first,$TARGET_PID" -F 499 -d 3 -l -o "$WORK/two.speedscope.json" --stats "$WORK/two.stats" 2>"$WORK/two.err"
is $? 0 "the name of the file chooses the format: exit status 0" || diag "$(cat "$WORK/two.err")"
samples=$(($(stat_of "$WORK/two.stats" written) + $(stat_of "$WORK/two.stats" no_r_frames)))
check "one profile a process, every sample in it, lines with their files" python3 - "$WORK/two.speedscope.json" "$samples" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
frames = d["shared"]["frames"]
assert len(d["profiles"]) == 2, len(d["profiles"])
period = 1000000000 // 499
assert sum(sum(p["weights"]) for p in d["profiles"]) == int(sys.argv[2]) * period
for p in d["profiles"]:
    assert p["type"] == "sampled" and p["unit"] == "nanoseconds", p["type"]
    assert len(p["samples"]) == len(p["weights"]) and p["endValue"] == sum(p["weights"])
    assert all(0 <= i < len(frames) for s in p["samples"] for i in s)
hot = [f for f in frames if f["name"] == "hot"]
assert any(f.get("file") == "hot.R" and f.get("line") == 5 for f in hot), hot
# outermost first
stacks = {tuple(frames[i]["name"] for i in s) for p in d["profiles"] for s in p["samples"]}
assert any("outer_most" in s and "inner" in s and s.index("outer_most") < s.index("inner") for s in stacks), stacks
PY
prof -p "$first" -F 499 -d 1 -l -o "$WORK/one.speedscope.json" 2>"$WORK/one.err"
is $? 0 "one process: exit status 0" || diag "$(cat "$WORK/one.err")"
shown=$(python3 "$tests/live/speedscope.py" "$release" "$WORK/two.speedscope.json" "$WORK" 2>&1)
is $? 0 "speedscope loads a file of two processes" || diag "$shown"
for pid in "$first" "$TARGET_PID"; do
	like "$shown" "row .*R $pid" "and offers process $pid"
done
shown=$(python3 "$tests/live/speedscope.py" "$release" "$WORK/one.speedscope.json" "$WORK" 2>&1)
is $? 0 "speedscope loads a file of one" || diag "$shown"
for name in hot begin; do
	like "$shown" "row .*%.* $name" "it shows $name()"
done
is "$(grep complaint <<<"$shown")" "" "without complaints"
done_testing
