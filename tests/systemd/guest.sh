#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# In the machine: the service as the package installs it, on the kernel of Debian with its own settings, beside an R that lies in the
# home directory of its user. TAP, and lines that begin with "guest: ".
. /tests/lib/tap.sh

dir=/var/lib/xrprof-bpf
echo
echo "guest: begin"

# wait_for COMMAND...: until it succeeds, 120 s at most
wait_for() {
	local i
	for ((i = 0; i < 600; i++)); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.2
	done
	return 1
}
# what was written before, too, that journald has not taken yet
log() {
	journalctl --sync
	journalctl -b -u xrprof-bpf -o cat --no-pager
}
said() {
	log | grep -qE -- "$1"
}
active() {
	[ "$(systemctl is-active xrprof-bpf)" = active ]
}
pid() {
	systemctl show -P MainPID xrprof-bpf
}

is "$(systemctl is-enabled xrprof-bpf) $(systemctl is-active xrprof-bpf)" "disabled inactive" "installed, it is neither enabled nor started"
is "$(stat -c '%a %U %G' /etc/xrprof-bpf.conf)" "640 root xrprof-bpf" "its configuration is for root and its group"
is "$(stat -c '%a %U %G' /etc/xrprof-bpf)" "750 root xrprof-bpf" "and so is the folder of tokens"
seq 100 | install -m 0640 -g xrprof-bpf /dev/stdin /etc/xrprof-bpf/token
is "$(runuser -u xrprof-bpf -- cat /etc/xrprof-bpf/token | tail -n 1)" 100 "a token in it can be read by the service"
diag "kernel.perf_event_paranoid is $(cat /proc/sys/kernel/perf_event_paranoid), the kernel $(uname -r)"

# R of another user, from a home directory that no other user may read.
chown -R alice: /home/alice
chmod 700 /home/alice
cat >/home/alice/spin.R <<'R'
spin_at_home <- function(n) { s <- 0; for (i in seq_len(n)) s <- s + i %% 7; s }
repeat spin_at_home(1e5)
R
systemd-run --quiet --unit r-at-home --uid alice --setenv R_HOME=/home/alice/R --setenv LD_LIBRARY_PATH=/home/alice/R/libraries \
	/home/alice/R/bin/exec/R --vanilla --no-echo -f /home/alice/spin.R
wait_for systemctl is-active r-at-home
ok $? "an R runs"

echo 'listen = unix:/run/xrprof-bpf/socket' >>/etc/xrprof-bpf.conf
systemctl start xrprof-bpf
ok $? "systemctl start" || diag "$(log; systemctl status xrprof-bpf)"
is "$(systemctl is-active xrprof-bpf)" active "it is active"
said 'profiling every R process'
ok $? "that was when it had begun to sample" || diag "$(log)"
is "$(ps -o user= -p "$(pid)")" xrprof-bpf "it runs as its own user"
diag "$(grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp|Seccomp_filters):' "/proc/$(pid)/status")"
front=$(pgrep -P "$(pid)" -x xrprof-front)
is "$(grep -E '^Cap(Prm|Eff|Amb):' "/proc/$front/status" | awk '$2 !~ /^0+$/')" "" "the process that writes and listens has no capabilities"

# a profile of the R at home
profiled() {
	systemctl kill --kill-whom=main -s USR1 xrprof-bpf
	xrprof-bpf report --dir "$dir" >/tmp/report 2>&1 && grep -q spin_at_home /tmp/report
}
wait_for profiled
ok $? "the R in a home directory is profiled, by the names of its functions" || diag "$(log; ls -la "$dir"; cat /tmp/report)"
is "$(stat -c '%a %U' "$dir")" "750 xrprof-bpf" "its directory is for it and its group"
[ -S /run/xrprof-bpf/socket ]
ok $? "it listens at the configured socket"

was=$(pid)
echo 'freq = 49' >>/etc/xrprof-bpf.conf
systemctl reload xrprof-bpf
ok $? "systemctl reload"
wait_for said 'profiling every R process at 49 Hz'
ok $? "it has read its configuration again" || diag "$(log)"
wait_for active # it says what it does before it tells systemd that it is done
is "$(pid) $(systemctl is-active xrprof-bpf)" "$was active" "as the same process"
echo 'freq = many' >>/etc/xrprof-bpf.conf
systemctl reload xrprof-bpf
wait_for said 'the configuration was not changed'
ok $? "it logs the wrong line" || diag "$(log)"
wait_for active
is "$(pid) $(systemctl is-active xrprof-bpf)" "$was active" "and the service goes on"
sed -i '/^freq/d' /etc/xrprof-bpf.conf

kill -KILL "$(pid)"
wait_for eval '[ "$(pid)" != 0 ] && [ "$(pid)" != "$was" ] && active'
ok $? "killed, it is started again" || diag "$(log)"
systemctl stop xrprof-bpf
is "$(systemctl show -P Result xrprof-bpf) $(systemctl is-active xrprof-bpf)" "success inactive" "systemctl stop ends it in order"
is "$(find "$dir" -name '.*' -type f)" "" "nothing is left half written"

# With the setting that the kernel itself comes with it needs no CAP_SYS_ADMIN.
sysctl -q kernel.perf_event_paranoid=2
mkdir -p /etc/systemd/system/xrprof-bpf.service.d
: >/etc/systemd/system/xrprof-bpf.service.d/debian-kernels.conf
systemctl daemon-reload
rm -f "$dir"/2*
systemctl start xrprof-bpf
ok $? "perf_event_paranoid 2, no CAP_SYS_ADMIN: systemctl start" || diag "$(log)"
wait_for profiled
ok $? "and it profiles as before" || diag "$(log)"
systemctl stop xrprof-bpf

systemd-analyze security --no-pager xrprof-bpf | tail -n 1 | sed 's/^/guest: /'
apt-get -qq -y remove xrprof-bpf >/dev/null 2>&1 || dpkg --remove xrprof-bpf >/dev/null 2>&1
[ ! -e /usr/bin/xrprof-bpf ] && [ -e /etc/xrprof-bpf.conf ] && [ -d "$dir" ]
ok $? "removed, its configuration and its profiles stay"
dpkg --purge xrprof-bpf >/dev/null 2>&1
[ ! -e /etc/xrprof-bpf.conf ] && [ ! -e /etc/xrprof-bpf ] && [ ! -e "$dir" ]
ok $? "purged, nothing is left"
done_testing
echo "guest: end"
