/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The decoder and the writers, from the records to the bytes of the file.  The input is a stream as
 * in tests/streams (stream.h): what an engine delivers, and when processes end.  stream_head.pad
 * chooses the format.
 */
#include "../streams/stream.h"
#include "fuzz.h"
#include "layout.h"
#include "output/outputs.h"
#include "profile/decode.h"

#define STREAM_TICK 4	 /* of our own: an hour has passed */
#define AS_IT_IS    0x80 /* in item.kind: the record keeps its own size and weight */
#define PROCESSES   16u
#define FREQ_MAX    100000u    /* Hz */
#define CHECKED_MAX (1u << 20) /* bytes of what was written that are looked at */

struct run {
	struct decoder *decoder;
	struct outputs *outputs;
	struct sink sink;
	struct stream_process processes[PROCESSES];
	uint64_t samples, weight, now;
};

static int written = -1; /* standard output, a file in memory */
static struct files *files;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int fd = fuzz__file("", 0);

	if (dup2(fd, STDOUT_FILENO) < 0)
		fuzz__fail("dup2: %s", strerror(errno));
	written = fd;
	if (files__start(&files, true, NULL))
		fuzz__fail("no process that writes");
	return 0;
}

static void on_sample(void *arg, const struct sample *s)
{
	struct run *r = arg;
	const struct profile_process p = {.serial = s->serial,
					  .pid = s->pid,
					  .comm = r->processes[s->serial % PROCESSES].comm};

	r->samples++;
	r->weight += s->weight;
	if (sink__sample(&r->sink, &p, s))
		fuzz__fail("sample: %s", sink__why(&r->sink)->text);
}

static void on_process(void *arg, const struct xr_process *record)
{
	struct run *r = arg;

	memcpy(r->processes[record->serial % PROCESSES].comm, record->comm, XR_COMM_LEN);
}

static void run__begin(struct run *r, const struct stream_head *head)
{
	static const struct decoder_ops ops = {.sample = on_sample, .process = on_process};
	const struct outputs_config config = {
		.format = formats__all()[head->pad % 2],
		.writer = {.capture = head->capture & XR_CAPTURE, .roots = head->roots & 1},
		.path = "-",
		.files = files,
	};

	struct profile_about about = {0};

	memset(r, 0, sizeof(*r));
	if (decoder__new(&r->decoder, &ops, r, 0) || outputs__new(&r->outputs, &config))
		fuzz__fail("out of memory");
	r->sink = outputs__sink(r->outputs);
	about.freq = head->freq % FREQ_MAX + 1;
	if (sink__begin(&r->sink, &about))
		fuzz__fail("begin: %s", sink__why(&r->sink)->text);
}

/* The record as an engine could have sent it; its bytes are in a separate block. */
static void run__record(struct run *r, const struct stream_item *item, struct input *in)
{
	size_t size = item->size < in->left ? item->size : in->left;
	uint8_t *record = malloc(size ? size : 1);
	struct xr_head head;
	struct xr_sample *s = (void *)record;

	if (!record)
		fuzz__fail("out of memory");
	input__take(in, record, size);
	if (size >= sizeof(head) && !(item->kind & AS_IT_IS)) {
		memcpy(&head, record, sizeof(head));
		head.size = (uint32_t)size;
		memcpy(record, &head, sizeof(head));
	}
	/* the format rprof writes a line for each tick, and nothing but ticks */
	if (size >= sizeof(*s) && s->head.type == XR_REC_SAMPLE) {
		s->weight %= 64;
		s->unit = XR_UNIT_TICKS;
	}
	decoder__record(r->decoder, record, size);
	free(record);
}

static void run__item(struct run *r, const struct stream_item *item, struct input *in)
{
	struct stream_process named = {0};
	struct profile_process p = {0};

	switch (item->kind & ~AS_IT_IS & 0xff) {
	case STREAM_RECORD:
		run__record(r, item, in);
		break;
	case STREAM_PROCESS:
		input__take(in, &named, sizeof(named));
		named.comm[XR_COMM_LEN - 1] = '\0';
		r->processes[named.serial % PROCESSES] = named;
		break;
	case STREAM_FORGET:
		input__take(in, &p.serial, sizeof(p.serial));
		p.comm = r->processes[p.serial % PROCESSES].comm;
		decoder__forget(r->decoder, p.serial);
		sink__process(&r->sink, &p, PROFILE_ENDED);
		break;
	case STREAM_TICK:
		sink__tick(&r->sink, r->now += 3600000000000u);
		break;
	default:
		break;
	}
}

/* What was written: whole lines that act on nothing; in folded stacks each tick is counted. */
static void run__check(const struct run *r, const struct stats *stats, bool folded)
{
	off_t size = lseek(written, 0, SEEK_END);
	size_t len = (size_t)size;
	char *text = size ? mmap(NULL, len, PROT_READ, MAP_SHARED, written, 0) : NULL;
	uint64_t sum = 0;

	if (text == MAP_FAILED)
		fuzz__fail("mmap: %s", strerror(errno));
	if (stats->decoder.samples != r->samples)
		fuzz__fail("%llu samples were counted, not %llu",
			   (unsigned long long)stats->decoder.samples,
			   (unsigned long long)r->samples);
	if (len && text[len - 1] != '\n')
		fuzz__fail("the file does not end with a line");
	if (text && len <= CHECKED_MAX) {
		fuzz__plain(text, len, true);
		for (char *line = text, *end; folded && line < text + len; line = end + 1) {
			char *count;

			end = memchr(line, '\n', (size_t)(text + len - line));
			count = memrchr(line, ' ', (size_t)(end - line));
			if (!count || count == line || count[1] < '1' || count[1] > '9')
				fuzz__fail("a line without a count: %.*s", (int)(end - line), line);
			sum += strtoull(count + 1, NULL, 10);
		}
		if (folded && !stats->unwritten && sum != r->weight)
			fuzz__fail("%llu ticks were written, not %llu", (unsigned long long)sum,
				   (unsigned long long)r->weight);
	}
	if (text)
		munmap(text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct stream_head head;
	struct stream_item item;
	struct stats stats = {0};
	struct run r;

	input__take(&in, &head, sizeof(head));
	if (ftruncate(written, 0) || lseek(written, 0, SEEK_SET))
		fuzz__fail("cannot empty a file: %s", strerror(errno));
	run__begin(&r, &head);
	while (in.left >= sizeof(item)) {
		input__take(&in, &item, sizeof(item));
		run__item(&r, &item, &in);
	}
	stats.decoder = *decoder__stats(r.decoder);
	if (sink__finish(&r.sink, &stats))
		fuzz__fail("finish: %s", sink__why(&r.sink)->text);
	run__check(&r, &stats, head.pad % 2);
	outputs__free(r.outputs);
	decoder__free(r.decoder);
	return 0;
}
