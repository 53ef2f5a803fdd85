# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# program.R sources this into two environments and byte-compiles one of them. The images have its
# lines: a change shows once they are recorded again.

data <- seq_len(500) / 7
work <- function(...) {
    s <- 0
    for (k in 1:8) {
        s <- s +
            sum(sqrt(data))
    }
    s
}

# symbols
ordinary <- function(n) {
    n <- n + 1
    work(n)
}
`with space` <- function() work()
`größe 数` <- function() work()
`%join%` <- function(a, b) work(a, b)
`tail<-` <- function(x, value) {
    work()
    x
}

# members
member <- function() work()
object <- list(member = member, `odd name` = member, third = member, inner = list(deep = member))
holder <- list2env(list(run = member, `odd run` = member), parent = globalenv())
key <- "member"

# dispatch
area <- function(shape, ...) UseMethod("area")
area.default <- function(shape, ...) work()
area.round <- function(shape, ...) {
    work()
    NextMethod()
}
Ops.money <- function(e1, e2) {
    work()
    structure(1, class = "money")
}
round_shape <- structure(list(), class = "round")
money <- structure(1, class = "money")
size_thing <- function(x, ...) {
    work()
    x@value
}
size_sub <- function(x, ...) {
    work()
    callNextMethod()
}

# evaluation
late <- function(x) {
    force(1)
    x
}
force_late <- function(x) late(x)
countdown <- function(n)
    if (n > 0)
        countdown(n - 1) else work()
again <- function(n) if (n > 0) Recall(n - 1) else work()
leaver <- function() {
    on.exit(work())
    work()
}
failing <- function() {
    work()
    stop("wanted")
}
warning_one <- function() {
    warning("wanted")
    work()
}
muffler <- function(w) {
    work()
    invokeRestart("muffleWarning")
}
makeActiveBinding("active", function() work(), environment())
down <- function(n) if (n > 0L) down(n - 1L) else for (i in 1:20) work()
collections <- list(
    function(x) lapply(x, function(v) paste(v)),
    function(x) gc(),
    function(x) lapply(1:2, function(i) gc()),
    function(x) tryCatch(gc(), finally = gc()),
    function(x) force_late(gc()),
    function(x) eval(quote(gc())),
    function(x) base::gc()
)

steps <- list(
    function() ordinary(1),
    function() `with space`(),
    function() `größe 数`(),
    function() 1 %join% 2,
    function() { x <- 1; tail(x) <- 2 },
    function() base::lapply(1:2, work),
    function() base:::Reduce(function(a, b) ordinary(a), 1:3),
    function() stats::optimize(function(x) { work(); x^2 }, c(0, 1), tol = 0.5),
    function() stats::optim(c(1, 1), function(p) { work(); sum(p^2) }, control = list(maxit = 3)),
    function() "base"::"identity"(ordinary(3)),
    function() object$member(),
    function() object$`odd name`(),
    function() object$inner$deep(),
    function() holder$run(),
    function() object[["member"]](),
    function() object[["odd name"]](),
    function() object[[key]](),
    function() object[[1L]](),
    function() object[[3]](),
    function() object[[2.7]](),
    function() object[[TRUE]](),
    function() (function(n) work(n))(1),
    function() get("ordinary")(5),
    function() do.call(ordinary, list(6)),
    function() do.call("ordinary", list(7)),
    function() match.fun(ordinary)(8),
    function() area(round_shape),
    function() money + money,
    function() size(thing),
    function() account$add(1),
    function() force_late(ordinary(9)),
    function() { delayedAssign("promised", ordinary(10)); promised },
    function() countdown(8),
    function() again(4),
    function() leaver(),
    function() tryCatch(failing(), error = function(e) work(), finally = work()),
    function() try(failing(), silent = TRUE),
    function() withCallingHandlers(warning_one(), warning = muffler),
    function() suppressWarnings(warning_one()),
    function() active,
    function() sapply(1:2, function(i) ordinary(i)),
    function() vapply(1:2, function(i) ordinary(i), 0),
    function() Map(function(a, b) ordinary(a), 1:2, 1:2),
    function() Filter(function(i) { work(); TRUE }, 1:2),
    function() apply(matrix(1:4, 2), 1, function(r) ordinary(r)),
    function() outer(1:2, 1:2, function(x, y) { work(); x + y }),
    function() eval(quote(ordinary(11))),
    function() evalq(ordinary(12), list(z = 1)),
    function() local(ordinary(13)),
    function() with(list(z = 1), ordinary(14)),
    function() eval(parse(text = "ordinary(15)", keep.source = TRUE)),
    function() { i <- 0; repeat { i <- i + 1; if (i > 2) break; ordinary(i) } },
    function() switch("b", a = 1, b = ordinary(16)),
    function() order(data, decreasing = TRUE),
    function() gsub("a", "b", rep("banana", 200)),
    function() lm(data ~ seq_along(data))
)

# Where a program stands still for sys.calls(): R code that waits inside of these.
stop_here <- function() {
    put("calls", calls_lines(sys.calls(), "Sys.sleep"))
    Sys.sleep(1e6)
}
stopping <- function(n) {
    n <- n + 1
    stop_here()
    n
}
stop_object <- list(member = stopping, `odd name` = stopping)
stop_area <- function(shape, ...) UseMethod("stop_area")
stop_area.default <- function(shape, ...) stopping(1)
stop_area.round <- function(shape, ...) {
    1
    NextMethod()
}
stop_recursion <- function(n) if (n > 0L) stop_recursion(n - 1L) else stopping(n)
stop_again <- function(n) if (n > 0) Recall(n - 1) else stopping(n)
stops <- list(
    function() tryCatch({
        withCallingHandlers(lapply(1:2, function(i) {
            do.call(stopping, list(i))
        }), warning = function(w) NULL)
    }, finally = 1),
    function() local(with(list(z = 1), eval(quote(stop_area(round_shape))))),
    function() force_late(stop_object[["odd name"]](1)),
    function() base:::Reduce(function(a, b) stop_object$member(a), 1:3),
    function() stats::optim(c(1, 1), function(p) {
        vapply(p, function(q) stop_object[[2L]](q), 0)
    }),
    function() stop_again(5),
    function() stop_recursion(150L)
)
