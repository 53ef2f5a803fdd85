#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# touches: build
# timeout: 1200
#
# usage: tests/slow/install.sh [DIST]
#
# A release as people install it, in bare roots of Debian 12 and 13 with R: the package and the static program run, profile
# an R, and are removed without a trace. DIST: the folder of `make dist`; without it, it is made.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/lib/tap.sh"
. "$here/lib/root.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
if [ "$(id -u)" -ne 0 ]; then
	skip "a bare root needs root" "installation"
	done_testing
	exit
fi
dist=${1:-$work/dist}
[ $# -gt 0 ] || check "a release is made" release_make "$dist" "$(uname -m)"
arch=$(dpkg --print-architecture)
mkdir "$work/install"
cp "$dist"/xrprof-bpf_*_"$arch".deb "$dist"/xrprof-bpf-*-linux-"$(uname -m)".tar.gz "$work/install/"
figure "package: $(stat -c %s "$work"/install/*.deb) bytes, tarball: $(stat -c %s "$work"/install/*.tar.gz)"

# In the root: PROGRAM prints what there is, and profiles an R.
cat >"$work/try" <<'SH'
set -e
program=$1 folder=$(mktemp -d)
cd "$folder"
echo 'work <- function(seconds) while (proc.time()[[1L]] < seconds) sum(as.numeric(1:1e5)) # of CPU time
cat("ready\n", file = "ready"); work(as.numeric(commandArgs(TRUE)))' >work.R
"$program" info
Rscript work.R 600 &
until [ -e ready ]; do sleep 0.1; done
"$program" list | grep -- '--file=work.R --args 600'
kill $!
"$program" -q --stats stats -o profile.folded -- Rscript work.R 2
grep -m 1 '^work' profile.folded
grep -o '"engine": *"[a-z]*"' stats
rm -r "$folder"
SH

# What is in a root, except what apt and dpkg keep of any package, and what programs cache or back up (etc/shadow-).
files_of() {
	(cd "$1" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./host -o -path ./var/cache -o -path ./var/log \
		-o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./tmp -o -path './etc/*-' \) -prune -o -print | LC_ALL=C sort)
}

# tries RELEASE WAY PROGRAM
tries() {
	in_root "$root" sh /tmp/install/try "$3" >"$work/out" 2>&1 </dev/null
	ok $? "$1, $2: info, list and a profile" || diag "$(cat "$work/out")"
	like "$(cat "$work/out")" 'You can profile every R process.*work.R.*work.*"engine": *"bpf"' "$1, $2: what they print"
}

for release in bookworm trixie; do
	root=$work/$release
	root_bare "$release" "$root" || continue
	cp -r "$work/install" "$work/try" "$root/tmp/"
	mv "$root/tmp/try" "$root/tmp/install/"
	in_root "$root" sh -ec 'apt-get -q update; DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends r-base-core systemd-standalone-sysusers' \
		>"$work/log" 2>&1 </dev/null
	ok $? "$release: R" || diag "$(tail -n 5 "$work/log")"
	files_of "$root" >"$work/before"

	began=$SECONDS
	in_root "$root" sh -ec 'cd /tmp/install; DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends ./xrprof-bpf_*.deb' \
		>"$work/log" 2>&1 </dev/null
	ok $? "$release: apt install ./xrprof-bpf_*.deb" || diag "$(tail -n 5 "$work/log")"
	# shellcheck disable=SC2016  # for dpkg-query
	figure "$release: installed in $((SECONDS - began)) s: $(in_root "$root" dpkg-query -W -f '${Installed-Size} KiB' xrprof-bpf)"
	tries "$release" package xrprof-bpf
	is "$(in_root "$root" dpkg-query -L xrprof-bpf | grep 'lib/systemd/system/.*xrprof-bpf.*[a-z]$' | sort | xargs)" \
		"/usr/lib/systemd/system/xrprof-bpf.service /usr/lib/systemd/system/xrprof-bpf.service.d /usr/lib/systemd/system/xrprof-bpf.service.d/debian-kernels.conf" \
		"$release: the unit and its drop-in"
	in_root "$root" apt-get -q purge -y xrprof-bpf >"$work/log" 2>&1 </dev/null
	ok $? "$release: apt purge" || diag "$(tail -n 5 "$work/log")"
	files_of "$root" >"$work/after"
	is "$(diff "$work/before" "$work/after")" "" "$release: nothing is left"

	in_root "$root" sh -c 'cd /opt && tar -xzf /tmp/install/xrprof-bpf-*.tar.gz'
	program=$(cd "$root" && echo opt/*/xrprof-bpf)
	tries "$release" "static program" "/$program"
	rm -r "${root:?}/${program%/*}"
	files_of "$root" >"$work/after"
	is "$(diff "$work/before" "$work/after")" "" "$release: nothing is left of it"
	rm -rf "$root"
done
done_testing
