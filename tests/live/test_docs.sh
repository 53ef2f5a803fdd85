#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: docs
# timeout: 400
# engines: bpf
#
# usage: tests/live/test_docs.sh [PAGE...]
#
# The commands of the tutorial and the guides that are marked as runnable run as they are written, and print what the
# pages show, except numbers. tests/lib/docs.py says how they are marked.
. "$(dirname "$0")/../lib/live.sh"
needs bpf
needs program curl
needs program python3
needs r-package httpuv

docs=$(cd "$tests/../docs" && pwd)
pages=("$@")
[ $# -gt 0 ] || mapfile -t pages < <(grep -lE '^<!-- run' "$docs"/*.md "$docs"/guide/*.md)

# Two ports that are free now, and stay so: connections of other programs get higher ones (ip_local_port_range).
mapfile -t ports < <(R --vanilla --no-echo -e 'for (i in 1:2) cat(httpuv::randomPort(max = 32767L), "\n", sep = "")' </dev/null)
mkdir "$WORK/bin"
ln -s "$(cd "$(dirname "$XRPROF")" && pwd)/$(basename "$XRPROF")" "$WORK/bin/xrprof-bpf"

# with_ports: the ports of the pages are those of this run
with_ports() {
	sed "s/\\b8000\\b/${ports[0]}/g; s/\\b8001\\b/${ports[1]}/g"
}

# What goes before the commands of each page. answers: waits until the API that was started last answers.
cat >"$WORK/before" <<'END'
apis=()
trap 'kill $(jobs -p) 2>/dev/null' EXIT
unset R_DEFAULT_PACKAGES # live.sh sets it: R as people start it
exec 2>&1
answers() {
	apis+=("$!")
	until curl -s 'http://127.0.0.1:8000/report?customer=7' >/dev/null; do
		kill -0 "${apis[-1]}" || exit
		sleep 0.1
	done
}
END

for page in "${pages[@]}"; do
	name=$(realpath --relative-to "$docs" "$page")
	folder=$WORK/$(basename "$page" .md)
	mkdir "$folder"
	ln -s "$docs" "$folder/docs"
	{
		cat "$WORK/before"
		python3 "$lib/docs.py" script "$page" "$docs/tutorial.md"
	} | with_ports >"$folder/script"
	(cd "$folder" && PATH=$WORK/bin:$PATH exec bash script) >"$folder/output" </dev/null
	while IFS=$'\t' read -r verdict text; do
		case $verdict in
		'#') diag "$text" ;;
		*)
			[ "$verdict" = pass ]
			ok $? "$name: $text"
			;;
		esac
	done < <(python3 "$lib/docs.py" compare "$page" "$folder/output")
done
done_testing
