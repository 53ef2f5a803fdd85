# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""whose.py PROFILE CASES WAITED: is each sample of a profile (-f pprof) that of the thread it was taken of?

CASES has the lines `PID TID NAME`: R runs on thread TID of process PID. It waited for WAITED seconds or more in pause()
(0: waits are not in the profile). Prints for each case its name, a tab and what is wrong, and the figures of all to standard error.
"""
import collections, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import raw_pprof

samples, types = raw_pprof.read(sys.argv[1])
waited = float(sys.argv[3] or 0)
of, total = collections.defaultdict(list), collections.Counter()
for sample in samples:
    of[sample.labels["pid"].split(" ")[0]].append(sample)
for line in open(sys.argv[2]):
    pid, tid, name = line.rstrip("\n").split(" ", 2)
    own = marked = worked = wrong = others = 0
    paused = 0.0
    for sample in of[pid]:
        n = sample.values["samples"]
        waits = sum(v for t, v in sample.values.items() if types[t] == "nanoseconds" and t == "off_cpu")
        functions = [name for name in sample.stack if not name.startswith("<")]
        if sample.labels.get("thread", "").split(" ")[0] == tid:
            own += n
            marked += n if "<other-thread>" in sample.stack else 0
            worked += n if "work" in functions and not waits else 0
            paused += waits / 1e9 if "pause" in functions else 0
        else:
            others += n
            wrong += n if functions else 0
    bad = []
    if worked < 20:
        bad.append(f"{worked} samples of R's thread in work()")
    if marked * 100 > own:
        bad.append(f"{marked} of {own} samples of R's thread are marked <other-thread>")
    if paused < waited:
        bad.append(f"R waited for {waited} s, of which {paused:.2f} s are in the profile")
    # R's stack may be shown for another thread while R's thread, the first one, stands still
    if wrong and tid != pid:
        bad.append(f"{wrong} samples of threads that are not R's have its frames")
    print(name + "\t" + "; ".join(bad))
    total.update(own=own, marked=marked, others=others, wrong=wrong)
print("R's threads: {own} samples, {marked} marked; others: {others}, {wrong} with frames of R".format_map(total), file=sys.stderr)
