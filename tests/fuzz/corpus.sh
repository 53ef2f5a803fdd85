#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# usage: tests/fuzz/corpus.sh [TARGET...]
#
# Make the corpora anew: from what they have, what runs with -k have found and what the tree has recorded, the fewest small inputs
# that reach as much. Inputs that once broke a target, named broke-WHAT, stay whatever they reach.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
BUILD=${BUILD:-build}
programs=$BUILD/fuzz/bin
SIZE=20480 # bytes of an input, at most: the size of the PE image of the unit tests
FILES=40   # of them, about: of all sizes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work"/{decode,images,elf,hidden,text,options,btf,flow,read,http,http_rules,describe,config,store,headers}
"$programs/seeds" streams "$work/decode" tests/streams/*.stream.gz
"$programs/seeds" images "$work/images" tests/images-recorded/*.gz
"$programs/seeds" elf "$work/elf"
for flags in -O2 '-O2 -DNO_RUNNING' '-O1 -DBRANCHES' -O0; do
	# shellcheck disable=SC2086  # words
	cc $flags -fPIC -shared -w -nostdlib -s -o "$work/hidden/${flags//[ -]/}.so" tests/fixtures/hidden.c
	objcopy -O binary -j .text "$work/hidden/${flags//[ -]/}.so" "$work/flow/code"
	{ printf '\0' && head -c 3000 "$work/flow/code"; } >"$work/flow/${flags//[ -]/}"
	rm "$work/flow/code"
done
printf '\0f;g "a" \033[2J \302\233 \342\200\256\\n x[["k"]]' >"$work/text/escape"
printf '\1a"b\\\t\001\377' >"$work/text/json"
printf '\002%s\n' '7f00-7f10 r-xp 00001000 08:01 77    /usr/lib/R/lib/libR.so.4 (deleted)' >"$work/text/maps"
printf '\003%s' '42 (a) b) S 1 2 3 0 -1 4194560 1 0 0 0 1 0 0 0 20 0 1 0 5555 1 1 1 1 1 140737488347136 0' >"$work/text/stat"
printf '\004%s' '0-3,8,10-11 1.5h 5.10.0 #1 SMP Debian 6.1.36-1' >"$work/text/numbers"
printf '\005/a*[b]?\n/docker/%064d/x' 7 >"$work/text/names"
printf '\006major\0minor\0002.2\0year\0002022\0' >"$work/text/version"
for line in '-p 42 -d 5m -F 99 -o out/ --format folded -e bpf --lines --gc' '-a -u root --comm R* -X 4,5 --cgroup /x' \
	'--stats s.json --btf b -q -v --clock cpu -s -- Rscript -e 1' '--help' '-V' '--filter-callframes -p 7,8,9'; do
	tr ' ' '\0' <<<"$line" >"$work/options/$(cksum <<<"$line" | cut -d' ' -f1)"
done
{ printf '\001' && printf '%s\n' 'GC profiling: line profiling: sample.interval=2000' '#File 1: a.R' '"<GC>" 1#7 "g" 1#12 "f" 1#20 ' '"a
b" "x[["k" "l"]]" ' '#File 2: <text>' '2#9 ' '"\x3cGC>" "<truncated>" '; } >"$work/read/lines"
{ printf '\120' && printf '%s\n' 'memory profiling: sample.interval=2000' ':1:2:3:4:"g" "f" ' ':1:2:3:4:' 'sample.interval=1' '"f" '; } >"$work/read/memory"
{ printf '\002' && printf '%s\n' 'R-12;f (a.R:3);p::FUN {b.R:4} (c.R:5);<GC> 17' 'R-12;<toplevel> 1' '<no-room> 3' 'f;lapply;g 2'; } >"$work/read/folded"
{ printf '\002' && printf '%s\n' 'f 12.5' 'f;g 1e+05' && printf 'f;h 0.25'; } >"$work/read/counts"
{ printf '\002\377\376' && printf 'f;\303\251 3\r\nf 1' | iconv -f UTF-8 -t UTF-16LE; } >"$work/read/wide"
tail -c +2 "$work/read/folded" >"$work/folded"
{ printf '\000' && "$BUILD/xrprof-bpf" report "$work/folded" -f pprof | gunzip; } >"$work/pprof"
mv "$work/pprof" "$work/read/pprof"
# http_rules: where to listen, tokens, requests with and without a token; http: what a client sends
for address in 127.0.0.1:0 '[::1]:9419' localhost:80 9419 0.0.0.0:65535 '[::ffff:127.0.0.1]:1' unix:/run/x.sock; do
	printf '\0%s' "$address" >"$work/http_rules/$(cksum <<<"$address" | cut -d' ' -f1)"
done
printf '\001%s\r\nmore' 0123456789abcdef0123 >"$work/http_rules/token"
{ printf '\022' && printf '%s\n' /debug/pprof/profile GET '[::1]:9419' - none - 30; } >"$work/http_rules/open"
{ printf '\026' && printf '%s\n' /metrics HEAD a.example - cross-site 'Bearer 0123456789abcdef'; } >"$work/http_rules/token-given"
{ printf '\020' && printf '%s\r\n' 'GET /metrics HTTP/1.1' 'Host: localhost' '' 'GET / HTTP/1.1' 'Host: [::1]:9419' 'Origin: http://a' ''; } >"$work/http/pipelined"
{ printf '\020' && printf '%s\r\n' 'GET /debug/pprof/profile?seconds=3 HTTP/1.0' $'\377' $'\376GET /healthz HTTP/1.1' 'Connection: close' 'Host: 127.0.0.1' '' \
	$'\374POST / HTTP/1.1' 'Transfer-Encoding: chunked' 'Expect: 100-continue' '' $'3\r\nabc\r\n0\r\n'; } >"$work/http/parts"
{
	printf '\042\000R\0--no-echo\0--file=/srv/plumber.R\0' && printf '\056\000HOME=/r\0TEAM=blue\0APP=web\0OTEL_SERVICE_NAME=o\0'
	printf '\043\000/system.slice/a\\x2db@c.service/sub\n' && printf '\001\000R' && printf '\006\000X=Team' && printf '\000\000'
	printf 'R -f x\0service\0web\0\0'
} >"$work/describe/process"
printf '\000%s' 20261122T021000Z-60.1.pb.gz >"$work/store/name"
printf '\000%s' .index-20261122.1.jsonl.gz.tmp >"$work/store/temporary"
n=0
for when in 02:10:30 'yesterday 02:10' '2026-11-22 02:10' 2026-11-22T02:10+01:00 1h30m '10min ago' -7d now; do
	n=$((n + 1))
	printf '\001\%03o%s' "$n" "$(printf '%08d' 17)$when" >"$work/store/time$n"
done
line='{"file":"20261122T021000Z-60.pb.gz","from":"2026-11-22T02:10:00Z","seconds":60,"pid":17,"comm":"R","uid":1000,"started":1795313000.5,"samples":3,"service":"a\"\u00e9\ud83d\ude00","x":[true,{"y":null}],"command":"R -f a.R"}'
printf '\002%s' "$line" >"$work/store/line"
{ printf '\003' && printf '%s\n' "$line" "${line/021000/021100}" | gzip -c && printf '%s\n' "$line" | gzip -c; } >"$work/store/index"
{ printf '\003' && printf '%s\n' "$line"; } >"$work/store/plain"
printf '# t\n\nAuthorization: Bearer x\r\nA:\nB: c: d \n' >"$work/headers/headers"
printf '\n\006\010\003\022\002no' >"$work/headers/answer"
# magic, kind and sum, times, samples, lengths of name and body
bpftool gen min_core_btf "${BTF:-/sys/kernel/btf/vmlinux}" "$work/btf/kernel" "$BUILD/sampler.bpf.o"

printf '%s\n' '# all of it' 'dir = /var/lib/x' 'keep = 10G,7d' 'interval=30s' 'listen = [::1]:9419' 'label = team=a' 'label-env = NAME=service' \
	'max-cpu = 0.5%' 'max-stacks = 1000' 'all' ' freq = 19 ' 'cgroup = /a/*' 'otlp = https://h:1/' 'spool-size = 8M' >"$work/config/all"

for source in tests/fuzz/*.c; do
	name=$(basename "$source" .c)
	[ "$name" != seeds ] || continue
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
	case $name in
	walk | remote | checks | values) seeds=$work/images ;;
	find) seeds=$work/elf ;;
	*) seeds=$work/$name ;;
	esac
	corpus=tests/fuzz/corpus/$name new=$work/new-$name
	mkdir -p "$corpus" "$new" "$BUILD/fuzz/found/$name" "$seeds"
	"$programs/$name" -set_cover_merge=1 -max_len=$SIZE -timeout=60 -artifact_prefix="$work/" "$new" "$corpus" "$BUILD/fuzz/found/$name" "$seeds" >"$work/log" 2>&1 ||
		{ tail -n 20 "$work/log" && exit 1; }
	find "$corpus" -type f ! -name 'broke-*' -delete
	# shellcheck disable=SC2012  # names are hashes
	ls -S "$new" | awk -v step="$(($(find "$new" -type f | wc -l) / FILES + 1))" 'NR % step == 0' | while read -r file; do
		cp "$new/$file" "$corpus/$file"
	done
	echo "$name: $(find "$corpus" -type f | wc -l) inputs, $(du -bs "$corpus" | cut -f1) bytes; $(find "$new" -type f | wc -l) reach all"
done
