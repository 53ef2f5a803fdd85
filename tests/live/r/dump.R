# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Blocks in one way, and says before with which stack. Arguments: FOLDER WAY [FILE]
#
# `stack` gets the calls that sys.calls() has right before, the innermost first: the function's package and name, then the place
# that is being executed in it as FILE:LINE. At the end, when what it waited for has come, `done`.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
source(file.path(folder, "dump_ways.R"), keep.source = TRUE)
way <- args[[2L]]
if (way %in% c("call", "threads")) dyn.load(args[[3L]])
run <- ways[[way]]
run()
done()
