#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: target session include
# timeout: 900
# engines: bpf
# alone: live
# images: static bullseye trixie sid
#
# One --all run over different R's: in containers with their own PID and mount namespaces, in a plain chroot, on an
# overlay file system, without libR.so, upgraded underneath, of an unknown version; and one on the host.
. "$(dirname "$0")/../lib/live.sh"
. "$tests/lib/all.sh"

declare -A pid_of version_of

# start PLACE NAME VERSION
start() {
	target_start "$1" all_spin "$2"
	TARGET_WRAP=()
	pid_of[$2]=$TARGET_PID version_of[$2]=$3
}

# Version of the R of an image, by its own DESCRIPTION.
version_in() {
	sed -n 's/^Version: //p' "$("$tests/images/get" "$1")"/{usr/lib/R/,}library/base/DESCRIPTION 2>/dev/null
}

# copy_r NAME: what starts next is the host's R with a copy of its libR.so that may be changed
copy_r() {
	mkdir -p "$WORK/$1/lib"
	cp /usr/lib/R/lib/libR.so "$WORK/$1/lib/"
	cp /usr/lib/R/bin/exec/R "$WORK/$1/R"
	# shellcheck disable=SC2016 # for the inner shell
	TARGET_WRAP=(env R_HOME=/usr/lib/R "LD_LIBRARY_PATH=$WORK/$1/lib" sh -c 'shift && exec "$0" "$@"' "$WORK/$1/R")
}

host_version=$(Rscript -e 'cat(as.character(getRversion()))')

# Two are there before the profiler, the others come later.
start host vhost "$host_version"
start bullseye vbullseye "$(version_in bullseye)"

all_start "$WORK/out" -a
ok $? "the profiler starts" || { done_testing; exit 1; }

for image in trixie sid static; do
	start $image v$image "$(version_in $image)"
done

# A plain chroot, on an overlay over an image: no namespaces at all.
mkdir -p "$WORK/small" "$WORK/merged"
mount -t tmpfs none "$WORK/small"
mkdir "$WORK/small/upper" "$WORK/small/work"
if mount -t overlay -o "lowerdir=$("$tests/images/get" bullseye),upperdir=$WORK/small/upper,workdir=$WORK/small/work" none "$WORK/merged"; then
	trap 'live_cleanup_overlay' EXIT
	live_cleanup_overlay() {
		live_kill KILL "${live_pids[@]}"
		sleep 0.2
		umount -l "$WORK/merged" # and what is mounted in it
		live_cleanup
	}
	mount -t proc none "$WORK/merged/proc"
	mkdir -p "$WORK/merged$WORK"
	mount --bind "$WORK" "$WORK/merged$WORK"
	TARGET_WRAP=(chroot "$WORK/merged")
	start host vchroot "${version_of[vbullseye]}"
else
	fail "an overlay file system can be mounted"
fi

# The package is upgraded while R runs: another file takes the name of its libR.so, the old one is deleted.
copy_r upgraded
start host vupgraded "$host_version"
cp "$("$tests/images/get" trixie)/usr/lib/R/lib/libR.so" "$WORK/upgraded/lib/new"
mv "$WORK/upgraded/lib/new" "$WORK/upgraded/lib/libR.so"

# An unknown version: the host's R with another number in it.
copy_r unknown
python3 - "$WORK/unknown/lib/libR.so" <<-'PY'
	import re, sys
	data = open(sys.argv[1], "rb").read()
	new, n = re.subn(rb"(\0minor\0)\d\.\d(\0year\0)2\d\d\d(\0)", rb"\g<1>9.9\g<2>2029\g<3>", data)
	assert n == 1 and len(new) == len(data), n
	open(sys.argv[1], "wb").write(new)
PY
start host vunknown "*.9.9"

enough() {
	local name
	for name in "${!pid_of[@]}"; do
		[ "$(folded_samples "$WORK/out" "${pid_of[$name]}" "${name}_inner")" -ge 20 ] || return 1
	done
}
wait_until 300 enough
prof_stop
is "$PROF_STATUS" 0 "the profiler ends"

for name in $(printf '%s\n' "${!pid_of[@]}" | sort); do
	pid=${pid_of[$name]}
	[ "$(folded_samples "$WORK/out" "$pid" "${name}_outer;${name}_inner")" -ge 20 ]
	ok $? "$name: sampled in its own functions" || diag "process $pid: $(cat "$WORK/out.err")"
	is "$(folded_pids "$WORK/out" "${name}_(inner|outer)")" "$pid" "$name: no other process has its functions"
	if [ "$name" = vunknown ]; then
		like "$(grep -E "process $pid \(" "$WORK/out.err")" "R [0-9]+\.9\.9 in " "$name: R ${version_of[$name]}"
		like "$(cat "$WORK/out.err")" \
			"R [0-9]+\.9\.9 \\(process $pid\\) is not in the table of layouts" \
			"$name: the guess is reported"
	else
		like "$(grep -E "process $pid \(" "$WORK/out.err")" "R ${version_of[$name]//./\\.} in " \
			"$name: R ${version_of[$name]}"
	fi
done
figure "versions in one run: $(for name in $(printf '%s\n' "${!pid_of[@]}" | sort); do
	printf '%s R %s: %s samples; ' "${name#v}" "${version_of[$name]}" "$(folded_samples "$WORK/out" "${pid_of[$name]}")"
done)"
check_stats "$WORK/out.stats" "versions"
is "$(unread_of "$WORK/out.stats")" 0 "nothing was unreadable"
done_testing
