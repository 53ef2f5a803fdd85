# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# Nine functions whose stacks move fast, or hardly, in turns, and the CPU time of each. Arguments:
# FOLDER ROUNDS SECONDS, of CPU time, for each function in each round. The names and the CPU time
# that each took go to shares.txt; R has one thread.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
rounds <- as.integer(args[[2L]])
seconds <- as.numeric(args[[3L]])

fib <- function(n) if (n < 2) n else fib(n - 1) + fib(n - 2)
down <- function(n) if (n > 0) down(n - 1) else 0
add <- function(a, b) a + b
numbers <- runif(2e5)
square <- matrix(runif(160000), 400)
table_of <- new.env()

works <- list(
    recursion = function() fib(16),
    calls_100 = function() for (i in 1:200) down(100),
    small_calls = function() for (i in 1:5000) add(i, 1),
    closures = function() vapply(1:3000, function(i) i + 1, 0),
    texts = function() for (i in 1:1000) paste0("a", i, "b"),
    sorting = function() sort(numbers),
    products = function() square %*% square,
    variables = function() for (i in 1:2000) assign("x", get0("x", table_of), table_of),
    loop = function() { x <- 0; for (i in 1:50000) x <- x + i; x }
)
took <- numeric(length(works))
turn <- function(at) {
    begin <- cpu_time()
    while (cpu_time() < begin + seconds) works[[at]]()
    took[[at]] <<- took[[at]] + cpu_time() - begin
}
# A separate function for each, whose name its samples have.
turns <- lapply(seq_along(works), function(at) {
    name <- paste0("turn_", names(works)[[at]])
    list(name = name, call = call(name))
})
for (at in seq_along(works)) assign(turns[[at]]$name, eval(bquote(function() turn(.(at)))))

# R compiles turn() at its first call, before the time of the turn begins.
for (t in turns) eval(t$call)
took[] <- 0
ready()
await("go")
for (round in seq_len(rounds)) for (t in turns) eval(t$call)
put("shares.txt", paste(vapply(turns, `[[`, "", "name"), format(took, digits = 15L)))
done()
