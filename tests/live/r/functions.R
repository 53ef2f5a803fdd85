# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# A program whose functions are of everywhere: of packages, made by functions of packages, of classes, sourced. It is
# meant to be profiled from outside, by a profiler that writes what it has sampled to the file frames in FOLDER. Arguments:
# FOLDER LIBRARY, where the packages of functions_package.R are.
#
# Each case calls a separate function, spin_N. It first notes R's facts on all frames: the package,
# environmentName(topenv(environment(f))), and where f was defined. Then it spins. It is called
# until it was sampled. Writes to oracle.txt: for each call "call N", then each frame, its package,
# file and line, outermost first; and the names of the cases to cases.txt.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
.libPaths(c(args[[2L]], .libPaths()))
options(keep.source = FALSE)
suppressPackageStartupMessages(library(methods))
oracle <- file.path(folder, "oracle.txt")

# What R says of function f: its package and its definition.
about <- function(f) {
    if (is.primitive(f)) return(c("base", "", "0"))
    top <- environmentName(topenv(environment(f)))
    ref <- attr(f, "srcref")
    c(if (identical(top, "R_GlobalEnv")) ".GlobalEnv" else top,
        if (is.null(ref)) "" else attr(ref, "srcfile")$filename, if (is.null(ref)) "0" else ref[[1L]])
}

note <- function(number, frame) {
    lines <- vapply(seq_len(frame), function(i) {
        called <- sys.call(i)[[1L]]
        paste(c(if (is.symbol(called)) as.character(called) else "", about(sys.function(i))), collapse = "\t")
    }, "")
    con <- file(oracle, "a")
    writeLines(c(paste("call", number), lines), con)
    close(con)
}

# spin_N; it works when it is called for the first times. A later call may be from elsewhere, and sampled, too: optimize()
# calls the function a last time itself.
spinner <- function(number) {
    calls <- 0
    function() {
        calls <<- calls + 1
        note(number, sys.nframe())
        if (calls > 2) return(1)
        end <- cpu_time() + 0.01
        while (cpu_time() < end) for (k in 1:20) sum(sqrt(1:500))
        1
    }
}

cases <- list()
# A case: an expression in which `probe` stands for the function to be called.
case <- function(name, expr) cases[[name]] <<- substitute(expr)

thing <- structure(list(), class = "thing")
global <- function(f) f()
lines <- c("", "sourced <- function(f) {", "    f()", "}", "with_fun <- function(f) sapply(1, function(i) f())")
sourced_file <- put_source <- file.path(folder, "sourced file.R")
writeLines(lines, sourced_file)
source(sourced_file, keep.source = TRUE)
local_env <- new.env()
source(sourced_file, local = local_env, keep.source = TRUE)
system_env <- new.env(parent = baseenv())
sys.source(sourced_file, system_env, keep.source = TRUE)
parsed <- eval(parse(text = c("", "", "function(f) f()"), keep.source = TRUE))
compiled <- compiler::cmpfun(parsed)
attached <- attach(NULL, name = "mine")
sys.source(sourced_file, attached, keep.source = TRUE)
attached$of_attached <- attached$sourced
in_env <- function(f, env) {
    environment(f) <- env
    f
}
nested_env <- function(depth, env = globalenv()) if (depth == 0L) env else nested_env(depth - 1L, new.env(parent = env))
with_attribute <- structure(new.env(), name = "some name")

case("toplevel", probe())
case("global", global(probe))
case("sourced", sourced(probe))
case("sourced FUN", with_fun(probe))
case("sourced into an environment", local_env$sourced(probe))
case("sourced into one outside of the global one", system_env$sourced(probe))
case("of an attached environment", of_attached(probe))
case("parsed", parsed(probe))
case("compiled", compiled(probe))
case("anonymous", (function(f) f())(probe))
case("local", local((function(f) f())(probe)))
case("eval", eval(quote(probe()), list(a = 1)))
case("lapply", lapply(1, probe))
case("vapply", vapply(1, function(i) probe(), 0))
case("Map", Map(function(a, b) probe(), 1, 2))
case("Reduce", Reduce(function(a, b) probe(), 1:3))
case("do.call", do.call(probe, list()))
case("do.call by name", do.call("global", list(probe)))
case("tryCatch", tryCatch(stop("wanted"), error = function(e) probe(), finally = probe()))
case("calling handlers", withCallingHandlers(warning("wanted"),
    warning = function(w) { probe(); invokeRestart("muffleWarning") }))
