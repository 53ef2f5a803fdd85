#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# timeout: 300
#
# The innermost line of byte code, for which R's variables R_BCbody and R_BCpc must be found: in a libR.so without a
# symbol table (by its machine code), in the same with one, in an R without libR.so that has one, and in that R
# stripped. That the symbols are used is seen by exchanging the two.
. "$(dirname "$0")/../lib/live.sh"

home=$(R RHOME)
libr=$home/lib/libR.so
static=$("$tests/images/get" static) || bail "no R without libR.so"

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

# libr_with FOLDER BODY PC: libR.so with a symbol table that has the two at these addresses.
libr_with() {
	local bss
	bss=$(LC_ALL=C readelf -SW "$libr" | sed -n 's/.* \.bss *NOBITS *\([0-9a-f]*\) .*/\1/p')
	mkdir -p "$WORK/$1"
	objcopy --add-symbol "R_BCbody=.bss:$(($2 - 0x$bss)),local,object" \
		--add-symbol "R_BCpc=.bss:$(($3 - 0x$bss)),local,object" "$libr" "$WORK/$1/libR.so" &&
		python3 - "$WORK/$1/libR.so" <<-'PY'
			# objcopy gives symbols no size: as the compiler does, 8 bytes
			import struct, sys
			elf = bytearray(open(sys.argv[1], 'rb').read())
			at, = struct.unpack_from('<Q', elf, 40)
			size, number = struct.unpack_from('<HH', elf, 58)
			sections = [struct.unpack_from('<IIQQQQIIQQ', elf, at + i * size) for i in range(number)]
			table, = [s for s in sections if s[1] == 2]
			names = sections[table[6]][4]
			found = 0
			for entry in range(table[4], table[4] + table[5], 24):
			    name = names + struct.unpack_from('<I', elf, entry)[0]
			    if elf[name:elf.index(0, name)] in (b'R_BCbody', b'R_BCpc'):
			        struct.pack_into('<Q', elf, entry + 16, 8)
			        found += 1
			assert found == 2, found
			open(sys.argv[1], 'wb').write(elf)
		PY
}

# hot_share FILE: per cent of the samples in hot() that begin with line 5 of hot.R.
hot_share() {
	awk '/^#File/ { name[substr($2, 1, length($2) - 1)] = $3; next }
		/"hot" $/ { all++; split($1, place, "#"); hot += name[place[1]] == "hot.R" && place[2] == 5 }
		END { print all ? int(100 * hot / all) : 0 }' "$1"
}

# profile_hot KIND HOW: leaves what was said in $PROF_OUT.err, and sets share.
profile_hot() {
	target_start "$1" lines_hot
	prof_start "$TARGET_DIR/ours.out" -v -F 499 --lines -p "$TARGET_PID"
	wait_until 60 eval '[ "$(samples_in "$PROF_OUT")" -ge 150 ]'
	prof_stop
	is "$PROF_STATUS" 0 "$1: exit status 0"
	target_kill
	check_stats "$PROF_OUT.stats" "$1"
	is "$(stat_of "$PROF_OUT.stats" unreadable)" 0 "$1: unreadable 0"
	like "$(grep R_BCbody "$PROF_OUT.err")" "says the $2" "$1: found by the $2"
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
profile_hot libr-stripped "code of Rf_begincontext"
[ "$share" -ge 60 ]
ok $? "libr-stripped: the innermost line is there" || diag "$(head "$PROF_OUT")"
addresses=$(sed -n 's/.*R_BCbody is at \(0x[0-9a-f]*\) and R_BCpc at \(0x[0-9a-f]*\) .*/\1 \2/p' "$PROF_OUT.err")
read -r body pc <<<"$addresses"

check "libR.so gets a symbol table" libr_with libr-symbols "$body" "$pc"
has_symbols "$WORK/libr-symbols/libR.so"
ok $? "it has one"
profile_hot libr-symbols "symbol table"
[ "$share" -ge 60 ]
ok $? "libr-symbols: the innermost line is there" || diag "$(head "$PROF_OUT")"

check "libR.so gets a wrong symbol table" libr_with libr-exchanged "$pc" "$body"
profile_hot libr-exchanged "symbol table"
is "$share" 0 "libr-exchanged: with R_BCbody and R_BCpc exchanged there is no innermost line"

mkdir -p "$WORK/static-symbols" "$WORK/static-stripped"
check "R without libR.so" cp "$static/bin/exec/R" "$WORK/static-symbols/R"
has_symbols "$WORK/static-symbols/R"
ok $? "it has a symbol table"
profile_hot static-symbols "symbol table"
[ "$share" -ge 60 ]
ok $? "static-symbols: the innermost line is there" || diag "$(head "$PROF_OUT")"

check "R without libR.so is stripped" objcopy --strip-unneeded "$static/bin/exec/R" "$WORK/static-stripped/R"
! has_symbols "$WORK/static-stripped/R"
ok $? "it has no symbol table any more"
profile_hot static-stripped "code of Rf_begincontext"
[ "$share" -ge 60 ]
ok $? "static-stripped: the innermost line is there" || diag "$(head "$PROF_OUT")"
done_testing
