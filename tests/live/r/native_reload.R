# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# phase_1() is in a function of a library until FOLDER/go is there; then that library is unloaded and the other loaded, which has the
# same size, and phase_2() is in a function of that until this is killed. Arguments: FOLDER FIRST SECOND.
# Writes FOLDER/place.1 and FOLDER/place.2: where the code of each is.
args <- commandArgs(TRUE)
place <- function(file) {
    line <- grep(paste0(basename(file), "$"), grep(" r-xp ", readLines("/proc/self/maps"), value = TRUE), value = TRUE)
    sub("-.*", "", line)
}
load <- function(file, name, number) {
    lib <- dyn.load(file)
    writeLines(place(file), file.path(args[1], paste0("place.", number)))
    getNativeSymbolInfo(name, lib)$address
}
phase_1 <- function(at) while (!file.exists(file.path(args[1], "go"))) .C(at, 20L)
phase_2 <- function(at) repeat .C(at, 20L)
at <- load(args[2], "first_burn", 1)
file.create(file.path(args[1], "ready"))
phase_1(at)
dyn.unload(args[2])
phase_2(load(args[3], "second_burn", 2))
