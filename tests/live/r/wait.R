# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Waits. Arguments: FOLDER

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
resting <- function() Sys.sleep(1000)
ready()
await("go")
resting()
