#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: cmd os
# timeout: 300
# engines: bpf
#
# The first contact: `make demo` ends with the page, as root, as a user without sudo, with the capabilities that Docker
# gives, in a user namespace, and where the system call bpf is refused. (In bare roots a release is installed: slow:install.)
. "$(dirname "$0")/../lib/live.sh"

unset R_DEFAULT_PACKAGES # live.sh sets it: R as people start it
fixture "$WORK/refuse" refuse.c -Wall -Wextra -Werror

# What containers get by default from Docker (moby, oci/caps/defaults.go).
docker=chown,dac_override,fsetid,fowner,mknod,net_raw,setgid,setuid,setfcap,setpcap,net_bind_service,sys_chroot,kill,audit_write
docker_caps=-all,+${docker//,/,+}

chmod 755 "$WORK"
for way in root user docker namespace refused; do
	install -d -m 0777 "$WORK/$way"
	case $way in
	root) argv=() ;;
	user) argv=(setpriv --reuid 4321 --regid 4321 --clear-groups) ;;
	docker) argv=(setpriv --bounding-set "$docker_caps" --inh-caps "$docker_caps") ;;
	namespace) argv=(unshare --user --map-root-user) ;;
	refused) argv=("$WORK/refuse" EPERM bpf) ;;
	esac
	"${argv[@]}" env BUILD="$BUILD" HOME="$WORK/$way" XRPROF_DEMO_SECONDS=2 "$tests/../tools/demo" "$WORK/$way" >"$WORK/$way.log" 2>&1 </dev/null
	is $? 0 "$way: the demo ends well" || diag "$(tail -n 40 "$WORK/$way.log")"
	like "$(tail -n 12 "$WORK/$way.log")" "Open this page.* -p PID -d 30" "$way: it ends with the page and what to do next"
	grep -q running_total "$WORK/$way/profile.html" && grep -q "The careless one" "$WORK/$way/profile.html"
	ok $? "$way: the page has the program's functions and its source"
done
done_testing
