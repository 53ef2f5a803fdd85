/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the readers of the formats have in common; for them and read.c alone.
 */
#ifndef XR_PROFILE_READ_PARTS_H
#define XR_PROFILE_READ_PARTS_H

#include "base/buf.h"
#include "base/map.h"
#include "profile/attributes.h"
#include "profile/names.h"
#include "profile/read.h"
#include "profile/stacks.h"

#define READ_PIECE     65536u	    /* bytes that are read at a time */
#define READ_COUNT_MAX (1ULL << 53) /* of one stack in a file */
#define READ_TOTAL_MAX (1ULL << 62) /* of all, so that no sum is too large */

/* A process that files have samples of. */
struct reader_process {
	struct profile_process process;
	bool told; /* the sink knows it */
	/* of `process`, if it is described */
	struct profile_label labels[];
};

/* What a line was seen to say, so that it is parsed once. */
struct reader_line {
	const struct stack *stack;
	struct reader_process *process; /* NULL: it did not fit */
	uint64_t count; /* of samples that wait for the sink, if the order does not matter */
	uint64_t each;	/* what one such line counts for */
	uint32_t flags;
	size_t len;
	struct reader_line *next; /* all of them */
	char text[];
};

struct reader {
	struct reader_config config;
	struct budget budget;
	uint64_t last_id;
	uint64_t generation; /* grows when stacks were let go */
	struct stacks stacks;
	struct map known;		   /* (hash, length) to struct reader_line, of one file */
	size_t known_cost;		   /* taken of the budget for it */
	struct arena lines;		   /* those */
	struct reader_line *first, **last; /* in the order they came */
	bool begun;
	struct read_types *types, own_types;
	uint64_t time; /* of the last sample of this file, ns */
	/* processes, which stay */
	struct budget processes_budget;
	struct intern keys;
	struct map processes; /* (address of the key, 0) to struct reader_process */
	struct arena rows;
	struct reader_process *others; /* the first */
	/* what is being put together: names, and frames, innermost first unless said otherwise */
	struct buf name;
	const struct frame **frames;
	size_t nframes, cap;
};

struct unzip;

enum read_encoding { READ_UTF8, READ_UTF16_LE, READ_UTF16_BE };

/* Text of an encoding that becomes UTF-8.  Starts as { 0 }, of UTF-8. */
struct read_wide {
	enum read_encoding encoding;
	bool odd;	      /* `first` is the first byte of a unit */
	uint32_t first, high; /* high: the first unit of a character; 0: none */
};

/*
 * read_text__encoding - of a text that begins with these bytes; *@mark: how many of them are its
 * byte order mark.
 */
enum read_encoding read_text__encoding(const char *bytes, size_t len, size_t *mark);

/* read_text__add - append the next @len bytes to @to, in UTF-8.  -ENOMEM. */
int read_text__add(struct read_wide *w, struct buf *to, const char *bytes, size_t len);

/* A file that is being read. */
struct reading {
	struct reader *reader;
	const struct read_input *in;
	struct read_result *result;
	struct reader_process *process; /* whose it is, where it does not say */
	struct errmsg *f;
	struct unzip *unzip; /* of a compressed file; NULL: it is not */
	struct read_wide wide;
	struct buf bytes; /* of the file, from `at` on not used yet */
	size_t at;
	uint64_t number; /* of the line last returned */
	bool ended;	 /* there are no more bytes to be read */
	bool open;	 /* the line last returned has no end: it is the last one */
};

/* reading__raw - bytes of the file as they are in it; as read_input's read, with the error said. */
int reading__raw(struct reading *r, void *to, size_t size);

/*
 * reading__more - have more bytes in `bytes` behind those not used, which may move.  1; 0: the file
 * has no more; or a negative errno.
 */
int reading__more(struct reading *r);

/*
 * reading__line - the next line, without its end; it stays until the next call.  1; 0: there is
 * none; or a negative errno.  A last line without an end does not count: it is `cut` in the result.
 * In folded stacks it counts, and r->open is set: what others write may end so.
 */
int reading__line(struct reading *r, const char **line, size_t *len);

/* reading__bad - the line last returned, or the @lines up to it, cannot be. */
void reading__bad(struct reading *r, uint64_t lines);

/* reading__begin - the format's head is known: the sink's begin. */
int reading__begin(struct reading *r);

/* A text of a file, escaped; not terminated. */
struct read_text {
	const char *text;
	size_t len;
};

/* What a file says of how it was made.  Empty texts and 0: nothing. */
struct read_says_made {
	struct read_text command, host, engine, event, series;
	uint64_t lost, truncated, unreadable;
};

