# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""whose.py PROFILE TID LEADER WAITED: whether each sample of a profile (-f pprof) is that of the thread it was taken of.

R runs on thread TID of process LEADER, and waited for WAITED seconds at least in pause() (0: waits are not in the profile).
Prints what is wrong, and a line of figures.
"""
import os, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "lib"))
import raw_pprof

path, tid, leader, waited = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
samples, types = raw_pprof.read(path)
own = marked = worked = wrong = others = 0
paused = 0.0
for sample in samples:
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
print(f"# figure: R's thread {own} samples, {marked} marked, {worked} in work(), {paused:.2f} s in pause(); other threads {others}, "
      f"{wrong} with frames of R")
if not worked:
    print("no sample of R's thread is in work()")
if marked * 100 > own:
    print(f"{marked} of {own} samples of R's thread are marked <other-thread>")
if paused < waited:
    print(f"R waited for {waited} s, of which {paused:.2f} s are in the profile")
# of others R's stack may be shown while R's thread, the first one, stands still
if wrong and tid != leader:
    print(f"{wrong} samples of threads that are not R's have its frames")
