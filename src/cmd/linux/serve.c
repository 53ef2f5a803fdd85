/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `serve`: continuous profiling, for months.
 *
 * SIGHUP ends all of it in order, and begins again with what the configuration says now; SIGUSR1
 * ends the interval and logs the counts; SIGTERM and SIGINT end it.
 */
#include <stdlib.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/linux/serve_options.h"
#include "cmd/linux/serve_run.h"
#include "os/linux/sandbox.h"
#include "os/os.h"
#include "os/signals.h"

static void options__drop(struct serve_options *o)
{
	if (o)
		serve_options__free(o);
	free(o);
}

/* What the configuration says now; if that cannot be understood, it stays as it was. */
static void service__reload(struct service *service)
{
	struct serve_options *next = calloc(1, sizeof(*next));
	struct errmsg f = {"out of memory"};

	service->counts.reloads++;
	if (next && !serve_options__parse(next, service->argc, service->argv, &f)) {
		options__drop(service->before);
		service->before = service->options;
		service->options = next;
		return;
	}
	service->counts.reload_failures++;
	log__line("the configuration was not changed: %s", f.text);
	options__drop(next);
}

/* With the new configuration nothing could be sampled, and the reason is logged: go back to the one
 * before.  False: there is none before. */
static bool service__restore(struct service *service)
{
	if (!service->before)
		return false;
	options__drop(service->options);
	service->options = service->before;
	service->before = NULL;
	service->counts.reload_failures++;
	log__line("the configuration was not changed");
	return true;
}

static int service__run(struct service *service)
{
	enum served how = SERVED_RELOAD;
	int status = CMD_FAILED;
	struct errmsg f;

	if (signals__open(&service->signals, &f)) {
		log__line("%s", f.text);
		return CMD_FAILED;
	}
	/* what fails here stays as it was: both end the service then */
	signals__reload(service->signals);
	signals__report(service->signals);
	/* for all that is forked, too */
	if (sandbox__enter(SANDBOX_SERVICE, &f) && !service->options->o.config.quiet)
		log__line("%s", f.text);
	service->counts.began = os__now();
	while (how != SERVED_ALL) {
		status = serve__once(service, &how);
		if (how == SERVED_RELOAD)
			service__reload(service);
		else if (how == SERVED_NOTHING && !service__restore(service))
			break;
	}
	signals__close(service->signals);
	return status;
}

static int serve__main(int argc, char **argv)
{
	struct service service = {.argc = argc, .argv = argv};
	int status = CMD_FAILED;
	struct errmsg f;

	service.options = calloc(1, sizeof(*service.options));
	if (!service.options) {
		log__line("out of memory");
		return CMD_FAILED;
	}
	if (serve_options__parse(service.options, argc, argv, &f))
		status = cmd__usage_error(&cmd_serve, &f);
	else if (service.options->o.help)
		status = cmd__help(&cmd_serve);
	else
		status = service__run(&service);
	options__drop(service.before);
	options__drop(service.options);
	return status;
}

const struct subcommand cmd_serve = {
	.name = "serve",
	.help = "profile all R processes all the time: a file per minute, servers, metrics",
	.usage = {"serve (--dir DIR | --listen ADDR | --pyroscope URL | --otlp URL) [options]",
		  "serve --config FILE"},
	.about = "Continuous profiling: every R process of the machine, at a low rate, "
		 "until it is stopped. The samples of each interval go to files, to "
		 "servers, or to HTTP clients.",
	.manual = "Each interval (--interval, a minute) becomes one profile of all "
		  "processes. With --dir it is a pprof file, with a line for each process "
		  "in an index; report --dir --since --until merges the files. A server "
		  "that is not available gets its profiles later. The service listens "
		  "only if --listen is given.\n"
		  "At SIGHUP the service reads the configuration file again and reopens "
		  "files and sockets. No sample is lost, and for less than a second "
		  "nothing is sampled. SIGUSR1 ends the interval early, so that its "
		  "profile is written, and prints the state. At SIGTERM and an interrupt "
		  "from the keyboard the service writes the last interval and exits.",
	.examples =
		{
			{"Keep the last week of this machine, at most 10 GiB",
			 "xrprof-bpf serve --dir /var/lib/xrprof-bpf --keep 10G,7d\n"
			 "xrprof-bpf report --dir /var/lib/xrprof-bpf --since 02:10 --until 02:20"},
			{"For scraping: go tool pprof, Parca, Alloy, Prometheus",
			 "xrprof-bpf serve --listen 127.0.0.1:9419\n"
			 "go tool pprof http://127.0.0.1:9419/debug/pprof/profile?seconds=30"},
			{"Send to a Pyroscope server",
			 "xrprof-bpf serve --pyroscope https://pyroscope.example.com "
			 "--pyroscope-header /etc/xrprof-bpf.headers "
			 "--spool /var/spool/xrprof-bpf"},
			{"Read all options from a file",
			 "xrprof-bpf serve --config /etc/xrprof-bpf.conf"},
		},
	.options = serve_options__rows,
	.run = serve__main,
};
