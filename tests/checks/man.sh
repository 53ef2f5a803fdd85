#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The man pages name all that --help names, and those who print man pages have nothing to say about them. What
# `make install` installs is there, and `make uninstall` leaves nothing of it.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"

export MAKEFLAGS=
build=${BUILD:-build}
pages=$build/share/man/man1
program=$build/xrprof-bpf
check "make man completions" make_here "$program" man completions
# other tests run it meanwhile
linked=$(stat -c %y "$program")
for spelled in "$(realpath --relative-to=. "$(dirname "$program")")" "$(realpath "$(dirname "$program")")"; do
	make -s BUILD="$spelled" "$spelled/xrprof-bpf" >&2
done
is "$(stat -c %y "$program")" "$linked" \
	"make does not link the program again, however BUILD is spelled"

# The options in PAGE, one a line.
in_page() {
	grep -E '^\.It Fl' "$1" | grep -oE 'Fl -[a-z-]+' | sed 's/^Fl -//' | sort
}

docs=(*.md docs/*.md docs/*/*.md)
is "$(python3 tests/lib/docs.py options "$program" "${docs[@]}")" "" "the program takes the options of all commands in the documentation"

mapfile -t subcommands < <("$program" --help | awk '/^Subcommands:/ { on = 1; next } on && NF == 0 { exit } on && /^  [a-z]/ { print $1 }')
[ ${#subcommands[@]} -ge 3 ]
ok $? "--help lists ${#subcommands[@]} subcommands"
for subcommand in "${subcommands[@]}"; do
	page=$pages/xrprof-bpf-$subcommand.1
	missing=$(comm -23 <("$program" "$subcommand" --help | grep -oE '^ .{5}--[a-z-]+' | sed 's/.*--//' | sort) <(in_page "$page"))
	is "$missing" "" "$subcommand: all options of --help"
	[ "$(in_page "$page" | wc -l)" -ge 2 ]
	ok $? "$subcommand: has options"
	grep -q "^\.It Cm $subcommand\$" "$pages/xrprof-bpf.1" && grep -q "^\.Xr xrprof-bpf-$subcommand 1" "$pages/xrprof-bpf.1"
	ok $? "$subcommand: is listed"
	like "$("$program" "$subcommand" --help)" "man xrprof-bpf-$subcommand" "$subcommand --help names its page"
done
is "$(find "$pages" -type f | wc -l)" $((${#subcommands[@]} + 1)) "there are no other pages"
is "$(in_page "$pages/xrprof-bpf-record.1" | grep -cE '^(freq|rate|frequency)$')" 3 "aliases are named"
is "$(grep '^\.Sh ' "$pages/xrprof-bpf.1" | cut -c5- | paste -sd ,)" \
	"NAME,SYNOPSIS,DESCRIPTION,SUBCOMMANDS,ENVIRONMENT,FILES,EXIT STATUS,EXAMPLES,SEE ALSO" "sections"
is "$(grep '^\.Sh ' "$pages/xrprof-bpf-record.1" | cut -c5- | paste -sd ,)" \
	"NAME,SYNOPSIS,DESCRIPTION,OPTIONS,EXIT STATUS,EXAMPLES,SEE ALSO" "sections of a subcommand's page"
for name in $(git grep -hoE 'getenv\("[A-Z_]+"\)' -- src | cut -d'"' -f2 | sort -u); do
	grep -q "^\.It Ev $name\$" "$pages/xrprof-bpf.1"
	ok $? "environment: $name"
done

for page in "$pages"/*; do
	for lint in "groff -ww -z -mandoc -Tutf8" "mandoc -T lint -W warning"; do
		name="${lint%% *} has no warning: ${page##*/}"
		if command -v "${lint%% *}" >/dev/null; then
			# mandoc's index of installed pages does not matter here
			is "$($lint "$page" 2>&1 | grep -v 'mandoc\.db')" "" "$name"
		else
			skip "no ${lint%% *}" "$name"
		fi
	done
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
check "make install" make -s BUILD="$build" DESTDIR="$work" PREFIX=/usr install
missing=
for file in bin/xrprof-bpf share/man/man1/xrprof-bpf.1 share/man/man1/xrprof-bpf-record.1 \
	share/bash-completion/completions/xrprof-bpf share/zsh/site-functions/_xrprof-bpf \
	share/fish/vendor_completions.d/xrprof-bpf.fish; do
	[ -s "$work/usr/$file" ] || missing="$missing $file"
done
is "$missing" "" "all is installed"
is "$(find "$work" -type f | wc -l)" $((${#subcommands[@]} + 6)) "and nothing else"
check "make uninstall" make -s BUILD="$build" DESTDIR="$work" PREFIX=/usr uninstall
is "$(find "$work" -type f)" "" "nothing of it is left"
done_testing
