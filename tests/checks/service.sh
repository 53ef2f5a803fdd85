#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The configuration file of the service has every option of `serve`, and no other; what it says as it is, and each of its examples by
# itself, are understood. The manifest for Kubernetes has the capabilities of the unit, and so has the container; both do without AppArmor's profile.
. "$(dirname "$0")/../lib/tap.sh"

program=${BUILD:-build}/xrprof-bpf
conf=tools/systemd/xrprof-bpf.conf
unit=tools/systemd/xrprof-bpf.service
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# NAME of each `NAME`, `NAME = VALUE`, and the same behind #: examples have no blank after it.
named=$(sed -nE 's/^#?([a-z][a-z-]*)( = .*)?$/\1/p' "$conf" | sort -u)
options=$("$program" serve --help | sed -nE 's/^ {2}(-.,| {3}) --([a-z-]+).*/\2/p' | grep -vxE 'config|help' | sort -u)
[ -n "$options" ]
ok $? "serve has options"
is "$named" "$options" "$conf has all of them"

# understood FILE: what is wrong with it is not what it says
understood() {
	local said
	# no process has this pid: serve exits before it does anything
	said=$("$program" serve --config "$1" --pid 999999999 2>&1)
	case $said in
	*"$1, line"*) diag "$said" && return 1 ;;
	esac
}
sed "s|/var/lib/xrprof-bpf|$work/out|" "$conf" >"$work/conf"
check "it is understood as it is" understood "$work/conf"
while read -r line; do
	printf 'dir = %s/out\n%s\n' "$work" "${line#\#}" | sed "s|/var/lib/xrprof-bpf|$work|; s|/run/xrprof-bpf|$work|" >"$work/conf"
	check "${line#\#}" understood "$work/conf"
done < <(grep -E '^#[a-z][a-z-]*( = .*)?$' "$conf" | grep -vE '^#(pid|exclude-pid|all) ?')

caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit" | sed 's/CAP_//g')
is "$(sed -n 's/^ *add: \[\(.*\)\]/\1/p' tools/kubernetes/xrprof-bpf.yaml | tr -d '",')" "$caps" "Kubernetes: the capabilities of the unit"
is "$(grep -oE 'cap-add=[A-Z_]+' tools/container/Dockerfile | sed 's/.*=//' | xargs)" "$caps" "the container: the same"
# Elsewhere than in the unit AppArmor's own profile of containers lets no process outside be read.
check "Kubernetes: no profile of AppArmor" eval 'grep -A 1 "^ *appArmorProfile:$" tools/kubernetes/xrprof-bpf.yaml | grep -q "type: Unconfined$"'
for file in tools/container/Dockerfile docs/guide/deployment.md; do
	check "$file: none either" grep -q -- '--security-opt apparmor=unconfined' "$file"
done
if command -v systemd-analyze >/dev/null; then
	systemd-analyze security --offline=true --threshold=30 "$unit" >"$work/security" 2>&1
	ok $? "systemd-analyze security: $(tail -n 1 "$work/security" | grep -oE '[0-9]+\.[0-9]+')" || diag "$(tail -n 1 "$work/security")"
fi
done_testing
