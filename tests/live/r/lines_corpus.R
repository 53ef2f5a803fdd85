# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Snippets for lines.R, which evaluates this file several times: with and without source references,
# compiled and not. `snippets` are called in random order, each takes about a millisecond. `text`
# and the like are separate sources.

data <- seq_len(500) / 7
rounds <- 20L
spin <- function(...) {
    s <- 0
    for (k in seq_len(rounds))
        s <- s + sum(sqrt(data))
    s
}
twice <- function(x) {
    a <- x
    b <- x
    a + b
}
lazy <- function(x, y = spin()) {
    first <- x
    second <- y
    first + second
}
deeper <- function(x) lazy(x)
fib <- function(n) {
    if (n < 2)
        return(n)
    fib(n - 1) +
        fib(n - 2)
}
countdown <- function(n) {
    if (n > 0) {
        countdown(n - 1)
    } else {
        spin()
    }
}
even <- function(n) {
    if (n == 0) spin() else odd(n - 1)
}
odd <- function(n) {
    if (n == 0) spin() else even(n - 1)
}
outer_function <- function() {
    inner_function <- function(n) {
        spin()
        n + 1
    }
    inner_function(1) +
        inner_function(2)
}
area <- function(shape, ...)
    UseMethod("area")
area.default <- function(shape, ...) {
    spin()
    1
}
area.round <- function(shape, ...) {
    spin()
    NextMethod()
}
Ops.money <- function(e1, e2) {
    spin()
    structure(1, class = "money")
}
`[.money` <- function(x, i) {
    spin()
    x
}
`$.record` <- function(x, name) {
    spin()
    NULL
}
`second<-` <- function(x, value) {
    spin()
    x[[2]] <- value
    x
}
money <- structure(1, class = "money")
round_shape <- structure(list(), class = "round")
record <- structure(list(), class = "record")
failing <- function() {
    spin()
    stop("wanted")
}
warning_one <- function() {
    warning("wanted")
    spin()
}
signalling <- function() {
    signalCondition(structure(class = c("custom", "condition"), list(message = "wanted", call = NULL)))
    spin()
}
leaver <- function() {
    on.exit({
        spin()
        spin()
    })
    spin()
    invisible(1)
}
with_default <- function(n = {
                             spin()
                             3
                         }) {
    spin()
    n
}
dots <- function(...) {
    values <- list(...)
    spin()
    length(values)
}
by_name <- function(a, b) {
    spin()
    a - b
}
counter <- local({
    count <- 0
    function() {
        count <<- count + 1
        spin()
        count
    }
})
env_object <- new.env()
env_object$run <- function() {
    spin()
    env_object$helper()
}
env_object$helper <- function() {
    spin()
}
bound <- function() spin()
makeActiveBinding("active", function() {
    spin()
    7
}, environment())
bindings <- environment()
one_line <- function() spin() + spin()
no_braces <- function(n)
    if (n)
        spin()
vectorised <- Vectorize(function(a, b) {
    spin()
    a + b
})
composed <- function(f, g) function(x) {
    y <- g(x)
    f(y)
}
both <- composed(
    function(y) {
        spin()
        y
    },
    function(x) {
        spin()
        x
    })
generator <- function(n) {
    force(n)
    function(k) {
        spin()
        k * n
    }
}
times_two <- generator(2)
memo <- new.env()
remembered <- function(key) {
    if (is.null(memo[[key]]))
        spin()
    rm(list = ls(memo), envir = memo)
    spin()
}
recurser <- function(n) {
    spin()
    if (n > 0)
        Recall(n - 1)
    else
        0
}
restarting <- function() {
    withRestarts({
        spin()
        invokeRestart("again", 1)
    },
    again = function(x) {
        spin()
        x
    })
}
halfway <- function() {
    compiler::enableJIT(3L)
    on.exit(compiler::enableJIT(0L))
    fresh <- eval(recipe)
    for (k in 1:5)
        fresh(600)
}
quoted <- quote({
    spin()
    spin()
})

