# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The profiler that tells the time of each sample, for tests/live/test_spin.sh and tests/live/test_stop.sh (docs/internals/oracles.md).

unit-tests: $(BUILD)/oracle-tap

$(BUILD)/oracle-tap: tests/fixtures/oracle_tap.c $(OBJS)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -Wl,--wrap=remote_report__sample,--wrap=cmd__session,--wrap=outputs__sink,--wrap=bpf_object__load_skeleton,--wrap=ring_buffer__free -o $@ $< $(OBJS) $(LDLIBS)
