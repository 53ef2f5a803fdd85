/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files for `report` to read: texts, and a profile in pprof of samples by hand. */
#ifndef REPORT_FILE_H
#define REPORT_FILE_H

#include "command.h"
#include "output/outputs.h"
#include "stack_maker.h"

static inline void file__text(const char *name, const char *text)
{
	tap__write(name, text, strlen(text));
}

static struct outputs_config file__to;
static struct outputs *file__outputs;
static struct sink sink; /* of the profile that was begun */

static inline void file__begin(const char *path, const struct profile_about *about)
{
	file__to = (struct outputs_config){.path = path, .format = formats__find("pprof")};
	tap__bail_if(files__start(&file__to.files, FILES_NONE, NULL) ||
			     outputs__new(&file__outputs, &file__to),
		     "no memory");
	sink = outputs__sink(file__outputs);
	tap__bail_if(sink__begin(&sink, about), "%s", sink__why(&sink)->text);
}

static inline void file__finish(const struct stats *stats)
{
	struct stats counted = *stats;

	tap__bail_if(sink__finish(&sink, &counted), "%s", sink__why(&sink)->text);
	outputs__free(file__outputs);
	files__stop(file__to.files);
}

#endif
