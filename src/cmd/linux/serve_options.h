/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `serve` is asked for, on the command line and in its configuration file.
 */
#ifndef XR_CMD_LINUX_SERVE_OPTIONS_H
#define XR_CMD_LINUX_SERVE_OPTIONS_H

#include "cmd/options.h"
#include "profile/profile.h"
#include "serve/linux/front.h"
#include "target/describe.h"

#define SERVE_LABELS_MAX 16u

/* Strings are borrowed from argv and the configuration's text. */
struct serve_options {
	struct options o; /* first */
	const char *config;
	char *text;	 /* of that file; NULL: none */
	double interval; /* seconds */
	struct front_config front;
	double max_cpu;			    /* share of one CPU; 0: no limit */
	uint32_t max_stacks, max_processes; /* 0: as many as there is room for */
	const char *host, *service;
	char host_name[256];
	char spool_path[4096];
	/* --label, and host behind them */
	struct profile_label labels[SERVE_LABELS_MAX + 1];
	size_t nlabels;
	const char *env[DESCRIBE_LABELS + 1]; /* --label-env, as they were given; NULL last */
	size_t nenv;
	char keys[SERVE_LABELS_MAX][DESCRIBE_KEY]; /* of --label */
};

extern const struct option_row serve_options__rows[];

/* serve_options__init - the defaults, over which a configuration is read. */
void serve_options__init(struct serve_options *so);

/*
 * serve_options__parse - the defaults, what --config says, and over that the command line.  With
 * `help` set nothing else was looked at.  -EINVAL and others, @f filled; serve_options__free in
 * every case.
 */
int serve_options__parse(struct serve_options *so, int argc, char **argv, struct errmsg *f);
void serve_options__free(struct serve_options *so);

#endif
