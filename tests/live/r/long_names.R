# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Computes in functions with the longest names that R takes, and one called by a very long string. Arguments: FOLDER SECONDS
# (of CPU time). long.txt: the names as a profile should have them, one a line; the last without its end.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
seconds <- as.numeric(args[[2L]])
invisible(compiler::enableJIT(0L))

long <- paste0(strrep("n", 9996L), "_end") # 10,000 bytes: MAXIDSIZE of R's names.c
wide <- paste0(strrep("\u00e9", 4000L), "_end")
item <- strrep("s", 5000L)
spin <- function() { end <- cpu_time() + seconds / 3; while (cpu_time() < end) sum(sqrt(1:1000)) }
held <- list()
held[[item]] <- spin
assign(long, spin)
assign(wide, spin)
put("long.txt", c(long, wide, paste0("held[[\"", substr(item, 1L, 4096L))))
ready()
await("go")
eval(as.call(list(as.name(long))))
eval(as.call(list(as.name(wide))))
eval(bquote(held[[.(item)]]()))
done()
