# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Has the kernel at work, below read(), until it is killed. Arguments: FOLDER.
random <- file("/dev/urandom", "rb", raw = TRUE)
reads <- function() for (i in 1:10) readBin(random, "raw", 1e5)
reads()
file.create(file.path(commandArgs(TRUE)[1], "ready"))
repeat reads()
