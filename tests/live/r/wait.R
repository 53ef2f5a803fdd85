# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Waits. Arguments: FOLDER. Creates `resting` when it is about to.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
resting <- function() {
    put("resting")
    Sys.sleep(1000)
}
ready()
await("go")
resting()
