# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For tests in bare roots of Debian releases. Source it after tap.sh. Needs root, debootstrap and a mirror.

# root_make RELEASE FOLDER: a bare root with git and make
root_make() {
	local release=$1 script mirror
	# shellcheck disable=SC2016  # apt expands it
	mirror=$(apt-get indextargets --format '$(ORIGIN)/$(LABEL) $(REPO_URI)' 'Created-By: Packages' | awk '$1 == "Debian/Debian" { print $2; exit }')
	script=/usr/share/debootstrap/scripts/$release
	[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
	rm -rf "$2.new"
	check "$release: a bare root with git and make" debootstrap --variant=minbase --include=git,make "$release" "$2.new" "$mirror" "$script" || return
	rm -rf "$2.new"/var/cache/apt/archives/*.deb
	mv "$2.new" "$2"
}

# root_bare RELEASE FOLDER: a copy of one, which is made on first use; other tests wait for that.
root_bare() {
	local bare=${XRPROF_IMAGES:-/var/cache/xrprof-images}/bare-$1 lock made
	mkdir -p "${bare%/*}"
	exec {lock}>"$bare.lock"
	flock "$lock"
	[ -d "$bare" ] || root_make "$1" "$bare"
	made=$?
	exec {lock}>&-
	[ $made = 0 ] || return
	cp -a "$bare" "$2"
	cp /etc/resolv.conf "$2/etc/" 2>/dev/null || true
}

# in_root ROOT COMMAND...: with ROOT as its file system, /proc, /dev and /sys of this machine's kernel. (Not by chroot: what
# is in one may make no user namespace.)
in_root() {
	local root=$1
	shift
	# shellcheck disable=SC2016  # for the inner shell
	unshare --mount --fork --pid --kill-child sh -ec 'root=$1; shift
		mount --bind "$root" "$root"; mount -t proc proc "$root/proc"; mount --rbind /sys "$root/sys"; mount --rbind /dev "$root/dev"
		mkdir -p "$root/host"; cd "$root"; pivot_root . host
		exec "$@"' sh "$root" "$@"
}
