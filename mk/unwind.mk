# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unwinding without the profiler: the stack of a process that gdb holds, and the table of a file (tests/live/test_unwind*.sh).

UNWIND_TOOLS = $(BUILD)/unwind-stack $(BUILD)/unwind-dump

unit-tests: $(UNWIND_TOOLS)

$(UNWIND_TOOLS): $(BUILD)/unwind-%: tests/fixtures/unwind_%.c $(LIB)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) -D_GNU_SOURCE $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -o $@ $< $(LIB) $(LDLIBS)

-include $(UNWIND_TOOLS:%=%.d)
