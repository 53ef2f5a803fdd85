#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Phrases that are not plain English.

usage: words.py [-v] KIND [LIMIT] [FILE...]

KIND is docs, messages, comments or tests. Prints each phrase as FILE:LINE: TEXT if there are more
than LIMIT (default 0) or with -v, and last the count. FILE...: instead of the files of the tree.
"""
import re
import subprocess
import sys

# What not to write, and what to write. A phrase may be broken over two lines.
PHRASES = (
    # reports, prints, warns, logs
    r"(?:is|are|was|were|be|been) (?:not |also |only )?(?:said|told)\b(?! apart)",
    r"says? so|said once|unsaid|tells? of|how it goes",
    # does not fit, is full
    r"(?:find|finds|found) no room|no room (?:for|left)|room was left",
    # again, restart, reopen
    r"anew|once more|begins? new ones",
    # available, not available
    r"(?:to|can|could|cannot) be had",
    # is not a
    r"(?<!there )(?:is|are|was|were) no (?!longer|more|other|different|faster|slower|larger|limit)",
    r"(?<!there )(?:is|are) none",
    # no other process, any client, the caller
    r"nobody|whoever|who asks|(?:for|to) who|what finds",
    # also, the same; except
    r"likewise|but for",
    # is dropped, gives up after N tries
    r"(?:is|are|was|were|be) given up",
    # fixed; available; fails
    r"mend(?:s|ed)?|at hand|comes? to nothing|leads? elsewhere|goes by|the field words it",
    # separate, dedicated
    r"of (?:its|their|his) own",
    # N, that one; healthy
    r"so many|such a one|is well",
    r"by sudo say|sudo, say",
)
# Of docs and messages alone: inspects, reads, checks.
READ_BY_USERS = (r"look(?:s|ed|ing)? at",)


def pattern(phrases):
    return re.compile(r"\b(?:%s)\b" % "|".join(p.replace(" ", r"\s+") if "(?<!" not in p else p
                                              for p in phrases), re.I)


PLAIN, PLAINER = pattern(PHRASES), pattern(PHRASES + READ_BY_USERS)
# Texts that are not ours, words that are meant as they stand, and Python.
ALLOWED = ("R itself says", "so many arguments", "is None")
# The tokens of C and JavaScript that matter: comments and strings.
TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`', re.S)
C, JS = (".c", ".h", ".def"), (".js",)
FILES = {
    "docs": ["*.md", "docs/*.in", "tools/R/man/*.Rd", "tools/systemd/*"],
    "messages": ["src/*.c", "src/*.h", "src/*.def", "src/output/page/*.js", "src/output/page/*.html",
                 "tools/R/R/*.R"],
    "comments": ["src/*.c", "src/*.h", "src/*.def", "src/output/page/*.js", "bpf/*.c", "bpf/*.h", "include/*.h", "tools/*"],
    "tests": ["tests/*.c", "tests/*.h", "tests/*.sh", "tests/*.py", "tests/*.R", "tests/run", "mk/*.mk"],
}


def tracked(kind):
    command = ["git", "-c", "safe.directory=*", "ls-files", "--", *FILES[kind]]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def blank(text):
    """@text as spaces, line by line."""
    return re.sub(r"[^\n]", " ", text)


def selected(kind, path, text):
    """@text with spaces in place of what is not of @kind."""
    if kind == "messages" and path.endswith(".R"):
        return re.sub(r"#[^\n]*", lambda m: blank(m.group()), text)
    if kind not in ("messages", "comments") or not path.endswith(C + JS):
        return text
    out, at = [], 0
    for m in TOKENS.finditer(text):
        token = m.group()
        comment = token[0] == "/"
        wanted = comment == (kind == "comments")
        out.append(blank(text[at:m.start()]))
        out.append(re.sub(r'^["\'`]|["\'`]$|(?m:^\s*\*(?!/))', " ", token) if wanted else blank(token))
        at = m.end()
    return "".join(out) + blank(text[at:])


def phrases(kind, path, text):
    plain = PLAINER if kind in ("docs", "messages") else PLAIN
    for m in plain.finditer(re.sub(r"(?m)^([ \t]*)([#*] )", r"\1  ", selected(kind, path, text))):
        start = text.rfind("\n", 0, m.start()) + 1
        end = text.find("\n", m.end())
        around = text[start:end if end >= 0 else len(text)]
        if not any(allowed in around for allowed in ALLOWED):
            line = text.count("\n", 0, m.start()) + 1
            yield f"{path}:{line}: {' '.join(around.split())}"


def main():
    args = sys.argv[1:]
    verbose = args[:1] == ["-v"]
    kind, *args = args[1:] if verbose else args
    limit = int(args[0]) if args else 0
    found = []
    for path in args[1:] or tracked(kind):
        if re.match(r"tests/(fuzz/corpus|checks/words)", path):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            found += phrases(kind, path, file.read())
    if verbose or len(found) > limit:
        print("\n".join(found))
    print(len(found))
    return len(found) > limit


if __name__ == "__main__":
    sys.exit(main())