case("made by base", Negate(probe)())
case("Vectorize", Vectorize(function(x) probe())(1:2))
case("optimize", stats::optimize(function(x) { probe(); x }, c(0, 1), tol = 0.9))
case("integrate", stats::integrate(function(x) { probe(); x }, 0, 1))
case("formula", stats::lm(y ~ I(probe() * seq_along(y)), data.frame(y = c(1, 3, 2))))
case("aggregate", stats::aggregate(y ~ x, data.frame(y = 1:2, x = 1:2), function(v) probe()))
case("model.frame", with(data.frame(y = 1:3), stats::model.frame(y ~ I(global(probe) * y))))
case("a package's method", stats::reorder(factor(1:2), 1:2, function(x) probe()))
case("utils", utils::capture.output(probe()))
case("utils anonymous", utils::modifyList(list(a = probe()), list(b = 1)))
case("apply", apply(matrix(1:2, 1), 1, function(r) probe()))
case("outer", outer(1, 1, function(x, y) probe()))
case("UseMethod", xrkept::visit(thing, probe))
case("a package", xrkept::call_it(probe))
case("a package without sources", xrdropped::call_it(probe))
case("inside of a package", xrkept::inner(probe))
case("inside of a package without sources", xrdropped::inner(probe))
case("made by a package", xrkept::adder(1)(probe))
case("made by a package without sources", xrdropped::adder(1)(probe))
case("made by a package, deep", xrkept::deep_factory(30L)(probe))
case("S4", xrkept::measure(xrkept::measured, probe))
case("reference class of a package", xrkept::Counter$new(n = 0)$count(probe))
case("base environment", in_env(function(f) f(), baseenv())(probe))
case("a package's environment", in_env(function(f) f(), as.environment("package:stats"))(probe))
case("a namespace by hand", in_env(function(f) f(), asNamespace("utils"))(probe))
case("the imports of a namespace", in_env(function(f) f(), parent.env(asNamespace("stats")))(probe))
case("30 environments", in_env(function(f) f(), nested_env(30L))(probe))
case("30 environments in a namespace", in_env(function(f) f(), nested_env(30L, asNamespace("stats")))(probe))
case("an environment with a name", in_env(function(f) f(), with_attribute)(probe))
case("attached package", splines_user(probe))
if (requireNamespace("R6", quietly = TRUE)) {
    Stack <- R6::R6Class("Stack", public = list(push = function(f) private$work(f)),
        private = list(work = function(f) f()))
    case("R6", Stack$new()$push(probe))
    Child <- R6::R6Class("Child", inherit = Stack, public = list(push = function(f) super$push(f)))
    case("R6, inherited", Child$new()$push(probe))
}
setClass("Thing", representation(value = "numeric"))
setGeneric("size", function(x, f) standardGeneric("size"))
setMethod("size", "Thing", function(x, f) f())
case("S4 of this program", size(new("Thing", value = 1), probe))
Account <- setRefClass("Account", fields = list(), methods = list(add = function(f) f()))
case("reference class", Account$new()$add(probe))

splines_user <- function(f) {
    # loaded while it is profiled
    environment(f)$late <- asNamespace("splines")
    in_env(function(f) f(), asNamespace("splines"))(f)
}

# Each case, again and again until it was sampled. Samples are written with some delay.
run <- function(round) {
    left <- seq_along(cases)
    while (length(left)) {
        for (i in left) {
            number <- i + 1000L * round
            name <- paste0("spin_", number)
            assign(name, spinner(number), globalenv())
            probe <<- eval(bquote(function(...) .(as.name(name))()), globalenv())
            eval(cases[[i]], globalenv())
        }
        seen <- sub("\t.*", "", grep("^spin_", readLines(file.path(folder, "frames")), value = TRUE))
        left <- left[!paste0("spin_", left + 1000L * round) %in% seen]
    }
}

put("cases.txt", names(cases))
ready()
await("go")
run(1L)
# another time: what is called often is compiled now, and packages come and go
unloadNamespace("xrkept")
run(2L)
if (.Platform$OS.type == "unix") {
    job <- parallel::mcparallel(run(3L))
    parallel::mccollect(job)
}
done()
