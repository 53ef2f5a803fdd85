# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Children of each kind. Arguments: FOLDER KIND SECONDS
#   mclapply  8 forked workers, each computing in worker() for SECONDS, 2 SECONDS or 3 SECONDS of CPU time
#   cluster   2 workers started as separate programs (PSOCK), each computing in cluster_worker()
#   command   Rscript below sh, computing in command_worker(), which outlives the sh that started it
#
# Each worker leaves a file cpu.PID with the CPU time it used, as itself knows it. When all have it, `done`.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
kind <- args[[2L]]
seconds <- as.numeric(args[[3L]])

worker <- function(seconds) {
    begin <- cpu_time()
    x <- 0
    while (cpu_time() - begin < seconds) for (i in 1:2000) x <- x + sqrt(i)
    put(paste0("cpu.", Sys.getpid()), format(cpu_time() - begin, digits = 15L))
    await("go_on")
    x
}

ready()
await("go")
switch(kind,
    mclapply = parallel::mclapply(1:8, function(i) worker(seconds * (1 + i %% 3)), mc.cores = 8L),
    cluster = {
        cl <- parallel::makePSOCKcluster(2L)
        cluster_worker <- worker
        environment(cluster_worker) <- globalenv()
        parallel::clusterExport(cl, c("cpu_time", "put", "await", "folder", "cluster_worker", "seconds"))
        invisible(parallel::clusterEvalQ(cl, cluster_worker(seconds)))
        parallel::stopCluster(cl)
    },
    command = {
        script <- file.path(folder, "command.R")
        writeLines(c(
            sprintf("folder <- '%s'", folder),
            deparse(call("<-", quote(cpu_time), cpu_time)), deparse(call("<-", quote(put), put)),
            deparse(call("<-", quote(await), await)), deparse(call("<-", quote(command_worker), worker)),
            sprintf("command_worker(%g)", seconds)), script)
        system(sprintf("sh -c 'Rscript --vanilla %s &' </dev/null", script))
        while (!length(list.files(folder, "^cpu\\.[0-9]+$"))) Sys.sleep(0.05)
        await("go_on")
    })
done()
