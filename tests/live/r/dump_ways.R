# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# For dump.R. What blocks is called in the line of note(), which so has the same place.

place <- function(call) {
    ref <- attr(call, "srcref")
    if (is.null(ref)) "" else paste0(attr(ref, "srcfile")$filename, ":", ref[[1L]])
}

# A call's place is the one in its caller.
# The package that a function is from, as frames have it.
package <- function(f) {
    name <- environmentName(topenv(environment(f)))
    if (name == "R_GlobalEnv") ".GlobalEnv" else name
}

note <- function(...) {
    calls <- rev(sys.calls())
    functions <- rev(lapply(seq_len(sys.nframe()), sys.function))
    names <- vapply(calls, function(call) as.character(call[[1L]])[[1L]], "")
    places <- vapply(calls, place, "")
    packages <- vapply(functions, package, "")
    put("stack", c(paste0(packages[-1L], "\t", names[-1L], "\t", places[-length(places)])))
    ready()
}

ways <- list(
    sleep = function() tryCatch({ note(); Sys.sleep(1000) }, interrupt = function(e) NULL),
    deep = function() {
        tryCatch(lapply(1:2, function(i) {
            tryCatch({
                note(); Sys.sleep(1000)
            }, error = function(e) stop(e))
        }), interrupt = function(e) NULL)
    },
    call = function() {
        note(); .C("spin_until", file.path(folder, "go"), file.path(folder, "spins"))
    },
    twice = function() {
        second <- function() Sys.sleep(1000)
        tryCatch({ note(); Sys.sleep(1000) }, interrupt = function(e) NULL)
        tryCatch(second(), interrupt = function(e) NULL)
    },
    threads = function() {
        .C("dump_threads_start")
        tryCatch({ note(); Sys.sleep(1000) }, interrupt = function(e) NULL)
    },
    child = function() {
        note(); system("exec sleep 1000")
    }
)
