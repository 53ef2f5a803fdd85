# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make record-image   build/record-image, which tools/record-image runs (docs/recorded-images.md)

record-image: $(BUILD)/record-image

$(BUILD)/record-image: tools/record_image.c $(LIB)
	@mkdir -p $(@D)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) -Itests/unit $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)

-include $(BUILD)/record-image.d

.PHONY: record-image
