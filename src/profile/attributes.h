/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The attributes of a process and of its samples: one table for the code that writes, reads, lists
 * and filters them.  A new one is a field of struct profile_process, or of struct profile_call, and
 * a row of attributes.c.
 *
 * Labels (struct profile_label) have no rows: their keys are the user's.
 */
#ifndef XR_PROFILE_ATTRIBUTES_H
#define XR_PROFILE_ATTRIBUTES_H

#include "base/json.h"
#include "profile/profile.h"

enum attribute_kind {
	ATTRIBUTE_END,	 /* the row after the last one */
	ATTRIBUTE_TEXT,	 /* const char *; NULL or "": not known */
	ATTRIBUTE_U32,	 /* uint32_t */
	ATTRIBUTE_TIME,	 /* uint64_t: ns since 1970, which formats have in seconds; 0: not known */
	ATTRIBUTE_FIXED, /* the text `fixed`: the same for each process */
	/* of calls alone: */
	ATTRIBUTE_U64,	  /* uint64_t */
	ATTRIBUTE_NS,	  /* uint64_t: ns, which formats have in milliseconds */
	ATTRIBUTE_WHEN,	  /* uint64_t: a time of the profile, in formats milliseconds since 1970 */
	ATTRIBUTE_LASTED, /* milliseconds that the call lasted */
	ATTRIBUTE_FLAGS,  /* words: is it cut, does it run, is it ambiguous */
};

/* Whose it is.  Those of samples are not in struct profile_process (writer.h, row__value). */
enum attribute_of {
	ATTRIBUTE_PROCESS,
	ATTRIBUTE_THREAD,
	ATTRIBUTE_STATE,
	ATTRIBUTE_SYSCALL,
	ATTRIBUTE_CALL, /* in struct profile_call (call__value) */
};

/* How a pattern of `report --process` is compared with a text. */
enum attribute_match {
	ATTRIBUTE_NO_MATCH,
	ATTRIBUTE_MATCH,       /* with all of it */
	ATTRIBUTE_MATCH_ID,    /* or with an id as it is shown, cut */
	ATTRIBUTE_MATCH_WORDS, /* or with a word, or the last part of a word that is a path */
};

struct attribute {
	/* Its key in each format; NULL: the format does not have it. */
	const char *pprof, *otlp, *index, *page;
	const char *fixed;
	enum attribute_kind kind;
	enum attribute_of of;
	enum attribute_match match;
	bool identity;	/* it never changes: with another value it is another process */
	bool described; /* pprof has it only with `described` of struct writer_config */
	bool resource;	/* OTLP has it with the resource, not with each sample */
	size_t field;	/* its offset in struct profile_process or profile_call */
	size_t size;	/* bytes of a text with its end, longer ones are cut; 0: any length */
	double max;	/* of a number or of the seconds of a time */
};

#define ATTRIBUTES_MAX 24u /* rows, for arrays by row; attributes.c checks it */

/* In the order in which formats have them, ended by ATTRIBUTE_END. */
extern const struct attribute attributes[];

/* attribute__by_pprof, attribute__by_index - the row of that key, or NULL. */
const struct attribute *attribute__by_pprof(const char *key, size_t len);
const struct attribute *attribute__by_index(const char *key);

/* attribute__is_label - may a user give a label this key?  Not if profiles have it anyway. */
bool attribute__is_label(const char *key);

/* attribute__text - a text of process @p; NULL: it is not known, or not a text. */
const char *attribute__text(const struct attribute *a, const struct profile_process *p);

/* attribute__place - where process @p has its pointer to a text. */
const char **attribute__place(const struct attribute *a, struct profile_process *p);

/* attribute__number - a number of process @p, or its time in seconds; 0: not known, or a text. */
uint64_t attribute__number(const struct attribute *a, const struct profile_process *p);

/* attribute__set_number - the opposite.  False: @number is out of range. */
bool attribute__set_number(const struct attribute *a, struct profile_process *p, double number);

/* attribute__learn_number - copy a number that is known of process @from. */
void attribute__learn_number(const struct attribute *a, struct profile_process *p,
			     const struct profile_process *from);

/*
 * attributes__json - the known attributes of @p that the index has, into the open object of @j; not
 * that of the key @but (NULL: all).
 */
void attributes__json(struct json *j, const struct profile_process *p, const char *but);

/* A text, or a number. */
struct attribute_value {
	const char *text;
	uint64_t number;
};

/*
 * call__value - an attribute of @call, in a profile of @about: its time is in ms since 1970.  The
 * times of calls that were read are since 1970 already, and `began` of @about is 0 then.  False: it
 * is not one of a call, or not known.
 */
bool call__value(const struct attribute *a, const struct profile_about *about,
		 const struct profile_call *call, struct attribute_value *value);

/*
 * call__set - the opposite, for a call that was read: it begins with `ended` 1, and call__set_all
 * is called after the last attribute.  A number of 0 and a text of NULL are not known; texts are
 * borrowed.
 */
void call__set(const struct attribute *a, struct profile_call *call,
	       const struct attribute_value *value);
void call__set_all(struct profile_call *call);

/* label__otlp - what OpenTelemetry calls the label @key. */
const char *label__otlp(const char *key);

#endif
