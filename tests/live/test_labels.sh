#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: output target session
# timeout: 300
# else: ptrace
#
# What `serve` reports of processes: their services, when they started, and what of their
# environment was asked for; and what else is in their environment nowhere.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

# labels_of LABEL FILE...: all labels of the samples with this one ("=": of all samples), as
# "key=value" lines with the number of samples
labels_of() {
	python3 "$tests/lib/raw_pprof.py" "$@"
}

# tags [LABEL]: the labels in all files, as "key=value" lines
tags() {
	# shellcheck disable=SC2046 # names without blanks
	labels_of "${1-=}" $(intervals_in "$dir") | cut -f1
}

# has LINE...: are these among the labels?
has() {
	local line all
	all=$(tags)
	for line; do
		grep -qxF -- "$line" <<<"$all" || return 1
	done
}

# of PID: its labels, except pid, thread and host
of() {
	tags "pid=$1" | grep -vE '^(pid|thread|host)='
}

# line TEXT PATTERN WHAT, no_line TEXT PATTERN WHAT: is there such a line in it?
line() {
	check "$3" grep -qE -- "$2" <<<"$1" || diag "$1"
}
lacks() {
	! grep -qE -- "$1"
}
no_line() {
	check "$3" lacks "$2" <<<"$1" || diag "$1"
}

TARGET_WRAP=(env XRPROF_TEAM=blue XRPROF_ENV=prod XRPROF_SECRET=s3cret)
target_start host spin
blue=$TARGET_PID
TARGET_WRAP=(env XRPROF_TEAM=$'re\ed' bwrap --dev-bind / / --unshare-pid --die-with-parent)
target_start host spin
red=$TARGET_PID
TARGET_WRAP=()

# --- what each says ---

dir=$WORK/own
serve_start --dir "$dir" --interval "$(long_interval)" -F 199 --max-cpu 0 --pid "$blue,$red" --host lab --label site=here \
	--label-env XRPROF_TEAM=team --label-env XRPROF_ENV
ok $? "serve starts"
written() {
	kill -USR1 "$SERVE_PID"
	has "$@"
}
check "both are in its files, with what their environment says" wait_until 60 written "pid=$blue" "pid=$red" team=blue 'team=re?d'
serve_stop
is "$SERVE_STATUS" 0 "it ends"
started=$(awk '/^btime/ { print $2 }' /proc/stat)
started=$((started + $(sed 's/.*) //' "/proc/$blue/stat" | cut -d' ' -f20) / $(getconf CLK_TCK)))
said=$(of "$blue")
line "$said" "^process=R$" "its name"
line "$said" "^r_version=[0-9]+\.[0-9]+\.[0-9]+$" "R's version"
line "$said" "^service=spin\.R$" "its service is the script"
line "$said" "^site=here$" "the label of the run"
line "$said" "^xrprof_env=prod$" "a variable under its own name"
check "when it started" eval '[ $((started - $(sed -n "s/^started=//p" <<<"$said"))) -ge -2 ] && [ $((started - $(sed -n "s/^started=//p" <<<"$said"))) -le 2 ]'
no_line "$said" "container=" "it is in no container"
line "$(of "$red")" "^container=ns:$(readlink "/proc/$red/ns/pid" | tr -dc 0-9)$" "the sandbox is one"
no_line "$(of "$red")" "xrprof_env=" "an unset variable is not a label"
check "the machine" has host=lab
check "nothing else of the environment is anywhere" eval '! { cat "$SERVE_ERR"; zcat "$dir"/*; } | grep -qaE "s3cret|XRPROF_SECRET"'
line "$(zcat "$dir"/index-*.jsonl.gz)" '"command": ?"[^"]*spin\.R' "the index has the command lines"

# --- one service for all; and reading it back ---

dir=$WORK/fixed
serve_start --dir "$dir" --interval "$(long_interval)" -F 199 --max-cpu 0 --pid "$blue" --service shop --label-env XRPROF_TEAM=service
ok $? "serve starts with --service"
check "it is the service" wait_until 60 written service=shop
serve_stop
no_line "$(tags)" "service=blue" "and nothing else is"
file=$(intervals_in "$dir" | tail -n 1)
"$XRPROF" report "$file" -o "$WORK/again.pb.gz" 2>"$WORK/report.err"
is $? 0 "report writes it again" || diag "$(cat "$WORK/report.err")"
is "$(labels_of "=" "$WORK/again.pb.gz")" "$(labels_of "=" "$file")" "with all its labels"
done_testing
