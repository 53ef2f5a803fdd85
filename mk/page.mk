# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The page of format `flamegraph`: src/output/page, put together into strings of C.

PAGE := src/output/page
# In this order: later ones use what earlier ones define when they are loaded.
PAGE_JS := $(addprefix $(PAGE)/,model.js tree.js color.js draw.js graph.js strip.js calls.js table.js source.js state.js facts.js detail.js controls.js main.js)
PAGE_CSS := $(PAGE)/page.css
PAGE_PARTS := $(BUILD)/page_before.inc $(BUILD)/page_after.inc

$(BUILD)/page.js: $(PAGE_JS) mk/page.mk
	@mkdir -p $(@D)
	cat $(PAGE_JS) >$@

# What is between a tag that ends its line and the one that ends the element, for the page's policy.
PAGE_SUM = $$({ echo; cat $(1); } | sha256sum | cut -c 1-64)

$(PAGE_PARTS): $(BUILD)/page_%.inc: tools/page.awk $(PAGE)/page.html $(PAGE_CSS) $(BUILD)/page.js
	awk -v part=$* -v style=$(PAGE_CSS) -v script=$(BUILD)/page.js -v style_sum=$(call PAGE_SUM,$(PAGE_CSS)) \
		-v script_sum=$(call PAGE_SUM,$(BUILD)/page.js) -f tools/page.awk $(PAGE)/page.html >$@

$(BUILD)/obj/output/flamegraph.o: $(PAGE_PARTS)
