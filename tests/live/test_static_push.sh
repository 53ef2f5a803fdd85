#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: serve
# timeout: 600
# engines: bpf
#
# The static program sends profiles: its libcurl is not Debian's, has fewer options, and looks names up by c-ares. The name of the
# server is not known at first, and another server of names is, later: the program notices without a new start.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

python=/usr/bin/python3
machine=$(uname -m)
check "the static program is built" "$tests/../tools/build-static" "$machine" "$BUILD/static" || {
	done_testing
	exit 1
}

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
"$python" "$WORK/names.py" 127.0.0.77 "$WORK/names" &
live_pids+=($!)
mkdir "$WORK/server"
"$python" "$tests/lib/receiver.py" "$WORK/server" 2>"$WORK/errors" &
live_pids+=($!)
wait_until 60 [ -s "$WORK/server/port" ] || bail "the server does not start: $(cat "$WORK/errors")"
wait_until 60 [ -s "$WORK/names" ] || bail "the server of names does not start"

# In the program's sight alone.
echo 'nameserver 127.0.0.76' >"$WORK/resolv.conf"
cat >"$WORK/program" <<END
#!/bin/sh
mount --bind "$WORK/resolv.conf" "\$(readlink -f /etc/resolv.conf)" && exec "$BUILD/static/xrprof-bpf-$machine" "\$@"
END
cat >"$WORK/xrprof-bpf" <<END
#!/bin/sh
exec unshare -m "$WORK/program" "\$@"
END
chmod 755 "$WORK/program" "$WORK/xrprof-bpf"
XRPROF=$WORK/xrprof-bpf

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
