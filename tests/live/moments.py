# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
usage: moments.py HOW TIMES PID PROFILER ARG...

Profile process PID by PROFILER ARG..., and at TIMES random moments stop the profiler (HOW: tstp, by Ctrl-Z on its
terminal; stop, by SIGSTOP) or end it (kill, by SIGKILL).  Prints the number of moments after which
the profiler stopped or ended, and how long the process was stopped at most, in ms.

The process is looked at each two milliseconds.  It was stopped all the time between two looks if it was at both and has not
been on a CPU between.  A look counts only if it comes in time, and if neither the profiler nor its
watchdog waits for a CPU: without a CPU it cannot let the process run.  The time that a hypervisor
takes meanwhile is subtracted: a CPU, for a tenth of a second at a time, with the timer that is to
wake the watchdog.
"""
import os, pty, random, select, signal, sys, time

LOOK = 0.002
LATE = 0.004  # later than this a look is not in time
AFTER = 60  # looks in time after each moment
SETTLE = 15  # looks until what was stolen is accounted for: at the next tick of the CPU

how, times, target, command = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
random.seed(1)


def proc(pid, name):
    with open(f"/proc/{pid}/{name}") as f:
        return f.read()


def state(pid):
    try:
        return proc(pid, "stat").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "-"


def watchdogs_of(profiler):
    """The processes it has started: its watchdog."""
    try:
        return [int(child) for child in proc(profiler, f"task/{profiler}/children").split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def stolen():
    """For how long a hypervisor has kept CPUs from this machine, s."""
    with open("/proc/stat") as f:
        return int(f.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


class Looks:
    """How long the target is stopped, in looks that came in time."""

    def __init__(self):
        self.last = time.monotonic()
        self.runs = self.held = self.in_time = self.looks = 0
        self.longest = 0.0  # s
        self.before = 0.0  # stolen() when the current stop began
        self.stops = []  # that are over: look at which they ended, looks, stolen() before
        self.used = {}  # by those who can let the target go: CPU time, ns

    def waits(self, who):
        """Is it ready to run, and has not run since the last look?"""
        try:
            ready = state(who) == "R"
            used = proc(who, "schedstat").split()[0]
        except (FileNotFoundError, ProcessLookupError):
            ready, used = False, None
        waits = ready and self.used.get(who) == used
        self.used[who] = used
        return waits

    def look(self):
        now = time.monotonic()
        on_time = now - self.last < LATE
        self.last = now
        # a watchdog outlives its profiler
        who = set(self.used) | ({profiler, *watchdogs_of(profiler)} if profiler else set())
        on_time = not any([self.waits(one) for one in who]) and on_time
        self.used = {one: used for one, used in self.used.items() if used is not None}
        stopped = state(target) in "tT"
        runs = proc(target, "schedstat").split()[2]
        self.in_time += on_time
        self.looks += 1
        if stopped and runs == self.runs and self.held:
            self.held += on_time
        else:
            self.over()
            self.held = int(stopped)
            self.before = stolen()
        self.runs = runs
        while self.stops and self.looks - self.stops[0][0] >= SETTLE:
            self.judge(*self.stops.pop(0))

    def over(self):
        if self.held > 1:
            self.stops.append((self.looks, self.held, self.before))
        self.held = 0

    def judge(self, _, held, before):
        self.longest = max(self.longest, held * LOOK - (stolen() - before))

    def end(self):
        self.over()
        while self.stops:
            self.judge(*self.stops.pop(0))

    @staticmethod
    def drain(terminal):
        """Read what is there, so that the profiler does not wait for a reader."""
        try:
            if terminal is not None and select.select([terminal], [], [], 0)[0]:
                os.read(terminal, 4096)
        except OSError:  # its other end is closed
            pass

    def until(self, condition, what, terminal=None, limit=60):
        end = time.monotonic() + limit
        while not condition():
            if time.monotonic() > end:
                sys.exit(f"never: {what}; profiler {state(profiler)}, target {state(target)}")
            self.drain(terminal)
            time.sleep(LOOK)
            self.look()

    def for_looks(self, n, terminal=None):
        end = self.in_time + n
        self.until(lambda: self.in_time >= end, "time to look", terminal)


def start_on_terminal():
    """Start the profiler in the foreground of a new terminal, as a job of a shell.

    Return its pid and the terminal.
    """
    read, write = os.pipe()
    session, terminal = pty.fork()
    if session == 0:
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(0, os.getpid())
            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
            os.execvp(command[0], command)
        os.write(write, str(job).encode())
        while True:
            _, status = os.waitpid(job, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    return int(os.read(read, 16)), session, terminal


def start():
    if how == "tstp":
        return start_on_terminal()
    child = os.fork()
    if child == 0:
        os.execvp(command[0], command)
    return child, child, None


def samples():
    """Has it begun to sample, and gone on since?"""
    return os.path.exists(out) and os.path.getsize(out) > size


out = command[command.index("-o") + 1]
looks = Looks()
right = 0
profiler = None
for i in range(times):
    if profiler is None:
        if os.path.exists(out):
            os.unlink(out)
        size = 100
        profiler, waited, terminal = start()
        looks.until(samples, "the first samples", terminal)
    end = time.monotonic() + random.random() * 0.02
    while time.monotonic() < end:
        pass
    if how == "kill":
        os.kill(profiler, signal.SIGKILL)
        right += os.waitstatus_to_exitcode(os.waitpid(profiler, 0)[1]) == -signal.SIGKILL
        profiler = None
        looks.for_looks(AFTER)
        continue
    if how == "tstp":
        os.write(terminal, b"\x1a")
    else:
        os.kill(profiler, signal.SIGSTOP)
    looks.for_looks(AFTER, terminal)
    looks.until(lambda: state(profiler) == "T", "the profiler stops", terminal)
    right += 1
    size = os.path.getsize(out)
    (os.killpg if how == "tstp" else os.kill)(profiler, signal.SIGCONT)
    looks.until(lambda: state(profiler) != "T", "the profiler goes on", terminal)
if profiler is not None:
    looks.until(samples, "samples at the end", terminal)
    os.kill(profiler, signal.SIGINT)
    looks.until(lambda: state(profiler) in "Z-", "the end of the profiler", terminal)
    if os.waitstatus_to_exitcode(os.waitpid(waited, 0)[1]) != 0:
        sys.exit("the profiler failed")
looks.end()
print(right, round(looks.longest * 1000))
