/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One self-contained HTML page.  It makes no network requests.  It is made of the files in page/
 * (mk/page.mk joins them) with the profile between them (page_data.h).
 */
#include "layout.h"
#include "output/flamegraph.h"
#include "output/page_data.h"

/* page_before, page_after - what comes before the profile, and after it: strings. */
#include "page_after.inc"
#include "page_before.inc"

static int flamegraph__page(struct output *out, const struct page_config *config)
{
	int err;

	err = output__write(out, page_before, sizeof(page_before) - 1);
	if (!err)
		err = page_data__write(out, config);
	if (!err)
		err = output__write(out, page_after, sizeof(page_after) - 1);
	return err ? err : output__commit(out, 0);
}

static int flamegraph__profile(struct output *out, const struct writer_config *config,
			       const struct aggregate *a, const struct stats *stats)
{
	const struct page_config page = {
		.about = &config->about,
		.profile = a,
		.stats = stats,
		.sources = config->sources,
	};

	return flamegraph__page(out, &page);
}

int flamegraph__diff(struct output *out, const struct writer_config *config,
		     const struct aggregate *before, const struct aggregate *after)
{
	const struct page_config page = {
		.about = &config->about, .profile = after, .before = before};

	return flamegraph__page(out, &page);
}

const struct writer_ops writer_flamegraph = {
	.name = "flamegraph",
	.help = "one HTML page: flame graph, table, time and source, for any browser",
	.suffix = ".html",
	.capture = XR_ROW_GC | XR_ROW_PACKAGES | XR_ROW_LABELS,
	.types = true,
	.keeps = {.calls = true, .given = true, .timeline = true},
	.sources = true,
	.profile = flamegraph__profile,
};
