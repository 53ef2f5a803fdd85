#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: target session
# also: ptrace vmread
# timeout: 300
#
# The innermost line of byte code, for which R's variables R_BCbody and R_BCpc must be found: in a libR.so without a
# symbol table (by its machine code), in the same with one, in an R without libR.so that has one, and in that R
# stripped. Exchanged symbols prove that the profiler uses them. If it cannot find the variables it
# reports it.
. "$(dirname "$0")/../lib/live.sh"

home=$(R RHOME)
libr=$home/lib/libR.so
needs image static
static=$("$tests/images/get" static)

has_symbols() {
	LC_ALL=C readelf -SW "$1" | grep -q '[.]symtab '
}

# target_command KIND, see live.sh: libr-NAME is libR.so of $WORK/libr-NAME, static-NAME the executable of that name.
target_command() {
	case $1 in
	libr-*) target_argv=(env "R_HOME=$home" "LD_LIBRARY_PATH=$WORK/$1" "$home/bin/exec/R" --vanilla --no-echo) ;;
	static-*) target_argv=(env "R_HOME=$static" "$WORK/$1/R" --vanilla --no-echo) ;;
	esac
}

# elf_symbols FILE SECTION_TYPE FIELD VALUE NAME...: write one byte into the entries of these symbols, of which each
# must be there.
elf_symbols() {
	python3 - "$@" <<-'PY'
		import struct, sys
		path, section, field, value = sys.argv[1], *map(int, sys.argv[2:5])
		wanted = [name.encode() for name in sys.argv[5:]]
		elf = bytearray(open(path, 'rb').read())
		at, = struct.unpack_from('<Q', elf, 40)
		size, number = struct.unpack_from('<HH', elf, 58)
		sections = [struct.unpack_from('<IIQQQQIIQQ', elf, at + i * size) for i in range(number)]
		table, = [s for s in sections if s[1] == section]
		names = sections[table[6]][4]
		for entry in range(table[4], table[4] + table[5], 24):
		    name = names + struct.unpack_from('<I', elf, entry)[0]
		    name = bytes(elf[name:elf.index(0, name)])
		    if name in wanted:
		        elf[entry + field] = value
		        wanted.remove(name)
		assert not wanted, wanted
		open(path, 'wb').write(elf)
	PY
}

# libr_with FOLDER BODY PC: libR.so with a symbol table that has the two at these addresses.
libr_with() {
	local bss
	bss=$(LC_ALL=C readelf -SW "$libr" | sed -n 's/.* \.bss *NOBITS *\([0-9a-f]*\) .*/\1/p')
	mkdir -p "$WORK/$1"
	# objcopy gives symbols no size (at byte 16); a compiler does
	objcopy --add-symbol "R_BCbody=.bss:$(($2 - 0x$bss)),local,object" \
		--add-symbol "R_BCpc=.bss:$(($3 - 0x$bss)),local,object" "$libr" "$WORK/$1/libR.so" &&
		elf_symbols "$WORK/$1/libR.so" 2 16 8 R_BCbody R_BCpc
}

# libr_unknown: one in which they cannot be found: a variable next to them has no type (at byte 4).
libr_unknown() {
	mkdir -p "$WORK/libr-unknown"
	cp "$libr" "$WORK/libr-unknown/libR.so" && elf_symbols "$WORK/libr-unknown/libR.so" 11 4 16 R_interrupts_suspended
}

# hot_share FILE: per cent of the samples in hot() that begin with line 5 of hot.R.
hot_share() {
	awk '/^#File/ { name[substr($2, 1, length($2) - 1)] = $3; next }
		/"hot" / { all++; split($1, place, "#"); hot += name[place[1]] == "hot.R" && place[2] == 5 }
		END { print all ? int(100 * hot / all) : 0 }' "$1"
}

# profile_hot KIND SAID: leaves the messages in $PROF_OUT.err, and sets share.
profile_hot() {
	target_start "$1" lines_hot
	prof_start "$TARGET_DIR/ours.out" -v -F 499 --lines -p "$TARGET_PID"
	wait_until 60 eval '[ "$(samples_in "$PROF_OUT")" -ge 150 ]'
	prof_stop
	is "$PROF_STATUS" 0 "$1: exit status 0"
	target_kill
	check_stats "$PROF_OUT.stats" "$1"
	check_readable "$PROF_OUT.stats" "$1"
	like "$(grep R_BCbody "$PROF_OUT.err")" "$2" "$1: $2"
	share=$(hot_share "$PROF_OUT")
	figure "$1: $share % of $(stat_of "$PROF_OUT.stats" written) samples at the hot line"
}

libr-stripped() {
	mkdir -p "$WORK/libr-stripped"
	objcopy --strip-unneeded "$libr" "$WORK/libr-stripped/libR.so"
}
check "libR.so is stripped" libr-stripped
! has_symbols "$WORK/libr-stripped/libR.so"
ok $? "it has no symbol table"
profile_hot libr-stripped "source: code of Rf_begincontext"
[ "$share" -ge 60 ]
ok $? "libr-stripped: the innermost line is there" || diag "$(head "$PROF_OUT")"
addresses=$(sed -n 's/.*R_BCbody is at \(0x[0-9a-f]*\) and R_BCpc at \(0x[0-9a-f]*\) .*/\1 \2/p' "$PROF_OUT.err")
read -r body pc <<<"$addresses"

check "libR.so gets a symbol table" libr_with libr-symbols "$body" "$pc"
has_symbols "$WORK/libr-symbols/libR.so"
ok $? "it has one"
profile_hot libr-symbols "source: symbol table"
[ "$share" -ge 60 ]
ok $? "libr-symbols: the innermost line is there" || diag "$(head "$PROF_OUT")"

check "libR.so gets a wrong symbol table" libr_with libr-exchanged "$pc" "$body"
profile_hot libr-exchanged "source: symbol table"
is "$share" 0 "libr-exchanged: with R_BCbody and R_BCpc exchanged there is no innermost line"

mkdir -p "$WORK/static-symbols" "$WORK/static-stripped"
check "R without libR.so" cp "$static/bin/exec/R" "$WORK/static-symbols/R"
has_symbols "$WORK/static-symbols/R"
ok $? "it has a symbol table"
profile_hot static-symbols "source: symbol table"
[ "$share" -ge 60 ]
ok $? "static-symbols: the innermost line is there" || diag "$(head "$PROF_OUT")"

check "R without libR.so is stripped" objcopy --strip-unneeded "$static/bin/exec/R" "$WORK/static-stripped/R"
! has_symbols "$WORK/static-stripped/R"
ok $? "it has no symbol table any more"
profile_hot static-stripped "source: code of Rf_begincontext"
[ "$share" -ge 60 ]
ok $? "static-stripped: the innermost line is there" || diag "$(head "$PROF_OUT")"

check "libR.so is made unreadable" libr_unknown
profile_hot libr-unknown "R_BCbody and R_BCpc were not found"
is "$(grep -c R_BCbody "$PROF_OUT.err")" 1 "libr-unknown: reported once"
is "$share" 0 "libr-unknown: there is no innermost line"
is "$(grep -c '^#File 1: hot.R' "$PROF_OUT")" 1 "libr-unknown: the file of the callers is there"
[ "$(grep -c '^"hot" 1#10 "begin" $' "$PROF_OUT")" -ge 100 ]
ok $? "libr-unknown: where functions were called from is there" || diag "$(head "$PROF_OUT")"
done_testing
