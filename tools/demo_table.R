# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Prints a profile as a table: the functions with the most time. Arguments: Rprof.out

profile <- summaryRprof(commandArgs(trailingOnly = TRUE)[[1L]])
table <- head(profile$by.total, 15L)
names <- gsub("\"", "", rownames(table), fixed = TRUE)
width <- max(nchar(names), 8L)
bar <- strrep("#", round(table$self.pct / 4))
cat(sprintf("    %-*s  %8s %8s  %8s %8s\n", width, "function", "total s", "%", "self s", "%"), sep = "")
lines <- sprintf(
    "    %-*s  %8.2f %8.1f  %8.2f %8.1f  %s\n", width, names,
    table$total.time, table$total.pct, table$self.time, table$self.pct, bar
)
cat(paste0(trimws(lines, "right"), "\n"), sep = "")
