# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A profile in pprof's format, as `go tool pprof -raw` prints it."""
import os, re, subprocess


class Sample:
    """One sample: its values by sample type, its functions from the innermost on, and its labels."""

    def __init__(self, values, stack, labels):
        self.values, self.stack, self.labels = values, stack, labels


def read(path):
    """The samples of the file `path`, and the names of its sample types with their units."""
    env = dict(os.environ, HOME=os.environ.get("WORK", "/tmp"), PPROF_TMPDIR=os.environ.get("WORK", "/tmp"))
    text = subprocess.run(["go", "tool", "pprof", "-raw", path], capture_output=True, text=True, check=True, env=env).stdout
    head, rest = text.split("\nSamples:\n")
    body, places = rest.split("\nLocations\n")
    lines = body.split("\n")
    types = [tuple(word.split("[")[0].split("/")) for word in lines[0].split()]
    names, last = {}, None
    for line in places.split("\nMappings")[0].split("\n"):
        found = re.match(r" +(\d+): \S+ (?:M=\d+ )?(.*)$", line)
        if not found:
            continue
        name = re.match(r"(.*?) \S*:\d+(?::\d+)? s=\d+(?:\((.*)\))?$", found.group(2))
        # what it takes for a template's arguments, <...>, it leaves out of a name, and tells the whole in brackets
        names[int(found.group(1))] = (name.group(1) or name.group(2) or "") if name else found.group(2)
    samples = []
    for line in lines[1:]:
        found = re.match(r"^ *((?:\d+ +)*\d+): ?([\d ]*)$", line)
        if found:
            values = [int(v) for v in found.group(1).split()]
            stack = [names[int(i)] for i in found.group(2).split()]
            samples.append(Sample(dict(zip([t[0] for t in types], values)), stack, {}))
        else:
            for key, value in re.findall(r"(\w+):\[([^\]]*)\]", line):
                samples[-1].labels[key] = value
    return samples, dict(types)
