#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# tier: all
# touches: cmd output session
# timeout: 600
# engines: bpf
#
# The R package of tools/R: R CMD check has nothing to say about it, and it does what a person wants of it in a script, in
# an interactive R on a terminal, in a document, and without rights.
. "$(dirname "$0")/../lib/live.sh"

unset R_DEFAULT_PACKAGES # live.sh sets it: R as people start it
for tool in R tmux; do
	command -v $tool >/dev/null || bail "no $tool: tools/install-deps test"
done
socket=xrprof-$$
sleepers=$WORK/sleepers
package_cleanup() {
	tmux -L $socket kill-server 2>/dev/null
	# shellcheck disable=SC2046  # numbers
	[ ! -e "$sleepers" ] || live_kill TERM $(cat "$sleepers")
	live_cleanup
}
trap package_cleanup EXIT

# for a user without rights, too
chmod 755 "$WORK"
mkdir "$WORK/build" "$WORK/lib" "$WORK/script" "$WORK/bin"
install -m 755 "$XRPROF" "$WORK/bin/xrprof-bpf"
export XRPROF_BPF=$WORK/bin/xrprof-bpf

# --- R CMD check ---

cd "$WORK/build" || exit
check "R CMD build" R CMD build "$tests/../tools/R"
package=$(echo xrprof_*.tar.gz)
# There is no network to ask: for the time, for what else is on CRAN. No LaTeX: no manual in PDF.
_R_CHECK_FORCE_SUGGESTS_=false _R_CHECK_CRAN_INCOMING_=false _R_CHECK_SYSTEM_CLOCK_=false R CMD check --as-cran --no-manual \
	"$package" >"$WORK/check" 2>&1
is "$(sed -n 's/^Status: //p' "$WORK/check")" OK "R CMD check --as-cran: no error, warning or note" ||
	diag "$(grep -v 'OK$' "$WORK/check")"
check "R CMD INSTALL" R CMD INSTALL -l "$WORK/lib" "$package"
cd "$WORK" || exit
export R_LIBS=$WORK/lib

# --- a script ---

XRPROF_SLEEPERS=$sleepers timeout -k 5 300 Rscript "$tests/live/r_package/script.R" "$WORK/script" >"$WORK/script.out" 2>"$WORK/script.err"
is $? 0 "Rscript: exit status" || diag "$(tail -n 20 "$WORK/script.err")"
while read -r verdict name; do
	check "Rscript: $name" [ "$verdict" = pass ]
done < <(grep -E '^(pass|fail) ' "$WORK/script.out")
is "$(tail -n 1 "$WORK/script.out")" end "Rscript: it got to its end"

# --- an interactive R ---

screen() {
	tmux -L $socket capture-pane -p -S - -t r
}
# typed LINE REGEX: type it, and wait until what R says matches.
typed() {
	tmux -L $socket clear-history -t r
	tmux -L $socket send-keys -t r -l "$1"
	tmux -L $socket send-keys -t r Enter
	shown "$2"
}
on_screen() {
	screen | grep -qE -- "$1"
}
shown() {
	wait_until 60 on_screen "$1"
}
tmux -L $socket -f /dev/null new-session -d -s r -x 150 -y 50 "R --vanilla --quiet"
ok $? "an R on a terminal"
check "interactive: it is ready" shown '^> *$'
check "interactive: library(xrprof)" typed 'library(xrprof); heavy <- function(n) { x <- 0; for (i in seq_len(n)) x <- x + sqrt(i); x }; cat("read", "y\n", sep = "")' '^ready'
typed 'options(browser = function(url) cat("opened", url, "\n")); cat("set", "\n", sep = "")' '^set'
check "interactive: xrprof() prints a table" typed 'xrprof({ for (k in 1:12) heavy(1e6) })' '^<xrprof> [0-9]+ samples' || diag "$(screen)"
check "interactive: the busy function is in it" shown '^"heavy" ' || diag "$(screen)"
check "interactive: and opens the page" on_screen '^opened .*\.html' || diag "$(screen)"
# Ctrl-C is for R, not for the profiler.
check "interactive: xrprof_start()" typed 'xrprof_start(); cat("beg", "un\n", sep = "")' '^begun'
typed 'cat("comput", "ing\n", sep = ""); repeat heavy(1e6)' '^computing'
tmux -L $socket send-keys -t r C-c
check "interactive: Ctrl-C ends the computation" shown '^> *$'
check "interactive: the profile went on" typed 'for (k in 1:12) heavy(1e6); p <- xrprof_stop(); cat("stopp", "ed: ", rownames(summary(p)$by.self)[[1L]], "\n", sep = "")' '^stopped: "heavy"' || diag "$(screen)"
typed 'xrprof({ cat("insi", "de\n", sep = ""); repeat heavy(1e6) })' '^inside'
tmux -L $socket send-keys -t r C-c
check "interactive: Ctrl-C in xrprof()" shown '^> *$'
check "interactive: has the profile up to there" typed 'for (i in 1) print(xrprof_last())' '^<xrprof> ' || diag "$(screen)"
tmux -L $socket kill-server
none_left() {
	! pgrep -f "$WORK/bin/xrprof-bp[f]" >/dev/null
}
check "interactive: no profiler is left" wait_until 30 none_left

# --- a document ---

cp "$tests/live/r_package/document.Rmd" "$WORK/document.Rmd"
check "knitr" Rscript -e 'knitr::knit("document.Rmd", "document.md", quiet = TRUE)'
check "knitr: Markdown has a table" grep -qE '^\|heavy +\|' document.md || diag "$(cat document.md)"
check "knitr: to HTML" Rscript -e 'knitr::opts_knit$set(rmarkdown.pandoc.to = "html"); knitr::knit("document.Rmd", "html.md", quiet = TRUE)'
check "knitr: HTML has the page in it" grep -q '<iframe title="Profile".*srcdoc="' html.md || diag "$(head -c 3000 html.md)"

# --- without rights ---

mkdir -m 777 "$WORK/home"
TMPDIR=$WORK/home HOME=$WORK/home setpriv --reuid=65534 --regid=65534 --clear-groups \
	timeout -k 5 120 Rscript "$tests/live/r_package/rights.R" >"$WORK/rights.out" 2>"$WORK/rights.err"
is $? 0 "without rights: exit status" || diag "$(cat "$WORK/rights.err")"
like "$(grep ^refused "$WORK/rights.out")" 'the profiler did not start: bpf: .*permission.* \| what helps: sudo = TRUE.*install-caps' \
	"without rights: the reason, and what helps"
scope=$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)
if [ "$scope" = 0 ]; then
	like "$(grep ^fallback "$WORK/rights.out")" '(ptrace|vmread) "heavy"' "without rights: another engine does it"
else
	like "$(grep ^fallback "$WORK/rights.out")" 'ptrace_scope=0.*it is [123]' "without rights: what forbids the other engines"
fi
done_testing
