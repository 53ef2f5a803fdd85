#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: os cmd engine/bpf engine/remote target
# timeout: 240
# engines: bpf
#
# Who sees what: the profiler as root, with capabilities (make install-caps), for a group (GROUP=), and without any right;
# an R of one's own, another user's, root's, a setuid one, one in a container of one's own; each subcommand, each engine.
# The users are numbers that no account has.
. "$(dirname "$0")/../lib/live.sh"

me=60001 other=60002 group=60100
chmod 755 "$WORK"
umask 022

# What makes a command run as one of them; in_group: as a member of the group.
as_me=(setpriv "--reuid=$me" "--regid=$me" --clear-groups --inh-caps=-all)
as_other=(setpriv "--reuid=$other" "--regid=$other" --clear-groups --inh-caps=-all)
in_group=(setpriv "--reuid=$me" "--regid=$me" "--groups=$group" --inh-caps=-all)

# --- the installations ---

# install_as NAME TARGET [VARIABLE=VALUE...]
install_as() {
	local name=$1 target=$2
	shift 2
	check "make $target $*" make -s -C "$tests/.." -o all "BUILD=$BUILD" "DESTDIR=$WORK/$name" PREFIX=/usr "$target" "$@"
}

program() {
	echo "$WORK/$1/usr/bin/xrprof-bpf"
}

install_as plain install
install_as caps install-caps
install_as group install-caps GROUP=$group
install_as old install-caps
setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_checkpoint_restore+ep "$(program old)"
is "$(getcap "$(program plain)")" "" "install: no capabilities"
like "$(getcap "$(program caps)")" "cap_sys_ptrace,cap_perfmon,cap_bpf[=+]e?p$" "install-caps: these three"
is "$(stat -c '%u %g %a' "$(program caps)")" "0 0 755" "install-caps: for everybody"
is "$(stat -c '%u %g %a' "$(program group)")" "0 $group 750" "install-caps GROUP=: for the group alone"

# run_by WHO: sets `run`, the profiler as WHO runs it: root, with capabilities as they are given now (caps) and were before
# (old), as a member of the group, or with nothing (none).
run_by() {
	case $1 in
	root) run=("$(program plain)") ;;
	caps) run=("${as_me[@]}" "$(program caps)") ;;
	old) run=("${as_me[@]}" "$(program old)") ;;
	group) run=("${in_group[@]}" "$(program group)") ;;
	none) run=("${as_me[@]}" "$(program plain)") ;;
	esac
}

# by WHO ARG...: run it. Sets status; the files out and err have what it wrote.
by() {
	run_by "$1"
	shift
	timeout -s INT -k 5 60 "${run[@]}" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
	status=$?
}

# --- the targets ---

# The function that computes has the name of its owner. The profiler must not show it to others.
cat >"$WORK/busy.R" <<'END'
a <- commandArgs(TRUE)
assign(a[1], function() { x <- 0; repeat x <- x + 1 })
file.create(a[2])
eval(call(a[1]))
END
mkdir -m 1777 "$WORK/ready"
r=(/usr/lib/R/bin/exec/R --vanilla --no-echo -f "$WORK/busy.R" --args)
export R_HOME=/usr/lib/R R_SHARE_DIR=/usr/share/R/share R_INCLUDE_DIR=/usr/share/R/include R_DOC_DIR=/usr/share/R/doc
mkdir -m 755 "$WORK/suid"
cp /usr/lib/R/bin/exec/R "$WORK/suid/R"
chmod 4755 "$WORK/suid/R"

declare -A pid
# busy NAME COMMAND...: an R whose function is called busy_NAME.
busy() {
	local name=$1
	shift
	"$@" "busy_$name" "$WORK/ready/$name" >/dev/null 2>"$WORK/$name.err" </dev/null &
	live_pids+=($!)
	wait_until 60 test -e "$WORK/ready/$name" || fail "R starts ($name): $(cat "$WORK/$name.err")"
	pid[$name]=$(target_find $!)
	live_pids+=("${pid[$name]}")
}
busy own "${as_me[@]}" "${r[@]}"
busy other "${as_other[@]}" "${r[@]}"
busy root "${r[@]}"
busy suid "${as_me[@]}" "$WORK/suid/R" "${r[@]:1}"
kinds=(own other root suid)
if "${as_me[@]}" unshare -Urpf --mount-proc true 2>"$WORK/err"; then
	busy box "${as_me[@]}" unshare -Urpf --kill-child --mount-proc "${r[@]}"
	kinds+=(box)
