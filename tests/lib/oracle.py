# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The two halves of the exact oracles that are not R's (docs/internals/oracles.md).

oracle.py freeze FOLDER PID TIMES COUNT INTERVALS MODE
    Stop process PID, which is in the cgroup (v2) at FOLDER, COUNT times at moments of chance. Each time wait for three
    readings of it in TIMES, have SIGPROF wait for it, and let it go: R's profiler, which must be on, writes its line of
    just that moment. INTERVALS gets "BEGIN END" of each stop, and MODE.sent how many there were. The process
    makes a file MODE.until.N when it is ready for the stops up to the N-th.

oracle.py compare MODE ORACLE OURS TIMES INTERVALS LABELS PID VERSION FIRST WANTED
    MODE: lines, filter, or plain, which has neither lines nor marks. ORACLE is what R's own profiler wrote, its lines from the
    first on those of INTERVALS, and LABELS the labels that R had then; OURS what the profiler wrote of the same process, TIMES
    when and with which labels (tests/fixtures/oracle_tap.c). All samples in an interval, with FIRST 1 except those of its
    first reading, must be equal to R's line and have these labels; where R has no frame there is none. At least WANTED lines
    must have been compared, or be empty on both sides. In mode lines, of all samples, those of one call of oracle_call() have
    one number, which no others have. Prints a line of what was compared; fails if anything differs.
"""
import bisect
import collections
import ctypes
import glob
import os
import random
import re
import signal
import sys
import time

# Limits of R's own profiler (eval.c), of which it says nothing in its file. Before 4.4 a line as long as LINE_MAX got no more frames and
# a name was cut to NAME_MAX bytes; since then a line that does not fit into BUFFER_SIZE, with its end and its numbers of memory, is
# not written at all. Those numbers have up to MEMORY_SIZE bytes.
LINE_MAX = 10000
NAME_MAX = 498
BUFFER_SIZE = 10500
MEMORY_SIZE = 4 * (1 + 20) + 1


# --- freeze ---

class Follower:
    """Samples of a process, as they come."""

    def __init__(self, path, pid):
        self.file = open(path)
        self.pid = str(pid)
        self.rest = ''

    def wait(self, since):
        """Until the profiler has looked three times from @since on. Returns the time of the last."""
        samples = []

        def enough():
            *lines, self.rest = (self.rest + self.file.read()).split('\n')
            samples.extend(int(at) for _, tid, at in (line.split()[:3] for line in lines) if tid == self.pid and int(at) >= since)
            return len(set(samples)) >= 3 or time.sleep(0.0003)
        wait_for('samples', int(self.pid), enough)
        return samples[-1]


def alive(pid):
    try:
        return open(f'/proc/{pid}/stat').read().rsplit(')', 1)[1].split()[0] not in 'ZX'
    except OSError:
        return False


def wait_for(what, pid, ready):
    """Polls; the time limit is for what hangs."""
    end = time.monotonic() + 60
    while not ready():
        if not alive(pid):
            sys.exit(f'process {pid} ended, waiting for {what}')
        if time.monotonic() > end:
            sys.exit(f'waited in vain for {what}')


def send(pid):
    """SIGPROF for the thread that R runs in. Another one's handler would only pass it on, and R go on until then."""
    if ctypes.CDLL(None, use_errno=True).tgkill(pid, pid, signal.SIGPROF):
        sys.exit(f'tgkill: {os.strerror(ctypes.get_errno())}')


def pending(pid):
    """Is a SIGPROF waiting for that thread?"""
    for line in open(f'/proc/{pid}/task/{pid}/status'):
        if line.startswith('SigPnd:'):
            return bool(int(line.split()[1], 16) >> (signal.SIGPROF - 1) & 1)
    return False


def freeze(folder, pid, times, count, intervals, mode):
    pid = int(pid)
    samples = Follower(times, pid)
    # not where events are but what is: opened once, read again and again
    state = open(f'{folder}/cgroup.events')
    switch = os.open(f'{folder}/cgroup.freeze', os.O_WRONLY)

    def frozen():
        state.seek(0)
        return 'frozen 1' in state.read()

    with open(intervals, 'w') as out:
        try:
            ready = 0
            for done in range(1, int(count) + 1):
                while done > ready:
                    ready = max([int(name.rsplit('.', 1)[1]) for name in glob.glob(glob.escape(mode) + '.until.*[0-9]')] or [0])
                    if not alive(pid):
                        sys.exit(f'process {pid} ended')
                    time.sleep(0.01)
                time.sleep(random.random() * 0.01)
                os.write(switch, b'1')
                wait_for('the freezer', pid, frozen)
                now = time.monotonic_ns()
                last = samples.wait(now)
                send(pid)
                if not pending(pid):
                    sys.exit('SIGPROF does not wait for a process that is frozen')
                os.write(switch, b'0')
                wait_for('R to take the signal', pid, lambda: not pending(pid))
                print(now, last, file=out)
                # whole or not at all; R looks at it between two rounds of its work
                with open(mode + '.new', 'w') as progress:
                    print(done, file=progress)
                os.rename(mode + '.new', mode + '.sent')
        finally:
            os.write(switch, b'0')


