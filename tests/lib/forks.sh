# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154
#
# For live tests of many processes at once. Source it after live.sh.

# forks_start N: an R that forks N children, which wait in idle_f(); returns when all are there. Sets pids, and parent.
forks_start() {
	mkdir "$WORK/forks"
	cat >"$WORK/forks.R" <<-R
		for (i in seq_len($1)) {
		    p <- parallel:::mcfork(FALSE)
		    if (inherits(p, "masterProcess")) {
		        idle_f <- function() repeat Sys.sleep(1000)
		        idle_f()
		    }
		    cat(p\$pid, "\n", file = "$WORK/forks/pids", append = TRUE)
		}
		file.create("$WORK/forks/ready")
		Sys.sleep(10000)
	R
	R --vanilla --no-echo -f "$WORK/forks.R" >"$WORK/forks/out" 2>&1 </dev/null &
	parent=$!
	live_pids+=("$parent")
	wait_until 120 test -e "$WORK/forks/ready" || bail "R does not fork: $(cat "$WORK/forks/out")"
	mapfile -t pids < <(tr -d ' ' <"$WORK/forks/pids")
	live_pids+=("${pids[@]}")
}