# What changes the file as the parser knows it.
#line 501 "lines_elsewhere.R"
elsewhere <- function() {
    spin()
    spin()
}
#line 601 "lines_elsewhere_again.R"
elsewhere_again <- function(f) {
    f()
    elsewhere()
}
#line 201 "lines_corpus.R"

snippets <- list(
    straight = function() {
        spin()
        spin()
    },
    one_line = function() one_line(),
    nested_calls = function() twice(
        twice(
            spin())),
    promise = function() lazy(spin()),
    promise_chain = function() {
        deeper(
            spin()
        )
    },
    promise_default = function() {
        lazy(1)
    },
    default_block = function() with_default(),
    forced = function() {
        f <- generator(spin())
        f(2)
    },
    delayed = function() {
        delayedAssign("later", {
            spin()
            5
        })
        spin()
        later
    },
    dots = function() dots(
        spin(),
        spin()),
    recursion = function() countdown(5),
    mutual = function() even(4),
    fibonacci = function() fib(8),
    recall = function() recurser(2),
    recall_anonymous = function() (function(n) {
        if (n > 0) {
            spin()
            Recall(n - 1)
        }
    })(2),
    closure = function() outer_function(),
    counter = function() counter(),
    composed = function() both(1),
    made = function() times_two(2),
    env_object = function() env_object$run(),
    env_member = function() {
        env_object$helper()
    },
    active = function() bindings$active,
    for_loop = function() {
        for (i in 1:3) {
            spin()
        }
    },
    for_nested = function() {
        for (i in 1:2)
            for (j in 1:2) {
                spin()
            }
    },
    while_loop = function() {
        i <- 0
        while (i < 3) {
            i <- i + 1
            if (i == 2)
                next
            spin()
        }
    },
    repeat_loop = function() {
        i <- 0
        repeat {
            i <- i + 1
            if (i > 3)
                break
            spin()
        }
    },
    arithmetic = function() {
        s <- 0
        for (i in 1:1500) {
            s <- s + i
            s <- s * 1.0001
            if (s > 1e6)
                s <- 0
        }
        s
    },
    vectors = function() {
        x <- numeric(1500)
        for (i in seq_along(x)) {
            x[i] <- i / 2
            x[[i]] <- x[i] + 1
        }
        sum(x)
    },
    branches = function() {
        for (i in 1:3) {
            if (i == 1) {
                spin()
            } else if (i == 2) {
                spin()
            } else {
                spin()
            }
        }
    },
    switch = function() {
        for (k in c("a", "b", "c"))
            switch(k,
                a = spin(),
                b = {
                    spin()
                },
                spin())
    },
    do_call = function() do.call(spin, list(1)),
    do_call_name = function() {
        do.call("by_name",
            list(1, 2))
    },
    do_call_promise = function() do.call(lazy, list(quote(spin()))),
    match_fun = function() match.fun(spin)(1),
    get_function = function() get("spin")(1),
    anonymous = function() (function(x) {
        spin()
        x
    })(1),
    lapply = function() lapply(1:3, function(i) {
        spin()
        i
    }),
    sapply = function() {
        sapply(1:2, function(i) spin())
    },
    vapply = function() vapply(
        1:2,
        function(i) {
            spin()
        },
        0),
    map = function() Map(function(a, b) {
        spin()
        a + b
    }, 1:2, 3:4),
    mapply = function() mapply(by_name, 1:2, 2:1),
    reduce = function() Reduce(function(a, b) {
        spin()
        a + b
    }, 1:3),
    reduce_accumulate = function() {
        Reduce(by_name, 1:3,
            accumulate = TRUE)
    },
    filter = function() Filter(function(i) {
        spin()
        i > 1
    }, 1:2),
    outer = function() outer(1:2, 1:2, function(x, y) {
        spin()
        x + y
    }),
    apply = function() apply(matrix(1:4, 2), 1, function(r) {
        spin()
        sum(r)
    }),
    tapply = function() tapply(c(1, 2, 3), c(1, 1, 2), function(v) {
        spin()
        mean(v)
    }),
    vectorize = function() vectorised(1:2, 2),
    optimize = function() optimize(function(x) {
        spin()
        (x - 1)^2
    }, c(0, 2), tol = 0.5),
    s3 = function() area(round_shape),
    s3_default = function() area(1),
    ops = function() {
        money +
            money
    },
    subset = function() money[1],
    dollar = function() record$anything,
    replacement = function() {
        x <- list(1, 2)
        second(x) <- spin()
        x
    },
    s4 = function() size(thing),
    s4_show = function() show(thing),
    reference_class = function() account$deposit(1),
    reference_copy = function() {
        other <- account$copy()
        other$deposit(2)
    },
    try_catch = function() tryCatch({
        spin()
        spin()
    }, error = function(e) stop(e)),
    try_catch_error = function() tryCatch(
        failing(),
        error = function(e) {
            spin()
        },
        finally = {
            spin()
        }),
    try_silent = function() {
        try(failing(),
            silent = TRUE)
    },
    calling_handlers = function() withCallingHandlers(
        signalling(),
        custom = function(c) {
            spin()
        }),
    warnings = function() withCallingHandlers(
        warning_one(),
        warning = function(w) {
            spin()
            invokeRestart("muffleWarning")
        }),
    suppress = function() suppressWarnings(warning_one()),
    restart = function() restarting(),
    on_exit = function() leaver(),
    on_exit_added = function() {
        on.exit(spin())
        on.exit(spin(), add = TRUE)
        spin()
    },
    eval_quote = function() eval(quote(spin())),
    eval_block = function() {
        eval(quote({
            spin()
            spin()
        }))
    },
    eval_stored = function() eval(quoted),
    evalq_list = function() evalq({
        spin() + z
    }, list(z = 1)),
    local_block = function() local({
        a <- spin()
        b <- spin()
        a + b
    }),
    with_list = function() with(list(z = 1), {
        spin()
        z
    }),
    within_frame = function() within(data.frame(z = 1), {
        w <- spin()
        z <- 2
    }),
    eval_parse = function() eval(parse(text = c("spin()", "spin()"))),
    eval_parse_source = function() eval(parse(text = c("spin()", "{", "    spin()", "}"), keep.source = TRUE)),
    parsed_function = function() parsed(1),
    parsed_plain = function() parsed_plain(1),
    source_kept = function() source(small_file, local = TRUE, keep.source = TRUE),
    source_plain = function() source(small_file, local = TRUE, keep.source = FALSE),
    source_function = function() from_srcfile(2),
    package_source = function() packages$kept$work(2),
    package_compiled_plain = function() packages$dropped$work(2),
    package_not_compiled = function() packages$uncompiled$work(2),
    package_lazy = function() {
        packages$kept$values(function(i) {
            spin()
            i
        })
    },
    elsewhere = function() elsewhere(),
    elsewhere_again = function() {
        elsewhere_again(
            spin)
    },
    body_changed = function() rebuilt(),
    formals_call = function() as.call(list(spin))[[1]](),
    braces_missing = function() no_braces(TRUE),
    memory = function() remembered("a"),
    system_call = function() {
        Sys.getenv("HOME")
        for (i in 1:20)
            Sys.time()
        spin()
    },
    builtin_work = function() {
        order(data, decreasing = TRUE)
        paste0(data, collapse = "")
        gsub("a", "b", rep("banana", 100))
    },
    sort_by = function() {
        x <- lapply(1:30, function(i) i %% 7)
        x[order(vapply(x, function(v) {
            v + 0
        }, 0))]
    },
    string_work = function() {
        s <- character()
        for (i in 1:20)
            s <- c(s,
                sprintf("%d-%s", i, "x"))
        nchar(s)
    },
    jit_half_way = function() halfway()
)
