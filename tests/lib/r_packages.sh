# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # live.sh sets them
#
# For live tests with R packages of their own. Source it after live.sh.

# package_install PLACE NAME SOURCE NAMESPACE OPTION...: install package NAME, whose one file of R code is
# tests/live/r/SOURCE and whose exports are the lines NAMESPACE, into $WORK/PLACE by the R of PLACE. Its words are in
# $WORK/PLACE/log.
package_install() {
	local place=$1 name=$2 source=$3 namespace=$4 root shell=() lib=$WORK/$1
	shift 4
	mkdir -p "$lib/src/$name/R"
	case $place in
	host | static) ;; # they are of one version
	*)
		root=$("$tests/images/get" "$place") || return 1
		shell=(bwrap --bind "$root" / --proc /proc --dev /dev --tmpfs /tmp --bind "$WORK" "$WORK" --chdir /)
		;;
	esac
	printf 'Package: %s\nVersion: 1.0\nTitle: For Tests\nDescription: For tests.\nLicense: BSD\nImports: methods\n' "$name" \
		>"$lib/src/$name/DESCRIPTION"
	printf '%s\n' "$namespace" >"$lib/src/$name/NAMESPACE"
	cp "$tests/live/r/$source" "$lib/src/$name/R/work.R"
	"${shell[@]}" R CMD INSTALL "$@" --no-docs --no-multiarch --no-test-load -l "$lib" "$lib/src/$name" >>"$lib/log" 2>&1
}
