# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# packages: default
#
# An app of shiny with a fast, a slow and a sleeping output, which has a reactive, and an observer that sleeps. The port is in `port`.

source(file.path(commandArgs(trailingOnly = TRUE)[[1L]], "common.R"))
computes <- function(seconds) {
    until <- cpu_time() + seconds
    while (cpu_time() < until) for (i in 1:100) i
}
naps <- function(seconds) Sys.sleep(seconds)
server <- function(input, output) {
    output$fast <- shiny::renderText(input$n)
    output$slow <- shiny::renderText({
        computes(0.5)
        input$n
    })
    rests <- shiny::reactive({
        naps(0.05)
        input$n
    }, label = "rests")
    output$sleeping <- shiny::renderText(rests())
    shiny::observe({
        input$n
        naps(0.05)
    }, label = "watch")
}
port <- httpuv::randomPort()
later::later(function() {
    put("port", as.character(port))
    ready()
})
shiny::runApp(shiny::shinyApp(shiny::fluidPage(), server), port, launch.browser = FALSE, quiet = TRUE)
