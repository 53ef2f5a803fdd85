# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
usage: moments.py HOW TIMES PID PROFILER ARG...

Profile process PID by PROFILER ARG..., and at TIMES random moments stop the profiler (HOW: tstp, by Ctrl-Z on its
terminal; stop, by SIGSTOP) or end it (kill, by SIGKILL).  Prints the number of moments after which the profiler did as it
was told, and how long the process was stopped at most, in ms.

The process is looked at each two milliseconds.  It was stopped all the time between two looks if it was at both and has not
been on a CPU between.  Only looks that come in time count: when others keep this program from running they may keep the
profiler from it as well, and then it says nothing about the profiler.
"""
import os, pty, random, select, signal, sys, time

LOOK = 0.002
LATE = 0.004  # later than this a look is not in time
AFTER = 60  # looks in time after each moment

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


class Looks:
    """How long the target is stopped, in looks that came in time."""

    def __init__(self):
        self.last = time.monotonic()
        self.runs = self.held = self.longest = self.in_time = 0

    def look(self):
        now = time.monotonic()
        on_time = now - self.last < LATE
        self.last = now
        stopped = state(target) in "tT"
        runs = proc(target, "schedstat").split()[2]
        self.in_time += on_time
        if not stopped:
            self.held = 0
        elif runs != self.runs:
            self.held = 1
        else:
            self.held += on_time
        self.runs = runs
        self.longest = max(self.longest, self.held)

    @staticmethod
    def drain(terminal):
        """Nobody is kept waiting for a reader."""
        try:
            if terminal is not None and select.select([terminal], [], [], 0)[0]:
                os.read(terminal, 4096)
        except OSError:  # its other end is closed
            pass

    def until(self, condition, what, terminal=None, limit=60):
        end = time.monotonic() + limit
        while not condition():
            if time.monotonic() > end:
                sys.exit(f"never: {what}; profiler {state(pid)}, target {state(target)}")
            self.drain(terminal)
            time.sleep(LOOK)
            self.look()

    def for_looks(self, n, terminal=None):
        end = self.in_time + n
        self.until(lambda: self.in_time >= end, "time to look", terminal)


def start_on_terminal():
    """The profiler in the foreground of a terminal of its own, as a job of a shell: its pid, and the terminal."""
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
pid = None
for i in range(times):
    if pid is None:
        if os.path.exists(out):
            os.unlink(out)
        size = 100
        pid, waited, terminal = start()
        looks.until(samples, "the first samples", terminal)
    end = time.monotonic() + random.random() * 0.02
    while time.monotonic() < end:
        pass
    if how == "kill":
        os.kill(pid, signal.SIGKILL)
        right += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        pid = None
        looks.for_looks(AFTER)
        continue
    if how == "tstp":
        os.write(terminal, b"\x1a")
    else:
        os.kill(pid, signal.SIGSTOP)
    looks.for_looks(AFTER, terminal)
    looks.until(lambda: state(pid) == "T", "the profiler stops", terminal)
    right += 1
    size = os.path.getsize(out)
    (os.killpg if how == "tstp" else os.kill)(pid, signal.SIGCONT)
    looks.until(lambda: state(pid) != "T", "the profiler goes on", terminal)
if pid is not None:
    looks.until(samples, "samples at the end", terminal)
    os.kill(pid, signal.SIGINT)
    looks.until(lambda: state(pid) in "Z-", "the end of the profiler", terminal)
    if os.waitstatus_to_exitcode(os.waitpid(waited, 0)[1]) != 0:
        sys.exit("the profiler failed")
print(right, round(looks.longest * LOOK * 1000))
