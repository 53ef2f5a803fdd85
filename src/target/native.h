/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What native code a process has mapped, and what is known of one module's: the answers to ASK_MAPS
 * and ASK_MODULE (ask.h).  Both are too large for a message, so they come as files in memory that
 * cannot be changed any more.  What the worker read may have misled it: the reader of such a file
 * checks every number of it.
 */
#ifndef XR_TARGET_NATIVE_H
#define XR_TARGET_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "space.h"
#include "target/target.h"

#define NATIVE_BUILD_ID_MAX 64u
#define NATIVE_HASH	    16u /* bytes of process.executable.build_id.htlhash */
#define NATIVE_SEGMENTS_MAX 16u
#define NATIVE_BUILTINS_MAX 4096u
#define NATIVE_ANSWER_MAX   (128u << 20) /* bytes of an answer */

enum native_kind { NATIVE_FILE, NATIVE_VDSO };

/* A mapping of code.  Addresses are in the process; they ascend. */
struct native_mapped {
	uint64_t start, end;
	uint64_t offset; /* in the file, bytes */
	struct target_file file;
	uint32_t kind; /* enum native_kind */
	uint32_t path; /* in the texts: as the process names it, terminated */
};

/* An answer to ASK_MAPS: `n` of struct native_mapped, `texts` bytes. */
struct native_maps_head {
	uint32_t magic;
	uint32_t n;
	uint32_t texts;
	uint32_t cut; /* there were more than XR_MAPPINGS_MAX */
};

/* An executable segment of a file, as its addresses count. */
struct native_segment {
	uint64_t offset, address, size;
};

/* What the function at `pc` is called; `name` is in the texts. */
struct native_symbol {
	uint32_t pc, size; /* bytes; 0: not known */
	uint32_t name;
};

/*
 * An answer to ASK_MODULE.  Behind it come rows, rules, symbols (in the order of their pc), names
 * of builtins (the number of each in the texts, in the order of R_FunTab), texts.  nrows 0: without
 * an unwind table.
 */
struct native_module_head {
	uint32_t magic;
	uint32_t nrows, nrules, nsymbols, nbuiltins, texts;
	uint64_t base; /* what pc 0 is as the file counts addresses */
	uint32_t nsegments;
	uint32_t build_id_len;
	uint8_t build_id[NATIVE_BUILD_ID_MAX];
	uint32_t hash_len; /* 0: it is not a file, or could not be read */
	uint8_t hash[NATIVE_HASH];
	struct native_segment segments[NATIVE_SEGMENTS_MAX];
};

#define NATIVE_MAPS_MAGIC   0x786d6170u
#define NATIVE_MODULE_MAGIC 0x786d6f64u

/*
 * native__hash - what OpenTelemetry's conventions call process.executable.build_id.htlhash of the
 * file @fd: the first 16 bytes of the SHA-256 of its first and last 4096 bytes and its length.
 * -EIO, or the errno of fstat() or pread().
 */
int native__hash(int fd, uint8_t hash[NATIVE_HASH]);

/* An answer that was checked.  Valid until its close. */
struct native_maps {
	void *mapped;
	size_t size;
	const struct native_mapped *maps;
	uint32_t n;
	const char *texts;
	bool cut;
};

struct native_module {
	void *mapped;
	size_t size;
	const struct native_module_head *head;
	const struct xr_unwind_row *rows;
	const struct xr_unwind_rule *rules;
	const struct native_symbol *symbols;
	const uint32_t *builtins;
	const char *texts;
};

/*
 * native_maps__open, native_module__open - take the answer in the file @fd, which is closed.
 * -EBADMSG: it is not such an answer; -ENOMEM, -ENOSYS.
 */
int native_maps__open(struct native_maps *m, int fd);
void native_maps__close(struct native_maps *m);
int native_module__open(struct native_module *m, int fd);
void native_module__close(struct native_module *m);

/*
 * native_maps__make, native_module__make - look, and make the answer: *@fd is a file that cannot be
 * changed any more.  @at: where the module @of is mapped.  -ESRCH: the process, or that mapping, is
 * gone, or is of another file by now; -EACCES; -EBADMSG: not an ELF file that can be read, or
 * written to since it was seen; -ENOMEM, -EMFILE, ...
 */
int native_maps__make(pid_t pid, int *fd);
int native_module__make(pid_t pid, uint64_t at, const struct target_file *of, int *fd);

#endif
