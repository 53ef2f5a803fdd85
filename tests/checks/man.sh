#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The man page names all that --help names, and those who print man pages have nothing to say about it.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"

export MAKEFLAGS=
page=${BUILD:-build}/xrprof-bpf.1
program=${BUILD:-build}/xrprof-bpf
make -s BUILD="${BUILD:-build}" "$program" "$page" >&2
ok $? "make man"
# other tests run it meanwhile
linked=$(stat -c %y "$program")
for build in "$(realpath --relative-to=. "$(dirname "$program")")" "$(realpath "$(dirname "$program")")"; do
	make -s BUILD="$build" "$build/xrprof-bpf" >&2
done
is "$(stat -c %y "$program")" "$linked" "the program is not linked anew, however BUILD is spelled"

# The options of SUBCOMMAND in its part of the page, one a line.
in_page() {
	awk -v name="$1" '/^\.S[sh] / { inside = $1 == ".Ss" && $2 == name } inside && /^\.It Fl/' "$page" |
		grep -oE 'Fl -[a-z-]+' | sed 's/^Fl -//' | sort
}

for subcommand in record list info; do
	missing=$(comm -23 <("$program" $subcommand --help | grep -oE '^ .{5}--[a-z-]+' | sed 's/.*--//' | sort) <(in_page $subcommand))
	is "$missing" "" "$subcommand: all options of --help"
	[ "$(in_page $subcommand | wc -l)" -ge 2 ]
	ok $? "$subcommand: has options"
	grep -q "^\.It Cm $subcommand\$" "$page"
	ok $? "$subcommand: is listed"
done
is "$(in_page record | grep -cE '^(freq|rate|frequency)$')" 3 "aliases are named"
is "$(grep '^\.Sh ' "$page" | cut -c5- | paste -sd ,)" \
	"NAME,SYNOPSIS,DESCRIPTION,SUBCOMMANDS,OPTIONS,ENVIRONMENT,FILES,EXIT STATUS,EXAMPLES,SEE ALSO" "sections"
for name in $(git grep -hoE 'getenv\("[A-Z_]+"\)' -- src | cut -d'"' -f2 | sort -u); do
	grep -q "^\.It Ev $name\$" "$page"
	ok $? "environment: $name"
done

if command -v groff >/dev/null; then
	is "$(groff -ww -z -mandoc -Tutf8 "$page" 2>&1)" "" "groff has no warning"
else
	skip "no groff" "groff has no warning"
fi
if command -v mandoc >/dev/null; then
	# an index of installed pages is none of ours
	is "$(mandoc -T lint -W warning "$page" 2>&1 | grep -v 'mandoc\.db')" "" "mandoc has no warning"
else
	skip "no mandoc" "mandoc has no warning"
fi
done_testing
