# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What all_storm.R becomes by exec. Arguments: FOLDER

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
after_exec <- function(seconds) {
    end <- cpu_time() + seconds
    x <- 0
    while (cpu_time() < end) for (i in 1:500) x <- x + sqrt(i)
}
after_exec(0.6)
done()
