/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The sources of what is sampled: as soon as the decoder knows of a srcfile of R it is looked at in
 * the process' memory (target/source.h), for R may forget it, and the process may end.
 */
#ifndef XR_SESSION_SOURCES_H
#define XR_SESSION_SOURCES_H

#include <stddef.h>
#include <stdint.h>

struct ask;
struct lifecycle;

/* Srcfiles that were asked for, by the number of the question.  Starts as { 0 }. */
struct sources_asked {
	char **files;
	size_t n, cap;
	size_t answered;
};

/* sources__met - as of struct decoder_ops; @lifecycle: it. */
void sources__met(void *lifecycle, uint32_t serial, uint64_t at, const char *file);

/* sources__answered - an answer to ASK_SOURCE, whose file is taken. */
void sources__answered(struct lifecycle *l, const struct ask *a);

/* sources__await - no more are met: those that were asked for are waited for, not for long. */
void sources__await(struct lifecycle *l);

void sources__forget(struct sources_asked *asked);

#endif
