/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `report`: files of profiles as a table, or in another format. */
#include "cmd/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/when.h"
#include "os/files.h"
#include "os/os.h"
#include "os/rights.h"

#define TOP_DEFAULT 40
#define TOP_JSON    1000
#define FREQ_MAX    1000000

static bool choice_sort(size_t i, struct option_choice *c)
{
	static const struct option_choice orders[] = {
		{.name = "self", .number = REPORT_SELF},
		{.name = "total", .number = REPORT_TOTAL},
	};

	if (i < sizeof(orders) / sizeof(orders[0]))
		*c = orders[i];
	return i < sizeof(orders) / sizeof(orders[0]);
}

#define AT(member) .at = offsetof(struct report, member)

static int parse_process(const struct option_row *row, void *place, const char *arg,
			 struct errmsg *f)
{
	struct report_patterns *p = place;
	const char **grown;

	if (!*arg)
		return errmsg__set(f, -EINVAL, "--%s: give a pid or a pattern", row->name);
	grown = realloc(p->texts, (p->n + 1) * sizeof(*grown));
	if (!grown)
		return errmsg__set(f, -ENOMEM, "out of memory");
	p->texts = grown;
	p->texts[p->n++] = arg;
	return 0;
}

static const struct option_row rows[] = {
	OPT_STRING(0, "dir", AT(dir), "DIR",
		   "read the profiles that `serve --dir DIR` has written there",
		   .group = OPTION_WHAT,
		   .manual = "All profiles that begin at or after --since and before --until are "
			     "added up; without these options, all of them. The interval is "
			     "printed on stderr, and a report if nothing was recorded in it. A "
			     "damaged profile is skipped and reported."),
	OPT_STRING(
		0, "since", AT(since), "TIME",
		"with --dir: profiles that begin then, or later: 02:10, \"2026-11-22 02:10\", -10m",
		.group = OPTION_WHAT,
		.manual =
			"Also \"yesterday 02:10\" and \"10m ago\". Times are local, unless they "
			"end in Z or an offset, as 2026-11-22T02:10:00Z and 2026-11-22T02:10+01:00 "
			"do. A time without a day is of today, or of yesterday if it is still in "
			"the future. Units are s, m, h, d and w; days are those of the calendar."),
	OPT_STRING(0, "until", AT(until), "TIME",
		   "with --dir: only profiles that begin before this time (default: now)",
		   .group = OPTION_WHAT,
		   .manual = "A time without a date is the first one after --since."),
	OPT_PARSE(0, "process", AT(processes), "PID|PATTERN", parse_process,
		  "only processes with this pid, or with a name, label, container or command like "
		  "this; repeatable",
		  .group = OPTION_WHAT,
		  .manual = "PATTERN is a shell pattern; if it is given more than once, one of "
			    "them must match. It matches the whole command, one of its words, or "
			    "the last part of a path in it. Profiles do not contain commands, so "
			    "that works only with --dir, where the index has them. It matches the "
			    "id of a container or the first 12 characters of it."),
	OPT_FLAG(0, "list", AT(list),
		 "with --dir: the processes in the profiles, most samples first",
		 .group = OPTION_WHAT),
	OPT_FLAG(0, "calls", AT(calls),
		 "of a profile of `record --calls`: how long calls lasted, and the slowest",
		 .group = OPTION_WHAT,
		 .manual = "The median and the percentiles are those of the calls that were found. "
			   "Calls that are shorter than the time between two samples are found "
			   "only by chance. `cut`: the call began before the profile did. "
			   "`running`: it had not ended at the end of the profile."),
	OPT_PARSE(0, "slower", AT(slower), "TIME", options__seconds,
		  "only samples of calls that lasted this long or longer: 500ms, 2s",
		  .group = OPTION_WHAT,
		  .manual = "For profiles of `record --calls`, in all tables and formats: what the "
			    "slow calls do."),
	OPT_FLAG(0, "json", AT(json), "print the table as JSON", .group = OPTION_WRITE,
		 .manual =
			 "--json-schema describes it. Numbers are not rounded. With --calls it has "
			 "the 1000 slowest calls, unless --top is given, and otherwise all rows."),
	OPT_FLAG(0, "json-schema", AT(json_schema), "print the JSON Schema of --json and exit",
		 .group = OPTION_WRITE, .last = true),
	OPT_STRING(0, "by", AT(by), "LABEL",
		   "a row for each value of this label: route, service, pid",
		   .manual = "Labels are those that the R program sets (options(xrprof.labels)) "
			     "and those of its process. pid, process, thread, container, "
			     "r_version, state and syscall are known, too."),
	OPT_NUMBER('n', "top", AT(top), "N", 0, UINT32_MAX,
		   "print N rows of the table; 0: all (default: 40)"),
	OPT_ENUM(0, "sort", AT(sort), "self|total", choice_sort,
		 "sort rows by this (default: self)",
		 .manual = "Self is the time in the function itself. Total adds the functions that "
			   "it called."),
	OPT_FLAG('l', "lines", AT(lines),
		 "print a row for each source line, instead of each function"),
	OPT_FLAG(0, "packages", AT(packages), "a row for each package",
		 .manual = "Profiles in pprof and folded stacks have packages. Rprof.out has only "
			   "those of functions that were called by package::name."),
	OPT_STRING(0, "sample-type", AT(sample_type), "NAME",
		   "show these samples: cpu, off_cpu, alloc_space, an event (default: the first)",
		   .manual = "The first line of a table names the others. Time off the CPU is "
			     "shown as a duration, memory in KiB and MiB, events as their number. "
			     "Without this option, formats that can have several types (pprof, "
			     "flamegraph, speedscope) keep all of them. In rprof a line then "
			     "stands for one interval of waiting."),
	OPT_FLAG(0, "fold", AT(fold),
		 "leave out functions that only call their arguments: tryCatch, lapply, eval and "
		 "the like",
		 .manual = "Their callers and the functions that they call stay, and so does the "
			   "innermost function of a stack. For shiny, everything between "
			   "..stacktraceoff.. and ..stacktraceon.. is left out."),
	OPT_FLAG(0, "collapse-recursion", AT(recursion),
		 "show the calls of a function by itself, directly or through others, as one",
		 .manual = "In a format, a stack then has each function once: its calls are merged "
			   "into the outermost one, and what is between them is left out. A table "
			   "of functions always counts a function once a sample. With --lines, "
			   "only the innermost call counts for a line. Wrappers (--fold), native "
			   "code, and functions without a name and a definition stay as they are. "
			   "The page has a button that does this."),
	OPT_FLAG(0, "diff", AT(diff),
		 "what changed from the first of two files to the second; with --dir: since WHEN",
		 .manual = "WHEN is yesterday, or 1h or 7d for the same interval that long before, "
			   "or a time at which such an interval began. Without --since, 10m "
			   "compares the last ten minutes with the ten before. Shares are "
			   "compared, so different lengths do not matter. With -f flamegraph, or "
			   "-o FILE.html, the result is a page: a differential flame graph."),
	OPT_OBJECT('f', "format", AT(format), "NAME", options__format,
		   "write the profile in this format:", .group = OPTION_WRITE),
	OPT_STRING('o', "output", AT(output), "FILE",
		   "write to FILE, in the format of its name or of -f", .group = OPTION_WRITE,
		   .manual = "With -f and without this option the profile goes to standard output. "
			     "With rprof, a directory gets one file per process, Rprof.PID.out; a "
			     "file gets all."),
	OPT_NUMBER('F', "freq", AT(freq), "HZ", 1, FREQ_MAX,
		   "the rate of sampling, for files that do not contain it: folded stacks",
		   .alias = {"rate", "frequency"}),
	OPT_PARSE(0, "max-file", AT(max_file), "SIZE", options__size,
		  "limit the size of each file: 500M, 8G (default: 4G)", .group = OPTION_WRITE,
		  .min = 4096),
	OPT_PARSE(0, "max-memory", AT(max_memory), "SIZE", options__size,
		  "limit the memory for names and stacks: 512M, 4G (default: 1G)", .min = 4 << 20,
		  .manual = "The need grows with the number of different stacks. What does not fit "
			    "is counted and shown as <no-room>."),
	OPT_HELP(AT(help)),
	{0},
};