else
	skip "$(cat "$WORK/err")" "an R in a container"
fi

# may WHO KIND: what is to be.
may() {
	case $1/$2 in
	root/* | group/* | */own | */box) return 0 ;;
	esac
	return 1
}

# Does what was written have the name of a function of KIND in it?
names() {
	cat "$WORK/out" "$WORK/err" "$WORK"/all/* 2>/dev/null | grep -q "busy_$1\b"
}

# --- one process, each engine ---

for caller in root caps old group none; do
	for kind in "${kinds[@]}"; do
		for engine in bpf ptrace vmread; do
			case $caller/$engine in
			old/ptrace | old/vmread) continue ;; # as caps
			esac
			by $caller -e $engine -p "${pid[$kind]}" -d 0.2 -f folded
			name="$caller, $engine, $kind"
			if [ $caller/$engine = none/bpf ] || ! may $caller "$kind"; then
				[ $status = 1 ] && [ "$(wc -l <"$WORK/err")" = 1 ] && grep -q "root\|sudo" "$WORK/err" && ! names "$kind"
				ok $? "$name: refused in one line" || diag "status $status" "$(cat "$WORK/err" "$WORK/out")"
			else
				is $status 0 "$name: profiled" || diag "$(cat "$WORK/err")"
			fi
		done
	done
done

# --- all ---

# all WHO WANTED...: the kinds that --all profiles: there are samples of each, and of no other.
all() {
	local caller=$1 kind bad=''
	shift
	run_by "$caller"
	rm -rf "$WORK/all"
	mkdir -m 1777 "$WORK/all"
	"${run[@]}" --all -o "$WORK/all/" --stats "$WORK/all/stats" 2>"$WORK/err" >"$WORK/out" </dev/null &
	PROF_PID=$! PROF_OUT=$WORK/all/stats
	live_pids+=("$PROF_PID")
	for kind in "$@"; do
		wait_until 60 grep -qs "busy_$kind" "$WORK/all/Rprof.${pid[$kind]}.out" || bad="$bad, not $kind"
	done
	held=$(grep -E '^(CapPrm|CapEff|NoNewPrivs):' "/proc/$PROF_PID/status" | tr -s '\t\n' ' ')
	prof_stop
	is "$PROF_STATUS" 0 "$caller, --all: exit status 0"
	for kind in "${kinds[@]}"; do
		[[ " $* " == *" $kind "* ]] || ! names "$kind" || bad="$bad, but $kind"
	done
	check "$caller, --all: $*$bad" [ -z "$bad" ] || diag "$(cat "$WORK/err")" "$(ls -l "$WORK/all")"
}
mine=(own)
[ -z "${pid[box]-}" ] || mine+=(box)
all root "${kinds[@]}"
like "$held" "CapEff: 0000000000000000" "root, --all: no capability is in effect between calls"
like "$held" "NoNewPrivs: 1" "root, --all: no_new_privs"
prm=${held#CapPrm: }
capsh --decode="${prm%% *}" >"$WORK/held"
is "$(grep -cE "sys_admin|setuid|chown|sys_module|sys_rawio|net_admin|mknod" "$WORK/held")" 0 \
	"root, --all: capabilities that are not needed were dropped" || diag "$(cat "$WORK/held")"
all group "${kinds[@]}"
is "$held" "CapPrm: 000000c000080000 CapEff: 0000000000000000 NoNewPrivs: 1 " "group, --all: it keeps three capabilities, none in effect"
all caps "${mine[@]}"
like "$held" "CapPrm: 000000c0000[08]0000 CapEff: 0000000000000000 NoNewPrivs: 1 " "caps, --all: it keeps those for BPF"

# --- list and info ---

# lists WHO YES...: those of YES can be profiled, of the others no more is shown than by ps.
lists() {
	local caller=$1 yes='' no='' kind
	shift
	by "$caller" list --json
	for kind in "${kinds[@]}"; do
		if [[ " $* " == *" $kind "* ]]; then yes+=" ${pid[$kind]}"; else no+=" ${pid[$kind]}"; fi
	done
	check "$caller, list: $*, and of the others no more than ps shows" python3 - "$WORK/out" \
		"$yes" "$no" <<-'PY'
		import json, sys
		shown = {p["pid"]: p for p in json.load(open(sys.argv[1]))["processes"]}
		for pid in sys.argv[2].split():
		    p = shown[int(pid)]
		    assert p["profilable"] and p["version"] and p["path"] and p["load"], p
		for pid in sys.argv[3].split():
		    p = shown[int(pid)]
		    assert not (p["profilable"] or p["version"] or p["path"] or p["load"]), p
	PY
}
lists root "${kinds[@]}"
lists group "${kinds[@]}"
lists caps "${mine[@]}"
lists none "${mine[@]}"
for line in "root/every process" "caps/R processes of the caller" "group/group $group" "none/R processes of the caller"; do
	by "${line%%/*}" info
	like "$(grep '^rights' "$WORK/out")" "${line#*/}" "${line%%/*}, info: whose rights count" || diag "$(cat "$WORK/out" "$WORK/err")"
done

# --- a process that becomes another program ---

# It has R in it, may be looked at, and executes the setuid R.
cat >"$WORK/become.c" <<'END'
#include <unistd.h>
void become(char **path, char **file, char **name, char **ready)
{
	execl(*path, *path, "--vanilla", "--no-echo", "-f", *file, "--args", *name, *ready, (char *)0);
}
END
cat >"$WORK/become.R" <<END
dyn.load("$WORK/become.so")
busy_before <- function() while (!file.exists("$WORK/become.go")) for (i in 1:1e5) i
file.create("$WORK/ready/become")
busy_before()
.C("become", "$WORK/suid/R", "$WORK/busy.R", "busy_secret", "$WORK/ready/secret")
END
check "a fixture builds" "${CC:-cc}" -shared -fPIC -O1 -o "$WORK/become.so" "$WORK/become.c"
for how in "-p" "--all"; do
	rm -rf "$WORK/ready/become" "$WORK/ready/secret" "$WORK/become.go" "$WORK/all"
	mkdir -m 1777 "$WORK/all"
	"${as_me[@]}" "${r[@]:0:4}" "$WORK/become.R" >/dev/null 2>&1 </dev/null &
	live_pids+=($!)
	becomes=$!
	wait_until 60 test -e "$WORK/ready/become"
	[ $how = --all ] || how="-p $becomes"
	# shellcheck disable=SC2086
	"${as_me[@]}" "$(program caps)" $how -F 999 -o "$WORK/all/" --stats "$WORK/all/stats" >"$WORK/out" 2>"$WORK/err" </dev/null &
	PROF_PID=$! PROF_OUT=$WORK/all/stats
	live_pids+=("$PROF_PID")
	wait_until 60 grep -qs busy_before "$WORK/all/Rprof.$becomes.out"
	ok $? "$how: R of one's own is profiled" || diag "$(cat "$WORK/err")"
	: >"$WORK/become.go"
	wait_until 60 test -e "$WORK/ready/secret"
	[ "$how" != --all ] || sleep 1
	if [ "$how" = --all ]; then prof_stop; else prof_wait; fi
	! names secret
	ok $? "$how: the setuid R that it became is not" || diag "$(cat "$WORK/err")"
	kill -KILL $becomes
done

# --- the workload ---

cat >"$WORK/work.sh" <<END
grep -E '^(Cap|NoNew)' /proc/self/status >"\$1"
exec ${r[*]:0:4} $WORK/short.R
END
echo 'f <- function() { t <- proc.time()[[1]]; while (proc.time()[[1]] - t < 0.5) for (i in 1:1e4) i }; f()' >"$WORK/short.R"
mkdir -m 1777 "$WORK/tmp"
for caller in root caps; do
	run=("$BASH" "$WORK/work.sh")
	wrap=()
	[ $caller = root ] || wrap=("${as_me[@]}")
	"${wrap[@]}" "${run[@]}" "$WORK/tmp/$caller.alone" >/dev/null 2>&1
	by $caller -o "$WORK/tmp/$caller.out" -- "${run[@]}" "$WORK/tmp/$caller.here"
	is $status 0 "$caller, -- COMMAND: profiled" || diag "$(cat "$WORK/err")"
	is "$(cat "$WORK/tmp/$caller.here")" "$(cat "$WORK/tmp/$caller.alone")" \
		"$caller, -- COMMAND: it has the rights that it has by itself"
done

# --- the kernel's types ---

for caller in caps group; do
	for command in "-p ${pid[own]}" "info" "info --programs"; do
		# shellcheck disable=SC2086
		by $caller $command --btf /sys/kernel/btf/vmlinux
		[ $status = 1 ] && [ "$(cat "$WORK/out")" = "" ] && [ "$(wc -l <"$WORK/err")" = 1 ] && grep -q "^xrprof-bpf: --btf .*sudo" "$WORK/err"
		ok $? "$caller, $command --btf: refused in one line" || diag "$(cat "$WORK/err")"
	done
done
for option in --calls --locals --globals; do
	by group dump -p "${pid[root]}" $option
	[ $status = 1 ] && [ ! -s "$WORK/out" ] && grep -q "^xrprof-bpf: --calls, --locals and --globals: not allowed" "$WORK/err"
	ok $? "group, dump $option: refused" || diag "$(cat "$WORK/out" "$WORK/err")"
	by caps dump -p "${pid[own]}" $option
	is $status 0 "caps, dump $option of an own R" || diag "$(cat "$WORK/err")"
done
by root -p "${pid[own]}" -d 0.2 --btf /sys/kernel/btf/vmlinux
is $status 0 "root, --btf" || diag "$(cat "$WORK/err")"

# --- where it writes ---

mkdir -m 700 "$WORK/private"
for option in -o --stats; do
	by caps -p "${pid[own]}" -d 0.2 $option "$WORK/private/file"
	[ $status = 1 ] && grep -q "$WORK/private/file: Permission denied" "$WORK/err" && [ ! -e "$WORK/private/file" ]
	ok $? "caps, $option below a folder of root's: refused" || diag "status $status" "$(cat "$WORK/err")"
done

# Of what others have planted, unit:os/create has each kind.
echo precious >"$WORK/precious"
mkdir -m 1777 "$WORK/sticky"
ln -s "$WORK/precious" "$WORK/sticky/Rprof.${pid[own]}.out"
ln -s "$WORK/precious" "$WORK/sticky/stats"
chown -h $other "$WORK/sticky"/*
by root -p "${pid[own]}" -d 0.2 -o "$WORK/sticky/"
[ $status = 0 ] && [ "$(cat "$WORK/precious")" = precious ] && [ -s "$WORK/sticky/Rprof.${pid[own]}.1.out" ]
ok $? "a link in a folder for all: nothing is written through it" || diag "status $status" "$(cat "$WORK/err")"
by root -p "${pid[own]}" -d 0.2 -o /dev/null --stats "$WORK/sticky/stats"
[ $status = 1 ] && grep -q "cannot .*symbolic link in this path belongs to another user" "$WORK/err" && [ "$(cat "$WORK/precious")" = precious ]
ok $? "a link as --stats: refused, in words" || diag "status $status" "$(cat "$WORK/err")"

# --- standard streams that are closed ---

"$(program plain)" -q -p "${pid[own]}" -d 0.2 2>"$WORK/err" >&-
status=$?
[ $status = 1 ] && [ "$(wc -l <"$WORK/err")" = 1 ] && grep -q "standard output" "$WORK/err"
ok $? "standard output is closed: one line" || diag "status $status" "$(cat "$WORK/err")"
"$(program plain)" -p "${pid[own]}" -d 0.2 -o "$WORK/closed" <&- >&- 2>&-
is $? 0 "all three are closed, -o FILE: exit status 0"
check_rprof "$WORK/closed" "all three are closed"
done_testing
