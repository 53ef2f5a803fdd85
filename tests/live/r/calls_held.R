# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Five calls of quick(), which compute for 20 to 300 ms, and one of held(), which lasts until the test makes the file `release`.
# `log`: how long each of the five lasted, at least and at most, in seconds.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
now <- function() as.numeric(Sys.time())
quick <- function(seconds) {
    began <- now()
    end <- cpu_time() + seconds
    while (cpu_time() < end) for (i in 1:200) i
    now() - began
}
held <- function() await("release")

ready()
await("go")
log <- character()
for (seconds in c(0.02, 0.04, 0.08, 0.15, 0.3)) {
    began <- now()
    least <- quick(seconds)
    log <- c(log, sprintf("%.6f %.6f", least, now() - began))
}
put("log", log)
held()
done()
await("end")