/* `--diff -3m` means `--diff 3m`, and no option of this name. */
static void words__diff(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i - 1], "--diff") && argv[i][0] == '-' && argv[i][1] >= '0' &&
		    argv[i][1] <= '9')
			argv[i]++;
}

/* Options and files, in any order. */
static int report__parse(struct report *r, int argc, char **argv, struct errmsg *f)
{
	struct option_rest rest = {0};
	int at = 0, err;

	words__diff(argc, argv);
	while (at < argc && !r->help && !r->json_schema) {
		err = option_rows__parse(rows, r, argc - at, argv + at, &rest, f);
		if (err)
			return err;
		at += rest.first;
		while (at < argc && (rest.separated || at == argc - 1 || argv[at + 1][0] != '-' ||
				     !argv[at + 1][1])) {
			r->files[r->nfiles++] = argv[at++];
		}
		if (at < argc) /* an option comes behind this one */
			r->files[r->nfiles++] = argv[at];
	}
	return 0;
}

/* Of a directory. */
static int report__check_dir(struct report *r, struct errmsg *f)
{
	if (!r->dir && (r->since || r->until || r->list))
		return errmsg__set(f, -EINVAL, "--since, --until and --list need --dir DIR");
	if (!r->dir)
		return 0;
	if (r->diff && r->nfiles != 1)
		return errmsg__set(f, -EINVAL,
				   "--diff with --dir needs a time: --diff yesterday, 1h, 7d, or "
				   "when the other span begins");
	/* the last span of that length, compared with the one before it */
	if (r->diff && !r->since && !r->until && when__is_length(r->files[0]))
		r->since = r->files[0];
	if (r->diff && !r->since)
		return errmsg__set(f, -EINVAL, "--diff with --dir needs --since and --until");
	if (!r->diff && r->nfiles)
		return errmsg__set(f, -EINVAL, "%s: --dir and files exclude each other",
				   r->files[0]);
	return 0;
}

