# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A process with so much memory that its end takes tens of milliseconds, and before that a child that becomes another
# program, again and again. Arguments: PROFILE, which it waits for.

profile <- commandArgs(TRUE)
compute <- function() for (i in 1:1e5) i
while (!file.exists(profile) || length(readLines(profile, warn = FALSE)) < 2L) compute()
for (i in 1:20) system("true")
ends <- function() {
    x <- rep(1, 5e7)
    end <- proc.time()[[1L]] + 0.1
    while (proc.time()[[1L]] < end) {
        y <- 0
        for (i in 1:1000) y <- y + i
    }
    quit("no")
}
ends()
