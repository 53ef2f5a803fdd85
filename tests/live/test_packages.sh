#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# touches: include bpf engine/remote target
# also: ptrace vmread
# timeout: 900
#
# The package and the definition of each frame are what R says in the same process: a program whose functions are of
# base, stats and utils, of packages with source references and without, of R6, S4 and reference classes, of formulas,
# made by functions of packages, sourced, evaluated, attached, thirty environments deep, while packages are loaded and
# unloaded, and in a forked child. On this machine's R, on an R without libR.so, and on the R of other Debian releases.
. "$(dirname "$0")/../lib/live.sh"

XRPROF=$BUILD/oracle-tap
[ -x "$XRPROF" ] || bail "$XRPROF is not there: run make unit-tests first"
places=$(all_places host static bullseye trixie sid)
[ "$XRPROF_ENGINE" = bpf ] || places=$(all_places host sid)

exports='import(methods)
export(call_it, inner, adder, deep_factory, visit, measured, Counter)
exportMethods(measure)
exportClasses(Measured)
S3method(visit, default)
S3method(visit, thing)'

# package_install PLACE NAME OPTION: install functions_package.R as the package NAME into $WORK/PLACE by the R of PLACE. Its
# output is in $WORK/PLACE/log.
package_install() {
	local place=$1 name=$2 root shell=() lib=$WORK/$1
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
	printf '%s\n' "$exports" >"$lib/src/$name/NAMESPACE"
	cp "$tests/live/r/functions_package.R" "$lib/src/$name/R/work.R"
	"${shell[@]}" R CMD INSTALL "$3" --no-docs --no-multiarch --no-test-load -l "$lib" "$lib/src/$name" >>"$lib/log" 2>&1
}

packages_install() {
	package_install "$1" xrkept --with-keep.source && package_install "$1" xrdropped --without-keep.source
}

# packages_run PLACE OPTION...: one run, which leaves $PROF_OUT, and $XRPROF_FRAMES.
packages_run() {
	local place=$1
	shift
	target_start "$place" functions "$WORK/$place"
	export XRPROF_FRAMES=$TARGET_DIR/frames
	prof_start "$TARGET_DIR/ours" -F 997 --clock cpu -v "$@" -p "$TARGET_PID" || return 1
	target_go
	target_await_done 300 || return 1
	prof_wait
}

# packages_compare NAME: is all of it as R says?
packages_compare() {
	local said status
	said=$(python3 "$tests/lib/functions.py" "$TARGET_DIR/oracle.txt" "$XRPROF_FRAMES" "$TARGET_DIR/cases.txt" 3 2>&1)
	status=$?
	figure "$1: $(head -n 1 <<<"$said")"
	ok $status "$1: package and definition of every frame are what R says" || diag "$said" "$(cat "$TARGET_ERR" "$PROF_OUT.err")"
}

has_frame() { # has_frame REGEX: is it a frame of the folded profile?
	sed 's/ [0-9]*$//' "$PROF_OUT" | tr ';' '\n' | grep -qxE "$1"
}

for place in $places; do
	[ "$place" = host ] || part_needs "$place" image "$place" || continue
	check "$place: the packages are installed" packages_install "$place" || diag "$(tail -n 20 "$WORK/$place/log")"
	packages_run "$place" -f folded
	ok $? "$place: it is profiled"
	packages_compare "$place"
	check_stats "$PROF_OUT.stats" "$place"
	check_readable "$PROF_OUT.stats" "$place"
	is "$(stat_of "$PROF_OUT.stats" unnamed)" 0 "$place: unnamed 0"
	for frame in stats::model.frame.default base::lapply xrkept::inner xrdropped::hidden sourced \
		'FUN [{].*/sourced file[.]R:5[}]' 'xrkept::<Anonymous> [{].*work[.]R:[0-9]+[}]' 'xrdropped::<Anonymous>'; do
		check "$place: a frame is called $frame" has_frame "$frame"
	done
done

# If it is not asked for, no frame has a package or a definition.
target_start host work 600 exit
target_go
export XRPROF_FRAMES=$WORK/none.frames
for options in "-f folded --no-packages" "-f rprof"; do
	rm -f "$XRPROF_FRAMES"
	# shellcheck disable=SC2086 # words
	prof_start "$WORK/none" -q --clock cpu $options -p "$TARGET_PID"
	check "$options: frames have their functions" wait_until 60 grep -qs '^inner' "$XRPROF_FRAMES"
	prof_stop
	is "$PROF_STATUS" 0 "$options: it is profiled" || diag "$(cat "$PROF_OUT.err")"
	is "$(awk -F '\t' '$2 != "" || $3 != ""' "$XRPROF_FRAMES" | head -n 3)" "" "$options: no frame has a package or a definition"
done
done_testing
