# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
# Waits in a system call nearly all the time, until it is killed. Arguments: FOLDER.
waits <- function() repeat Sys.sleep(0.2)
file.create(file.path(commandArgs(TRUE)[1], "ready"))
waits()