# --- compare ---

MEMORY = re.compile(r'^:\d+:\d+:\d+:\d+:')
LOCATION = re.compile(r'(?:(?<=^)|(?<=" ))(\d+)(?=#-?\d+ )')
ESCAPE = re.compile(r'\\(\\|n|r|t|x[0-9a-f]{2})')
LONG_NAME = re.compile(f'(?<=")([^"]{{{NAME_MAX}}})[^"]+(?=" )')
PLAIN = {'\\': '\\', 'n': '\n', 'r': '\r', 't': '\t'}


def unescape(line):
    """What base/escape.h escaped, as R writes it: byte for byte."""
    return ESCAPE.sub(lambda m: PLAIN.get(m[1]) or chr(int(m[1][1:], 16)), line)


class Stack(str):
    """As a line of the file, with the name of a file for its number. size: bytes it has with the number. Of R's: cut, if it
    reached the limit."""
    cut = False
    size = 0


def stacks(path, ours, mode, cuts=False):
    """The stacks of a file. cuts: lines that reach LINE_MAX are cut."""
    files = {}
    found = []
    # R's own names may hold anything but a newline
    with open(path, encoding='latin-1', newline='\n') as lines:
        header = next(lines)
        wanted = '' if ours else 'memory profiling: '
        wanted += ('' if mode == 'plain' else 'GC profiling: line profiling: ') + 'sample.interval='
        if not header.startswith(wanted):
            sys.exit(f'{path}: not the header that was asked for: {header}')
        for line in lines:
            line = line.rstrip('\n')
            file = re.match(r'#File (\d+): (.*)', line)
            if file:
                files[file[1]] = unescape(file[2]) if ours else file[2]
                continue
            cut = cuts and len(line) >= LINE_MAX
            line = unescape(line) if ours else MEMORY.sub('', line)
            if cut:  # perhaps within a location
                line = re.sub(r'(?<=" )\d+(#-?\d*)?$', '', line)
            found.append(Stack(LOCATION.sub(lambda m: f'<{files[m[1]]}>', line)))
            found[-1].cut = cut
            found[-1].size = len(line)
    return found


Sample = collections.namedtuple('Sample', 'at stack call labels')


def labels(text):
    """The labels in "key=value;" for each."""
    return dict(label.split('=', 1) for label in text.split(';') if label)


def samples_of(path, pid, mine):
    """The samples of R's thread, whose stacks are the lines @mine."""
    samples = []
    # a label may hold anything but a newline
    with open(path, encoding='latin-1', newline='\n') as lines:
        for line in lines:
            owner, tid, at, count, *more = line.rstrip('\n').split(' ', 5)
            if owner != pid:
                continue
            stack = next(mine) if count != '0' else ''
            for _ in range(int(count) - 1):
                next(mine)
            if tid == owner:
                samples.append(Sample(int(at), stack, more[0], None if more[1] == '?' else labels(more[1])))
    if next(mine, None) is not None:
        sys.exit('there are more lines than samples')
    return sorted(samples, key=lambda s: s.at)


def identities(samples):
    """How many calls of oracle_call() have samples, by the label that each gives itself, and what is wrong with their numbers."""
    numbers, calls, wrong = collections.defaultdict(set), collections.defaultdict(set), []
    for sample in samples:
        if sample.labels and 'round' in sample.labels and not sample.call.endswith('?'):
            numbers[sample.labels['round']].add(sample.call)
            calls[sample.call].add(sample.labels['round'])
    for call, several in numbers.items():
        if len(several) > 1 or '0' in several:
            wrong.append(f'call {call} has the numbers {sorted(several)}')
    for number, several in calls.items():
        if len(several) > 1:
            wrong.append(f'the calls {sorted(several)} have the number {number}')
    return len(numbers), wrong


