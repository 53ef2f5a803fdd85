# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# The one source file of two packages that functions.R uses; test_packages.sh installs one with source references and
# one without.

call_it <- function(f) {
    f()
}

inner <- function(f) hidden(f)
hidden <- function(f) (function() f())()

# A factory: its functions have a new environment, with this package's around it.
adder <- function(n) {
    function(f) {
        f()
        n
    }
}
deep_factory <- function(levels) {
    if (levels == 0L) return(function(f) f())
    local(deep_factory(levels - 1L))
}

visit <- function(x, f) UseMethod("visit")
visit.default <- function(x, f) f()
visit.thing <- function(x, f) {
    NextMethod()
    f()
}

setGeneric("measure", function(x, f) standardGeneric("measure"))
setClass("Measured", representation(value = "numeric"))
setMethod("measure", "Measured", function(x, f) f())
measured <- new("Measured", value = 1)

Counter <- setRefClass("Counter", fields = list(n = "numeric"), methods = list(
    count = function(f) {
        f()
        n <<- n + 1
    }))
