#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd values target native
# timeout: 400
# engines: vmread
#
# `dump --core`: the calls and variables of an R that crashed, as R had them right before; with its libR.so elsewhere, another
# one, or none; and core files that are cut or damaged. `--native`: the C functions are those of gdb, also
# where R or the crash is on another thread than the first.
. "$(dirname "$0")/../lib/live.sh"

if [[ $(cat /proc/sys/kernel/core_pattern) == *[/\|]* ]]; then
	skip "the kernel writes core files elsewhere (/proc/sys/kernel/core_pattern)" "core files"
	done_testing
	exit
fi

check "sixteen times 64 MiB of notes: what is read of them is limited" python3 - "$XRPROF" "$WORK/notes" <<-'PY'
	import resource, struct, subprocess, sys
	program, path = sys.argv[1:]
	with open(path, "wb") as f: # a core file of x86-64 with PT_NOTE alone
	    f.write(b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 16, 0, 0, 0))
	    for i in range(16):
	        f.write(struct.pack("<IIQQQQQQ", 4, 0, 4096 + i * 16, 0, 0, 64 << 20, 0, 4))
	    f.truncate(4096 + 16 * 16 + (64 << 20))
	done = subprocess.run([program, "dump", "--core", path], capture_output=True, text=True)
	mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
	assert done.returncode == 1 and done.stderr.count("\n") == 1, done
	assert mib < 256, mib
PY

# crashed PLACE FUNCTION: R crashed there. Sets core, and of an image root.
crash=$WORK/crash.so
# -nostdlib: without the versions of this machine's libc, which an image may not have
fixture "$crash" crash.c -shared -fPIC -nostdlib
fixture "$WORK/whose" whose.c -pthread -ldl
crashed() {
	root=
	case $1 in host | static) ;; *) root=$("$tests/images/get" "$1") ;; esac
	(ulimit -c unlimited && target_launch "$1" dump_crash "$crash" "$2" && wait "$TARGET_JOB") 2>/dev/null
	mv "$WORK/target1" "$WORK/$1-$2"
	core=$(ls "$WORK/$1-$2"/core* 2>/dev/null | head -n 1)
	[ -s "$core" ]
	ok $? "$1: $2: the kernel wrote a core file"
}

# dump_there ARG...: the profiler where the files of R are: in the image, with the libraries of this machine
mkdir "$WORK/bin"
ldd "$XRPROF" | grep -o '/[^ ]*' | xargs cp -t "$WORK/bin" "$XRPROF"
dump_there() {
	local argv=("$XRPROF")
	[ -z "$root" ] || argv=(bwrap --bind "$root" / --proc /proc --dev /dev --tmpfs /tmp --bind "$WORK" "$WORK"
		"$WORK"/bin/ld-linux-* --library-path "$WORK/bin" "$WORK/bin/${XRPROF##*/}")
	"${argv[@]}" dump --core "$core" --native=raw --json
}

# as_gdb NAME: dump_there has the frames of gdb, which finds the files of an image below its folder
as_gdb() {
	local program
	dump_there >"$WORK/dump.json" 2>"$WORK/err"
	is "$? $(cat "$WORK/err")" "0 " "$1: no warning"
	program=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["processes"][0]["command"].split()[0])' "$WORK/dump.json")
	DEBUGINFOD_URLS='' timeout -k 5 120 gdb -nx -batch -iex "set sysroot ${root:-target:}" -iex "set solib-search-path $WORK" \
		"$root$program" "$core" -x "$tests/live/dump_gdb.py" >"$WORK/gdb.out" 2>"$WORK/gdb.err" </dev/null
	check "$1: the frames are gdb's" "$tests/lib/dump_native.py" "$WORK/dump.json" "$WORK/gdb.out"
}

# as_r NAME: the calls and variables are those that R had
as_r() {
	local libr=()
	[ -z "$root" ] || libr=(--libr "$root/usr/lib/R/lib/libR.so")
	"$XRPROF" dump --core "$core" "${libr[@]}" --locals --json >"$WORK/dump.json" 2>"$WORK/err"
	is "$? $(cat "$WORK/err")" "0 " "$1: without native frames: no warning"
	like "$("$XRPROF" dump --core "$core" "${libr[@]}" --globals --json | tr -d ' \n')" \
		'\{"path":"kept",[^}]*"length":300000,"bytes":2400048\}' "$1: --globals: a vector of the global environment"
	check "$1: calls and variables are R's" python3 - "$WORK/dump.json" "${core%/*}/calls" <<-'PY'
		import json, sys
		p = json.load(open(sys.argv[1]))["processes"][0]
		have = [f["call"] for f in p["frames"]]
		want = open(sys.argv[2]).read().splitlines()
		# R was in vapply() then, and in .Call() when it crashed
		want = want[next(i for i, w in enumerate(want) if w.startswith("crash(")):]
		have_from = next(i for i, h in enumerate(have) if h.startswith("crash("))
		assert have[have_from:] == want, (have, want)
		assert p["signal"] == 11 and not p["truncated"], p
		local = {v["name"]: v["value"] for v in p["frames"][have_from]["locals"]}
		assert local == {"known": "num 15", "n": "num 7.5", "why": '<promise: "no reason">'}, local
	PY
}

