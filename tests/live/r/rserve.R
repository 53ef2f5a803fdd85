# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Rserve, which forks a process for each client, listening at FOLDER/socket; FOLDER is the argument.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
ready()
Rserve::run.Rserve(socket = file.path(folder, "socket"), config.file = "/dev/null")
