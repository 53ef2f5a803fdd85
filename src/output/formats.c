/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <string.h>

#include "output/writer.h"

/* One row a format: writer_NAME is defined in the file of its name. */
#define FORMATS(row) row(rprof) row(folded)

#define DECLARED(name) extern const struct writer_ops writer_##name;
FORMATS(DECLARED)

#define LISTED(name) &writer_##name,
static const struct writer_ops *const formats[] = {FORMATS(LISTED) NULL};

const struct writer_ops *const *formats__all(void)
{
	return formats;
}

const struct writer_ops *formats__find(const char *name)
{
	for (size_t i = 0; formats[i]; i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

static bool frame__disguised(const struct frame *frame)
{
	return frame->kind == FRAME_R && frame->function->like_mark;
}

size_t writer__size(const struct frame *frame, enum writer_form form)
{
	const struct name *name = frame->function;
	size_t len = form == WRITER_FIELD ? name->field_len : name->safe_len;

	return len + (frame__disguised(frame) ? strlen("\\x3c") - 1 : 0);
}

int writer__name(struct buf *line, const struct frame *frame, enum writer_form form)
{
	const struct name *name = frame->function;
	const char *text = form == WRITER_FIELD ? name->field : name->safe;
	size_t len = form == WRITER_FIELD ? name->field_len : name->safe_len;
	int err;

	if (!frame__disguised(frame))
		return buf__add(line, text, len);
	err = buf__str(line, "\\x3c");
	return err ? err : buf__add(line, text + 1, len - 1);
}
