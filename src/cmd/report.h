/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `report`: what its command line asks for, and the parts that do it.
 */
#ifndef XR_CMD_REPORT_H
#define XR_CMD_REPORT_H

#include <stdio.h>

#include "base/json.h"
#include "base/map.h"
#include "output/writer.h"
#include "profile/read.h"

enum report_sort { REPORT_SELF = 1, REPORT_TOTAL };

/* Strings are borrowed from the command line. */
struct report {
	bool help, diff, fold, lines, packages, calls, json, json_schema;
	double slower;			 /* seconds; 0: not given */
	bool recursion;			 /* merge recursive calls */
	int sort;			 /* enum report_sort; 0: not given */
	uint32_t top;			 /* rows of a table; 0: all; UINT32_MAX: not given */
	uint32_t freq;			 /* of files that do not say; 0: not given */
	const struct writer_ops *format; /* NULL: a table */
	const char *output;		 /* NULL: not given */
	const char *sample_type;	 /* NULL: the first that there is */
	const char *by;			 /* shares of the values of this label; NULL: not given */
	uint64_t max_memory, max_file;	 /* bytes */
	const char **files;		 /* as they stand on the command line */
	size_t nfiles;
	/* of a directory of profiles; NULL: not given */
	const char *dir, *since, *until;
	bool list;
	struct report_patterns {
		const char **texts;
		size_t n;
	} processes;
	/* What is read: two with --diff, the first is `before`. */
	struct report_input {
		const char **files;
		size_t n;
		char *text; /* what they are called */
		bool store; /* of a directory: one that is damaged is left out, and said */
	} inputs[2];
};

/*
 * A sink that weighs samples by the interval of the file they are from, where these differ: what
 * is added up is in ns then, and what is written in its order is in ticks of the first interval.
 * Starts as { 0 }.
 */
struct report_rates {
	struct aggregate *adding; /* where they are added up, known at the sink's begin; or NULL */
	bool alike; /* all count the same, as often as they were taken: set by the caller */
	bool differ;
	bool unknown;	  /* one does not say: each of its samples is report_rate__interval(0) */
	uint64_t tick_ns; /* the shortest interval; 0: there are no ticks */
	uint64_t known;	  /* samples of files that say it */
	double seconds;	  /* of all samples */
	/* internal */
	const struct read_result *reading;
	struct sink to;
	uint64_t first_ns;
	struct map owed; /* (id of a stack, 0) to 1 + what is left of a tick */
	struct errmsg fault;
};

/* report_rate__interval - @interval_ns, or what is assumed where it is 0, not known. */
uint64_t report_rate__interval(uint64_t interval_ns);

/* report_rates__sink - in front of @r->to. */
struct sink report_rates__sink(struct report_rates *r);

/* report_rates__time - have what was added up in ns, as where rates differed.  -ERANGE, with @f. */
int report_rates__time(struct report_rates *r, struct errmsg *f);

/*
 * report_rates__about - have the rate of the samples in @about, if there are any: the first file,
 * whose rate it has, may have none that was asked for.
 */
void report_rates__about(const struct report_rates *r, struct profile_about *about);

/*
 * report_rates__ticks - where rates differed, have what was added up in @a in ticks of tick_ns
 * again.
 */
void report_rates__ticks(const struct report_rates *r, struct aggregate *a);

/* What files came to, together. */
struct report_seen {
	struct read_result first;	    /* of the first of them */
	uint64_t samples;		    /* a tick is one */
	uint64_t values[PROFILE_TYPES_MAX]; /* by sample type, that was asked for */
	struct read_types *types;	    /* of them: set by the caller, who may share them */
	struct report_rates rates;
	uint64_t filled;    /* files with samples, asked for or not */
	double seconds;	    /* 0: not known of all */
	bool lines_dropped; /* source lines or marks of later files have no place */
	char *names;	    /* of the files, which a sink borrows until its end: to be freed */
};

/*
 * report_read__all - read the files of @in into @to, one after another, and say what was left out
 * of them: processes that were not asked for (--process), too.  @ordered: as of struct
 * reader_config.  @seen->first is set by the time of the sink's begin; the caller frees
 * @seen->names, whatever is returned.  Negative errno, with @f set; -EPIPE: the reader of the
 * output is gone.
 */
int report_read__all(const struct report *r, const struct report_input *in, bool ordered,
		     struct sink to, struct report_seen *seen, struct errmsg *f);

/* report_read__several - do the names of these files tell that they are of several processes? */
bool report_read__several(const struct report_input *in);

/* report_read__text - the names of files as one string, to be freed; NULL: no memory. */
char *report_read__text(const char *const *files, size_t n);

/*
 * report_store__inputs - find what --dir, --since and --until (and --diff) ask for, and say what
 * was found: r->inputs, to be freed by report_input__free.  Negative errno, and @f says why;
 * -EINVAL: the command line is wrong.
 */
int report_store__inputs(struct report *r, struct errmsg *f);
void report_input__free(struct report_input *in);

