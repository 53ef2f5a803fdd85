#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: bpf engine/bpf profile session
# engines: bpf
# timeout: 400
#
# A program that sleeps, reads a slow pipe, asks a database on a slow disk and a PostgreSQL server, downloads from a slow
# server, waits for a child and for a lock, and measures itself how long: each stack has its time, and CPU time and waiting
# add up to the time that passed.
. "$(dirname "$0")/../lib/live.sh"
export WORK
needs file /usr/lib/postgresql
needs file /usr/include/fuse3/fuse.h
needs r-package RPostgreSQL
needs r-package RSQLite

cat >"$WORK/server.py" <<-'PY'
	import http.server, sys, time

	class Slow(http.server.BaseHTTPRequestHandler):
	    def do_GET(self):
	        time.sleep(0.2)
	        self.send_response(200)
	        self.send_header("Content-Length", "5")
	        self.end_headers()
	        time.sleep(0.2)
	        self.wfile.write(b"late\n")

	    def log_message(self, *args):
	        pass

	server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
	with open(sys.argv[1] + ".tmp", "w") as f:
	    f.write(str(server.server_address[1]))
	import os
	os.rename(sys.argv[1] + ".tmp", sys.argv[1])
	server.serve_forever()
PY
python3 "$WORK/server.py" "$WORK/port" 2>"$WORK/server.err" &
live_pids+=("$!")
wait_until 60 test -s "$WORK/port" || bail "no server: $(cat "$WORK/server.err")"
check "the lock builds" cc -O1 -shared -fPIC -pthread -o "$WORK/lock.so" "$tests/fixtures/lock.c"

# A PostgreSQL server of the test's own, at a socket in its folder. At SIGQUIT it ends what it has started, and frees its
# shared memory.
postgres_pid=
end_waiting() {
	if [ -n "$postgres_pid" ]; then
		kill -QUIT "$postgres_pid" 2>/dev/null
		wait_until 60 gone "$postgres_pid"
	fi
	umount -l "$WORK/disk" 2>/dev/null
	live_cleanup
}
trap end_waiting EXIT
postgres=$WORK/postgres
initdb=(/usr/lib/postgresql/*/bin/initdb)
programs=$(dirname "${initdb[-1]}")
as_postgres=(env -C "$postgres" setpriv --reuid=postgres --regid=postgres --clear-groups)
chmod 711 "$WORK"
install -d -o postgres -g postgres "$postgres" || bail "no PostgreSQL: run tools/install-deps test"
"${as_postgres[@]}" "$programs/initdb" -D "$postgres/data" -U postgres -A trust -N >"$WORK/postgres.err" 2>&1 ||
	bail "no PostgreSQL: $(cat "$WORK/postgres.err")"
"${as_postgres[@]}" "$programs/postgres" -D "$postgres/data" -c listen_addresses= -c unix_socket_directories="$postgres" \
	-c fsync=off >"$WORK/postgres.err" 2>&1 </dev/null &
postgres_pid=$!
live_pids+=("$postgres_pid")
wait_until 60 "$programs/pg_isready" -q -h "$postgres" || bail "PostgreSQL does not answer: $(cat "$WORK/postgres.err")"

mkdir "$WORK/files" "$WORK/disk"
database=$WORK/disk/data.sqlite
# shellcheck disable=SC2046
check "the slow disk builds" cc -O1 -o "$WORK/slow_fs" "$tests/fixtures/slow_fs.c" $(pkg-config --cflags --libs fuse3)
"$WORK/slow_fs" "$WORK/files" 15 "$WORK/disk" 2>"$WORK/fs.err" &
disk_pid=$!
live_pids+=("$disk_pid")
if [ ! -c /dev/fuse ]; then
	diag "no FUSE file systems here: the disk is as fast as it is"
	database=$WORK/files/data.sqlite
elif ! wait_until 60 eval 'mountpoint -q "$WORK/disk" || gone "$disk_pid"' || ! mountpoint -q "$WORK/disk"; then
	bail "the slow disk is not mounted: $(cat "$WORK/fs.err")"
fi

freq=997 rounds=5
target_start host waiting "http://127.0.0.1:$(cat "$WORK/port")" "$database" "$WORK/lock.so" "$postgres" "$rounds"
prof_start_whole "$WORK/waits.pb.gz" --off-cpu --native -f pprof -F "$freq" -p "$TARGET_PID"
wait_until 60 grep -q "^State:.*sleeping" "/proc/$TARGET_PID/status"
before=$(stolen_ticks)
target_go
check "the program ends" target_await_done
stolen=$(($(stolen_ticks) - before))
prof_stop
is "$PROF_STATUS" 0 "exit status 0" || diag "$(cat "$PROF_OUT.err")"
check_stats "$PROF_OUT.stats" "waiting"
is "$(unread_of "$PROF_OUT.stats")" 0 "every stack was read" || diag "$(cat "$PROF_OUT.stats")"
is "$(stat_of "$PROF_OUT.stats" lost)" 0 "and none lost"
python3 "$tests/live/waiting.py" "$PROF_OUT" "$PROF_OUT.stats" "$TARGET_DIR/measured" "$TARGET_PID" "$freq" "$stolen" >"$WORK/said"
status=$?
while IFS= read -r line; do
	case $line in
	"ok "*) ok 0 "${line#ok }" ;;
	"not ok "*) ok 1 "${line#not ok }" ;;
	*) figure "$line" ;;
	esac
done <"$WORK/said"
is "$status" 0 "all was compared"
target_kill
done_testing
