/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `report`: what its command line asks for, and the parts that do it.
 */
#ifndef XR_CMD_REPORT_H
#define XR_CMD_REPORT_H

#include <stdio.h>

#include "output/writer.h"
#include "profile/read.h"

enum report_by { REPORT_FUNCTIONS, REPORT_LINES, REPORT_PACKAGES };
enum report_sort { REPORT_SELF, REPORT_TOTAL };

/* Strings are borrowed from the command line. */
struct report {
	bool help, diff, fold, lines, packages;
	int sort;			 /* enum report_sort */
	uint32_t top;			 /* rows of a table; 0: all */
	uint32_t freq;			 /* of files that do not say; 0: not given */
	const struct writer_ops *format; /* NULL: a table */
	const char *output;		 /* NULL: not given */
	uint64_t max_memory, max_file;	 /* bytes */
	const char **files;
	size_t nfiles;
};

static inline enum report_by report__by(const struct report *r)
{
	return r->packages ? REPORT_PACKAGES : r->lines ? REPORT_LINES : REPORT_FUNCTIONS;
}

/* What files came to, together. */
struct report_seen {
	struct read_result first; /* of the first of them */
	uint64_t samples;
	double seconds;	    /* 0: not known of all */
	bool lines_dropped; /* source lines or marks of later files have no place */
	char *names;	    /* of the files, which a sink borrows until its end: to be freed */
};

/*
 * report_read__all - read @n files into @to, one after another, and say what was left out of them.
 * @ordered: as of struct reader_config.  @memory: bytes, as there.  @seen->first is set by the time
 * of the sink's begin; the caller frees @seen->names, whatever is returned.  Negative errno, and @f
 * says why; -EPIPE: nobody reads what is written.
 */
int report_read__all(const struct report *r, const char *const *files, size_t n, bool ordered,
		     struct sink to, struct report_seen *seen, struct errmsg *f);

/* report_read__several - do the names of these files tell that they are of several processes? */
bool report_read__several(const char *const *files, size_t n);

/* report_read__text - the names of files as one string, to be freed; NULL: no memory. */
char *report_read__text(const char *const *files, size_t n);

/* report_write - the files in another format: the exit status. */
int report_write(const struct report *r);

/* report_table, report_diff - as a table: the exit status. */
int report_table(const struct report *r);
int report_diff(const struct report *r);

/*
 * report_page - the difference of two profiles as a page, into r->output by @files.  Negative
 * errno, and @f says why.
 */
int report_page(const struct report *r, struct files *files, struct aggregate *const sides[2],
		struct errmsg *f);

/* A row of a table. */
struct report_row {
	uint64_t hash;
	uint64_t self, total; /* samples */
	size_t stamp;	      /* of the last stack it was seen in, so that each counts once */
	size_t len;
	char label[]; /* as it is shown, terminated */
};

/* The rows that an aggregate comes to.  Starts as { 0 }. */
struct report_rows {
	struct report_row **rows;
	size_t n;
	uint64_t samples;
	/* internal */
	struct table table;
	struct arena arena;
};

/* report_rows__make - -ENOMEM.  Freed by report_rows__free, also after that. */
int report_rows__make(struct report_rows *rows, const struct aggregate *a, enum report_by by);
const struct report_row *report_rows__find(const struct report_rows *rows,
					   const struct report_row *like);
void report_rows__free(struct report_rows *rows);

/* report_profile - read files and add them up, for tables; @out is to be freed. */
int report_profile(const struct report *r, const char *const *files, size_t n,
		   struct aggregate **out, struct report_seen *seen, struct errmsg *f);

/* report_head - the line that says what a table is of. */
void report_head(FILE *out, const char *what, const char *files, const struct report_seen *seen,
		 size_t processes);

/*
 * report_label - print @label in @columns, cut in its middle if it is longer; 0: no limit.
 */
void report_label(FILE *out, const char *label, unsigned int columns);

#endif