/* What is asked for, and which options have no part in it. */
static int report__check_kind(const struct report *r, struct errmsg *f)
{
	enum { LIST = 1, CALLS = 2, BY = 4, WRITE = 8, TABLE = 16, TABLES = CALLS | BY | TABLE };
	const struct {
		const char *name;
		bool given;
		unsigned int kinds; /* that it is for */
	} options[] = {
		{"--list", r->list, LIST},
		{"--calls", r->calls, CALLS},
		{"--by", r->by, BY},
		{"-f and -o", r->format || r->output, WRITE},
		{"--diff", r->diff, TABLE | WRITE},
		{"--json", r->json, TABLES},
		{"--lines", r->lines, TABLE},
		{"--packages", r->packages, TABLE},
		{"--sort", r->sort, TABLE},
		{"--top", r->top != UINT32_MAX, TABLES | LIST},
		{"--sample-type", r->sample_type, TABLE | WRITE | BY},
		{"--fold", r->fold, TABLE | WRITE},
		{"--collapse-recursion", r->recursion, TABLE | WRITE},
		{"--slower", r->slower > 0, TABLES | WRITE},
	};
	const size_t kind = r->list ? 0 : r->calls ? 1 : r->by ? 2 : 3;
	const unsigned int asked = options[kind].given ? options[kind].kinds : TABLE;

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].given && !(options[i].kinds & asked))
			return errmsg__set(f, -EINVAL, "%s cannot be combined with %s",
					   options[kind].name, options[i].name);
	return 0;
}

/* What only all options together can tell. */
static int report__check(struct report *r, struct errmsg *f)
{
	size_t inputs = 0;
	int err = report__check_dir(r, f);

	err = err ? err : report__check_kind(r, f);
	if (err)
		return err;
	if (r->top == UINT32_MAX)
		r->top = !r->json ? TOP_DEFAULT : r->calls ? TOP_JSON : 0;
	if (!r->nfiles && !r->dir)
		return errmsg__set(f, -EINVAL, "no file to read: give FILE, or - for stdin");
	for (size_t i = 0; i < r->nfiles; i++)
		inputs += !strcmp(r->files[i], "-");
	if (inputs > 1)
		return errmsg__set(f, -EINVAL, "stdin (-) can be read only once");
	if (r->lines && r->packages)
		return errmsg__set(f, -EINVAL, "--lines and --packages exclude each other");
	if (r->diff && !r->dir && r->nfiles != 2)
		return errmsg__set(f, -EINVAL,
				   "--diff needs two files, A and B, or spans of a directory: "
				   "--dir DIR --diff 1h");
	if (!r->format && r->output)
		r->format = formats__of_path(r->output, f);
	if (r->output && !r->format)
		return -EINVAL;
	if (r->diff && r->format && r->format != formats__find("flamegraph"))
		return errmsg__set(f, -EINVAL,
				   "--diff writes a table or a page: -f flamegraph -o FILE.html");
	return 0;
}

/* The files of the command line. */
static int report__inputs(struct report *r, struct errmsg *f)
{
	const size_t n = r->diff ? 2 : 1;
	bool whole = true;

	for (size_t i = 0; i < n && whole; i++) {
		struct report_input *in = &r->inputs[i];

		in->n = r->diff ? 1 : r->nfiles;
		in->files = calloc(in->n, sizeof(*in->files));
		in->text = report_read__text(&r->files[i], in->n);
		whole = in->files && in->text;
		for (size_t k = 0; whole && k < in->n; k++) {
			in->files[k] = strdup(r->files[i + k]);
			whole = in->files[k];
		}
	}
	return whole ? 0 : errmsg__set(f, -ENOMEM, "out of memory");
}