/*
 * reading__made - a file is being read that says this, and what its result has of its time; before
 * its reading__begin.
 */
void reading__made(struct reading *r, const struct read_says_made *says);

/*
 * reading__ticks - the file has samples in ticks of @clock, "cpu" or "wall"; NULL: not known.
 * reading__type - the number of another sample type; negative: there are too many.
 */
void reading__ticks(struct reading *r, const char *clock);
int reading__type(struct reading *r, const char *name, size_t len, enum profile_unit unit);

/*
 * reading__process - the process of @key, made if it is new, whose name is then @comm (@len bytes,
 * cut if there are more than a process has).  NULL: there are too many.
 */
struct reader_process *reading__process(struct reading *r, const char *key, size_t key_len,
					uint32_t pid, const char *comm, size_t len);

/* What a file says of a process.  Empty texts and 0: nothing. */
struct read_says {
	struct profile_process numbers;		/* its attributes that are numbers */
	struct read_text texts[ATTRIBUTES_MAX]; /* those that are texts, by row of attributes.h */
	struct {
		struct read_text key, value;
	} labels[PROFILE_LABELS_MAX];
	size_t nlabels;
};

/*
 * reading__described - the process that @says describes, made if it is new: one with another
 * service, say, is another.  NULL: there are too many, or it does not fit.
 */
struct reader_process *reading__described(struct reading *r, const struct read_says *says);

/* reading__frame_add - put @frame behind those of the stack that is being made.  -ENOMEM. */
int reading__frame_add(struct reading *r, const struct frame *frame);

/* reading__flags - what the marks of that stack, innermost first, say of it. */
uint32_t reading__flags(const struct reading *r);

/* reading__name - the name that the escaped @text stands for; NULL: no room. */
const struct name *reading__name(struct reading *r, const char *text, size_t len);

/*
 * reading__function - what a file calls a function, escaped: its frame without a place in @frame.
 * A reserved name (profile.h) is not a function's.  False: no room.
 */
bool reading__function(struct reading *r, const char *text, size_t len, struct frame *frame);

/*
 * reading__stack - those frames as a stack; stacks__none() where there is no room, also where
 * @whole says that there was none for one of them.
 */
const struct stack *reading__stack(struct reading *r, struct place top, bool whole);

/*
 * reading__known - the line of these bytes, if it came before; @hash: reading__hash() of it.
 * reading__know - what it says, remembered if there is room.
 */
uint64_t reading__hash(const char *text, size_t len);
struct reader_line *reading__known(struct reading *r, uint64_t hash, const char *text, size_t len);
struct reader_line *reading__know(struct reading *r, uint64_t hash, const char *text, size_t len,
				  const struct reader_line *says);

/*
 * reading__count - a line that is known came again.  reading__once - give one that is not known to
 * the sink.  Both count its samples.
 */
int reading__count(struct reading *r, struct reader_line *line);
int reading__once(struct reading *r, const struct reader_line *line);

/*
 * reading__value - the same of any sample type: of @s it takes the type, weight, flags, detail,
 * stack and thread (0: its process' first).  @p NULL: there was no room to tell its process from
 * others; the samples are counted, and are of that of the file.
 */
int reading__value(struct reading *r, struct reader_process *p, struct sample s);

/* reading__forget - what waits goes to the sink, and lines say nothing any more. */
int reading__forget(struct reading *r);

/*
 * reading__make_room - before a stack is made: if half of what there may be is there, let it go.
 * What was made before is not valid any more then.
 */
int reading__make_room(struct reading *r);

/*
 * struct unzip - a gzip file being decompressed, of which the bytes in @r were read already.
 * -ENOMEM.  unzip__piece: up to @size bytes, as read_input's read, with the error said.
 */
int unzip__new(struct unzip **out, const struct reading *r);
int unzip__piece(struct unzip *u, struct reading *r, void *to, size_t size);
void unzip__free(struct unzip *u); /* NULL is allowed */

/* The readers: all of a file; what was read to tell the format is in `bytes`. */
int read_rprof__file(struct reading *r);
int read_folded__file(struct reading *r);
int read_pprof__file(struct reading *r);

/* read_rprof__header - is this the first line of an Rprof.out? */
bool read_rprof__header(const char *line, size_t len);
/* read_pprof__head - can a pprof profile begin like this? */
bool read_pprof__head(const char *data, size_t len);
/* read_folded__line - is this a line of folded stacks: does it end in a count? */
bool read_folded__line(const char *line, size_t len);

#endif
