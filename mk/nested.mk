# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The profiler with a sampler that runs on tracepoints, too, for tests/live/test_nested.sh.

NESTED = $(BUILD)/nested

unit-tests: $(NESTED)/xrprof-bpf

$(NESTED)/sampler.bpf.o: tests/fixtures/nested.bpf.c Makefile
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(NESTED)/sampler.skel.h: $(NESTED)/sampler.bpf.o
	$(BPFTOOL) gen skeleton $< name sampler > $@

# what includes the skeleton
NESTED_OBJS = $(addprefix $(NESTED)/,engine_bpf.o programs.o)

$(NESTED_OBJS): $(NESTED)/%.o: src/engine/bpf/%.c $(NESTED)/sampler.skel.h
	$(CROSS_COMPILE)$(CC) -I$(NESTED) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(NESTED)/xrprof-bpf: $(filter-out $(NESTED_OBJS:$(NESTED)/%=$(BUILD)/obj/engine/bpf/%),$(OBJS)) $(NESTED_OBJS)
	$(CROSS_COMPILE)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

-include $(NESTED)/sampler.bpf.d $(NESTED_OBJS:.o=.d)
