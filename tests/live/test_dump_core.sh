#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd values target native
# timeout: 200
# engines: vmread
#
# `dump --core`: the calls and variables of an R that crashed, as R had them right before; with its libR.so elsewhere, another
# one, or none; and core files that are cut or damaged. `--native`: the C functions are those of gdb.
. "$(dirname "$0")/../lib/live.sh"

if [[ $(cat /proc/sys/kernel/core_pattern) == *[/\|]* ]]; then
	skip "the kernel writes core files elsewhere (/proc/sys/kernel/core_pattern)" "core files"
	done_testing
	exit
fi

for place in $(all_places host static bullseye trixie sid); do
	[ "$place" = host ] || part_needs "$place" image "$place" || continue
	libr=()
	case $place in
	host | static) ;;
	*) libr=(--libr "$("$tests/images/get" "$place")/usr/lib/R/lib/libR.so") ;;
	esac
	(ulimit -c unlimited && target_launch "$place" dump_crash && wait "$TARGET_JOB") 2>/dev/null
	mv "$WORK/target1" "$WORK/$place"
	core=$(ls "$WORK/$place"/core* 2>/dev/null | head -n 1)
	[ -s "$core" ]
	ok $? "$place: R crashed, and the kernel wrote a core file" || continue
	"$XRPROF" dump --core "$core" "${libr[@]}" --locals --json >"$WORK/dump.json" 2>"$WORK/err"
	is $? 0 "$place: exit status" || diag "$(cat "$WORK/err")"
	is "$(cat "$WORK/err")" "" "$place: no warning"
	like "$("$XRPROF" dump --core "$core" "${libr[@]}" --globals --json | tr -d ' \n')" \
		'\{"path":"kept",[^}]*"length":300000,"bytes":2400048\}' "$place: --globals: a vector of the global environment"
	check "$place: calls and variables are R's" python3 - "$WORK/dump.json" "$WORK/$place/calls" <<-'PY'
		import json, sys
		p = json.load(open(sys.argv[1]))["processes"][0]
		have = [f["call"] for f in p["frames"]]
		want = open(sys.argv[2]).read().splitlines()
		# R was in vapply() then, and in pskill() when it crashed
		want = want[next(i for i, w in enumerate(want) if w.startswith("crash(")):]
		have_from = next(i for i, h in enumerate(have) if h.startswith("crash("))
		assert have[have_from:] == want, (have, want)
		assert p["signal"] == 11 and not p["truncated"], p
		local = {v["name"]: v["value"] for v in p["frames"][have_from]["locals"]}
		assert local == {"known": "num 15", "n": "num 7.5", "why": '<promise: "no reason">'}, local
	PY
done

core=$(ls "$WORK"/host/core* 2>/dev/null | head -n 1)
if [ -n "$core" ]; then
	like "$("$XRPROF" dump --core "$core" | tr '\n' ' ')" 'R [0-9.]+, ended by signal 11 .*crash\(i \+ total\)' "as text"
	like "$("$XRPROF" dump --core "$core" --libr "$BUILD/xrprof-bpf" 2>&1)" "is not the file that ran in the core file" "another libR.so"
	check "damaged and cut core files: a result or one line, and an end" python3 - "$XRPROF" "$core" <<-'PY'
		import random, subprocess, sys
		program, path = sys.argv[1:]
		random.seed(1)
		def run(what):
		    done = subprocess.run([program, "dump", "--core", path, "--locals", "--native"], capture_output=True, timeout=60)
		    err = done.stderr.decode()
		    assert done.returncode == 0 or (done.returncode == 1 and err.count("\n") <= 5), (what, done.returncode, err)
		with open(path, "r+b") as f:
		    head = f.read(200000)
		    for i in range(40):
		        data = bytearray(head)
		        for _ in range(30):
		            data[random.randrange(64 if i % 2 else len(data))] = random.randrange(256)
		        f.seek(0)
		        f.write(data)
		        f.flush()
		        run(i)
		    f.seek(0)
		    f.write(head)
		    for size in 60000000, 20000000, 1000000, 65536, 100, 1, 0:
		        f.truncate(size)
		        run(size)
	PY
fi

# crashed PLACE FUNCTION: R crashed there. Sets core.
crash=$WORK/crash.so
check "the fixture builds" cc -O1 -shared -fPIC -o "$crash" "$tests/fixtures/crash.c"
crashed() {
	(ulimit -c unlimited && target_launch "$1" dump_crash_native "$crash" "$2" && wait "$TARGET_JOB") 2>/dev/null
	mv "$WORK/target1" "$WORK/$1-$2"
	core=$(ls "$WORK/$1-$2"/core* 2>/dev/null | head -n 1)
	[ -s "$core" ]
	ok $? "$1: $2: the kernel wrote a core file"
}

for place in $(all_places host static); do
	for how in crash_segv crash_abort; do
		crashed "$place" "$how" || continue
		"$XRPROF" dump --core "$core" --native=raw --json >"$WORK/dump.json" 2>"$WORK/err"
		is "$? $(cat "$WORK/err")" "0 " "$place: $how: no warning"
		program=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["processes"][0]["command"].split()[0])' "$WORK/dump.json")
		DEBUGINFOD_URLS='' timeout -k 5 120 gdb -nx -batch "$program" "$core" -x "$tests/live/dump_gdb.py" >"$WORK/gdb.out" 2>"$WORK/gdb.err" </dev/null
		check "$place: $how: the frames are gdb's" "$tests/lib/dump_native.py" "$WORK/dump.json" "$WORK/gdb.out"
	done
	like "$("$XRPROF" dump --core "$core" --native | tr '\n' '|')" \
		'\|    abort \[[^|]*\|    crash_inside \[crash.so\]\|    crash_abort \[crash.so\]\|    parse_one\(how\)\|    FUN\(' \
		"$place: C functions stand inside of the R function that called them"
done

# the stack is the last that the kernel writes
if [ -n "${core:-}" ]; then
	truncate -s -200000 "$core"
	like "$("$XRPROF" dump --core "$core" --native 2>&1)" "R's calls are not in .*: it was cut \(ulimit -c\)" "a core file that was cut"
	mv "$crash" "$crash.away"
	like "$("$XRPROF" dump --core "$WORK/host-crash_segv"/core* --native 2>&1)" "crash.so is not there now, or is another file" "a file that is gone"
fi
done_testing
