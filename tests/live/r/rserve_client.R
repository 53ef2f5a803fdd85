# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A client of rserve.R: has its process there run oracle.R, with source lines only. Arguments: FOLDER SOCKET, and those of
# oracle.R after its folder, which is the same.

args <- commandArgs(trailingOnly = TRUE)
connection <- RSclient::RS.connect(args[[2L]], port = 0L)
invisible(RSclient::RS.eval(connection, bquote({
    assign("commandArgs", function(...) .(args[-2L]), globalenv())
    assign("oracle_modes", "lines", globalenv())
    source(.(file.path(args[[1L]], "oracle.R")))
}), lazy = FALSE))
RSclient::RS.close(connection)
