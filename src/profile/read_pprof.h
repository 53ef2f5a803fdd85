/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile of pprof that is being read; for read_pprof.c and read_pprof_labels.c alone.
 */
#ifndef XR_PROFILE_READ_PPROF_H
#define XR_PROFILE_READ_PPROF_H

#include "pprof.pb-c.h"
#include "profile/read_parts.h"

#define PPROF_TYPES_MAX	   16
#define PPROF_COMMENTS_MAX 64 /* that are looked at */
#define PPROF_GIVEN_MAX	   32 /* keys of labels of samples */
#define PPROF_NONE	   (-1)

/* Where an element is in the bytes; of a location with one line, its frame, too. */
struct part {
	uint32_t at, len;
	uint64_t generation; /* of the reader, when that was made */
	const struct frame *frame;
};

struct pprof_file {
	struct reading *r;
	struct budget budget; /* of the bytes and what is known of them */
	struct budget unpacked;
	ProtobufCAllocator allocator;
	struct map parts;     /* (id, kind) to struct part */
	struct map processes; /* (hash of labels, another) to struct reader_process */
	struct arena arena;   /* of them */
	struct part *strings; /* at and len */
	size_t nstrings, cap;
	struct pprof_type {
		int64_t type, unit; /* strings */
		int number;	    /* as of the reader's types; PPROF_NONE: it is not one */
		uint64_t multiply;  /* to be in that one's unit */
	} types[PPROF_TYPES_MAX];   /* more are left out */
	size_t ntypes, more;
	int64_t period, period_type, period_unit;
	int64_t began, duration;	      /* ns */
	int64_t comments[PPROF_COMMENTS_MAX]; /* strings */
	size_t ncomments;
	struct read_text given[PPROF_GIVEN_MAX]; /* keys of labels that the R program gave */
	size_t ngiven;
	struct read_text r_version; /* of all processes that do not say another */
	/* where ticks are in a sample's values, as a count and as time; PPROF_NONE: nowhere */
	int count, time;
	bool wall; /* that time is not CPU time alone */
	/*
	 * Where ticks are as time alone: ns of its unit (else 1), of a tick, and of a part of one,
	 * which counts with the next sample.
	 */
	uint64_t unit, tick, owed;
	struct map syscalls; /* (string, 0) to its number for struct sample, and 1 */
	struct map calls;    /* (number, when it began) to struct profile_call */
	uint64_t nsamples;   /* so far */
};

/* read_pprof__types - find out what the values of samples are: there is one, at least. */
void read_pprof__types(struct pprof_file *p);

/*
 * read_pprof__values - a sample's values, by sample type; @all is given back with ticks first.
 * @count: how many samples the others stand for; 0: the file does not say.
 * False: one of them is missing, or cannot be.
 */
bool read_pprof__values(struct pprof_file *p, const Pprof__Sample *s,
			uint64_t all[PROFILE_TYPES_MAX], uint64_t *count);

/* read_pprof__made - read what the comments say: all strings are known. */
void read_pprof__made(struct pprof_file *p);

/* read_pprof__string - the text of a string, which is not terminated; "" if there is none. */
const char *read_pprof__string(const struct pprof_file *p, int64_t string, size_t *len);
bool read_pprof__is(const struct pprof_file *p, int64_t string, const char *text);

/* read_pprof__wait - into @to what the labels of @s, which waited, say of why and in what. */
void read_pprof__wait(struct pprof_file *p, const Pprof__Sample *s, struct sample *to);

/* read_pprof__attribute - the attribute that a label is; NULL: none. */
const struct attribute *read_pprof__attribute(const struct pprof_file *p, const Pprof__Label *l);

/* read_pprof__call - the innermost call that a sample is in, by its labels; NULL: none, no room. */
const struct profile_call *read_pprof__call(struct pprof_file *p, const Pprof__Sample *s);

/*
 * read_pprof__given - the labels of @s that the R program gave, as far as the comments of the file
 * say which these are: how many.  Borrowed until the next stack is made.
 */
size_t read_pprof__given(const struct pprof_file *p, const Pprof__Sample *s,
			 struct profile_label labels[XR_LABELS_MAX]);

/*
 * read_pprof__process - whose a sample is, by its labels, and of which thread (0: it does not say).
 * NULL: another does not fit.
 * @waits: what the labels say of a wait is not of the process.
 * Labels of others, who do not say of which process a sample is, say something else of it.
 */
struct reader_process *read_pprof__process(struct pprof_file *p, const Pprof__Sample *s, bool waits,
					   uint32_t *tid);

#endif