for place in $(all_places host static bullseye trixie sid); do
	[ "$place" = host ] || part_needs "$place" image "$place" || continue
	crashed "$place" crash_segv && as_gdb "$place: crash_segv" && as_r "$place"
	for how in crash_thread crash_abort; do
		crashed "$place" "$how" && as_gdb "$place: $how"
	done
	case $place in host | static) ;; *) continue ;; esac
	like "$("$XRPROF" dump --core "$core" | tr '\n' ' ')" 'R [0-9.]+, ended by signal 6 .*crash\(i \+ total\)' "$place: as text"
	like "$("$XRPROF" dump --core "$core" --native | tr '\n' '|')" \
		'\|    abort \[[^|]*\|    crash_inside \[crash.so\]\|    crash_abort \[crash.so\]\|    crash\(i \+ total\)\|    FUN\(' \
		"$place: C functions stand inside of the R function that called them"
done

core=$(ls "$WORK"/host-crash_thread/core* 2>/dev/null | head -n 1)
[ -z "$core" ] || like "$("$XRPROF" dump --core "$core" --native | tr '\n' '|')" \
	"\|    crash_begin \[crash.so\]\|.*    ... R's calls, which another thread is in:\|    crash\(i \+ total\)\|" "another thread crashed"

# R on another thread than the first; then its libR.so elsewhere, with other sections, and of another build
if [ -d "$WORK/host-crash_abort" ]; then
	mv "$WORK/host-crash_abort" "$WORK/first"
	TARGET_OPTIONS=(CMD "$WORK/whose" 3)
	crashed host crash_abort && as_gdb "R on another thread"
	TARGET_OPTIONS=()
	like "$("$XRPROF" dump --core "$core" --native | tr '\n' '|')" \
		'\|    crash_abort \[crash.so\]\|    crash\(i \+ total\)\|' "R on another thread: with its calls"
	copied=$(R RHOME)/lib/libR.so
	"$XRPROF" dump --core "$core" --native >"$WORK/dump.txt"
	check "another libR.so of the same build" python3 - "$(realpath "$copied")" "$WORK/libR.so" "$WORK/libR.so.other" <<-'PY'
		import sys
		data = bytearray(open(sys.argv[1], "rb").read())
		note = data.index(b"\x14\0\0\0\x03\0\0\0GNU\0") # NT_GNU_BUILD_ID of 20 bytes
		open(sys.argv[2], "wb").write(data)
		data[note + 16] ^= 1
		open(sys.argv[3], "wb").write(data)
	PY
	objcopy --add-section .note.test="$tests/fixtures/crash.c" "$WORK/libR.so" "$WORK/libR.so.sections"
	for copied in "$WORK/libR.so" "$WORK/libR.so.sections"; do
		is "$("$XRPROF" dump --core "$core" --native --libr "$copied" 2>&1)" "$(cat "$WORK/dump.txt")" "the same build as ${copied##*/}"
	done
	like "$? $("$XRPROF" dump --core "$core" --native --libr "$WORK/libR.so.other" 2>&1)" "libR.so.other is not the file that ran in the core file" \
		"another build id"
fi

# the stack is the last that the kernel writes
if [ -d "$WORK/first" ]; then
	core=$(echo "$WORK"/first/core*)
	truncate -s -200000 "$core"
	like "$("$XRPROF" dump --core "$core" --native 2>&1)" "R's calls are not in .*: it was cut \(ulimit -c\)" "a core file that was cut"
	mv "$crash" "$crash.away"
	core=$(echo "$WORK"/host-crash_segv/core*)
	like "$("$XRPROF" dump --core "$core" --native 2>&1)" "crash.so is not there now, or is another file" "a file that is gone"
	mv "$crash.away" "$crash"
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
done_testing
