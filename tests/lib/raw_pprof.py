# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A profile in pprof's format, read as pprof's profile.proto describes it: nothing of it is ours.

usage: raw_pprof.py TYPE FILE...         prints the sum of all values of this sample type in all files
       raw_pprof.py KEY=VALUE FILE...    prints each label of the samples that have this one, as
                                         key=value, a tab, and how many samples have it; "=": of all
"""
import collections
import gzip
import sys


class Sample:
    """One sample: its values by sample type, its functions from the innermost on, and its labels as text. `pairs` has all
    labels in their order; `labels` the last one of each key."""

    def __init__(self, values, stack, pairs):
        self.values, self.stack, self.pairs, self.labels = values, stack, pairs, dict(pairs)


def number(data, at):
    """The varint at `at`, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def message(data):
    """The fields of a message: number -> list of integers and bytes. Profiles have only these two."""
    at, fields = 0, {}
    while at < len(data):
        key, at = number(data, at)
        value, at = number(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        elif key & 7 != 0:
            raise ValueError(f"a field of type {key & 7}")
        fields.setdefault(key >> 3, []).append(value)
    return fields


def numbers(values):
    """A repeated integer, packed or not."""
    for value in values:
        at = 0
        while isinstance(value, bytes) and at < len(value):
            one, at = number(value, at)
            yield one
        if isinstance(value, int):
            yield value


def read(path):
    """The samples of the file `path`, and the names of its sample types with their units."""
    with gzip.open(path) as file:
        profile = message(file.read())
    strings = [text.decode() for text in profile[6]]

    def one(fields, field):
        return fields.get(field, [0])[0]

    types = [(strings[one(t, 1)], strings[one(t, 2)]) for t in map(message, profile[1])]
    functions = {one(f, 1): strings[one(f, 2)] for f in map(message, profile.get(5, []))}
    places = {one(p, 1): [functions[one(message(line), 1)] for line in p.get(4, [])] for p in map(message, profile.get(4, []))}
    samples = []
    for fields in map(message, profile.get(2, [])):
        pairs = [(strings[one(label, 1)], strings[one(label, 2)] or str(one(label, 3))) for label in map(message, fields.get(3, []))]
        stack = [name for place in numbers(fields.get(1, [])) for name in places[place]]
        samples.append(Sample(dict(zip((t[0] for t in types), numbers(fields[2]))), stack, pairs))
    return samples, dict(types)


def labels(samples, key, value):
    """How many samples have each label, of those that have the label `key` with this value."""
    counts = collections.Counter()
    for s in samples:
        if not key or s.labels.get(key) == value:
            counts.update({f"{k}={v}": s.values["samples"] for k, v in s.labels.items()})
    return counts


def main(what, *paths):
    samples = [s for path in paths for s in read(path)[0]]
    if "=" in what:
        for label, count in sorted(labels(samples, *what.split("=")).items()):
            print(label, count, sep="\t")
    else:
        print(sum(s.values.get(what, 0) for s in samples))


if __name__ == "__main__":
    main(*sys.argv[1:])
