# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make $(BUILD)/record-stream     the profiler that keeps what its engine delivers (tests/streams/record)

$(BUILD)/record-stream: tests/streams/record.c tests/streams/stream.h $(OBJS)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -Wl,--wrap=decoder__record,--wrap=decoder__forget \
		-o $@ $< $(OBJS) $(LDLIBS)
