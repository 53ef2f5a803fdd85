/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "sexp.h"

int pass__add(struct pass *p, char kind, uint64_t addr, const void *bytes, uint32_t len,
	      bool failed)
{
	if (array__room(&p->reads, p->nreads, &p->cap_reads, sizeof(*p->reads)) ||
	    array__room(&p->bytes, p->nbytes + len, &p->cap_bytes, 1))
		return -ENOMEM;
	p->reads[p->nreads++] = (struct recorded_read){
		.addr = addr, .len = len, .at = p->nbytes, .kind = kind, .failed = failed};
	if (!failed) {
		memcpy(p->bytes + p->nbytes, bytes, len);
		p->nbytes += len;
	}
	return 0;
}

bool pass__same(const struct pass *a, const struct pass *b)
{
	if (a->nreads != b->nreads)
		return false;
	for (uint32_t i = 0; i < a->nreads; i++) {
		const struct recorded_read *x = &a->reads[i], *y = &b->reads[i];
		uint32_t skip = x->kind == 'o' && x->len == R_CELL_BYTES ? 6 : 0;

		if (x->addr != y->addr || x->len != y->len || x->failed != y->failed)
			return false;
		if (x->failed)
			continue;
		if (memcmp(a->bytes + x->at, b->bytes + y->at, skip ? 4 : 0) ||
		    memcmp(a->bytes + x->at + skip, b->bytes + y->at + skip, x->len - skip))
			return false;
	}
	return true;
}

static void image__fields(gzFile out, const char *what, const struct recorded_field *fields,
			  size_t count, const void *from, bool hex)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = 0;

		memcpy(&value, (const char *)from + fields[i].at, fields[i].size);
		if (value && hex)
			gzprintf(out, "%s %s %llx\n", what, fields[i].name,
				 (unsigned long long)value);
		else if (value)
			gzprintf(out, "%s %s %llu\n", what, fields[i].name,
				 (unsigned long long)value);
	}
}

int image__new(struct image *image, const char *path, const struct target *target, const char *note)
{
	const struct xr_row *row = &target->row;
	struct utsname machine;

	image->out = gzopen(path, "wb9");
	if (!image->out)
		return errno ? -errno : -ENOMEM;
	uname(&machine);
	gzprintf(image->out, "xrprof-image 1\nr %s\nmachine %s\n", target->version,
		 machine.machine);
	gzprintf(image->out, "note %s\n",
		 target->load == TARGET_LIBR ? "R in libR.so" : "R in its program");
	if (target->how_lines)
		gzprintf(image->out, "note R_BCbody, R_BCpc by %s\n", target->how_lines);
	if (note)
		gzprintf(image->out, "note %s\n", note);
	image__fields(image->out, "row", recorded_row, RECORDED_COUNT(recorded_row), row, true);
	image__fields(image->out, "layout", recorded_layout, RECORDED_COUNT(recorded_layout),
		      &row->layout, false);
	gzprintf(image->out, "flags");
	for (size_t i = 0; i < RECORDED_COUNT(recorded_flags); i++)
		if (row->flags & recorded_flags[i].flag)
			gzprintf(image->out, " %s", recorded_flags[i].name);
	gzprintf(image->out, "\n");
	return 0;
}

static int image__read(struct image *image, const struct pass *pass,
		       const struct recorded_read *read)
{
	const uint8_t *bytes = pass->bytes + read->at;
	uint8_t *copy = map__get(&image->last, read->addr, read->len);

	if (read->failed || (copy && !memcmp(copy, bytes, read->len))) {
		gzprintf(image->out, "%s %c %llx %u\n", read->failed ? "fail" : "same", read->kind,
			 (unsigned long long)read->addr, read->len);
		return 0;
	}
	gzprintf(image->out, "read %c %llx ", read->kind, (unsigned long long)read->addr);
	for (uint32_t i = 0; i < read->len; i++)
		gzprintf(image->out, "%02x", bytes[i]);
	gzputs(image->out, "\n");
	if (!copy) {
		copy = malloc(read->len);
		if (!copy || map__put(&image->last, read->addr, read->len, copy))
			return -ENOMEM;
	}
	memcpy(copy, bytes, read->len);
	return 0;
}

int image__moment(struct image *image, const struct oracle *oracle, const struct pass *pass)
{
	int err = 0;

	for (uint32_t i = 0; i < RECORDED_FILES_MAX; i++)
		if (oracle->files[i] && !image->told[i]) {
			gzprintf(image->out, "file %u %s\n", i, oracle->files[i]);
			image->told[i] = true;
		}
	gzputs(image->out, oracle->profiler ? "moment\nline " : "moment\ncalls ");
	gzputs(image->out, oracle->stack);
	gzputs(image->out, "\n");
	for (uint32_t i = 0; i < pass->nreads && !err; i++)
		err = image__read(image, pass, &pass->reads[i]);
	image->moments++;
	return err;
}

void image__end(struct image *image)
{
	gzprintf(image->out, "end %u\n", image->moments);
}

int image__close(struct image *image)
{
	int err = image->out ? gzclose(image->out) : Z_OK;

	image->out = NULL;
	for (size_t i = 0; i < image->last.cap; i++)
		free(image->last.entries[i].value);
	map__free(&image->last);
	return err == Z_OK ? 0 : -EIO;
}
