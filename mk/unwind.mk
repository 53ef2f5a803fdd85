# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The unwind table of a file, for tests/live/test_unwind_tables.sh.

UNWIND_DUMP = $(BUILD)/unwind-dump

unit-tests: $(UNWIND_DUMP)

$(UNWIND_DUMP): tests/fixtures/unwind_dump.c $(LIB)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) -D_GNU_SOURCE $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIB) $(LDLIBS)

-include $(UNWIND_DUMP).d