/* Files that were added up; `aggregate` is the caller's.  Starts as { 0 }. */
struct report_sum {
	struct aggregate *aggregate;
	struct report_seen seen;
};

/*
 * report_read__sum - add up the files of @in; @config: without `max`.  @types: as of struct
 * report_seen.  Negative errno, with @f set.
 */
int report_read__sum(const struct report *r, const struct report_input *in,
		     const struct aggregate_config *config, struct read_types *types,
		     struct report_sum *sum, struct errmsg *f);

/* report_no_room - log that the stacks of @samples are shown as <no-room>, unless it is 0. */
void report_no_room(uint64_t samples);

/* report_left_out - log if labels or calls of samples did not fit into @a. */
void report_left_out(const struct aggregate *a);

/*
 * What `report` prints.  @files write r->output; NULL if no format was asked for.  Negative errno,
 * and @f says why; -EDOM: the command line is wrong.
 *
 * report_by - a table of the values of the label r->by, or JSON.
 * report_list - a table of the processes that there are.
 * report_calls - the single calls in the files, as a table or as JSON.
 * report_write - the files in another format.
 * report_table - as a table, with --diff of both or as a page.
 */
int report_by(const struct report *r, struct errmsg *f);
int report_list(const struct report *r, struct errmsg *f);
int report_calls(const struct report *r, struct errmsg *f);
int report_write(const struct report *r, struct files *files, struct errmsg *f);
int report_table(const struct report *r, struct files *files, struct errmsg *f);

/*
 * Processes that the index of a directory tells to be asked for: profiles do not have their
 * commands.  Starts as { 0 }.
 */
struct report_chosen {
	struct map processes; /* (pid, when it began in s since 1970) */
	uint64_t others;      /* lines of processes that did not fit */
};

/*
 * report_filter__choose - the processes of @in that --process asks for, as far as an index tells.
 * Negative errno, and @f says why; @chosen is to be freed also after that.
 */
int report_filter__choose(const struct report *r, const struct report_input *in,
			  struct report_chosen *chosen, struct errmsg *f);
void report_chosen__free(struct report_chosen *chosen);

/*
 * report_filter__has - was process @p asked for by --process, or is it one of @chosen?  Numbers are
 * of its pid; patterns of its name, its service or another label, its container, its command or a
 * word of that.
 */
bool report_filter__has(const struct report_patterns *processes, const struct report_chosen *chosen,
			const struct profile_process *p);

/* A sink that passes on the processes that were asked for, and of their samples those of calls. */
struct report_filter {
	const struct report_patterns *processes;
	const struct report_chosen *chosen;
	uint64_t slower_ns; /* of calls that lasted as long; 0: all samples */
	struct map slow;    /* (id, 0): calls that did by a file, which others have shorter */
	uint64_t calls;	    /* samples that are of a call, however long */
	bool processed;	    /* a sample is of a process that was asked for */
	struct sink to;
	uint64_t samples; /* that were passed on */
	uint64_t values[PROFILE_TYPES_MAX];
};

/* report_filter__sink - to feed; @filter is to stay. */
struct sink report_filter__sink(struct report_filter *filter);

/* report_filter__slow - to feed before: fills @filter->slow, which is to be freed. */
struct sink report_filter__slow(struct report_filter *filter);

/*
 * report_page - the difference of two profiles as a page, into r->output by @files, of the sample
 * types of @about.  Negative errno, and @f says why.
 */
int report_page(const struct report *r, struct files *files, const struct profile_about *about,
		struct aggregate *const sides[2], struct errmsg *f);

#define REPORT_SCHEMA 1 /* of --json: grows if a key changes its meaning or is gone */

/* report_schema - print the schema of --json: the exit status. */
int report_schema(void);

/* report_unit - what JSON calls @unit. */
const char *report_unit(enum profile_unit unit);

/* report_json - print @j.  Negative errno, and @f says why. */
int report_json(struct json *j, struct errmsg *f);

#define REPORT_TYPES_LEN (PROFILE_TYPES_MAX * (READ_TYPE_LEN + 2))

/*
 * report_types__choose - the sample type that --sample-type asks for, or the first of which there
 * is something by @values.  -EDOM: there is none that is called so, and @f says which there are.
 */
int report_types__choose(const struct report *r, const struct read_types *types,
			 const uint64_t values[PROFILE_TYPES_MAX], uint32_t *type,
			 struct errmsg *f);

/* report_types__others - the names of those that there are beside @type; "": none. */
void report_types__others(const struct report_seen *seen, uint32_t type,
			  char text[REPORT_TYPES_LEN]);

/* report_types__only - of @about no other sample type than @type. */
void report_types__only(struct profile_about *about, uint32_t type);

/*
 * report_label - print @label in @columns, cut in its middle if it is longer; 0: no limit.
 */
void report_label(const char *label, unsigned int columns);

/* report_room - columns of the terminal behind @used, at least @least; 0: no terminal. */
unsigned int report_room(unsigned int used, unsigned int least);

/* report_more - print that @shown of @all lines were printed, if there are more. */
void report_more(size_t shown, size_t all);

#endif
