#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: cmd os
# timeout: 300
# engines: bpf
#
# usage: tests/live/test_demo.sh [RELEASE...]
#
# The first contact: `make demo` ends with the page, as root, as a user without sudo, with the capabilities that Docker
# gives, in a user namespace, and where the system call bpf is refused. Without RELEASE on this machine, with what is
# built. With RELEASE (bookworm, trixie, sid) in a bare root of each, where it installs and builds everything first; it
# prints how long that took and what it installed.
. "$(dirname "$0")/../lib/live.sh"
. "$lib/root.sh"

unset R_DEFAULT_PACKAGES # live.sh sets it: R as people start it
fixture "$WORK/refuse" refuse.c -Wall -Wextra -Werror -static

# What containers get by default from Docker (moby, oci/caps/defaults.go).
docker=chown,dac_override,fsetid,fowner,mknod,net_raw,setgid,setuid,setfcap,setpcap,net_bind_service,sys_chroot,kill,audit_write
docker_caps=-all,+${docker//,/,+}

ways="root user docker namespace refused"
# way__argv WAY REFUSE: sets argv, what a command is put behind.
way__argv() {
	case $1 in
	root) argv=() ;;
	user) argv=(setpriv --reuid 4321 --regid 4321 --clear-groups) ;;
	docker) argv=(setpriv --bounding-set "$docker_caps" --inh-caps "$docker_caps") ;;
	namespace) argv=(unshare --user --map-root-user) ;;
	refused) argv=("$2" EPERM bpf) ;;
	esac
}

# page__check WAY STATUS LOG PAGE
page__check() {
	is "$2" 0 "$1: the demo ends well" || diag "$(tail -n 40 "$3")"
	like "$(tail -n 12 "$3")" "Open this page.* -p PID -d 30" "$1: it ends with the page and what to do next"
	grep -q running_total "$4" && grep -q "The careless one" "$4"
	ok $? "$1: the page has the program's functions and its source"
}

if [ $# -eq 0 ]; then
	chmod 755 "$WORK"
	for way in $ways; do
		install -d -m 0777 "$WORK/$way"
		way__argv "$way" "$WORK/refuse"
		"${argv[@]}" env BUILD="$BUILD" HOME="$WORK/$way" XRPROF_DEMO_SECONDS=2 "$tests/../tools/demo" "$WORK/$way" >"$WORK/$way.log" 2>&1 </dev/null
		page__check "$way" $? "$WORK/$way.log" "$WORK/$way/profile.html"
	done
	done_testing
	exit
fi

for release; do
	root=$WORK/$release
	root_bare "$release" "$root" || continue
	cp "$WORK/refuse" "$root/usr/local/bin/"
	git -c safe.directory='*' clone -q "$tests/.." "$root/root/xrprof"
	before=$(root_size "$root") began=$SECONDS
	for way in $ways; do
		home=/root
		if [ "$way" = user ]; then
			home=/home/user
			cp -a "$root/root" "$root$home"
			chown -R 4321:4321 "$root$home"
		fi
		rm -rf "$root$home/xrprof/build/demo"
		way__argv "$way" /usr/local/bin/refuse
		in_root "$root" env -u BUILD sh -c 'cd "$0/xrprof" && HOME=$0 && exec "$@"' "$home" "${argv[@]}" make demo >"$WORK/$way.log" 2>&1 </dev/null
		page__check "$release, $way" $? "$WORK/$way.log" "$root$home/xrprof/build/demo/profile.html"
		[ "$way" != root ] || figure "$release: $((SECONDS - began)) s, $(($(root_size "$root") - before)) MB: $(sed -n 's|^\([12]/4.*\)$|\1;|p' "$WORK/root.log" | xargs)"
	done
	rm -rf "$root"
done
done_testing
