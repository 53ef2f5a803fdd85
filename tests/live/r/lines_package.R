# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The one source file of three packages that lines.R uses: with sources, without, and
# without byte-compiling.

spin <- function() {
    s <- 0
    for (k in 1:20)
        s <- s + sum(sqrt(1:1000))
    s
}

work <- function(n) {
    total <- 0
    for (i in seq_len(n)) {
        total <- total +
            spin()
    }
    helper(total)
}

helper <- function(x) {
    spin()
    x
}

values <- function(f) {
    vapply(1:2, function(i) {
        f(i)
        spin()
    }, 0)
}
