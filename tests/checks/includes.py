#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Who may include whom (docs/architecture.md).

usage: includes.py [TREE]   prints each breach as FILE: what is wrong; the exit status says whether there was any.
"""
import os
import re
import sys

# What a room sees besides include/ and itself.  A pair (room, headers): of that room only these.
SEES = {
    "base": (),
    "os": ("base",),
    "target": ("base", "os", "values"),
    "native": ("base", "os", "target", ("engine", {"engine/engine.h"})),
    "engine": ("base", "os"),
    "profile": ("base",),
    "values": ("base",),
    "output": ("base", "os", "profile"),
    "session": ("base", "os", "target", "native", "profile", ("engine", {"engine/engine.h"}), ("output", {"output/writer.h"})),
    "serve": ("base", "os", "profile", "output"),
    "cmd": ("base", "os", "target", "native", "engine", "profile", "output", "session", "serve", "values"),
    "main.c": ("base", "os", "cmd"),
}
# What a folder is for one platform alone: files of it include none of the other's, those outside include neither.
PLATFORMS = {"linux": "linux", "bpf": "linux", "win32": "win32"}
GENERATED = {"sampler.skel.h", "layouts.inc", "pprof.pb-c.h", "otlp.pb-c.h", "syscalls.inc", "page_before.inc", "page_after.inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def platform(path):
    return next((PLATFORMS[p] for p in path.split("/")[:-1] if p in PLATFORMS), None)


def allowed(room, name):
    for seen in SEES[room]:
        if isinstance(seen, tuple):
            if name in seen[1]:
                return True
        elif name.startswith(seen + "/"):
            return True
    return name.startswith(room + "/")


def sources(tree, folder):
    for path, _, files in os.walk(os.path.join(tree, folder)):
        for name in files:
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(path, name), tree).replace(os.sep, "/")


def circles(graph):
    """Each circle once, as a list of files."""
    done, path = set(), []

    def visit(node):
        if node in path:
            yield path[path.index(node):] + [node]
            return
        if node in done:
            return
        path.append(node)
        for following in graph.get(node, ()):
            yield from visit(following)
        path.pop()
        done.add(node)

    for node in sorted(graph):
        yield from visit(node)


def main(tree):
    shared = set(os.listdir(os.path.join(tree, "include")))
    breaches, graph = [], {}
    for file in sorted(sources(tree, "include")) + sorted(sources(tree, "bpf")):
        for name in INCLUDE.findall(open(os.path.join(tree, file), encoding="utf-8").read()):
            if name not in shared and not (file.startswith("bpf/") and
                                           (name == "vmlinux.h" or os.path.exists(os.path.join(tree, "bpf", name)))):
                breaches.append(f"{file}: includes {name}: this folder sees include/ only")
            graph.setdefault(file, []).append(("include/" if name in shared else "bpf/") + name)
    for file in sorted(sources(tree, "src")):
        inside = file[len("src/"):]
        room = inside.split("/")[0]
        if room not in SEES:
            breaches.append(f"{file}: no room of the plan")
            continue
        for name in INCLUDE.findall(open(os.path.join(tree, file), encoding="utf-8").read()):
            if name in GENERATED:
                continue
            if name in shared:
                graph.setdefault(file, []).append("include/" + name)
                continue
            if not os.path.exists(os.path.join(tree, "src", name)):
                breaches.append(f"{file}: includes {name}: not written from src/")
                continue
            graph.setdefault(file, []).append("src/" + name)
            if not allowed(room, name):
                breaches.append(f"{file}: includes {name}: {room} does not see it")
            mine, its = platform(inside), platform(name)
            if its and its != mine and room != "cmd":
                breaches.append(f"{file}: includes {name}: that is for {its} alone")
    breaches += ["a circle: " + " -> ".join(c) for c in circles(graph)]
    print("\n".join(breaches), end="\n" if breaches else "")
    return bool(breaches)


sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "."))
