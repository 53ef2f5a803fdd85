# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# For tests in bare roots of Debian releases. Source it after tap.sh. Needs root, debootstrap and a mirror.

# root_bare RELEASE FOLDER: a copy of a bare root with git and make, which is made on first use.
root_bare() {
	local release=$1 bare=${XRPROF_IMAGES:-/var/cache/xrprof-images}/bare-$1 script mirror
	if [ ! -d "$bare" ]; then
		# shellcheck disable=SC2016  # apt expands it
		mirror=$(apt-get indextargets --format '$(ORIGIN)/$(LABEL) $(REPO_URI)' 'Created-By: Packages' | awk '$1 == "Debian/Debian" { print $2; exit }')
		script=/usr/share/debootstrap/scripts/$release
		[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
		check "$release: a bare root with git and make" debootstrap --variant=minbase --include=git,make "$release" "$bare.new" "$mirror" "$script" || return
		rm -rf "$bare.new"/var/cache/apt/archives/*.deb
		mv "$bare.new" "$bare"
	fi
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

# root_size ROOT: MiB
root_size() {
	du -smx "$1" | cut -f1
}
