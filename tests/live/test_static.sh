#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: base os output serve
# timeout: 900
# engines: bpf
#
# The static binary runs where nothing is installed for it: in a Debian 11, which has an older glibc
# and neither libbpf nor libelf, beside its R; and in a root folder whose only C library is musl.
# No Debian package has an R for musl, so there the R that is profiled runs outside that root, and
# only the profiler inside. And it sends profiles: its libcurl is not Debian's, has fewer options, and looks names up by c-ares. The
# name of the server is not known at first, and another server of names is, later: the program notices without a new start.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

machine=$(uname -m)
build_static() {
	"$tests/../tools/build-static" "$machine" "$BUILD/static"
}
# A release and a test may build at the same time.
build_static >"$WORK/other" 2>&1 &
other=$!
check "the static binary is built" build_static
built=$?
wait "$other"
is $? 0 "and by another that is started at the same time" || diag "$(tail -n 5 "$WORK/other")"
[ "$built" = 0 ] || {
	done_testing
	exit 1
}
static=$BUILD/static/xrprof-bpf-$machine
file=$(LC_ALL=C readelf -lW "$static")
[[ $file == *LOAD* && $file != *INTERP* ]]
ok $? "it is an ELF file that asks for no dynamic linker"
# profile_in NAME ROOT COMMAND...: profile the target, with COMMAND in ROOT, where this system's
# processes and kernel are in sight. Files are passed in $WORK, which is at the same place in there.
profile_in() {
	local name=$1 root=$2 out=$WORK/static.out
	shift 2
	rm -f "$out" "$out.stats"
	timeout -s INT -k 5 60 bwrap --bind "$root" / --dev-bind /dev /dev --bind /proc /proc \
		--bind /sys /sys --tmpfs /tmp --bind "$WORK" "$WORK" --chdir / --cap-add ALL \
		"$@" -e bpf -p "$TARGET_PID" -F 199 -d 2 -o "$out" --stats "$out.stats" \
		>"$WORK/stdout" 2>"$WORK/stderr" </dev/null
	is $? 0 "$name: exit status 0" || diag "$(cat "$WORK/stderr")"
	check_rprof "$out" "$name"
	check_stats "$out.stats" "$name"
	check "$name: stacks reach down to the program's own function" [ "$(grep -c '"window" $' "$out")" -ge 20 ] || diag "$(head -n 3 "$out")"
}

install -m 755 "$static" "$WORK/xrprof-bpf"
older=$("$tests/images/get" bullseye) || bail "no image of Debian 11"
found=$(find "$older" -xdev \( -name 'libbpf.so*' -o -name 'libelf.so*' -o -name 'libcapstone.so*' \))
is "$found" "" "Debian 11: it has no libbpf, libelf, libcapstone"
diag "Debian 11: $(find "$older/lib/" -name 'libc-2.*.so' -printf '%f\n' | head -n 1);" \
	"here: $(getconf GNU_LIBC_VERSION)"
target_start bullseye naming 20
target_go
profile_in "Debian 11" "$older" "$WORK/xrprof-bpf"
target_kill

musl=$WORK/musl
mkdir -p "$musl"/{bin,dev,proc,sys,tmp,lib} "$musl$WORK"
cat >"$WORK/run.c" <<'END'
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (argc > 1)
		execv(argv[1], argv + 1);
	perror("run");
	return 127;
}
END
check "musl: a program is linked with it" musl-gcc -o "$musl/bin/run" "$WORK/run.c"
linker=$(LC_ALL=C readelf -lW "$musl/bin/run" | sed -n 's/.*interpreter: \([^]]*\)\].*/\1/p')
like "$linker" "ld-musl" "musl: its dynamic linker is musl's"
check "musl: the root has musl" cp -L "$linker" "$musl/lib/"
is "$(find "$musl" -name 'ld-linux*' -o -name 'libc.so.6')" "" "musl: the root has no glibc"
target_start host naming 20
target_go
profile_in "musl" "$musl" /bin/run "$WORK/xrprof-bpf"
target_kill

# --- it sends profiles ---

# A server of names, which has one; another address of this machine has none.
cat >"$WORK/names.py" <<'END'
import socket
import struct
import sys

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 53))
open(sys.argv[2], "w", encoding="ascii").write("ready")
while True:
    asked, to = s.recvfrom(512)
    end = asked.index(0, 12) + 5
    found = asked[12:end - 4] == b"\x04push\x04test\0" and asked[end - 4:end - 2] == b"\0\1"
    s.sendto(asked[:2] + struct.pack(">HHHHH", 0x8580, 1, found, 0, 0) + asked[12:end] +
             (b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4\x7f\0\0\1" if found else b""), to)
END
/usr/bin/python3 "$WORK/names.py" 127.0.0.77 "$WORK/names" &
live_pids+=($!)
receiver_start server
wait_until 60 [ -s "$WORK/names" ] || bail "the server of names does not start"

# In the program's sight alone.
echo 'nameserver 127.0.0.76' >"$WORK/resolv.conf"
cat >"$WORK/program" <<END
#!/bin/sh
mount --bind "$WORK/resolv.conf" "\$(readlink -f /etc/resolv.conf)" && exec "$static" "\$@"
END
cat >"$WORK/sends" <<END
#!/bin/sh
exec unshare -m "$WORK/program" "\$@"
END
chmod 755 "$WORK/program" "$WORK/sends"
XRPROF=$WORK/sends

target_start host spin
port=$(cat "$WORK/server/port")
serve_start --pid "$TARGET_PID" --interval 1 -F 99 --max-cpu 0 --spool "$WORK/spool" --pyroscope "http://push.test:$port" \
	--otlp "http://127.0.0.1:$port"
ok $? "serve starts"
arrived() {
	grep -q "\"path\": \"$1" "$WORK/server/requests" 2>/dev/null
}
check "profiles arrive" wait_until 120 arrived /v1development
check "an unknown name is reported" serve_says 'pyroscope http://push\.test.*: .*resolve'
check "none arrives by it" eval '! arrived /ingest'
echo 'nameserver 127.0.0.77' >"$WORK/resolv.conf"
check "with another server of names it is found" wait_until 120 arrived /ingest || diag "$(cat "$SERVE_ERR")"
serve_stop
is "$SERVE_STATUS" 0 "exit status" || diag "$(cat "$SERVE_ERR")"
done_testing
