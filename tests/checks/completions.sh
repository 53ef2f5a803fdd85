#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: cmd build tests/checks
# timeout: 300
#
# What bash, zsh and fish offer, when they are asked, is what the program knows: its subcommands, their options and the
# words these take.
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/tree.sh"

need bash zsh fish R
export MAKEFLAGS=
build=$(realpath -m "${BUILD:-build}")
program=$build/xrprof-bpf
check "make completions" make_here "$program" completions
share=$build/share
work=$(mktemp -d)
asleep=
trap '[ -z "$asleep" ] || kill "$asleep"; rm -rf "$work"' EXIT
export PATH=$build:$PATH
touch "$work/a_file"
cd "$work" || exit

tests=$OLDPWD/tests
# offers SHELL WORD...: one a line, sorted, without what fish and bash have in front of a part of a word
offers() {
	local shell=$1
	shift
	timeout 60 "$tests/completion/$shell" "$share" xrprof-bpf "$@" | sed 's/.*[=,]//' | sort -u
}

mapfile -t subcommands < <("$program" --help | awk '/^Subcommands:/ { on = 1; next } on && NF == 0 { exit } on && /^  [a-z]/ { print $1 }')
[ ${#subcommands[@]} -ge 3 ]
ok $? "--help lists ${#subcommands[@]} subcommands"

# The words that SUBCOMMAND --OPTION takes, as it says when it is given another. What follows is refused in any case: nothing is started.
choices() {
	"$program" "$1" "--$2" no-such-word --no-such-option 2>&1 | sed -n 's/.*(available: \(.*\)).*(try.*/\1/p' | tr -d , | xargs -n 1 | sort
}

# An R that waits.
R --vanilla --no-echo -e "invisible(file.create('$work/ready')); Sys.sleep(600)" >/dev/null 2>&1 </dev/null &
asleep=$!
until [ -e "$work/ready" ] || ! kill -0 $asleep 2>/dev/null; do
	sleep 0.05
done

declare -A options_of words_of
for shell in bash zsh fish; do
	is "$(offers $shell '')" "$(printf '%s\n' "${subcommands[@]}" help version | sort)" "$shell: subcommands"
	is "$(offers $shell help '')" "$(printf '%s\n' "${subcommands[@]}" | sort)" "$shell: those that have help"
	is "$(offers $shell rec)" record "$shell: the rest of a subcommand"
	for subcommand in "${subcommands[@]}"; do
		options=${options_of[$subcommand]=$("$program" "$subcommand" --help | grep -oE '^ .{5}--[a-z-]+' | sed 's/.*--/--/' | sort)}
		is "$(offers $shell "$subcommand" -- | grep -v '^-.$')" "$options" \
			"$shell: $subcommand: its $(wc -l <<<"$options") options, and no aliases"
		for option in ${options//--/}; do
			words=${words_of[$subcommand $option]=$(choices "$subcommand" "$option")}
			[ -z "$words" ] ||
				is "$(offers $shell "$subcommand" --"$option" '')" "$words" "$shell: $subcommand --$option: ${words//$'\n'/ }"
		done
	done
	is "$(offers $shell --form)" --format "$shell: record is the default"
	is "$(offers $shell --format=fol)" folded "$shell: a word behind ="
	is "$(offers $shell -f fol)" folded "$shell: a word behind a letter"
	is "$(offers $shell --rate '')" "" "$shell: an alias takes an argument as the option does"
	is "$(offers $shell --rate 99 --form)" --format "$shell: and options go on behind it"
	is "$(offers $shell -o a_f)" a_file "$shell: files"
	is "$(offers $shell --user roo)" root "$shell: users"
	offers $shell --pid '' | grep -qx $asleep
	ok $? "$shell: processes with R in them"
	offers $shell --exclude-pid 1, | grep -qx $asleep
	ok $? "$shell: another one behind a comma"
	is "$(offers $shell --lines -- gre | grep -x grep)" grep "$shell: commands behind --"
	is "$(offers $shell -- ls a_f)" a_file "$shell: and their arguments"
	is "$(offers $shell report a_f)" a_file "$shell: files behind the options"
	is "$(offers $shell list -- gre)" "" "$shell: not where there are none"
done
is "$(BASH_COMPLETION='' offers bash -- gre | grep -x grep)" grep "bash without its package: commands behind --"
is "$(BASH_COMPLETION='' offers bash -- ls a_f)" a_file "bash without its package: files behind them"
check "bash: shellcheck" shellcheck "$share/bash-completion/completions/xrprof-bpf"
done_testing
