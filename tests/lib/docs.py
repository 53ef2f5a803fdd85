#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The commands of the documentation that are marked as runnable, and its links.

A fenced block after a line `<!-- run -->` is a session of bash: lines that begin with `$ ` are
commands, the others are their output. The commands of `<!-- run: start -->` blocks are also those
that all other pages begin with. 4711 and 4802 stand for the first and the second API.

    docs.py script PAGE START-PAGE   print a bash script of PAGE's commands; START-PAGE: its start
    docs.py compare PAGE OUTPUT      is each line of output in PAGE among what that script printed? Numbers
                                     may differ, and what follows `...`
    docs.py options PROGRAM FILE...  print the xrprof-bpf commands, runnable or not, whose options PROGRAM refuses
    docs.py links FILE...            print the links that lead nowhere, and the lines of more than 100 columns, except tables
"""
import os
import re
import shlex
import subprocess
import sys

PIDS = {"4711": "${apis[0]}", "4802": "${apis[1]}"}
MARK = "@@ command"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def blocks(page):
    """(is it of the start?, [(command, [lines of output])]) of each runnable block."""
    for kind, body in re.findall(r"^<!-- run(: start)? -->\n```console\n(.*?)^```$", read(page), re.M | re.S):
        commands = []
        for line in body.splitlines():
            if line.startswith("$ "):
                commands.append((line[2:], []))
            else:
                commands[-1][1].append(line)
        yield bool(kind), commands


def command__shell(command):
    """As the test runs it: with the pids there are, without sudo, and waiting for an API that it starts."""
    waits = "\nanswers" if re.search(r"\bapi\.R .*&$", command) else ""
    command = re.sub(r"\b(4711|4802)\b", lambda found: PIDS[found[0]], command)
    return re.sub(r"(^|\s)sudo ", r"\1", command) + waits


def script(page, start):
    if os.path.realpath(page) != os.path.realpath(start):
        for is_start, commands in blocks(start):
            if is_start:
                for command, _ in commands:
                    print(command__shell(command))
    for number, (command, _) in enumerate(c for _, commands in blocks(page) for c in commands):
        print(f"echo '{MARK} {number}'\n{command__shell(command)}")


def shape(line):
    """A line without its numbers, its units and the width of its columns."""
    line = re.sub(r"[+-]?\d+(?:[.:,]\d+)*", "N", line)
    line = re.sub(r"\bN (?:[num]?s|min|B|[KMGT]iB)\b", "N", line)
    return " ".join(line.split())


def same(expected, line):
    if expected.endswith("..."):
        return shape(line).startswith(shape(expected[:-3]))
    return shape(line) == shape(expected)


def compare(page, output):
    parts = {}
    for line in read(output).splitlines():
        if line.startswith(f"{MARK} "):
            parts[int(line.split()[2])] = current = []
        elif parts:
            current.append(line)
    for number, (command, expected) in enumerate(c for _, commands in blocks(page) for c in commands):
        seen = parts.get(number, [])
        lines = [line for line in expected if line.strip() not in ("", "...")]
        missing = [line for line in lines if not any(same(line, other) for other in seen)]
        verdict = "fail" if missing or number not in parts else "pass"
        print(f"{verdict}\t{command}")
        for line in missing:
            print(f"#\tnot printed: {line}")
        if verdict == "fail":
            for line in seen[:40]:
                print(f"#\tprinted: {line}")


def options(program, *paths):
    checked = 0
    for path in paths:
        for line in re.sub(r"\\\n\s*", " ", read(path)).splitlines():
            found = re.match(r"(?:    |\$ )(?:\$ )?(?:sudo )?xrprof-bpf (.*)", line)
            if not found:
                continue
            lexer = shlex.shlex(found[1], posix=True, punctuation_chars="|&;<>")
            lexer.whitespace_split = True
            words = list(lexer)
            end = [i for i, word in enumerate(words) if word == "--" or set(word) <= set("|&;<>")]
            words = [re.sub(r"^PID$|^\$.*", "4711", word) for word in words[: min(end, default=None)]]
            # --help ends it once the options before were accepted
            done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=False)
            checked += 1
            if done.returncode:
                print(f"{path}: {line.strip()}: {done.stderr.strip()}")
    if not checked:
        print("there are no commands")


def anchors(path):
    """Of the headings, as web pages of repositories make them."""
    found, fenced = set(), False
    for line in read(path).splitlines():
        fenced ^= line.startswith("```")
        if line.startswith("#") and not fenced:
            text = re.sub(r"[`*]|\]\([^)]*\)|\[", "", line.lstrip("#").strip().lower())
            found.add(re.sub(r"[^\w -]", "", text).replace(" ", "-"))
    return found


def links(paths):
    for path in paths:
        text = read(path)
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > 100 and not line.startswith("|") and "http" not in line:
                print(f"{path}:{number}: {len(line)} columns")
        text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            where = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(where) or anchor and anchor not in anchors(where):
                print(f"{path}: leads nowhere: {target}")


def main():
    what, *arguments = sys.argv[1:]
    {"script": script, "compare": compare, "options": options,
     "links": lambda *paths: links(paths)}[what](*arguments)


main()
