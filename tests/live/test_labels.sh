#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: output target session
# timeout: 300
# else: ptrace
#
# What `serve` reports of processes: their services, when they started, and what of their
# environment was asked for; and what else is in their environment nowhere. (Each rule: unit:target/describe.)
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/serve.sh"

# tags [LABEL]: the labels of the samples with this one (of all samples) in all files, as "key=value" lines
tags() {
	# shellcheck disable=SC2046 # names without blanks
	python3 "$tests/lib/raw_pprof.py" "${1-=}" $(intervals_in "$dir") | cut -f1
}

# has TEXT LINE...: are these lines in it?
has() {
	local line
	for line in "${@:2}"; do
		grep -qxF -- "$line" <<<"$1" || return 1
	done
}

# of PID: its labels, except pid, thread and host
of() {
	tags "pid=$1" | grep -vE '^(pid|thread|host)='
}

TARGET_WRAP=(env XRPROF_TEAM=blue XRPROF_ENV=prod XRPROF_SECRET=s3cret)
target_start host spin
blue=$TARGET_PID
TARGET_WRAP=(env XRPROF_TEAM=$'re\ed' bwrap --dev-bind / / --unshare-pid --die-with-parent)
target_start host spin
red=$TARGET_PID
TARGET_WRAP=()

dir=$WORK/own
serve_start --dir "$dir" --interval "$(long_interval)" -F 199 --max-cpu 0 --pid "$blue,$red" --host lab --label site=here \
	--label-env XRPROF_TEAM=team --label-env XRPROF_ENV
ok $? "serve starts"
written() {
	kill -USR1 "$SERVE_PID"
	has "$(tags)" "$@"
}
check "both are in its files, with what their environment says" wait_until 60 written "pid=$blue" "pid=$red" team=blue 'team=re?d'
serve_stop
is "$SERVE_STATUS" 0 "it ends"
said=$(of "$blue") said_red=$(of "$red")
check "its name, its service, which is the script, the label of the run, and a variable under its own name" \
	has "$said" process=R service=spin.R site=here xrprof_env=prod || diag "$said"
like "$(grep ^r_version= <<<"$said")" "^r_version=[0-9]+\.[0-9]+\.[0-9]+$" "R's version"
began=$(($(awk '/^btime/ { print $2 }' /proc/stat) + $(sed 's/.*) //' "/proc/$blue/stat" | cut -d' ' -f20) / $(getconf CLK_TCK)))
off=$((began - $(sed -n "s/^started=//p" <<<"$said")))
check "when it started" [ "${off#-}" -le 2 ] || diag "$said"
is "$(grep ^container= <<<"$said")" "" "it is in no container"
is "$(grep ^container= <<<"$said_red")" "container=ns:$(readlink "/proc/$red/ns/pid" | tr -dc 0-9)" "the sandbox is one"
is "$(grep ^xrprof_env= <<<"$said_red")" "" "an unset variable is not a label"
check "the machine" has "$(tags)" host=lab
check "nothing else of the environment is anywhere" eval '! { cat "$SERVE_ERR"; zcat "$dir"/*; } | grep -qaE "s3cret|XRPROF_SECRET"'
like "$(zcat "$dir"/index-*.jsonl.gz)" '"command": ?"[^"]*spin\.R' "the index has the command lines"

dir=$WORK/fixed
serve_start --dir "$dir" --interval "$(long_interval)" -F 199 --max-cpu 0 --pid "$blue" --service shop --label-env XRPROF_TEAM=service
check "--service: it is the service" wait_until 60 written service=shop
serve_stop
is "$(tags | grep ^service=)" service=shop "--service: and nothing else is"
done_testing
