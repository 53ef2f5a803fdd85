#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: cmd session output
#
# The command line from outside: exit status, what goes where, commands. How a profile ends is in test_ends.sh, several
# processes are in test_errors.sh.
# timeout: 600
# else: ptrace vmread
. "$(dirname "$0")/../lib/live.sh"

# --- without a target ---

# The output is not touched when there is nothing to profile.
echo precious >"$WORK/precious"
run -p $$ -o "$WORK/precious"
is "$(cat "$WORK/precious")" precious "a failed start leaves the output alone"

# --- with a target ---

target_start host spin

# samples FILE: it has that many stacks or more, all below outer()
below_outer() {
	[ "$(samples_in "$1")" -ge "$2" ] && ! sed 1d "$1" | grep -v '"outer" $'
}

# Output follows the program: samples are there while it runs. The terminal goes away.
prof_start "$WORK/hup.out" -p "$TARGET_PID" -F 199
check "samples are written as they come" wait_until 60 below_outer "$WORK/hup.out" 5
kill -USR1 "$PROF_PID"
check "SIGUSR1 prints the state" wait_until 60 grep -qE ' samples? (of|=) ' "$WORK/hup.out.err"
check "and writes the statistics" wait_until 60 test -s "$WORK/hup.out.stats"
kill -HUP "$PROF_PID"
check "SIGHUP begins a new file" wait_until 60 below_outer "$WORK/hup.1.out" 1
alive "$PROF_PID"
ok $? "SIGHUP of a process ends nothing"
prof_stop
is "$PROF_STATUS" 0 "SIGHUP: exit status"
check_rprof "$WORK/hup.out" "SIGHUP"
check_stats "$WORK/hup.out.stats" "SIGHUP"
is $(($(samples_in "$WORK/hup.out") + $(samples_in "$WORK/hup.1.out"))) "$(stat_of "$WORK/hup.out.stats" written)" \
	"SIGHUP: each sample is in one of two files"
like "$(tail -n 1 "$WORK/hup.out.err")" '[0-9]+ samples? = [0-9.]+ s of (CPU|wall time) in [0-9.]+ s; (none|[0-9]+) lost' "a summary ends it"

# Everything but the profile goes to stderr, and --quiet silences it.
run -e "$XRPROF_ENGINE" -q -p "$TARGET_PID" -d 0.5
is "$STATUS" 0 "--quiet: exit status"
is "$ERR" "" "--quiet: nothing on stderr"
like "$OUT" '^sample\.interval=10101' "the profile is on stdout"

run -e "$XRPROF_ENGINE" -p "$TARGET_PID" -d 0.2 -o "$WORK/ok.out" --stats /dev/full
is "$STATUS" 1 "--stats that cannot be written: exit status"

# --- a command ---

# seen FILE: an R program that computes in f() until it is in that profile
seen() {
	echo "f <- function(n) if (n < 2) n else f(n - 1) + f(n - 2);" \
		"while (!file.exists('$1') || !any(grepl('\"f\" \"f\"', readLines('$1', warn = FALSE), fixed = TRUE))) f(18)"
}
program="$(seen "$WORK/out"); cat('said\n')"
run -e "$XRPROF_ENGINE" -F 499 -- R --vanilla --no-echo -e "$program"
is "$STATUS" 0 "command: exit status"
like "$OUT" '"f" "f"' "command: profiled"
is "$(printf '%s\n' "$OUT" | grep -c said)" 0 "command: its output is not in the profile"
like "$ERR" 'said' "command: it goes to stderr instead"
program="$(seen "$WORK/command.out"); cat('said\n')"
run -e "$XRPROF_ENGINE" -o "$WORK/command.out" -- R --vanilla --no-echo -e "$program; quit(status = 3)"
is "$STATUS" 3 "command that fails: its exit status is ours"
is "$OUT" said "command, -o: it has stdout"
like "$ERR" 'status 3' "command that fails: reported"
run -e "$XRPROF_ENGINE" -o "$WORK/command.out" -- "$WORK/no-such-command"
is "$STATUS" 1 "command that is not there: exit status"
like "$ERR" 'no-such-command: No such file' "command that is not there: reported"
run -e "$XRPROF_ENGINE" -o "$WORK/command.out" -- sleep 0.1
is "$STATUS" 1 "command without R: exit status"
like "$ERR" 'ended before R was found in it or its descendants; .* --all or -p PID' "command without R: the reason"

