#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The table of layouts: what is damaged in it is refused, and a release more is one run of tools/layouts.
. "$(dirname "$0")/../lib/tap.sh"
cd "$(dirname "$0")/../.." || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
csv=tools/rcntxt-offsets.csv

# refused SED WORDS: the table after that change is refused with these words
refused() {
	sed -E "$1" "$csv" >"$work/bad.csv"
	like "$(awk -f tools/layouts.awk "$work/bad.csv" 2>&1 >/dev/null; echo "status $?")" "$2.*status 1" "refused: $2"
}
refused 's/^(x86_64-linux,3\.4\.0,.*),40,0,0$/\1,40,0/' "columns, not"
refused 's/^(x86_64-linux,3\.4\.0,3\.4\.4),400,/\1,4x0,/' "not an offset: 4x0"
refused 's/^(x86_64-linux,3\.4\.0,3\.4\.4),400,/\1,65536,/' "not an offset: 65536"
refused 's/^x86_64-linux,3\.4\.0,3\.4\.4/x86_64-linux,3.4.0,3.3.4/' "ends before it begins"
refused 's/^x86_64-linux,3\.4\.0,3\.4\.4/x86_64-linux,3.2.0,3.4.4/' "not behind the row before it"
refused 's/^x86_64-linux,3\.4\.0,3\.4\.4/x86_64-linux,3.4,3.4.4/' "not a version: 3\.4"
refused 's/^x86_64-linux,3\.4\.0/aarch64-linux,3.4.0/' "are apart"
refused 's/,cloenv,/,environment,/' "no column cloenv"
refused 's/^(x86_64-linux,3\.4\.0,3\.4\.4,400),0,/\1,,/' "no nextcontext"

# Sources of a release that has never been: what tools/layouts reads of them, laid out as in 4.6.
release() {
	rm -rf "${work:?}/R"
	mkdir -p "$work/R/src/include" "$work/R/src/main" "$work/R/src/gnuwin32/fixed/h"
	echo "$1" >"$work/R/VERSION"
	echo "static void pb_dbl(profbuf *pb, double num)" >"$work/R/src/main/eval.c"
	touch "$work/R/src/gnuwin32/fixed/h/config.h"
	cat >"$work/R/src/include/Defn.h" <<'END'
#include <setjmp.h>
typedef struct SEXPREC *SEXP;
struct sxpinfo_struct { unsigned int type : 5, scalar : 1, obj : 1, alt : 1, rest : 24; };
typedef struct { unsigned long long words[6]; } SEXPREC_ALIGN;
#ifdef HAVE_POSIX_SETJMP
typedef sigjmp_buf JMP_BUF;
#else
typedef struct { jmp_buf buf; int mask[2]; } JMP_BUF;
#endif
typedef struct RCNTXT {
	struct RCNTXT *nextcontext;
	int callflag;
	JMP_BUF cjmpbuf;
	int cstacktop, evaldepth;
	SEXP promargs, callfun, sysparent, call, cloenv, conexit;
	void *cend, *cenddata, *vmax;
	int intsusp, gcenabled, bcintactive;
	SEXP bcbody;
	void *bcpc;
	long long relpc;
	SEXP handlerstack, restartstack;
	void *prstack, *nodestack, *bcprottop, *bcframe;
	SEXP srcref;
	int browserfinish;
	struct { int tag, flags; void *value; } returnValue;
	struct RCNTXT *jumptarget;
	int jumpmask;
} RCNTXT;
END
}
# layouts VERSION [OPTION]: tools/layouts on it and on a copy of the table; its words in $said
layouts() {
	said=$(TABLE=$work/table.csv tools/layouts ${2+"$2"} "$1" "$work/R" 2>&1; echo "status $?")
}
machine=$(uname -m)
host=$machine-linux
# as if there were no later release than the one below
grep -v '^[a-z0-9_-]*,4\.[7-9]' "$csv" >"$work/table.csv"
cp "$work/table.csv" "$work/before.csv"

release 4.6.1
layouts 4.6.1 --check
like "$said" "$host: 4\.6\.1 is as the table says.*status 0" "a release the table has is compared"
release 4.7.0
layouts 4.7.0 --check
like "$said" "is not in .*status 1" "--check only looks"
is "$(cat "$work/table.csv")" "$(cat "$work/before.csv")" "and writes nothing"
layouts 4.7.0
like "$said" "$host: 4\.7\.0 is laid out like 4\.6\.1.*status 0" "a later release that is laid out alike"
like "$(grep "^$host" "$work/table.csv" | tail -n 1)" "^$host,4\.4\.0,4\.7\.0," "reaches further"
sed -i 's/SEXP srcref;/SEXP news, srcref;/' "$work/R/src/include/Defn.h"
layouts 4.7.0
like "$said" "$host: 4\.7\.0 is not as the table says.*status 1" "a release that contradicts the table is an error"
echo 4.8.0 >"$work/R/VERSION"
layouts 4.8.0
like "$said" "$host: 4\.8\.0 has a new layout.*status 0" "a later release with a new layout"
old=$(grep "^$host,4\.4\.0" "$work/table.csv" | cut -d, -f24)
new=$(grep "^$host,4\.8\.0,4\.8\.0" "$work/table.csv" | cut -d, -f24)
is "$new" "$((old + 8))" "a new row has the new offset of srcref"
like "$(awk -f tools/layouts.awk "$work/table.csv")" "LAYOUTS_VERSION\(4, 8, 0\), LAYOUTS_VERSION\(4, 8, 0\)" \
	"which is in the generated table"
layouts 4.8.1
like "$said" "sources of R 4\.8\.0, not of 4\.8\.1.*status 1" "sources of another release are refused"
sed -i 's/alt : 1, rest/rest/' "$work/R/src/include/Defn.h"
sed -i 's/obj : 1/obj : 2, alt : 1/' "$work/R/src/include/Defn.h"
layouts 4.8.0
like "$said" "ALTREP bit is not where.*status 1" "objects that begin otherwise are refused"
done_testing
