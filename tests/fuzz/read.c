/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of profiles, read back.  The first byte says how: one by one or added up, wrappers folded
 * away, with little memory, compressed, and in which pieces the bytes come.  Whatever the file is,
 * no sample is given twice or lost, and what was read, written as folded stacks and read again, is
 * the same.
 */
#include <inttypes.h>
#include <zlib.h>

#include "base/buf.h"
#include "fuzz.h"
#include "profile/names.h"
#include "profile/read.h"

enum { HOW_ORDERED = 1, HOW_FOLD = 2, HOW_LITTLE = 4, HOW_GZIP = 8 };

#define ROOT	  "fuzz-1;"    /* so that no frame is taken for one */
#define NAME_LONG (8u << 10)   /* a name that is longer may be cut when it is escaped */
#define TEXT_MAX  (256u << 10) /* bytes that are read again */

struct source {
	const uint8_t *at;
	size_t left, piece;
};

struct taken {
	uint64_t samples;
	size_t begun;
	bool cut; /* too much to be read again */
	struct buf text;
};

static int source__read(void *arg, void *to, size_t size)
{
	struct source *f = arg;
	size_t n = f->left < size ? f->left : size;

	if (f->piece && n > f->piece)
		n = f->piece;
	if (n)
		memcpy(to, f->at, n);
	f->at += n;
	f->left -= n;
	return (int)n;
}

static int taken__begin(void *arg, const struct profile_about *about)
{
	struct taken *t = arg;

	t->begun++;
	return 0;
}

static int taken__process(void *arg, const struct profile_process *p, enum profile_event event)
{
	struct taken *t = arg;

	if (!t->begun || event != PROFILE_BEGAN || !p->serial)
		fuzz__fail("a process before the begin");
	if (p->nlabels > PROFILE_LABELS_MAX)
		fuzz__fail("%zu labels", p->nlabels);
	for (size_t i = 0; i < p->nlabels; i++)
		if (!p->labels[i].key || !p->labels[i].value)
			fuzz__fail("half a label");
	return 0;
}

static void taken__frame(struct taken *t, const struct frame *frame)
{
	int err = frame__label(&t->text, frame, NAME_FIELD);

	t->cut |= frame->function->len > NAME_LONG;
	/* it reads as a place, see folded.c: the rest of it is escaped as a file's name is */
	t->cut |= strstr(frame->function->text, " (") || strstr(frame->function->text, " {");
	t->cut |= frame->place.file && frame->place.file->len > NAME_LONG;
	err = err ? err : place__text(&t->text, frame->place, NAME_FIELD);
	if (err)
		fuzz__fail("out of memory");
}

static int taken__sample(void *arg, const struct profile_process *p, const struct sample *s)
{
	struct taken *t = arg;

	if (t->begun != 1 || !s->weight || s->serial != p->serial)
		fuzz__fail("a sample that cannot be");
	t->samples += s->type ? 1 : s->weight;
	/* a sample of another type is not a line of folded stacks */
	if (s->type)
		return 0;
	t->cut |= t->text.len > TEXT_MAX;
	if (t->cut)
		return 0;
	buf__str(&t->text, ROOT);
	if (stack__is_toplevel(s->stack)) {
		struct frame top = mark_toplevel;

		top.place = s->stack->top;
		taken__frame(t, &top);
		if (s->stack->nframes)
			buf__str(&t->text, ";");
	}
	for (uint32_t i = s->stack->nframes; i-- > 0;) {
		taken__frame(t, s->stack->frames[i]);
		if (i)
			buf__str(&t->text, ";");
	}
	buf__printf(&t->text, " %" PRIu64 "\n", s->weight);
	return 0;
}

static int read__once(const uint8_t *data, size_t size, unsigned int how, size_t piece,
		      struct taken *t, struct read_result *result)
{
	static const struct sink_ops ops = {
		.begin = taken__begin,
		.process = taken__process,
		.sample = taken__sample,
	};
	const struct reader_config config = {
		.to = {.ops = &ops, .arg = t},
		.memory = how & HOW_LITTLE ? 1 << 20 : 64 << 20,
		.ordered = how & HOW_ORDERED,
		.fold = how & HOW_FOLD,
	};
	struct source file = {data, size, piece};
	const struct read_input in = {.read = source__read, .arg = &file, .name = "file"};
	const struct read_process process = {0};
	struct reader *reader;
	struct errmsg f = {""};
	int err;

	if (reader__new(&reader, &config))
		fuzz__fail("out of memory");
	err = reader__file(reader, &in, &process, result, &f);
	if ((err != 0) != (f.text[0] != '\0'))
		fuzz__fail("%d says: %s", err, f.text);
	fuzz__plain(f.text, strlen(f.text), false);
	if (!err && t->samples != result->samples)
		fuzz__fail("%" PRIu64 " samples were read, %" PRIu64 " given", result->samples,
			   t->samples);
	if (!err && t->begun != 1)
		fuzz__fail("a profile without a begin");
	reader__free(reader);
	return err;
}

/* What was read, as folded stacks, is read the same. */
static void read__again(const struct taken *t)
{
	struct taken again = {0};
	struct read_result result;

	if (!t->text.len || t->cut)
		return;
	fuzz__plain(t->text.data, t->text.len, true);
	if (read__once((const uint8_t *)t->text.data, t->text.len, HOW_ORDERED, 0, &again, &result))
		fuzz__fail("folded stacks that cannot be read");
	if (result.bad || result.cut || again.text.len != t->text.len ||
	    memcmp(again.text.data, t->text.data, t->text.len) != 0)
		fuzz__fail("%.*s\nis read as\n%.*s", (int)t->text.len, t->text.data,
			   (int)again.text.len, again.text.data);
	buf__free(&again.text);
}

static size_t gzip(const uint8_t *data, size_t size, uint8_t *out, size_t room)
{
	z_stream z = {0};

	if (deflateInit2(&z, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		fuzz__fail("out of memory");
	z.next_in = (unsigned char *)(uintptr_t)data;
	z.avail_in = (uInt)size;
	z.next_out = out;
	z.avail_out = (uInt)room;
	deflate(&z, Z_FINISH);
	deflateEnd(&z);
	return room - z.avail_out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	unsigned int how = input__u8(&in);
	size_t room = in.left + 1024, len = in.left;
	struct taken t = {0};
	struct read_result result;
	uint8_t *bytes = malloc(room);

	if (!bytes)
		fuzz__fail("out of memory");
	if (how & HOW_GZIP)
		len = gzip(in.at, in.left, bytes, room);
	else if (len)
		memcpy(bytes, in.at, len);
	if (!read__once(bytes, len, how, how >> 4, &t, &result))
		read__again(&t);
	buf__free(&t.text);
	free(bytes);
	return 0;
}