# R is found whatever starts it.
printf '%s\n' "$program" >"$WORK/program.R"
wrapped() {
	rm -f "$WORK/command.out"
	run -e "$XRPROF_ENGINE" -F 499 -o "$WORK/command.out" -- "$@"
}
cd "$WORK" || exit
wrapped timeout 100 sh -c 'Rscript --vanilla program.R; exit 4'
is "$STATUS" 4 "timeout sh: the status is that of the command"
check "timeout sh: profiled" grep -q '"f" "f"' command.out
sed 's/\<f\>/g/g' program.R >second.R
wrapped sh -c 'Rscript --vanilla program.R; Rscript --vanilla second.R; kill -TERM $$'
is "$STATUS" 143 "two programs: 128 and the signal's number"
like "$ERR" 'killed by signal 15' "two programs: this is reported"
check "two programs: the first" grep -q '"f" "f"' command.out
check "two programs: and the second" grep -q '"g" "g"' command.out
like "$ERR" '2 R programs are in one profile; -o DIR/ writes one file for each' "two programs: this is reported"

is "$(prlimit --nofile=123:200 "$XRPROF" -q -o /dev/null -- sh -c 'ulimit -Sn' 2>/dev/null)" 123 "command: it has the caller's limit of files"

# -s -p PID of what is not R itself.
mkfifo go
seen "$WORK/shell.out" >shell.R
sh -c 'cat <go; Rscript --vanilla shell.R; true' >/dev/null &
shell_pid=$!
live_pids+=("$shell_pid")
prof_start_whole "$WORK/shell.out" -F 499 -s -p "$shell_pid"
ok $? "-s -p of a shell: it begins"
: >go
prof_wait
is "$PROF_STATUS" 0 "-s -p of a shell: exit status" || diag "$(cat "$PROF_OUT.err")"
check "-s -p of a shell: the R below it is profiled" grep -q '"f" "f"' "$PROF_OUT"
cd / || exit

# dump -s: what a process started.
sh -c 'Rscript --vanilla -e "cat(Sys.getpid(), file = \"'"$WORK/below"'\"); repeat sqrt(2)"; true' &
shell_pid=$!
live_pids+=("$shell_pid")
wait_until 60 test -s "$WORK/below"
live_pids+=("$(cat "$WORK/below")")
dumped() {
	run dump -s "$shell_pid"
	[ $STATUS -eq 0 ] && [ "$(printf '%s\n' "$OUT" | grep -c "^process $(cat "$WORK/below")\b")" = 1 ]
}
check "dump -s: the R that a shell started" wait_until 60 dumped || diag "$OUT $ERR"

# Under sudo the command runs as the caller.
SUDO_USER=$(id -nu 65534)
export SUDO_UID=65534 SUDO_GID=65534 SUDO_USER
chmod 755 "$WORK"
rm -f "$WORK/command.out" # what is in it would end the program at once
run -o "$WORK/command.out" -e "$XRPROF_ENGINE" -- Rscript --vanilla -e "system('id -u'); $(seen "$WORK/command.out")"
is "$STATUS $OUT" "0 65534" "sudo: the command runs as the caller" || diag "$ERR"
like "$ERR" "Rscript runs as $SUDO_USER \\(uid 65534\\), who called sudo; --as-root" \
	"sudo: reported"
is "$(stat -c %u "$WORK/command.out")" 0 "sudo: the profile is written as before"
run -o "$WORK/command.out" -e "$XRPROF_ENGINE" --as-root -- Rscript --vanilla -e 'system("id -u")'
is "$OUT" 0 "sudo: --as-root"
unset SUDO_UID SUDO_GID SUDO_USER

done_testing
