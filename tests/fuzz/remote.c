/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The walk of the engines that read from outside, over memory that the input gives and that may
 * change between any two reads: some samples of a target that is stopped, that runs on, or that
 * waits.  What it sends is what the decoder takes.
 */
#include "engine/remote/remote_walk.h"
#include "profile/decode.h"
#include "walk_input.h"

#define SAMPLES 3u

static uint64_t clock_ns;

static uint64_t clock__now(void)
{
	return clock_ns += 1000;
}

static int memory__spans(void *arg, const struct mem_span *spans, uint32_t n)
{
	uint32_t i = 0;

	if (n > MEM_SPANS_MAX)
		fuzz__fail("%u spans at once", n);
	while (i < n && !fuzz_memory__read(arg, spans[i].addr, spans[i].to, spans[i].len))
		i++;
	return (int)i;
}

static void on_sample(void *arg, const struct sample *s)
{
	(*(unsigned int *)arg)++;
}

static int sample(struct remote_walk *rw, unsigned int how)
{
	int result = remote_walk__ahead(rw);

	if (how == 1)
		result = remote_walk__still(rw);
	else if (how == 2)
		result = remote_walk__moving(rw);
	if (how == 3)
		remote_walk__collecting(rw);
	if (result >= 0)
		result = remote_walk__finish(rw);
	if (result > 1 || result <= -XR_ERRORS)
		fuzz__fail("a sample ended with %d", result);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct decoder_ops ops = {.sample = on_sample};
	static const struct xr_sample like = {.weight = 1, .pid = 4711, .tid = 4711};
	struct input in = {data, size};
	struct fuzz_memory memory;
	const struct mem_reader reader = {
		.read = fuzz_memory__read, .read_spans = memory__spans, .arg = &memory};
	unsigned int sent = 0, got = 0;
	struct decoder *decoder;
	struct remote_walk *rw;
	struct walk_input w;
	uint64_t at[8];

	walk_input__take(&in, &w, &memory);
	clock_ns = 1;
	if (remote_walk__new(&rw, &w.row, &reader, clock__now) ||
	    decoder__new(&decoder, &ops, &got, 0))
		fuzz__fail("out of memory");
	remote_walk__sink(rw, decoder__record, decoder);
	for (unsigned int i = 0; i < SAMPLES; i++) {
		if (sample(rw, w.looks >> 2 * i & 3) >= 0) {
			remote_walk__send(rw, &like);
			sent++;
		}
		if (remote_walk__keys(rw, at, 8) > 8)
			fuzz__fail("more contexts than were asked for");
	}
	if (decoder__stats(decoder)->malformed || got != sent)
		fuzz__fail("%u of %u samples came through", got, sent);
	remote_walk__free(rw);
	decoder__free(decoder);
	return 0;
}
