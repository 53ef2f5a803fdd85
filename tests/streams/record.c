/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The profiler, with a tap between its engine and its decoder (the linker's --wrap): what passes is
 * written to the file that XRPROF_STREAM names.  XRPROF_STREAM_HEAD: "FREQ CAPTURE ROOTS" for its
 * head; XRPROF_STREAM_SAMPLES: how many samples to record.
 */
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "profile/decode.h"
#include "stream.h"

void __real_decoder__record(void *decoder, const void *record, size_t size);
void __real_decoder__forget(struct decoder *d, uint32_t serial);
void __wrap_decoder__record(void *decoder, const void *record, size_t size);
void __wrap_decoder__forget(struct decoder *d, uint32_t serial);

static struct {
	gzFile file;
	unsigned int left; /* samples */
	uint32_t seen[4096];
	unsigned int nseen;
} tap;

static void tap__close(void)
{
	if (gzclose(tap.file) != Z_OK)
		abort();
}

static void tap__open(void)
{
	const char *path = getenv("XRPROF_STREAM"), *head = getenv("XRPROF_STREAM_HEAD");
	const char *samples = getenv("XRPROF_STREAM_SAMPLES");
	struct stream_head h = {.magic = STREAM_MAGIC};

	if (!path || !head || sscanf(head, "%u %u %u", &h.freq, &h.capture, &h.roots) != 3)
		abort();
	tap.left = samples ? (unsigned int)atoi(samples) : 100;
	tap.file = gzopen(path, "wb9");
	if (!tap.file || gzwrite(tap.file, &h, sizeof(h)) != (int)sizeof(h))
		abort();
	atexit(tap__close);
}

static void tap__item(enum stream_kind kind, const void *data, size_t size)
{
	const struct stream_item item = {kind, (uint32_t)size};

	if (gzwrite(tap.file, &item, sizeof(item)) != (int)sizeof(item) ||
	    gzwrite(tap.file, data, (unsigned int)size) != (int)size)
		abort();
}

/* The name of a process that no record has told. */
static void tap__process(const struct xr_sample *r)
{
	struct stream_process p = {.serial = r->serial, .pid = r->pid};
	char path[64];
	FILE *f;

	for (unsigned int i = 0; i < tap.nseen; i++)
		if (tap.seen[i] == r->serial)
			return;
	if (tap.nseen == sizeof(tap.seen) / sizeof(*tap.seen))
		abort();
	tap.seen[tap.nseen++] = r->serial;
	snprintf(path, sizeof(path), "/proc/%u/comm", r->pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%15[^\n]", p.comm) == 1)
		tap__item(STREAM_PROCESS, &p, sizeof(p));
	if (f)
		fclose(f);
}

void __wrap_decoder__record(void *decoder, const void *record, size_t size)
{
	const struct xr_sample *r = record;

	if (!tap.file)
		tap__open();
	if (tap.left && r->head.type == XR_REC_SAMPLE) {
		if (!r->part)
			tap__process(r);
		tap.left -= !(r->flags & (XR_F_MORE | XR_F_DISCARD));
	}
	if (tap.left)
		tap__item(STREAM_RECORD, record, r->head.size);
	__real_decoder__record(decoder, record, size);
}

void __wrap_decoder__forget(struct decoder *d, uint32_t serial)
{
	if (tap.file && tap.left)
		tap__item(STREAM_FORGET, &serial, sizeof(serial));
	__real_decoder__forget(d, serial);
}