def pair(spans, theirs, samples, names_cut, cuts):
    """R's line of each span, None if it did not fit into R's buffer."""
    lines = iter(theirs)
    line = next(lines, None)
    at = [sample.at for sample in samples]
    for begin, end in spans:
        inside = [s.stack for s in samples[bisect.bisect_left(at, begin):bisect.bisect_right(at, end)]]
        # a file's number in R's file may have another digit
        may_be_left_out = not cuts and any(s and s.size + s.count('#') > BUFFER_SIZE - MEMORY_SIZE for s in inside)
        if may_be_left_out and not (line is not None and any(equal(line, s, names_cut) for s in inside)):
            yield None
            continue
        if line is None:
            sys.exit(f'R wrote {len(theirs)} lines, of {len(spans)} moments')
        yield line
        line = next(lines, None)
    if line is not None:
        sys.exit(f'R wrote {len(theirs)} lines, of {len(spans)} moments')


def equal(theirs, mine, names_cut):
    """R's line and a sample, except for R's limits."""
    if names_cut and len(mine) > NAME_MAX:
        mine = LONG_NAME.sub(r'\1', mine)
    return mine.startswith(theirs) if theirs.cut else theirs == mine


def compare(mode, oracle, ours, times, intervals, labels_path, pid, version, first, wanted):
    cuts = names_cut = tuple(map(int, version.split('.')[:2])) < (4, 4)
    theirs = stacks(oracle, False, mode, cuts)
    spans = [tuple(map(int, line.split())) for line in open(intervals)]
    set_then = [labels(line.rstrip('\n')) for line in open(labels_path, encoding='latin-1', newline='\n')]
    if len(set_then) != len(spans):
        sys.exit(f'R noted its labels {len(set_then)} times, of {len(spans)} moments')
    samples = samples_of(times, pid, iter(stacks(ours, True, mode)))
    by_span = list(pair(spans, theirs, samples, names_cut, cuts))

    compared, empty, taken, seen, different, at = 0, 0, 0, 0, [], 0
    kinds, missed = collections.Counter(), collections.Counter()
    for i, ((begin, end), line) in enumerate(zip(spans, by_span)):
        other, other_labels = (all_of[(i + 1) % len(spans)] for all_of in (by_span, set_then))
        while at < len(samples) and samples[at].at < begin:
            at += 1
        inside = []
        while at < len(samples) and samples[at].at <= end:
            inside.append(samples[at])
            at += 1
        # a reading that took several periods is as many samples, all of one time
        inside = [sample for sample in inside if not int(first) or sample.at != inside[0].at]
        wrong = [sample for sample in inside if sample.labels not in (None, set_then[i])]
        if wrong:
            different.append((set_then[i], len(wrong), len(inside), wrong[0].labels))
        if inside:
            kinds['labelled'] += bool(set_then[i])
            kinds['labelled otherwise than the next'] += inside[0].labels != other_labels
        kinds['not counted'] += mode == 'lines' and any(sample.call.endswith('?') for sample in inside)
        if line is None:
            kinds['left out by R'] += 1
            continue
        if not inside:
            empty += not line
            if line:
                missed[line] += 1
            continue
        compared += 1
        taken += len(inside)
        kinds['marked'] += line.startswith('"<GC>"')
        kinds['placed'] += bool(re.match(r'("<GC>" )?<', line))
        kinds['cut by R'] += line.cut or names_cut and bool(LONG_NAME.search(inside[0].stack))
        seen += other is None or not equal(other, inside[0].stack, names_cut)
        wrong = [sample for sample in inside if not equal(line, sample.stack, names_cut)]
        if wrong:
            different.append((line, len(wrong), len(inside), wrong[0].stack))
    calls, wrong_calls = identities(samples) if mode == 'lines' else (0, [])
    print(f"{compared} of R's lines compared with {taken} samples: {len(different)} different; {len(set(theirs))} stacks; "
          + ', '.join(f'{kinds[k]} {k}' for k in ('placed', 'marked', 'cut by R', 'left out by R', 'labelled',
                                                  'labelled otherwise than the next', 'not counted'))
          + f", {empty} empty on both sides; held against R's next line, {seen} differ; {calls} calls, {len(wrong_calls)} wrong")
    for line, wrong, of, sample in different[:8]:
        print(f'different, {wrong} of {of} samples:\n  R     {line}\n  ours  {sample}')
    for line in wrong_calls[:8]:
        print(line)
    for line, times in missed.most_common(8):
        print(f'no sample, {times} times:\n  R     {line}')
    if seen * 3 < compared or kinds['labelled otherwise than the next'] * 12 < compared:
        sys.exit('wrong lines would not be seen')
    if compared + empty + kinds['left out by R'] < int(wanted):
        sys.exit(f'fewer than the {wanted} wanted')
    sys.exit(bool(different or wrong_calls or kinds['not counted']))


if __name__ == '__main__':
    {'freeze': freeze, 'compare': compare}[sys.argv[1]](*sys.argv[2:])