/* A file that is read may not be written meanwhile. */
static int report__check_files(const struct report *r, struct errmsg *f)
{
	struct os_identity output, input;

	if (!r->format || os__identify(r->output ? r->output : "-", &output))
		return 0;
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < r->inputs[i].n; k++) {
			const char *path = r->inputs[i].files[k];

			if (!os__identify(strcmp(path, "-") != 0 ? path : "/dev/stdin", &input) &&
			    os__same_file(&input, &output))
				return errmsg__set(f, -EINVAL,
						   "%s is an input file and cannot be the output: "
						   "give another file with -o",
						   path);
		}
	}
	return 0;
}

static int report__print(struct report *r, struct errmsg *f)
{
	struct files *files = NULL;
	int err = 0;

	if (r->format)
		err = files__start(&files, files__given(r->output ? r->output : "-"), f);
	rights__keep(RIGHTS_FILES);
	if (err)
		return err;
	if (r->list)
		err = report_list(r, f);
	else if (r->calls)
		err = report_calls(r, f);
	else if (r->by)
		err = report_by(r, f);
	else if (r->format && !r->diff)
		err = report_write(r, files, f);
	else
		err = report_table(r, files, f);
	if (files)
		files__stop(files);
	return err;
}

static int report__run(struct report *r)
{
	struct errmsg f = {""};
	int err = r->dir ? report_store__inputs(r, &f) : report__inputs(r, &f);

	err = err ? err : report__check_files(r, &f);
	if (err == -EINVAL)
		return cmd__usage_error(&cmd_report, &f);
	err = err ? err : report__print(r, &f);
	if (err == -EDOM)
		return cmd__usage_error(&cmd_report, &f);
	if (err)
		log__line("%s", f.text);
	return err ? CMD_FAILED : CMD_OK;
}

static int report__main(int argc, char **argv)
{
	struct report r = {
		.top = UINT32_MAX,
		.max_memory = LIMIT_REPORT,
		.max_file = LIMIT_FILE,
	};
	struct errmsg f = {""};
	int status;

	r.files = calloc((size_t)argc + 1, sizeof(*r.files));
	if (!r.files) {
		log__line("out of memory");
		return CMD_FAILED;
	}
	if (report__parse(&r, argc, argv, &f) ||
	    (!r.help && !r.json_schema && report__check(&r, &f)))
		status = cmd__usage_error(&cmd_report, &f);
	else if (r.help)
		status = cmd__help(&cmd_report);
	else if (r.json_schema)
		status = report_schema();
	else
		status = report__run(&r);
	for (int i = 0; i < 2; i++)
		report_input__free(&r.inputs[i]);
	free(r.processes.texts);
	free(r.files);
	return status;
}

const struct subcommand cmd_report = {
	.name = "report",
	.help = "show recorded profiles, or convert them to another format",
	.usage = {"report FILE... [options]", "report --diff A B [options]",
		  "report --dir DIR [--since TIME] [--until TIME] [--diff WHEN] [options]"},
	.operand = "FILE...",
	.about = "A table of the functions that took the most time, or the same profile "
		 "in another format. FILE is a profile of this program or of R's "
		 "Rprof(): an Rprof.out of any kind, folded stacks or pprof, compressed "
		 "by gzip or not. The first bytes decide which one it is. Several files "
		 "are added up. In formats that tell processes apart, each Rprof.PID.out "
		 "is a separate process.",
	.examples =
		{
			{"Where the time went, without functions that only call others",
			 "xrprof-bpf report --fold Rprof.out"},
			{"Compare before and after a change",
			 "xrprof-bpf report --diff before.out after.out"},
			{"What it waited for, if the profile was taken with --off-cpu",
			 "xrprof-bpf report --sample-type off_cpu profile.pb.gz"},
			{"Which requests were slow, and what did they do?",
			 "xrprof-bpf report --calls profile.pb.gz\n"
			 "xrprof-bpf report --slower 500ms profile.pb.gz"},
			{"For go tool pprof", "xrprof-bpf report Rprof.out -o profile.pb.gz"},
			{"What was slow in the night, from the directory of serve",
			 "xrprof-bpf report --dir /var/lib/xrprof-bpf --since 02:10 --until 02:20"},
			{"What changed since yesterday at the same time",
			 "xrprof-bpf report --dir /var/lib/xrprof-bpf --since 02:10 --until 02:20 "
			 "--diff yesterday"},
		},
	.options = rows,
	.run = report__main,
};
