/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "os/os.h"
#include "session/stats.h"

static const char *const row_names[] = {
#define ERR(name, counter, text) #name,
#include "errors.def"
#undef ERR
};

void stats__fill(struct stats *s, const uint64_t counts[XR_COUNTERS],
		 const struct decoder_stats *decoder)
{
	s->written = s->no_r_frames = s->exiting = s->unreadable = s->lost = 0;
#define ERR(name, counter, text) s->counter += counts[XR_##name];
#include "errors.def"
#undef ERR
	memcpy(s->rows, counts, sizeof(s->rows));
	s->sent = s->written;
	s->written = decoder->samples;
	s->ticks = counts[XR_TICKS];
	s->truncated = counts[XR_TRUNCATED];
	s->other_thread = counts[XR_OTHER_THREAD];
	s->missed = counts[XR_MISSED];
	s->nested = counts[XR_NESTED];
	s->symbols = counts[XR_SYMBOLS_SENT];
	s->rows_full = counts[XR_ROWS_FULL];
	s->decoder = *decoder;
}

bool stats__conserved(const struct stats *s)
{
	return s->ticks == s->written + s->no_r_frames + s->exiting + s->unreadable + s->lost;
}

void stats__summary(const struct stats *s, char *buf, size_t size)
{
	double rate = s->seconds > 0 ? (double)s->ticks / s->seconds : 0;
	uint64_t stacks = s->decoder.stacks_dropped + s->stacks_dropped;
	char missed[64] = "", dropped[128] = "";

	if (s->missed)
		snprintf(missed, sizeof(missed), ", %" PRIu64 " ticks missed", s->missed);
	if (s->decoder.names_dropped || stacks)
		snprintf(dropped, sizeof(dropped),
			 "; no memory was left for %" PRIu64 " names and the stacks of %" PRIu64
			 " samples",
			 s->decoder.names_dropped, stacks);
	snprintf(buf, size,
		 "%" PRIu64 " samples of %" PRIu64
		 " process%s in %.2f s, %.1f a second (%u Hz asked "
		 "for); %" PRIu64 " lost, %" PRIu64 " truncated, %" PRIu64 " unreadable%s%s",
		 s->written, s->processes, s->processes == 1 ? "" : "es", s->seconds, rate, s->freq,
		 s->lost, s->truncated, s->unreadable, missed, dropped);
}

int stats__write(const struct stats *s, const char *path, struct errmsg *f)
{
	struct json j;
	FILE *out;
	int err;

	out = os__fopen(path);
	if (!out)
		return errmsg__set(f, -errno, "cannot write --stats %s: %s", path, strerror(errno));
	json__begin(&j, out);
	json__object(&j, NULL);
	json__str(&j, "engine", s->engine);
	json__str(&j, "event", s->event);
	json__u64(&j, "freq", s->freq);
	json__double(&j, "seconds", s->seconds);
	json__double(&j, "first_sample", s->first_sample);
	json__u64(&j, "processes", s->processes);
	json__u64(&j, "ticks", s->ticks);
	json__u64(&j, "written", s->written);
	json__u64(&j, "no_r_frames", s->no_r_frames);
	json__u64(&j, "exiting", s->exiting);
	json__u64(&j, "unreadable", s->unreadable);
	json__u64(&j, "lost", s->lost);
	json__u64(&j, "truncated", s->truncated);
	json__u64(&j, "other_thread", s->other_thread);
	json__u64(&j, "missed", s->missed);
	json__u64(&j, "nested", s->nested);
	json__u64(&j, "sent", s->sent);
	json__u64(&j, "malformed", s->decoder.malformed);
	json__u64(&j, "partial", s->decoder.partial);
	json__u64(&j, "unnamed", s->decoder.unnamed);
	json__u64(&j, "names_dropped", s->decoder.names_dropped);
	json__u64(&j, "stacks_dropped", s->decoder.stacks_dropped + s->stacks_dropped);
	json__u64(&j, "symbols", s->symbols);
	json__u64(&j, "rows_full", s->rows_full);
	json__object(&j, "rows");
	for (unsigned int i = 0; i < XR_ERRORS; i++)
		json__u64(&j, row_names[i], s->rows[i]);
	json__close(&j);
	json__close(&j);
	err = json__end(&j);
	if (fclose(out) && !err)
		err = -errno;
	if (err)
		return errmsg__set(f, err, "cannot write --stats %s: %s", path, strerror(-err));
	return 0;
}
