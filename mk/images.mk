# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make record-image   build/record-image, which tools/record-image runs (docs/internals/recorded-images.md)

record-image: $(BUILD)/record-image

RECORDER_OBJS := $(patsubst tools/%.c,$(BUILD)/obj/tools/%.o,$(wildcard tools/record_image/*.c))

$(BUILD)/obj/tools/%.o: tools/%.c
	@mkdir -p $(@D)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) -Itests/unit $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/record-image: $(RECORDER_OBJS) $(LIB)
	$(CROSS_COMPILE)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

-include $(RECORDER_OBJS:.o=.d)

.PHONY: record-image
