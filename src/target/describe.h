/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command line and the labels of a process, such as its service.  They come from its arguments
 * and its environment, which may be anything, so they are bounded, and labels are text.
 */
#ifndef XR_TARGET_DESCRIBE_H
#define XR_TARGET_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errmsg.h"

#define DESCRIBE_LABELS	 16u   /* of the environment, at most; the service comes on top */
#define DESCRIBE_KEY	 41u   /* bytes of a key, with its end */
#define DESCRIBE_VALUE	 129u  /* of a value, with its end */
#define DESCRIBE_COMMAND 1025u /* of a command line, with its end */
/* of all that, with the end of the whole */
#define DESCRIBE_TEXT                                                                              \
	(DESCRIBE_COMMAND + (DESCRIBE_LABELS + 1) * (DESCRIBE_KEY + DESCRIBE_VALUE) + 1)

/*
 * What is wanted of a process.  Of its environment nothing but the variables listed is kept.
 * Borrowed; the rules are those of when the session was opened.
 */
struct label_rules {
	/* Variables: `NAME`, or `NAME=label`; each as of label_rule__parse.  NULL: none.  Ended by
	 * NULL, at most DESCRIBE_LABELS of them. */
	const char *const *env;
	const char *service; /* of all processes; NULL: what describe__make finds */
};

/* A variable, and the label it becomes. */
struct label_rule {
	char name[DESCRIBE_KEY];
	char label[DESCRIBE_KEY];
};

/*
 * label_rule__parse - `NAME` or `NAME=label`: letters, digits and _, no digit first.  A label is in
 * lower case, whatever was given.  -EINVAL, and @f says why.
 */
int label_rule__parse(const char *text, struct label_rule *rule, struct errmsg *f);

/*
 * label__parse - `key=value`, as of label_rule__parse: the key is put in @key, and the value is the
 * end of @text, or NULL: -EINVAL, and @f says why.
 */
const char *label__parse(const char *text, char key[DESCRIBE_KEY], struct errmsg *f);

/* What there is to be read of a process; it may say anything.  Nothing of it is changed. */
struct describe_from {
	const char *arguments; /* as of /proc/PID/cmdline: each ends in a NUL, the last may not */
	size_t arguments_len;
	const char *environment; /* as of /proc/PID/environ */
	size_t environment_len;
	const char *cgroup; /* a path; "": not known */
	const char *comm;
};

/*
 * describe__make - the description of a process, one text after another, each with its end: the
 * command line, then keys and values, the service first; an empty one ends it.  Returns the bytes
 * of @to.
 *
 * The command line has blanks between its words and may hold anything but NUL.  In values what is
 * not UTF-8, and what acts on who shows it, is a '?'; what is too long is cut.  One that is empty
 * is left out.
 */
size_t describe__make(const struct label_rules *rules, const struct describe_from *from,
		      char to[DESCRIBE_TEXT]);

/*
 * The service, the first of these that there is: the one that is given; a variable that is listed
 * and becomes the label `service`; OTEL_SERVICE_NAME, if it is listed; the innermost systemd unit
 * of its cgroup that is a .service (but none that runs what others ask for: user@, cron, sshd,
 * docker and the like); the base name of the script that R runs (--file=, -f); the process' name.
 */

/* describe__next - the text after @at, or NULL: @end is the end of all. */
const char *describe__next(const char *at, const char *end);

#endif
