/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages between the program and the helper that writes its files (files.h).
 */
#ifndef XR_OS_LINUX_FILES_PROCESS_H
#define XR_OS_LINUX_FILES_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "os/files.h"

#define FILES_BYTES 32768u /* of data in one request */
#define FILES_ENDS  1024u  /* ends of pieces in one request */
#define FILES_PATH  4096u  /* of a path, with its end */

enum files_type {
	FILES_DIRECTORY, /* data: the path */
	FILES_MAKE,	 /* data: the path, which is made */
	FILES_IDENTIFY,	 /* which file a path leads to */
	FILES_OPEN,	 /* data: the path of file `id` */
	FILES_WRITE,	 /* data: behind uint32_t ends[nends], offsets into it */
	FILES_CLOSE,
};

struct files_request {
	uint32_t type; /* enum files_type */
	uint32_t id;   /* of the file; those that were closed are used again */
	uint32_t nends;
	uint32_t len; /* bytes of data */
	uint32_t at;  /* FILES_OPEN: as of files__open_new; 0: what is there is emptied */
};

/* One for each request, in their order. */
struct files_answer {
	uint32_t type, id;
	int32_t error;	  /* negative errno; FILES_DIRECTORY, FILES_MAKE: or whether it is one */
	uint32_t number;  /* FILES_OPEN: the one in its name */
	uint64_t written; /* FILES_WRITE: bytes of this request */
	struct os_identity identity; /* FILES_OPEN, FILES_IDENTIFY */
};

/* files_process__run - of struct helper_job: until the other end of @fd is closed; @arg: NULL. */
void files_process__run(int fd, const void *arg);

#endif
