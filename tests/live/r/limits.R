# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Stacks beyond the limits of R's own profiler, for oracle.R: lines of more than 10,000 bytes, and names of more than 500.

burn <- function() for (i in 1:30) sum(sqrt(1:2000))
deep <- function(n) if (n > 0) deep(n - 1) else burn()
long_name <- paste0("long_", strrep("name_", 120))
assign(long_name, eval(bquote(function(n) if (n > 0) .(as.name(long_name))(n - 1) else burn())))
through <- function(n) if (n > 0) do.call(long_name, list(1)) else 0
round_of_work <- function() {
    for (i in 1:20) {
        deep(800)
        get(long_name)(2)
        get(long_name)(30)
        through(2)
    }
}
