# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154
#
# For live tests of `serve`. Source it after live.sh.

# long_interval: an --interval that does not end for ten minutes. (One ends at the multiples of its length since 1970.)
long_interval() {
	local now seconds
	now=$(date +%s)
	for ((seconds = 3600; seconds - now % seconds < 600; seconds += 997)); do :; done
	echo "$seconds"
}

# serve_start ARG...: in the background, what it says in SERVE_ERR, and wait until it samples. Sets SERVE_PID.
serve_count=0
serve_start() {
	serve_count=$((serve_count + 1))
	SERVE_ERR=$WORK/serve$serve_count.err
	: >"$SERVE_ERR"
	env --default-signal "$XRPROF" serve -e "$XRPROF_ENGINE" "$@" >"$WORK/serve$serve_count.out" 2>"$SERVE_ERR" </dev/null &
	SERVE_PID=$!
	live_pids+=("$SERVE_PID")
	wait_until 120 eval 'grep -q ": profiling" "$SERVE_ERR" || gone "$SERVE_PID"'
	if ! alive "$SERVE_PID"; then
		diag "serve ended early: $(cat "$SERVE_ERR")"
		return 1
	fi
}

# serve_says PATTERN [SECONDS]: wait until it has said a line like that.
serve_says() {
	wait_until "${2:-60}" grep -qE -- "$1" "$SERVE_ERR"
}

# serve_front: the process that writes and sends.
serve_front() {
	local pid
	for pid in $(pgrep -P "$SERVE_PID"); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != xrprof-front ] || echo "$pid"
	done
}

# serve_stop [SIGNAL]: end it, and wait for that. Sets SERVE_STATUS.
serve_stop() {
	live_kill "${1:-TERM}" "$SERVE_PID"
	if ! wait_until 120 gone "$SERVE_PID"; then
		diag "serve did not end: $(cat "$SERVE_ERR")"
		kill -KILL "$SERVE_PID"
	fi
	wait "$SERVE_PID"
	SERVE_STATUS=$?
}

# serve_summary: the number of samples in the last summary line.
serve_summary() {
	sed -nE 's/.*: ([0-9]+) samples? (of|=|\().*/\1/p' "$SERVE_ERR" | tail -n 1
}

# intervals_in DIR: files of intervals, the oldest first.
intervals_in() {
	find "$1" -maxdepth 1 -name '2*.pb.gz' | LC_ALL=C sort
}

# have N: are N intervals or more in the directory $dir?
have() {
	[ "$(intervals_in "$dir" | wc -l)" -ge "$1" ]
}

# sum_of TYPE FILE...: all values of the sample type
sum_of() {
	python3 "$tests/lib/raw_pprof.py" "$@"
}

# count_of FILE...: samples in them
count_of() {
	sum_of samples "$@"
}

# samples_of DIR: of all files of intervals
samples_of() {
	# shellcheck disable=SC2046 # names without blanks
	count_of $(intervals_in "$1")
}

# raw FILE: what pprof's reader makes of its samples, their types first
raw() {
	go tool pprof -raw "$1" 2>/dev/null | sed -n '/^Samples:/,/^Locations/p' | sed '1d;$d'
}

# receiver_start NAME [CERTIFICATE KEY]: a server that keeps what it gets in the folder NAME, at the
# port that it had before, with its pid in NAME/pid. receiver_stop NAME... receiver_url NAME: where it is.
receiver_start() {
	local dir=$WORK/$1 port
	mkdir -p "$dir"
	mv -f "$dir/port" "$dir/port.kept" 2>/dev/null
	port=$(cat "$dir/port.kept" 2>/dev/null || echo 0)
	PORT=$port /usr/bin/python3 "$tests/lib/receiver.py" "$dir" "${@:2}" 2>>"$dir/errors" &
	echo $! >"$dir/pid"
	live_pids+=("$!")
	wait_until 60 test -s "$dir/port" || bail "the server does not start: $(cat "$dir/errors")"
}
receiver_stop() {
	local name
	for name; do
		live_kill TERM "$(cat "$WORK/$name/pid")"
		wait "$(cat "$WORK/$name/pid")" 2>/dev/null
	done
}
receiver_url() {
	echo "http://127.0.0.1:$(cat "$WORK/$1/port")"
}
