/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recorded stream: what an engine delivered in a real run, in a file (gzip): one struct
 * stream_head, then items, each a struct stream_item and `size` bytes.  Little endian, as the
 * records are.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdint.h>

#include "abi.h"

#define STREAM_MAGIC 0x314d525453525858ull /* "XXRSTRM1" */

/* What the run was asked for. */
struct stream_head {
	uint64_t magic;
	uint32_t freq, capture; /* Hz; XR_CAPTURE */
	uint32_t roots;		/* several processes: folded has them as root frames */
	uint32_t pad;
};

enum stream_kind {
	STREAM_RECORD = 1,  /* a record of abi.h: decoder__record() */
	STREAM_FORGET = 2,  /* uint32_t serial: decoder__forget() */
	STREAM_PROCESS = 3, /* struct stream_process: ahead of the first sample of it */
};

struct stream_item {
	uint32_t kind, size;
};

struct stream_process {
	uint32_t serial, pid;
	char comm[XR_COMM_LEN];
};

#endif
