# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make windows       build/windows/xrprof.exe for Windows on x86_64, by MinGW-w64
#   make windows-tests and what tests/live/test_windows.sh runs under Wine

WIN_CC ?= x86_64-w64-mingw32-gcc
WIN_RC ?= x86_64-w64-mingw32-windres
WIN_BUILD = $(BUILD)/windows

WIN_SRCS := $(foreach f,$(ALL_SRCS),$(if $(findstring /linux/,$f)$(findstring /bpf/,$f),,$f))
WIN_OBJS = $(WIN_SRCS:src/%.c=$(WIN_BUILD)/obj/%.o) $(PROTOS:%=$(WIN_BUILD)/obj/profile/%.pb-c.o) $(WIN_BUILD)/obj/protobuf-c.o

# Windows 7 and later.  The C library's own printf() of MinGW knows C99's formats.
# MinGW has no package of protobuf-c: its one file is compiled here, from Debian's sources.
WIN_PROTOBUF_C = $(WIN_BUILD)/source/protobuf-c

WIN_CPPFLAGS = -Iinclude -Isrc -I$(BUILD) -isystem $(WIN_PROTOBUF_C) -D_WIN32_WINNT=0x0601 -DPSAPI_VERSION=2 -DUNICODE -D_UNICODE \
	-D__USE_MINGW_ANSI_STDIO=1 -DXR_PROGRAM='"xrprof"'
WIN_CFLAGS = -std=gnu11 $(WARN) -O2 -g
WIN_LDFLAGS = -static -static-libgcc -Wl,--dynamicbase,--nxcompat,--high-entropy-va
WIN_LDLIBS = -lz -lpsapi -lwinmm -lshell32 -ladvapi32 -lpthread

windows: $(WIN_BUILD)/xrprof.exe

$(WIN_BUILD)/xrprof.exe: $(WIN_OBJS)
	$(WIN_CC) $(WIN_CFLAGS) $(WIN_LDFLAGS) -o $@ $^ $(WIN_LDLIBS)

$(WIN_PROTOBUF_C)/protobuf-c/protobuf-c.c: tools/debian-source
	tools/debian-source protobuf-c $(WIN_BUILD)/source
	@touch $@

$(WIN_BUILD)/obj/protobuf-c.o: $(WIN_PROTOBUF_C)/protobuf-c/protobuf-c.c
	@mkdir -p $(@D)
	$(WIN_CC) $(WIN_CPPFLAGS) -O2 -g -c -o $@ $<

$(WIN_BUILD)/obj/profile/%.pb-c.o: $(BUILD)/%.pb-c.c $(WIN_PROTOBUF_C)/protobuf-c/protobuf-c.c
	@mkdir -p $(@D)
	$(WIN_CC) $(WIN_CPPFLAGS) $(WIN_CFLAGS) -MMD -MP -c -o $@ $<

$(WIN_BUILD)/obj/%.o: src/%.c Makefile mk/windows.mk | $(PROTOS:%=$(BUILD)/%.pb-c.h) $(WIN_PROTOBUF_C)/protobuf-c/protobuf-c.c
	@mkdir -p $(@D)
	$(WIN_CC) $(WIN_CPPFLAGS) $(WIN_CFLAGS) -MMD -MP -c -o $@ $<

$(WIN_BUILD)/obj/target/layouts.o: $(BUILD)/layouts.inc
$(WIN_BUILD)/obj/output/flamegraph.o: $(PAGE_PARTS)

# A host and DLLs called R.dll with the layouts of R 3.6, 4.2 and 4.4: one tells its version by its
# resource, one by its constants, one by both.
WIN_TESTS = $(WIN_BUILD)/tests
WIN_R_DEPS = $(wildcard tests/windows/*.[ch] tests/windows/*.rc) mk/windows.mk

windows-tests: $(WIN_TESTS)/host.exe $(WIN_TESTS)/r36/R.dll $(WIN_TESTS)/r42/R.dll $(WIN_TESTS)/r44/R.dll \
	$(WIN_TESTS)/not/R.dll

$(WIN_TESTS)/host.exe: $(WIN_R_DEPS)
	@mkdir -p $(@D)
	$(WIN_CC) $(WIN_CFLAGS) -static -o $@ tests/windows/host.c -lshell32

$(WIN_TESTS)/r%.res: $(WIN_R_DEPS)
	@mkdir -p $(@D)
	$(WIN_RC) -DVERSION='\"$(WIN_R_VERSION)\"' -O coff -o $@ tests/windows/r_dll.rc

$(WIN_TESTS)/r36.res: WIN_R_VERSION = 3.6.3
$(WIN_TESTS)/r44.res: WIN_R_VERSION = 4.4.1

$(WIN_TESTS)/r36/R.dll: WIN_R_FLAGS = -DLAYOUT=36 -DLITERALS_MAJOR='"3"' -DLITERALS='"6.3"' -DLITERALS_YEAR='"2020"'
$(WIN_TESTS)/r42/R.dll: WIN_R_FLAGS = -DLAYOUT=42 -DLITERALS_MAJOR='"4"' -DLITERALS='"2.2"' -DLITERALS_YEAR='"2022"'
$(WIN_TESTS)/r44/R.dll: WIN_R_FLAGS = -DLAYOUT=44
$(WIN_TESTS)/r36/R.dll: $(WIN_TESTS)/r36.res
$(WIN_TESTS)/r44/R.dll: $(WIN_TESTS)/r44.res

$(WIN_TESTS)/r%/R.dll: $(WIN_R_DEPS)
	@mkdir -p $(@D)
	$(WIN_CC) $(WIN_CFLAGS) $(WIN_R_FLAGS) -static -shared -s -o $@ tests/windows/r_dll.c $(filter %.res,$^)

$(WIN_TESTS)/not/R.dll: $(WIN_R_DEPS)
	@mkdir -p $(@D)
	$(WIN_CC) $(WIN_CFLAGS) -shared -s -o $@ tests/windows/not_r.c

-include $(WIN_OBJS:.o=.d)

.PHONY: windows windows-tests
