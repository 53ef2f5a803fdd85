# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The meter that `make bench` holds the sampler against.

$(BUILD)/meter.bpf.o: tests/bench/meter.bpf.c
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/meter.skel.h: $(BUILD)/meter.bpf.o
	$(BPFTOOL) gen skeleton $< name meter > $@

$(BUILD)/meter: tests/bench/meter.c $(BUILD)/meter.skel.h $(LIB)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)
